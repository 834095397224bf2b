"""The examples of the OpenAPI document: each matches what its route takes and answers today."""

from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from arena.host.settings import load_settings
from arena.store.storage import Storage
from arena.web.app import make_app
from tests.arena.web.examples import SECRET, shortened

JSON = "application/json"


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the document, in which objects may have no fields other than those described."""
    settings = load_settings({"data": tmp_path_factory.mktemp("arena")})
    with Storage("sqlite://") as storage:
        found = make_app(settings, storage).openapi()
    for schema in found["components"]["schemas"].values():
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
    return found


def bodies(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield, by route, what has to be sent to it and what it answers, where that is JSON."""
    for methods in document["paths"].values():
        for route in methods.values():
            done = [answer for status, answer in route["responses"].items() if status.startswith("2")]
            taken = route.get("requestBody", {"required": False})
            for one in (*((taken,) if taken.get("required") else ()), *done):
                if JSON in one.get("content", {}):
                    yield route["operationId"], one["content"][JSON]


def test_example_when_a_route_takes_or_answers_json_then_it_is_as_the_route_has_it(
    document: dict[str, Any],
) -> None:
    wrong = []
    for name, body in bodies(document):
        schema = {**body["schema"], "components": document["components"]}
        if "example" not in body:
            wrong.append(f"{name}: none; python -m tests.arena.web.examples makes it")
            continue
        errors = Draft202012Validator(schema).iter_errors(body["example"])
        wrong += [f"{name}: {error.json_path}: {error.message[:200]}" for error in errors]
    assert wrong == []


def test_answer_when_it_is_shortened_then_few_objects_are_left_and_no_secret() -> None:
    answer = {"token": "bt_bot_" + "x" * 40, "bots": [{"n": 1}, {"n": 2}, {"n": 3}], "points": [1, 2, 3]}
    kept = shortened(answer)
    assert kept == {"token": "bt_bot_", "bots": [{"n": 1}, {"n": 2}], "points": [1, 2, 3]}
    assert not SECRET.search(str(kept))

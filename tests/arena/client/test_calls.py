"""The client's calls compared with the OpenAPI document: one for each route, with the same names."""

import inspect
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from arena.actors import Role
from arena.client import (
    Call,
    accounts,
    bots,
    entries,
    leagues,
    operator,
    results,
    rulesets,
    tournaments,
    webhooks,
)
from arena.client.streams import Following, Looking, export_of
from arena.models import HighlightKind
from arena.settings import load_settings
from arena.storage import Storage
from arena.web.app import make_app
from arena.web.routing import PREFIX
from referee.matches.auth import Scope

MODULES: tuple[ModuleType, ...] = (
    accounts,
    bots,
    entries,
    leagues,
    operator,
    results,
    rulesets,
    tournaments,
    webhooks,
)

OTHERWISE: dict[str, Callable[[], Call[Any]]] = {
    "export_tournament": lambda: export_of("x", False),
    "follow_match": lambda: Looking("x", 1, 1).call,
    "follow_tournament": lambda: Following("x").call,
}
"""Routes that answer with streams, which methods of the clients read."""

GIVEN: dict[str, Any] = {"bot": "ann/one", "version": "ann/one@1", "opponent": "bob/two", "role": Role.AUTHOR}
GIVEN |= {"fields": {}, "report": {}, "scopes": (), "kind": HighlightKind.SWING, "scope": Scope.WORKER}
NUMBERS = ("round", "table", "session", "deal")


def made(function: Callable[..., Call[Any]]) -> Call[Any]:
    """Return the call that a function makes, given a value for each parameter without a default."""
    needed = [
        name for name, one in inspect.signature(function).parameters.items() if one.default is one.empty
    ]
    given = {name: GIVEN.get(name, 1 if name in NUMBERS else "x") for name in needed}
    if function is results.show_crosstable:
        given["bot"] = ["ann/one", "bob/two"]
    return function(**given)


def calls() -> Iterator[tuple[str, Call[Any]]]:
    for module in MODULES:
        for name, function in inspect.getmembers(module, inspect.isfunction):
            if function.__module__ == module.__name__ and not name.startswith("_"):
                yield name, made(function)
    for name, make in OTHERWISE.items():
        yield name, make()


CALLS = dict(calls())

Operations = dict[str, tuple[str, str, dict[str, Any]]]
"""The method, the path and the description of each route, by its name."""


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    settings = load_settings({"data": tmp_path_factory.mktemp("arena")})
    with Storage("sqlite://") as storage:
        return make_app(settings, storage).openapi()


@pytest.fixture(scope="module")
def operations(document: dict[str, Any]) -> Operations:
    return {
        route["operationId"]: (method.upper(), path.removeprefix(PREFIX), route)
        for path, routes in document["paths"].items()
        for method, route in routes.items()
    }


def test_calls_there_is_one_for_each_route(operations: Operations) -> None:
    assert {*CALLS} == {*operations}


@pytest.mark.parametrize("name", CALLS)
def test_call_has_the_names_of_its_route(name: str, operations: Operations, document: dict[str, Any]) -> None:
    call, (method, path, route) = CALLS[name], operations[name]
    parameters = [(one["in"], one["name"]) for one in route.get("parameters", ()) if one["in"] != "header"]
    assert (call.method, call.path) == (method, path)
    named = [*(("path", one) for one in call.named), *(("query", one) for one in call.query)]
    assert sorted(named) == sorted(parameters)
    sent = schema_in(route.get("requestBody"), document)
    assert bool(sent) == (call.body is not None)
    if sent and "properties" in sent and name != "store_check":
        assert {*(call.body or {})} == {*sent["properties"]}


@pytest.mark.parametrize("name", CALLS)
def test_call_is_answered_with_what_its_route_answers(
    name: str, operations: Operations, document: dict[str, Any]
) -> None:
    answers = operations[name][2]["responses"]
    [success] = [one for status, one in answers.items() if status.startswith("2")]
    schema = schema_in(success, document)
    if schema and "properties" in schema and CALLS[name].answer is not dict:
        assert schema["title"] == CALLS[name].answer.__name__


def schema_in(part: Any, document: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of a body, or an empty one if there is none."""
    [schema] = [one["schema"] for one in (part or {}).get("content", {}).values() if "schema" in one] or [{}]
    schema = next((one for one in schema.get("anyOf", ()) if "$ref" in one), schema)
    found: dict[str, Any] = document
    for step in schema.get("$ref", "").removeprefix("#/").split("/") if "$ref" in schema else ():
        found = found[step]
    return found if "$ref" in schema else schema

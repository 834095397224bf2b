"""Requests generated from the OpenAPI document, valid and invalid: each is answered as the document says."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from arena.actors import KeyScope, Role
from arena.host.settings import load_settings
from arena.people import accounts, apikeys, browsers
from arena.store.models import utc_now
from arena.store.storage import open_storage
from arena.web import limits
from arena.web.app import make_app
from arena.web.routing import PREFIX
from tests.arena.fakes import ROOT
from tests.arena.web.conftest import PASSWORD
from tests.examples import is_sweep

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]

EXAMPLES: dict[Role | None, int] = {None: 1, Role.OPERATOR: 3} if is_sweep() else {Role.OPERATOR: 1}
"""Number of valid and of invalid requests for each route: more for a caller who is authenticated."""

ENDLESS = {"follow_match", "follow_tournament"}
"""Routes whose answers may be endless; other tests cover them."""

ALIKE = settings(
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("role", EXAMPLES)
def test_route_when_it_is_asked_anything_then_it_answers_as_it_is_described(
    everything: Path, monkeypatch: pytest.MonkeyPatch, role: Role | None
) -> None:
    for name in ("READS", "CHANGES", "SIGN_INS"):
        monkeypatch.setattr(limits, name, limits.Rate(name, 100_000))
    given_ = load_settings({"data": everything / "data", "sign_up": "open"})
    with open_storage(given_) as storage:
        headers = {}
        if role is not None:
            accounts.create_account(storage, ROOT, "root", role, utc_now(), PASSWORD)
            _, actor = browsers.sign_in(storage, "root", PASSWORD, utc_now())
            key = apikeys.create_key(storage, actor, "all", list(KeyScope), utc_now()).key
            headers = {"Authorization": f"Bearer {key}"}
        schema = schemathesis.openapi.from_asgi(f"{PREFIX}/openapi.json", make_app(given_, storage))
        failures = list(_failures(schema, headers, EXAMPLES[role]))
    assert failures == []


def _failures(schema: schemathesis.BaseSchema, headers: dict[str, str], examples: int) -> Iterator[str]:
    for found in schema.get_all_operations():
        assert isinstance(found, Ok)
        operation = found.ok()
        if operation.definition.raw["operationId"] in ENDLESS:
            continue
        for mode in GenerationMode:

            @settings(ALIKE, max_examples=examples)
            @given(case=operation.as_strategy(generation_mode=mode))
            def ask(case: schemathesis.Case[Any]) -> None:
                response = case.call(headers=headers)
                case.validate_response(response, checks=CHECKS)

            try:
                with suppress(Unsatisfiable):  # where nothing is asked for, nothing can be invalid
                    ask()
            except Exception as error:
                yield f"{operation.label}, {mode}: {error}"

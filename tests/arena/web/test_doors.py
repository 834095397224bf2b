"""Every operation through every door: called here, over HTTP and by the client, it gives the same."""

import json
import re
from itertools import product
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from fastapi import Request
from httpx2 import Response
from pydantic import BaseModel, TypeAdapter

from arena.actors import ANONYMOUS
from arena.client.call import call_of
from arena.errors import ArenaError
from arena.jsonvalues import to_json
from arena.operations.all import OPERATIONS
from arena.operations.checking import read_texts
from arena.operations.local import make_context
from arena.operations.operation import Operation, Parameter, Parts
from arena.operations.parameters import BOT, BOT_OR_VERSION, ENTRANT, VERSION
from arena.people.apikeys import holder_of
from arena.store.models import utc_now
from arena.web.doors import operations_in
from arena.web.pages.drawing import Drawn, draw, draw_fields
from arena.web.pages.forms import Visit
from arena.web.pages.page import Typed
from arena.web.pages.rendering import environment
from arena.web.problems import status_of
from referee.errors import RefereeError
from tests.arena.web.markup import Sent
from tests.arena.web.permissions import ROUTES, Caller, Line
from tests.arena.web.test_roles import NOT_TRIED, Arena, arena, routes_of, wrong_in

__all__ = ["arena"]

ALL = [one for module in OPERATIONS for one in operations_in(module)]
TRIED = [one for one in ALL if f"{one.method} {one.path}" not in NOT_TRIED]

Found = tuple[int, Any]
"""The status of an answer, and the answer; for a change that was made, only its keys."""


def given_in(operation: Operation[Any, Any], line: Line, body: Any) -> dict[str, Any]:
    """Return the parameters of an operation that stand in a call over HTTP."""
    url = urlsplit(line.path)
    pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", re.escape(operation.path))
    match = re.fullmatch(pattern, url.path)
    assert match is not None, (operation.name, line.path)
    sent: dict[str, Any] = {name: unquote(value) for name, value in match.groupdict().items()}
    sent |= {name: value if len(value) > 1 else value[0] for name, value in parse_qs(url.query).items()}
    sent |= {operation.body: body} if operation.body else (body or {})
    found = {}
    for name, parameter in operation.parameters.items():
        if parameter.parts is not None:
            owner, bot, *number = (sent[part] for part in parameter.parts.names)
            found[name] = "@".join([f"{owner}/{bot}", *number])
        elif name in sent:
            found[name] = TypeAdapter(parameter.kind).validate_python(sent[name])
    return found


def called(arena: Arena, operation: Operation[Any, Any], line: Line, caller: Caller, body: Any) -> Found:
    """Call an operation in this process."""
    web = arena.app.state.web
    key = arena.keys[caller][""]
    actor = (holder_of(web.storage, key, utc_now()) if key else None) or ANONYMOUS
    context = make_context(web.storage, web.settings, actor)
    try:
        answer = operation(context, **given_in(operation, line, body))
    except (ArenaError, RefereeError) as error:
        return int(status_of(error)), str(error)
    return operation.status, None if answer is None else to_json(answer)


def found_in(arena: Arena, operation: Operation[Any, Any], caller: Caller, answer: Response) -> Found:
    """Return what an operation answered over HTTP; what it made must be where it says."""
    if answer.status_code >= 400:
        return answer.status_code, answer.json()["detail"]
    if operation.status == 201:
        place = answer.headers["location"]
        assert arena.client.get(place, headers=_key(arena, caller)).status_code == 200, place
    return answer.status_code, answer.json() if answer.content else None


def _key(arena: Arena, caller: Caller) -> dict[str, str]:
    key = arena.keys[caller][""]
    return {"Authorization": f"Bearer {key}"} if key else {}


def alike(operation: Operation[Any, Any], found: Found) -> Found:
    status, answer = found
    if operation.method != "GET" and status < 400 and isinstance(answer, dict):
        return status, sorted(answer)  # tokens and times differ
    return status, MOVING.sub("", json.dumps(answer, sort_keys=True))


MOVING = re.compile(r'"(last_used_on|seconds|found|advice|age_seconds)": ("(?:[^"\\]|\\.)*"|[^,}]+)')
"""Values that are others at each look."""


def test_route_when_anybody_asks_then_only_those_may_that_the_table_names_and_the_operation_says_the_same(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.play.messages.wake", lambda *_: None)
    operations = {f"{one.method} {one.path}": one for one in TRIED}
    wrong: list[object] = []
    for name, caller in product(routes_of(arena.app), Caller):
        method, line, operation = name.split()[0], ROUTES[name], operations.get(name)
        noted = arena.changes()
        answer = arena.ask(method, line, caller)
        if said := wrong_in(answer, caller in line.who):
            wrong.append(f"{name} by {caller.name}: {said}")
        elif answer.status_code == 401 and caller is not Caller.ANYBODY:
            wrong.append(f"{name} by {caller.name}: 401 to somebody who is signed in")
        there = alike(operation, found_in(arena, operation, caller, answer)) if operation else None
        if method != "GET" and answer.status_code < 400:
            arena.restore()
        elif answer.status_code >= 400 and arena.changes() != noted:
            wrong.append(f"{name} by {caller.name}: noted, though it was refused")
        if operation is None or (operation.scopes and caller is Caller.ANYBODY):
            continue  # who is not signed in is not heard
        here = alike(operation, called(arena, operation, line, caller, arena.body_of(line)))
        if method != "GET" and here[0] < 400:
            arena.restore()
        if here != there:
            wrong.append((name, caller.name, here, there))
    assert (wrong, arena.leaks) == ([], [])


@pytest.mark.parametrize("parts", [BOT, ENTRANT, VERSION, BOT_OR_VERSION])
def test_name_in_a_path_when_it_is_split_then_its_parts_make_the_same_name(parts: Parts) -> None:
    names = ["ann/one"] if parts == BOT else ["ann/one@2"] if parts == VERSION else ["ann/one", "ann/one@2"]
    assert [parts.join(parts.split(name)) for name in names] == names


@pytest.mark.parametrize("operation", TRIED, ids=lambda one: one.name)
def test_operation_when_the_client_calls_it_then_the_request_is_that_of_its_route(
    operation: Operation[Any, Any],
) -> None:
    line = ROUTES[f"{operation.method} {operation.path}"]
    given = given_in(operation, line, line.body)
    call = call_of(operation, **given)
    url = urlsplit(line.path)
    assert unquote(call.place) == url.path
    sent = dict(parse_qs(url.query))
    query: dict[str, list[str]] = {}
    for name, value in call.parameters:
        query.setdefault(name, []).append(value)
    assert sent == {name: query[name] for name in sent}
    if isinstance(line.body, dict) and not operation.body:
        made = dict(call.body or {})
        assert line.body.keys() <= made.keys()
        assert all(made[name] == value for name, value in line.body.items() if name != "bots")


FORMS = [
    one for one in TRIED if one.method != "GET" and one.body in ("", "report") and one.name != "register_bots"
]
"""Those whose parameters can be typed."""


def visit_of(**parts: str) -> Visit:
    scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "path_params": parts}
    nothing: Any = None
    return Visit(Request(scope), nothing, nothing, nothing, Typed({}))


def sent_of(drawn: Drawn) -> dict[str, list[str]]:
    """Return what a browser sends of a form that nobody fills in, as handlers read it."""
    template = environment().from_string('{% import "forms.html" as forms %}{{ forms.form(one) }}')
    sent: dict[str, list[str]] = {}
    for name, value in Sent(template.render(one=drawn)).fields:
        if value:
            sent.setdefault(name, []).append(value)
    return sent


def as_typed(value: Any) -> Any:
    """Return a value as it is typed into a form."""
    if isinstance(value, list):
        return [*map(str, value)]
    if isinstance(value, BaseModel):
        return value.model_dump_json(exclude_unset=True)
    return json.dumps(value) if isinstance(value, bool) else str(value)


@pytest.mark.parametrize("operation", FORMS, ids=lambda one: one.name)
def test_operation_when_its_form_is_sent_then_it_gets_what_is_in_the_fields(
    operation: Operation[Any, Any],
) -> None:
    line = ROUTES[f"{operation.method} {operation.path}"]
    given = given_in(operation, line, line.body)
    known = {name: str(given[name]) for name, one in operation.parameters.items() if operation.in_path(one)}
    typed = {
        name: as_typed(value) for name, value in given.items() if name not in known and value is not None
    }
    drawn = draw(visit_of(), operation, operation.path, "Do it", fixed=known, values=typed)
    assert drawn.action == urlsplit(line.path).path
    defaults = {name: one.default for name, one in operation.parameters.items() if not one.required}
    sent = sent_of(drawn)
    for name in typed:
        if name.endswith("password"):  # no page shows one
            assert name not in sent
            sent[name] = [typed[name]]
    sent |= {name: [value] for name, value in known.items()}
    assert {**defaults, **read_texts(operation, sent, {})} == {**defaults, **given}


@pytest.mark.parametrize("ticked", [True, False])
def test_form_when_a_box_is_ticked_or_not_then_that_is_sent_whatever_the_default_is(ticked: bool) -> None:
    for default in (True, False):
        box = Parameter("rated", bool, default, "Whether it is rated.")
        drawn = draw_fields(visit_of(), [box], "/x", "Do it", values={"rated": json.dumps(ticked)})
        assert sent_of(drawn)["rated"][-1] == json.dumps(ticked)
        assert sent_of(draw_fields(visit_of(), [box], "/x", "Do it"))["rated"][-1] == json.dumps(default)


def test_operation_when_it_makes_something_then_it_says_where() -> None:
    assert [one.name for one in ALL if one.status == 201 and not one.made] == []


def test_operations_have_names_of_their_own_and_descriptions() -> None:
    assert len({one.name for one in ALL}) == len(ALL)
    assert [one.name for one in ALL if not one.description] == []

"""Whatever is sent is refused in plain words that name the field, or done, and never breaks anything."""

import json
from collections.abc import Callable

import pytest
from fastapi.testclient import TestClient

from arena.actors import Role
from arena.web.pages.forms import MOST_FIELDS
from arena.web.routing import PREFIX
from arena.web.storable import HALF, NUL
from tests.arena.web.conftest import PASSWORD, Ask
from tests.arena.web.permissions import ROUTES, Caller
from tests.arena.web.test_roles import Arena
from tests.arena.web.test_roles import arena as arena

JSON = {"Content-Type": "application/json"}
NEW_TOKEN = {"name": "board", "scope": "worker"}
HOSTILE = [
    "",
    "\0",
    "a\0b",
    "\x1b[31mred",
    "‮txt.exe",
    "<script>alert(1)</script>",
    "../../etc",
    "a" * 10_000,
    "ä",
    "\ud800",
]
"""Names that nothing can have."""


@pytest.mark.parametrize(
    ("body", "field", "reason"),
    [
        ({}, "name", "is missing"),
        ({**NEW_TOKEN, "nam": 1}, "nam", "is not a field; did you mean 'name'?"),
        ({**NEW_TOKEN, "name": 7}, "name", "must be a text, not 7"),
        (
            {**NEW_TOKEN, "scope": "workr"},
            "scope",
            "must be one of worker, organiser, spectator, not 'workr'",
        ),
        ({**NEW_TOKEN, "expires_in": "soon"}, "expires_in", "must be a whole number, not 'soon'"),
        ({**NEW_TOKEN, "expires_in": 1.5}, "expires_in", "must be a whole number, not 1.5"),
        ([], "body", "must be an object, not []"),
        ("text", "body", "must be an object, not 'text'"),
        (None, "body", "must be an object, not null"),
    ],
)
def test_body_when_something_is_wrong_then_the_field_is_named_in_plain_words(
    client_of: Ask, body: object, field: str, reason: str
) -> None:
    refused = client_of("root", Role.OPERATOR).post(
        "/operator/tokens", content=json.dumps(body), headers=JSON
    )
    assert refused.status_code == 422
    assert {"field": field, "reason": reason} in refused.json()["problems"]


@pytest.mark.parametrize(
    ("query", "field", "reason"),
    [
        ("table_size=9", "table_size", "must be a whole number from 2 to 8, not '9'"),
        ("table_size=" + "9" * 5_000, "table_size", "must be a whole number from 2 to 8, not "),
        ("provisional=perhaps", "provisional", "must be true or false, not 'perhaps'"),
        ("since=yesterday", "since", "must be a time like 2026-01-05T18:00:00Z, not 'yesterday'"),
        ("cursor=" + "x" * 401, "cursor", "must have at most 400 characters, not 401"),
    ],
)
def test_query_when_something_is_wrong_then_the_parameter_is_named_in_plain_words(
    anybody: TestClient, query: str, field: str, reason: str
) -> None:
    refused = anybody.get(f"/leaderboard?{query}")
    assert refused.status_code == 422
    [problem] = refused.json()["problems"]
    assert (problem["field"], problem["reason"][: len(reason)]) == (field, reason)


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"\xff\xfe",
        b"\0",
        b"NaN",
        b"[" * 8_000 + b"]" * 8_000,
        b'{"account": ' * 1_200 + b"1" + b"}" * 1_200,
        b'{"account": "ann", "account": "bob", "password": "x"}',
        b'{"account": "\\ud800", "password": "\\u0000"}',
        b'{"account": "a", "password": ' + b"9" * 10_000 + b"}",
    ],
)
@pytest.mark.parametrize(
    "kind", ["application/json", "text/plain", "multipart/form-data; boundary=x", "nonsense"]
)
def test_body_when_it_is_no_request_at_all_then_it_is_refused(
    anybody: TestClient, content: bytes, kind: str
) -> None:
    refused = anybody.post("/accounts", content=content, headers={"Content-Type": kind})
    assert refused.status_code in (400, 422)
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.json()["detail"].isprintable()


@pytest.mark.parametrize("name", HOSTILE)
def test_name_when_nothing_can_have_it_then_it_is_refused_and_told_harmlessly(
    client_of: Ask, name: str
) -> None:
    root = client_of("root", Role.OPERATOR)
    for path, body in (
        ("/operator/tokens", {**NEW_TOKEN, "name": name}),
        ("/operator/accounts", {"account": name, "role": "author"}),
        ("/owners", {"owner": name}),
        ("/me/keys", {"name": name, "scopes": ["read"]}),
    ):
        refused = root.post(path, content=json.dumps(body), headers=JSON)
        assert (refused.status_code, len(refused.content) < 1_000) == (422, True)
        assert refused.json()["detail"].isprintable()


@pytest.mark.parametrize("name", HOSTILE[1:-1])
def test_query_when_a_name_is_hostile_then_nothing_is_found(anybody: TestClient, name: str) -> None:
    for parameter in ("owner", "ruleset", "league", "around", "language", "division", "cursor"):
        answer = anybody.get("/leaderboard", params={parameter: name})
        assert answer.status_code in (200, 404, 422)
        assert answer.json().get("detail", "").isprintable()


def test_sign_in_when_the_texts_are_hostile_then_nobody_is_signed_in(anybody: TestClient) -> None:
    for text in HOSTILE:
        for sent in ({"account": text, "password": PASSWORD}, {"account": "ann", "password": text}):
            refused = anybody.post("/session", content=json.dumps(sent), headers=JSON)
            assert refused.status_code in (403, 422, 429)


def texts_in(value: object, path: str = "") -> list[tuple[str, Callable[[str], object]]]:
    """Return the path of each text in a body, and a function that makes the body with another text there."""
    if isinstance(value, str):
        return [(path, lambda text: text)]
    if isinstance(value, dict):
        return [
            (inner, lambda text, key=key, put=put: {**value, key: put(text)})  # type: ignore[misc]
            for key, one in value.items()
            for inner, put in texts_in(one, f"{path}.{key}".removeprefix("."))
        ]
    if isinstance(value, list) and value:
        first = texts_in(value[0], f"{path}[0]")
        return [(inner, lambda text, put=put: [put(text)]) for inner, put in first]  # type: ignore[misc]
    return []


@pytest.mark.parametrize(("bad", "reason"), [("a\0b", NUL), ("a\ud800", HALF), ("\udfff", HALF)])
def test_text_when_it_cannot_be_stored_then_every_route_that_takes_it_names_the_field(
    arena: Arena, bad: str, reason: str
) -> None:
    wrong = {}
    for name, line in ROUTES.items():
        for field, put in texts_in(line.body):
            caller = next(one for one in Caller if one in line.who)
            key = arena.keys[caller][""]
            headers = {**JSON, **({"Authorization": f"Bearer {key}"} if key else {})}
            sent = json.dumps(put(bad))
            refused = arena.client.request(
                name.split()[0], f"{PREFIX}{line.path}", content=sent, headers=headers
            )
            found = refused.json().get("problems")
            if found != [{"field": field, "reason": reason}]:
                wrong[name, field] = refused.text
    assert wrong == {}


def test_form_when_a_text_has_a_nul_then_the_field_is_named(arena: Arena) -> None:
    headers = {"Authorization": f"Bearer {arena.keys[Caller.ORGANISER]['']}"}
    sent = {"do": "decline", "bot": "owner-1/bot-5", "reason": "a\0b"}
    refused = arena.client.post("/tournaments/asking/desk/entries", data=sent, headers=headers)
    assert (refused.status_code, refused.json()["problems"]) == (422, [{"field": "reason", "reason": NUL}])


@pytest.mark.parametrize(
    ("part", "status"),
    [
        ('name="reason"\r\n\r\n+2AA-', 422),
        ('name="+2AA-"\r\n\r\na\0b', 422),
        ('name="reason"; filename="a"\r\n\r\nb', 400),
    ],
)
def test_form_when_it_is_in_an_odd_encoding_or_has_a_file_then_it_is_refused(
    arena: Arena, part: str, status: int
) -> None:
    headers = {
        "Authorization": f"Bearer {arena.keys[Caller.ORGANISER]['']}",
        "Accept": "text/html",
        "Content-Type": "multipart/form-data; boundary=x; charset=utf-7",
    }
    body = f"--x\r\nContent-Disposition: form-data; {part}\r\n--x--\r\n"
    refused = arena.client.post("/tournaments/asking/desk/entries", content=body, headers=headers)
    assert (refused.status_code, "\ud800" in refused.text) == (status, False)


def test_form_when_it_has_very_many_empty_fields_then_it_is_refused_unread(arena: Arena) -> None:
    headers = {
        "Authorization": f"Bearer {arena.keys[Caller.ORGANISER]['']}",
        "Content-Type": "application/x-www-form-urlencoded",
    }
    refused = arena.client.post("/desk", content=b"&" * MOST_FIELDS, headers=headers)
    assert (refused.status_code, refused.json()["detail"][:15]) == (400, "Too many fields")


def test_key_when_it_cannot_be_stored_then_it_is_refused(client_of: Ask) -> None:
    root = client_of("root", Role.OPERATOR)
    refused = root.post("/operator/tokens", content=b'{"\\ud800": 1}', headers=JSON)
    assert refused.json()["problems"] == [{"field": "a key", "reason": HALF}]

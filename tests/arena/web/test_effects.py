"""What somebody can bring about with a key, by whatever way: nothing that the key itself does not allow.

Each gift is something that the holder of an operator's key makes for somebody else. The receiver then tries
what each scope is good for, on what belongs to the giver.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import pytest
from httpx2 import Response

from arena.actors import KeyScope
from arena.bots.journal import readable_versions
from arena.errors import SpecError
from arena.operations.all import OPERATIONS
from arena.store.storage import Storage
from arena.web.doors import operations_in
from arena.web.routing import PREFIX
from tests.arena.web.conftest import PASSWORD
from tests.arena.web.permissions import Caller
from tests.arena.web.test_roles import Arena, arena

__all__ = ["arena"]

READ, BOTS, TOURNAMENTS, ACCOUNT, OPERATE = KeyScope
AUTHORS, ALL = {READ, BOTS, ACCOUNT}, {*KeyScope}
LOG = "owner-0/bot-0"

Headers = Mapping[str, str]
Reach = set[KeyScope]

PROBES: Mapping[KeyScope, tuple[str, str, object]] = {
    READ: ("GET", f"/bots/{LOG}/log", None),
    BOTS: ("PATCH", f"/bots/{LOG}", {"language": "go"}),
    TOURNAMENTS: ("PATCH", "/tournaments/others", {"sessions": 3}),
    ACCOUNT: ("DELETE", "/owners/owner-0/members/friend", None),
    OPERATE: ("GET", "/operator/audit", None),
}
"""What each scope is good for, on what is the giver's: the operator may do all of it."""


def reached(arena: Arena, headers: Headers) -> Reach:
    """Return the scopes whose probes succeed with these credentials."""
    return {
        scope
        for scope, (method, path, body) in PROBES.items()
        if arena.client.request(method, PREFIX + path, json=body, headers=headers).status_code < 400
    }


def bearer(key: str) -> Headers:
    return {"Authorization": f"Bearer {key}"}


def signed_in(arena: Arena, account: str, password: str = PASSWORD) -> Reach:
    """Return what is reached after signing in."""
    sent = {"account": account, "password": password}
    assert arena.client.post(f"{PREFIX}/session", json=sent).status_code == 200
    found = reached(arena, {})
    arena.client.cookies.clear()
    return found


def of_key(arena: Arena, made: Any) -> Reach:
    return reached(arena, bearer(made["key"]))


def of_newcomer(arena: Arena, made: Any) -> Reach:
    """Sign up with an invitation."""
    sent = {"account": "gift", "password": PASSWORD, "invitation": made["code"]}
    assert arena.client.post(f"{PREFIX}/accounts", json=sent).status_code == 201
    arena.client.cookies.clear()
    return signed_in(arena, "gift")


def of_member(arena: Arena, made: Any) -> Reach:
    """Join an owner with an account that there is."""
    headers = bearer(arena.keys[Caller.STRANGER][""])
    joined = arena.client.post(f"{PREFIX}/me/owners", json={"invitation": made["code"]}, headers=headers)
    assert joined.status_code == 200
    return reached(arena, headers)


def of_reset(arena: Arena, made: Any) -> Reach:
    sent = {"code": made["code"], "password": "another horse battery"}
    assert arena.client.post(f"{PREFIX}/password-reset", json=sent).status_code == 204
    return signed_in(arena, made["account"], sent["password"])


def of_stranger(arena: Arena, _: Any) -> Reach:
    """Ask with the key that another author has anyway."""
    return reached(arena, bearer(arena.keys[Caller.STRANGER][""]))


def _reads(storage: Storage, token: str, organiser: bool) -> Reach:
    try:
        return {READ} if readable_versions(storage, LOG, token, organiser=organiser) else set()
    except SpecError:
        return set()


def of_bot(arena: Arena, made: Any) -> Reach:
    """Play as the bot, and read its log at a referee."""
    return {BOTS} | _reads(arena.app.state.web.storage, made["token"], organiser=False)


def of_token(arena: Arena, made: Any) -> Reach:
    """Do at a referee what the token is for, and read logs there."""
    return {OPERATE} | _reads(arena.app.state.web.storage, made["token"], organiser=True)


def of_otto(arena: Arena, _: Any) -> Reach:
    """Enter the bot as an organiser to whom it is open."""
    headers = bearer(arena.keys[Caller.OTHER][TOURNAMENTS])
    sent = arena.client.post(f"{PREFIX}/tournaments/others/entrants", json={"bot": LOG}, headers=headers)
    return {BOTS} if sent.json()["state"] == "entered" else set()


def of_hook(_: Arena, made: Any) -> Reach:
    """Read what the arena tells of the giver's own tournaments."""
    return {TOURNAMENTS} if made["secret"] else set()


@dataclass(frozen=True)
class Gift:
    """Something that an operator makes, and what its receiver can do then that nobody else could."""

    operation: str
    method: str
    path: str
    body: object
    use: Callable[[Arena, Any], Reach]
    reach: Reach


def _key(scope: KeyScope) -> Gift:
    body = {"name": "gift", "scopes": [scope, OPERATE]}
    return Gift("create_key", "POST", "/me/keys", body, of_key, {scope, OPERATE, ACCOUNT})


ACCOUNTS, ONE = "/operator/accounts", "/operator/accounts/owner-1"
GIFTS = [
    *map(_key, KeyScope),
    Gift("create_key", "POST", "/me/keys", {"name": "gift", "scopes": [*KeyScope]}, of_key, ALL),
    Gift("invite", "POST", "/invitations", {"owner": "owner-0"}, of_newcomer, {*AUTHORS, OPERATE}),
    Gift("invite", "POST", "/invitations", {"owner": "owner-0"}, of_member, {*AUTHORS, OPERATE}),
    Gift("invite", "POST", "/invitations", {"role": "operator"}, of_newcomer, ALL),
    Gift(
        *("create_account", "POST", ACCOUNTS),
        {"account": "gift", "role": "operator", "password": PASSWORD},
        lambda arena, _: signed_in(arena, "gift"),
        ALL,
    ),
    Gift("change_account", "PATCH", ONE, {"role": "operator"}, of_stranger, ALL),
    Gift(
        *("change_account", "PATCH", f"{ACCOUNTS}/owner-0", {"password": "another horse battery"}),
        lambda arena, _: signed_in(arena, "owner-0", "another horse battery"),
        {*AUTHORS, OPERATE},
    ),
    Gift("offer_reset", "POST", f"{ACCOUNTS}/root/reset", None, of_reset, ALL),
    Gift("offer_reset", "POST", f"{ACCOUNTS}/owner-0/reset", None, of_reset, {*AUTHORS, OPERATE}),
    Gift("register_bot", "POST", "/bots", {"bot": LOG}, of_bot, {READ, BOTS, OPERATE}),
    Gift("rotate_bot", "PUT", f"/bots/{LOG}/versions/1/token", {}, of_bot, {READ, BOTS, OPERATE}),
    Gift("describe_bot", "PATCH", f"/bots/{LOG}", {"open_to": ["otto"]}, of_otto, {BOTS, OPERATE}),
    Gift(
        *("create_token", "POST", "/operator/tokens", {"name": "gift", "scope": "organiser"}),
        of_token,
        {READ, OPERATE},
    ),
    Gift(
        "create_token",
        "POST",
        "/operator/tokens",
        {"name": "gift", "scope": "worker"},
        of_token,
        {OPERATE},
    ),
    Gift("rotate_token", "POST", "/operator/tokens/organiser/rotate", {}, of_token, {READ, OPERATE}),
    Gift(
        *("add_webhook", "POST", "/webhooks", {"name": "gift", "url": "https://example.org/hook"}),
        of_hook,
        {TOURNAMENTS},
    ),
    Gift("rotate_webhook", "POST", "/webhooks/told/rotate", None, of_hook, {TOURNAMENTS}),
]
"""The reach is all that the key needs: what the receiver can do, and the scopes for making it."""

HARMLESS = {"correct_standings"}
"""Operations whose answers only look as if they had secrets: the key is the public one."""


def make(arena: Arena, gift: Gift, scopes: str) -> Response:
    """Make a gift with a key of the operator's for these scopes."""
    headers = bearer(arena.keys[Caller.OPERATOR][scopes])
    return arena.client.request(gift.method, PREFIX + gift.path, json=gift.body, headers=headers)


def test_gift_when_the_key_allows_everything_then_it_is_made_and_its_receiver_reaches_no_more_than_is_listed(
    arena: Arena,
) -> None:
    wrong = []
    for gift in GIFTS:
        answer = make(arena, gift, "")
        assert answer.status_code < 400, f"{gift.operation}: {answer.text}"
        found = gift.use(arena, answer.json())
        if not found or not found <= gift.reach:
            wrong.append((gift.operation, gift.body, found))
        arena.restore()
    assert wrong == []


@pytest.mark.parametrize("scope", KeyScope)
def test_gift_when_the_key_has_one_scope_then_its_receiver_reaches_nothing_beyond_that(
    arena: Arena, scope: KeyScope
) -> None:
    made = []
    for gift in GIFTS:
        answer = make(arena, gift, scope)
        assert answer.status_code < 400 or answer.status_code == 403, f"{gift.operation}: {answer.text}"
        if answer.status_code < 400:
            made.append(gift.operation)
            assert gift.use(arena, answer.json()) <= {scope}, gift.operation
            arena.restore()
    assert made == MADE_WITH[scope]


MADE_WITH = {
    READ: [],
    BOTS: [],
    TOURNAMENTS: ["add_webhook", "rotate_webhook"],
    ACCOUNT: [],
    OPERATE: ["create_token"],
}
"""What an operator can make with a key for one scope."""


@pytest.mark.parametrize("scope", KeyScope)
def test_gift_when_the_key_lacks_a_scope_that_its_receiver_would_have_then_it_is_refused(
    arena: Arena, scope: KeyScope
) -> None:
    for gift in GIFTS:
        if scope in gift.reach:
            answer = make(arena, gift, f"-{scope}")
            assert answer.status_code == 403, (gift.operation, gift.body, answer.text)


def test_gifts_when_an_operation_answers_a_secret_then_it_is_among_them() -> None:
    secret = {"key", "token", "code", "secret"}
    found = {
        operation.name
        for module in OPERATIONS
        for operation in operations_in(module)
        if is_dataclass(operation.answer) and secret & {field.name for field in fields(operation.answer)}
    }
    assert found <= {gift.operation for gift in GIFTS} | HARMLESS
    assert {"create_key", "invite", "rotate_bot", "offer_reset", "create_token", "add_webhook"} <= found

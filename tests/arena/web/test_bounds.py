"""What strangers can make the server do is bounded: how often they ask, what they send, what work it is."""

import json
import threading
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from difflib import SequenceMatcher

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from httpx2 import Response

from arena.bots.versions import register_version
from arena.errors import SpecError
from arena.people import apikeys, browsers, passwords
from arena.people.accounts import sign_up
from arena.store.storage import Storage
from arena.store.suggestions import HINTED
from arena.web import limits
from arena.web.routing import PREFIX
from referee.reading import validation
from referee.reading.validation import COMPARED, MOST_PROBLEMS
from tests.arena.fakes import ROOT, Clock
from tests.arena.web.conftest import PASSWORD, Ask
from tests.arena.web.permissions import FORMS_OF_ALL, ROUTES, Caller
from tests.arena.web.test_roles import Arena
from tests.arena.web.test_roles import arena as arena
from tests.waiting import wait_for

OPEN = [name.split() for name, line in ROUTES.items() if line.scope is None]
CHANGES = [
    *(f"{PREFIX}{path}" for method, path in OPEN if method == "POST"),
    *sorted(FORMS_OF_ALL),
]
"""The paths to which anybody may send a body."""


TOO_LARGE = b"x" * (limits.STRANGERS_BODY + 1)
JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def few(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Allow only so many requests of each kind."""
    for name in ("READS", "CHANGES", "SIGN_INS"):
        monkeypatch.setattr(limits, name, limits.Rate(name, most))


def client_at(app: FastAPI, address: str) -> TestClient:
    """Return a client that asks from an address."""
    return TestClient(app, base_url="https://arena.test", client=(address, 1), raise_server_exceptions=False)


def test_rate_when_each_request_shows_another_bad_key_then_all_count_together(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    few(monkeypatch, 4)
    client = client_at(app, "192.0.2.1")
    shown = [
        {"Authorization": "Bearer bt_key_a"},
        {"Authorization": "Bearer bt_key_b"},
        {"Authorization": "Basic c"},
        {"Cookie": "arena_session=d"},
    ]
    codes = [client.get(f"{PREFIX}/me", headers=one).status_code for one in (*shown, *shown[:2])]
    assert codes == [401, 401, 401, 401, 429, 429]
    assert client_at(app, "192.0.2.2").get(f"{PREFIX}/me").status_code == 401


def test_rate_when_addresses_are_of_one_ipv6_host_then_they_count_together(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    few(monkeypatch, 2)
    addresses = ("2001:db8::1", "2001:db8::ffff:2", "2001:db8::3", "2001:db8:0:1::3", "::ffff:192.0.2.1")
    codes = [client_at(app, address).get("/rules").status_code for address in addresses]
    assert codes == [200, 200, 429, 200, 200]


def test_rate_when_a_key_is_good_then_its_account_is_counted_however_it_is_spelt(
    app: FastAPI, client_of: Ask, storage: Storage, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = client_of("ann").headers["authorization"].split()[1]
    ann = browsers.sign_in(storage, "ann", PASSWORD, clock())[1]
    other = apikeys.create_key(storage, ann, "other", ["read"], clock()).key
    few(monkeypatch, 4)
    client = client_at(app, "192.0.2.1")

    def left(shown: str) -> str:
        return client.get(f"{PREFIX}/me", headers={"Authorization": shown}).headers["ratelimit-remaining"]

    assert left(f"Bearer {key}") == "3"  # counted by its host, as it was not known yet
    assert [left(f"{scheme} {key}") for scheme in ("Bearer", "bearer", "BEARER")] == ["3", "2", "1"]
    assert left(f"Bearer {other}") == "2"  # by the host
    assert left(f"Bearer {other}") == "0"
    apikeys.revoke_key(storage, ann, "test", clock())
    apikeys.revoke_key(storage, ann, "other", clock())
    fresh = client_at(app, "192.0.2.9")
    few(monkeypatch, 9)
    codes = [fresh.get(f"{PREFIX}/me", headers={"Authorization": f"Bearer {key}"}) for _ in range(2)]
    assert [one.status_code for one in codes] == [401, 401]
    assert codes[1].headers["ratelimit-remaining"] == "8"  # by the host again


@pytest.mark.parametrize("path", CHANGES)
def test_open_route_when_a_stranger_sends_more_than_allowed_then_it_is_refused_unread(
    anybody: TestClient, path: str
) -> None:
    for shown in ({}, {"Authorization": "Bearer bt_key_wrong"}, {"Cookie": "arena_session=wrong"}):
        refused = anybody.post(f"https://arena.test{path}", content=TOO_LARGE, headers=shown)
        assert (refused.status_code, refused.headers["connection"]) == (413, "close")
    if path != "/sign-out":  # which reads no body
        refused = anybody.post(f"https://arena.test{path}", content=iter([TOO_LARGE]), headers=FORM)
        assert (refused.status_code, refused.headers["connection"]) == (413, "close")


def test_body_when_it_is_large_then_an_account_may_send_it_but_few_at_once(
    anybody: TestClient, client_of: Ask, app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = client_of("ann")
    large = b"x" * limits.LARGEST_BODY
    assert ann.post("/owners", content=large).status_code == 422
    anybody.post("/session", json={"account": "ann", "password": PASSWORD})
    assert anybody.post("/owners", content=large).status_code == 422
    assert ann.post("/owners", content=large + b"x").status_code == 413
    monkeypatch.setattr(limits, "LARGE_BODIES", (0, 1))
    app.middleware_stack = None  # built anew
    refused = ann.post("/owners", content=large)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "30")
    assert ann.post("/owners", json={"owner": "team"}).status_code == 201


class Slow:
    """A hasher that computes until it is told to end."""

    def __init__(self) -> None:
        self.going, self.most = 0, 0
        self.may_end = threading.Event()
        self._lock = threading.Lock()

    def verify(self, _hash: str, _password: str) -> bool:
        """Compute; count how many do so at once."""
        with self._lock:
            self.going += 1
            self.most = max(self.most, self.going)
        self.may_end.wait()
        with self._lock:
            self.going -= 1
        return True

    def check_needs_rehash(self, _hash: str) -> bool:
        """Need no other hash."""
        return False


def test_sign_in_when_many_ask_at_once_then_few_are_hashed_and_readers_do_not_wait(
    anybody: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    few(monkeypatch, 1_000)
    slow = Slow()
    monkeypatch.setattr(passwords, "hasher", slow)
    wrong = {"account": "nobody", "password": PASSWORD}
    with ThreadPoolExecutor(60) as pool:
        asked = [pool.submit(anybody.post, "/session", json=wrong) for _ in range(60)]
        admitted = passwords.AT_ONCE + passwords.WAITING
        wait_for(lambda: sum(one.done() for one in asked) == 60 - admitted)
        refused = [one.result() for one in asked if one.done()]
        assert anybody.get("/rulesets").status_code == 200
        slow.may_end.set()
    assert {(one.status_code, one.headers["retry-after"]) for one in refused} == {(429, "2")}
    assert [one.result().status_code for one in asked].count(403) == admitted
    assert slow.most == passwords.AT_ONCE


def test_password_when_whoever_asks_can_have_one_hashed_then_that_counts_as_a_sign_in(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[str] = []

    def counted(compute: Callable[..., object]) -> Callable[..., object]:
        def count(*values: object) -> object:
            hashed.append("")
            return compute(*values)

        return count

    class Counting:
        verify = staticmethod(counted(passwords.hasher.verify))
        hash = staticmethod(counted(passwords.hasher.hash))
        check_needs_rehash = staticmethod(passwords.hasher.check_needs_rehash)

    monkeypatch.setattr(passwords, "hasher", Counting)
    found = {}
    for name, line in ROUTES.items():
        method, path = name.split()
        if method != "GET" and line.scope != "operate":
            hashed.clear()
            arena.ask(method, line, Caller.AUTHOR)
            if hashed:
                found[f"{PREFIX}{path}"] = len(hashed)
    once = dict.fromkeys([f"{PREFIX}/accounts", f"{PREFIX}/session", f"{PREFIX}/password-reset"], 1)
    assert found == {**once, f"{PREFIX}/me/password": 2}
    pages = {"/sign-in", "/sign-up", "/me/password", "/reset-password"}
    assert {*found, *pages} == {*limits.SIGNING_IN}


def test_sign_up_when_the_invitation_is_wrong_then_nothing_is_hashed(
    storage: Storage, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passwords, "hasher", None)
    with pytest.raises(SpecError, match="unknown, used or expired"):
        sign_up(storage, "ann", PASSWORD, clock(), "bt_invitation_guessed", open_to_all=False)


UNKNOWN = json.dumps({f"nam{number}": 1 for number in range(1_000)}).encode()
"""As many keys as a stranger may send, which are all like one that there is."""


class Matcher(SequenceMatcher[str]):
    """A matcher of texts that counts how often it was used in earnest."""

    closely = 0

    def ratio(self) -> float:
        """Compare closely."""
        Matcher.closely += 1
        return super().ratio()


def work_of(ask: Callable[[], Response]) -> tuple[Response, int, int]:
    """Return an answer, how many names were compared closely for it, and the most bytes that it took."""
    Matcher.closely = 0
    tracemalloc.start()
    try:
        return ask(), Matcher.closely, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


MOST_COMPARED = MOST_PROBLEMS * COMPARED
MOST_MEMORY = 8 << 20


@pytest.mark.parametrize("path", [path for path in CHANGES if path.startswith(PREFIX)])
def test_open_route_when_all_keys_are_unknown_then_the_work_is_bounded_and_few_are_told(
    anybody: TestClient, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validation, "SequenceMatcher", Matcher)
    assert len(UNKNOWN) < limits.STRANGERS_BODY
    url = f"https://arena.test{path}"
    anybody.post(url, content=UNKNOWN, headers=JSON)  # what is made once
    refused, compared, memory = work_of(lambda: anybody.post(url, content=UNKNOWN, headers=JSON))
    problems = refused.json()["problems"]
    assert (refused.status_code, len(problems)) == (422, MOST_PROBLEMS + 1)
    assert problems[-1]["field"] == "further problems"
    assert (compared <= MOST_COMPARED, memory <= MOST_MEMORY) == (True, True)


@pytest.mark.parametrize("name", [name for name, line in {**ROUTES}.items() if line.scope is None])
def test_open_route_when_all_parameters_are_unknown_then_the_work_is_bounded_and_few_are_told(
    anybody: TestClient, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validation, "SequenceMatcher", Matcher)
    method, path = name.split()[0], ROUTES[name].path.partition("?")[0]
    query = "&".join(f"limi{number}=1" for number in range(5_000))
    body = ROUTES[name].body
    refused, compared, memory = work_of(lambda: anybody.request(method, f"{path}?{query}", json=body))
    assert (refused.status_code, len(refused.json()["problems"])) == (422, MOST_PROBLEMS + 1)
    assert (compared <= MOST_COMPARED, memory <= MOST_MEMORY) == (True, True)


def test_bots_when_many_are_unknown_then_the_work_is_bounded_and_few_are_told(
    anybody: TestClient, storage: Storage, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validation, "SequenceMatcher", Matcher)
    for number in range(20):
        register_version(storage, ROOT, f"ann/bot-{number}", clock())
    query = "&".join(f"bot=ann/bot-{number}x" for number in range(1_000))
    refused, compared, _ = work_of(lambda: anybody.get(f"/crosstable?{query}"))
    assert refused.status_code in (404, 422)
    assert compared <= HINTED * COMPARED
    assert len(refused.json()["reasons"]) <= MOST_PROBLEMS + 1
    assert len(refused.content) < 8_000

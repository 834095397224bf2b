"""Requests with an idempotency key: executed once, however often they are sent."""

from base64 import b64decode
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlmodel import select

from arena.errors import StateError, StorageError
from arena.people import answers
from arena.people.answers import RepeatableRequest
from arena.store.models import KeptAnswer
from arena.store.storage import Storage
from arena.web import idempotency
from arena.web.routing import PREFIX
from tests.arena.fakes import Clock
from tests.arena.web.conftest import PASSWORD, Ask
from tests.waiting import DEADLINE, wait_for

KEY = {"Idempotency-Key": "0f8fad5b-d9cb-469f-a165-70867728950e"}
LAPTOP = {"name": "laptop", "scopes": ["read"]}


def test_request_when_it_is_sent_again_then_it_is_done_once_and_answered_the_same(client_of: Ask) -> None:
    client = client_of("ann")
    first, again = (client.post("/me/keys", json=LAPTOP, headers=KEY) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.content == first.content
    assert again.headers["content-type"] == first.headers["content-type"]
    assert ("idempotency-replayed" in first.headers, again.headers["idempotency-replayed"]) == (False, "true")
    assert [one["name"] for one in client.get("/me/keys").json()["keys"]] == ["laptop", "test"]


def test_refusal_when_the_request_is_sent_again_then_it_is_refused_the_same(client_of: Ask) -> None:
    client = client_of("ann")
    sent = {"name": "test", "scopes": ["read"]}
    first, again = (client.post("/me/keys", json=sent, headers=KEY) for _ in range(2))
    assert (first.status_code, again.status_code, again.content) == (409, 409, first.content)


def test_key_when_another_request_has_it_then_that_is_refused(client_of: Ask) -> None:
    client = client_of("ann")
    client.post("/me/keys", json=LAPTOP, headers=KEY)
    for other in (
        client.post("/me/keys", json={**LAPTOP, "name": "phone"}, headers=KEY),
        client.post("/owners", json=LAPTOP, headers=KEY),
    ):
        assert (other.status_code, other.json()["problems"][0]["field"]) == (422, "Idempotency-Key")


def test_key_when_two_accounts_have_the_same_then_each_gets_its_own_answer(client_of: Ask) -> None:
    ann, bob = client_of("ann"), client_of("bob")
    keys = {client.post("/me/keys", json=LAPTOP, headers=KEY).json()["key"] for client in (ann, bob)}
    assert len(keys) == 2


def test_browser_when_it_sends_a_request_again_then_it_is_done_once(anybody: TestClient) -> None:
    for _ in range(2):  # nobody is signed in, and nothing is kept
        anybody.post("/accounts", json={"account": "ann", "password": PASSWORD}, headers=KEY)
    anybody.post("/session", json={"account": "ann", "password": PASSWORD})
    first, again = (anybody.post("/owners", json={"owner": "team"}, headers=KEY) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201)


def test_nobody_when_it_sends_a_key_then_nothing_is_kept(anybody: TestClient, storage: Storage) -> None:
    sent = {"account": "ann", "password": PASSWORD}
    answered = [anybody.post("/accounts", json=sent, headers=KEY).status_code for _ in range(2)]
    assert answered == [201, 409]
    wrong = {**KEY, "Authorization": "Bearer bt_key_wrong"}
    assert anybody.post("/me/keys", json=LAPTOP, headers=wrong).status_code == 401
    with storage.read() as tx:
        assert tx.exec(select(KeptAnswer)).all() == []


@pytest.mark.parametrize("key", ["", "x" * 201, "a\tb"])
def test_key_when_it_is_none_then_the_request_is_refused(client_of: Ask, key: str) -> None:
    refused = client_of("ann").post("/me/keys", json=LAPTOP, headers={"Idempotency-Key": key})
    assert (refused.status_code, refused.json()["problems"][0]["field"]) == (422, "Idempotency-Key")


def test_answer_when_it_is_stored_then_its_token_is_not_to_be_read(client_of: Ask, storage: Storage) -> None:
    key = client_of("ann").post("/me/keys", json=LAPTOP, headers=KEY).json()["key"]
    with storage.read() as tx:
        [row] = tx.exec(select(KeptAnswer)).all()
    assert row.status == 201
    assert key not in str(row)
    assert KEY["Idempotency-Key"] not in str(row)
    assert row.sealed is not None
    assert b"laptop" not in b64decode(row.sealed)


def test_key_that_was_revoked_when_it_asks_again_then_it_gets_no_answer(client_of: Ask) -> None:
    client = client_of("ann")
    client.post("/me/keys", json=LAPTOP, headers=KEY)
    client.delete("/me/keys/test")
    assert client.post("/me/keys", json=LAPTOP, headers=KEY).status_code == 401


def test_answer_when_a_day_is_over_then_it_is_kept_no_longer(client_of: Ask, clock: Clock) -> None:
    client = client_of("ann")
    client.post("/me/keys", json=LAPTOP, headers=KEY)
    clock.move(answers.KEPT.total_seconds())
    assert client.post("/me/keys", json=LAPTOP, headers=KEY).status_code == 409
    assert client.post("/me/keys", json={**LAPTOP, "name": "phone"}, headers=KEY).status_code == 422


def test_requests_when_two_come_at_the_same_moment_then_one_is_done(storage: Storage, clock: Clock) -> None:
    once, barrier = RepeatableRequest(b"secret", b"request"), Barrier(8)

    def ask() -> str:
        barrier.wait(30)
        try:
            return "worked on" if answers.begin(storage, once, clock()) is None else "answered"
        except StateError:
            return "refused"

    with ThreadPoolExecutor(8) as pool:
        found = sorted(one.result() for one in [pool.submit(ask) for _ in range(8)])
    assert found == ["refused"] * 7 + ["worked on"]


def test_request_when_the_first_is_still_worked_on_then_it_has_to_wait(app: FastAPI, client_of: Ask) -> None:
    begun, go_on = Event(), Event()

    def slow() -> dict[str, str]:
        begun.set()
        assert go_on.wait(30)
        return {"done": "once"}

    app.add_api_route(f"{PREFIX}/slow", slow, methods=["POST"])
    client = client_of("ann")
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(client.post, "/slow", headers=KEY)
        assert begun.wait(30)
        meanwhile = client.post("/slow", headers=KEY)
        go_on.set()
        assert first.result(30).json() == {"done": "once"}
    assert (meanwhile.status_code, meanwhile.json()["type"]) == (409, "/problems/not-now")
    assert client.post("/slow", headers=KEY).json() == {"done": "once"}


def test_request_when_it_takes_long_then_it_is_still_worked_on_and_done_once(
    app: FastAPI, client_of: Ask, clock: Clock, storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idempotency, "HOLD_SECONDS", 0.01)
    begun, go_on = Event(), Event()

    def slow() -> dict[str, str]:
        begun.set()
        assert go_on.wait(DEADLINE)
        return {"done": "once"}

    def is_held() -> bool:
        with storage.read() as tx:
            until = tx.exec(select(KeptAnswer.held_until)).one()
        return until is not None and until > clock()

    app.add_api_route(f"{PREFIX}/slow", slow, methods=["POST"])
    client = client_of("ann")
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(client.post, "/slow", headers=KEY)
        assert begun.wait(DEADLINE)
        for _ in range(3):
            clock.move(answers.HELD.total_seconds())
            wait_for(is_held)
            assert "being processed" in client.post("/slow", headers=KEY).json()["detail"]
        go_on.set()
        assert first.result(DEADLINE).json() == {"done": "once"}
    assert client.post("/slow", headers=KEY).headers["idempotency-replayed"] == "true"


@pytest.mark.parametrize("seconds", [answers.HELD.total_seconds(), -86_400])
def test_request_when_the_arena_broke_off_within_then_it_is_never_done_again(
    app: FastAPI, client_of: Ask, clock: Clock, seconds: float
) -> None:
    calls = []

    def stop() -> None:
        calls.append("done")
        raise RuntimeError("the disk is gone before the answer is kept")

    app.add_api_route(f"{PREFIX}/stop", stop, methods=["POST"])
    client = client_of("ann")
    assert client.post("/stop", headers=KEY).status_code == 500
    assert "being processed" in client.post("/stop", headers=KEY).json()["detail"]
    clock.move(seconds)
    again = client.post("/stop", headers=KEY)
    assert (again.status_code, calls) == (409, ["done"])
    assert "check whether the request took effect" in again.json()["detail"]


def test_request_when_it_could_not_be_done_then_it_can_be_sent_again(app: FastAPI, client_of: Ask) -> None:
    raised: list[Exception] = [StorageError("database: it is away")]

    def away() -> dict[str, str]:
        if raised:
            raise raised.pop()
        return {"done": "once"}

    app.add_api_route(f"{PREFIX}/away", away, methods=["POST"])
    client = client_of("ann")
    answered = [client.post("/away", headers=KEY).status_code for _ in range(2)]
    assert answered == [503, 200]

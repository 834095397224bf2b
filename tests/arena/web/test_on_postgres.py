"""The API over PostgreSQL: signing up, playing, pages, simultaneous requests, and event streams."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from threading import Barrier

import httpx2
import pytest
from fastapi import FastAPI

from arena.actors import Role
from arena.errors import SpecError, StateError
from arena.host.settings import load_settings
from arena.people import accounts
from arena.store.models import utc_now
from arena.store.storage import Storage, open_storage
from arena.web.app import make_app
from arena.web.feeds import Feeds
from arena.web.routing import PREFIX
from tests.arena.everywhere import all_connected
from tests.arena.fakes import ROOT
from tests.arena.servers import Postgres
from tests.arena.web.conftest import PASSWORD
from tests.arena.web.served import served, url_of
from tests.arena.web.test_events import told_in
from tests.waiting import DEADLINE

BOTS = [f"ann/bot-{number}" for number in range(5)]
CUP = {"name": "cup", "format": "swiss", "ruleset": "chinese", "rounds": 2, "allow_same_owner": True}


@pytest.fixture
def storage(tmp_path: Path, postgres: Postgres) -> Iterator[Storage]:
    """Open an empty arena on PostgreSQL."""
    url = postgres.create_migrated("web")
    with open_storage(load_settings({"data": tmp_path / "arena", "database_url": url})) as storage:
        yield storage


@pytest.fixture
def app(storage: Storage, tmp_path: Path) -> FastAPI:
    """Return the arena's application, to which every bot appears to be connected."""
    app = make_app(load_settings({"data": tmp_path / "arena", "sign_up": "open"}), storage)
    feeds = Feeds(storage, 0.02)
    app.state.web = replace(app.state.web, ask=all_connected, wake=lambda _: None, feeds=feeds)
    return app


def test_arena_when_it_is_on_postgresql_then_people_join_it_and_follow_what_is_played(
    app: FastAPI, storage: Storage
) -> None:
    accounts.create_account(storage, ROOT, "ora", Role.ORGANISER, utc_now(), PASSWORD)
    with ExitStack() as stack:
        url = f"{url_of(stack.enter_context(served(app)))}{PREFIX}"
        ann, ora = (stack.enter_context(httpx2.Client(base_url=url, timeout=DEADLINE)) for _ in range(2))
        sign_in(ann, "ann")
        sign_in(ora, "ora")
        register_at_once(ann)
        assert bots_by_pages(ann) == [f"{bot}@1" for bot in reversed(BOTS)]

        for bot in BOTS[:4]:
            assert ann.patch(f"/bots/{bot}", json={"open_to": ["ora"]}).json()["open_to"] == ["ora"]
        created = ora.post("/tournaments", json={**CUP, "entrants": BOTS[:4]})
        assert (created.status_code, created.json()["state"]) == (201, "created")
        again = ora.post("/tournaments", json={**CUP, "entrants": BOTS[:4]})
        assert (again.status_code, again.json()["type"]) == (409, "/problems/taken")
        entered = ann.post("/tournaments/cup/entrants", json={"bot": BOTS[4]})
        assert (entered.status_code, entered.json()["first_round"]) == (201, 1)
        assert ora.post("/tournaments/cup/start").json()["state"] == "running"

        with httpx2.stream("GET", f"{url}/tournaments/cup/events", timeout=DEADLINE) as answer:
            told = told_in(answer.iter_lines())
            assert next(told)[2]["state"] == "running"
            assert next(told)[2]["event"] == "started"
            assert ora.post("/tournaments/cup/cancel").json()["state"] == "cancelled"
            assert [kind for kind, *_ in told] == ["status", "event", "end"]
        assert ann.get("/tournaments/cup/standings").json()["tournament"] == "cup"


def sign_in(client: httpx2.Client, name: str) -> None:
    """Sign in, with a new account if there is none yet."""
    sent = {"account": name, "password": PASSWORD}
    client.post("/accounts", json=sent)
    assert client.post("/session", json=sent).status_code == 200


def register_at_once(ann: httpx2.Client) -> None:
    """Register bots, each with two simultaneous requests under one key."""
    barrier = Barrier(2)

    def register(bot: str) -> int:
        barrier.wait(DEADLINE)
        return ann.post("/bots", json={"bot": bot}, headers={"Idempotency-Key": bot}).status_code

    with ThreadPoolExecutor(2) as pool:
        for bot in BOTS:
            first, second = [one.result() for one in [pool.submit(register, bot) for _ in range(2)]]
            assert 201 in (first, second)
            assert {first, second} <= {201, 409}  # the second came during the first, or afterwards


def bots_by_pages(client: httpx2.Client) -> list[str]:
    """Return all bots, read two per page."""
    found: list[str] = []
    page = client.get("/bots?limit=2").json()
    while True:
        found += [one["bot"] for one in page["bots"]]
        if page["next"] is None:
            return found
        page = client.get("/bots", params={"limit": 2, "cursor": page["next"]}).json()


def test_reset_when_several_links_are_made_at_once_then_one_works_and_once(storage: Storage) -> None:
    accounts.create_account(storage, ROOT, "ann", Role.AUTHOR, utc_now(), PASSWORD)
    barrier = Barrier(4)

    def offer(_: int) -> str:
        barrier.wait()
        with suppress(StateError):
            return accounts.offer_reset(storage, ROOT, "ann", utc_now(), "").code
        return "refused"

    def use(code: str) -> bool:
        barrier.wait()
        with suppress(SpecError):
            accounts.use_reset(storage, code, f"new {code}", utc_now())
            return True
        return False

    with ThreadPoolExecutor(4) as threads:
        codes = [*threads.map(offer, range(4))]
        [code] = [code for code in codes if _is_good(storage, code)]
        assert [*threads.map(use, [code] * 4)].count(True) == 1
    assert not _is_good(storage, code)


def _is_good(storage: Storage, code: str) -> bool:
    with suppress(SpecError):
        return accounts.check_reset(storage, code, utc_now()) == "ann"
    return False

"""``arena web`` ends under load, warned or not, and restarts: nothing is half done, done twice or lost."""

import json
import signal
import ssl
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import httpx2
import pytest
from sqlmodel import select

from arena.bots import versions
from arena.cli.local import arena_command
from arena.client import Client
from arena.core.specs import make_spec
from arena.errors import Unreachable
from arena.host.processes import Supervisor
from arena.play.rounds import planning
from arena.store.models import Match, utc_now
from arena.store.storage import Storage
from arena.tournaments import creation, lifecycle
from arena.tournaments.overview import TournamentStatus
from arena.tournaments.referees import nobody_asked
from arena.trust.verify import check_export
from tests.arena.calm import attempts_of
from tests.arena.client.conftest import make_key
from tests.arena.fakes import ROOT, listed_versions
from tests.arena.ports import free_address
from tests.arena.running import RunningArena, running_arena
from tests.arena.servers import Server
from tests.waiting import DEADLINE, wait_for

BOTS = {f"owner-{number}/bot": "greedy.py" for number in range(4)}
ENDINGS = (signal.SIGKILL, signal.SIGTERM)
POSTS = READS = 4
"""Requests of each kind under way when the process ends."""
PATHS = (
    "/",
    "/api/v1/leaderboard",
    "/api/v1/tournaments/cup",
    "/matches",
)
CUP = {"format": "round-robin", "ruleset": "chinese", "rounds": 3, "sessions": 20, "deals": 2}
LOST = httpx2.RequestError
UNUSED_TLS = ssl.create_default_context()
"""Made only once, since a client without one reads all certificates of the system for each request."""


class Served(NamedTuple):
    """An arena whose API runs in a process of its own."""

    arena: RunningArena
    web: Server
    url: str
    key: str


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """Run an arena that plays a cup and has another tournament, whose bots are absent."""
    address = free_address()
    with running_arena(tmp_path / "arena", BOTS) as arena:
        key = make_key(arena.storage, "ann")
        absent(arena.storage)
        environment = arena.settings.environment() | {"ARENA_WEB_LISTEN": address}
        with Supervisor(tmp_path / "log", environment) as supervisor:
            supervisor.start("web", arena_command("web"))
            url = f"http://{address}"
            yield Served(arena, Server(supervisor, "web", lambda: answers(url)), url, key)


def absent(storage: Storage) -> None:
    """Start a tournament whose bots are absent."""
    bots = [f"absent-{number}/bot" for number in range(4)]
    for bot in bots:
        versions.register_version(storage, ROOT, bot, utc_now())
    creation.create(storage, ROOT, make_spec(CUP | {"name": "held", "entrants": bots}), utc_now())
    lifecycle.start(storage, ROOT, "held", utc_now(), nobody_asked)


def answers(url: str) -> bool:
    """Return whether the API answers."""
    try:
        return httpx2.get(f"{url}/api/v1/leaderboard", verify=UNUSED_TLS).status_code == 200
    except LOST:
        return False


def stubbornly(ask: Callable[[], httpx2.Response]) -> httpx2.Response:
    """Ask until there is an answer."""
    found: list[httpx2.Response] = []

    def answered() -> bool:
        try:
            found.append(ask())
        except LOST:
            return False
        return found[-1].status_code != 503

    wait_for(answered)
    return found[-1]


def register(served: Served, bot: str, sent: threading.Event) -> int:
    """Register a bot, with the same key until there is an answer; return its status."""
    headers = {"Authorization": f"Bearer {served.key}", "Idempotency-Key": str(uuid4())}

    def ask() -> httpx2.Response:
        sent.set()
        url = f"{served.url}/api/v1/bots"
        return httpx2.post(url, json={"bot": bot}, headers=headers, timeout=DEADLINE, verify=UNUSED_TLS)

    return stubbornly(ask).status_code


def fetch(served: Served, path: str, sent: threading.Event) -> str:
    """Ask for something until there is an answer, and return that."""
    sent.set()
    answer = stubbornly(lambda: httpx2.get(served.url + path, timeout=DEADLINE, verify=UNUSED_TLS))
    assert answer.status_code == 200
    return answer.text


def export(served: Served) -> None:
    """Export the cup until an export is complete."""
    lines: list[str] = []

    def complete() -> bool:
        try:
            with Client(served.url, timeout=DEADLINE) as client:
                lines[:] = client.export("cup")
        except Unreachable:
            return False
        return True

    wait_for(complete)
    assert json.loads(lines[-1])["part"] == "end"


def follow(served: Served) -> list[int]:
    """Follow the tournament whose bots are absent to its end; return the numbers of its events."""
    numbers: list[int] = []

    def ended() -> bool:
        try:
            with Client(served.url) as client:
                events = client.follow("held", numbers[-1] if numbers else 0)
                numbers.extend(one["number"] for one in events if not isinstance(one, TournamentStatus))
        except Unreachable:  # the process takes long to come back
            return False
        return True

    wait_for(ended)
    return numbers


def end_under_load(served: Served, pool: ThreadPoolExecutor, number: int) -> list[int]:
    """End the process while all sorts of requests are under way; return the statuses of the registrations."""
    sent = [threading.Event() for _ in range(POSTS + READS)]
    posts = [pool.submit(register, served, f"ann/bot-{number}-{at}", sent[at]) for at in range(POSTS)]
    reads = [pool.submit(fetch, served, PATHS[at], sent[POSTS + at]) for at in range(READS)]
    exported = pool.submit(export, served)
    for one in sent:
        assert one.wait(DEADLINE)
    wait(posts, DEADLINE, FIRST_COMPLETED)  # the others are still under way
    served.web.end(ENDINGS[number])
    served.web.wait()
    asked: list[Future[Any]] = [*reads, exported]
    for future in asked:
        future.result(DEADLINE)
    return [post.result(DEADLINE) for post in posts]


def test_web_when_it_ends_under_load_then_it_goes_on_where_it_was_and_the_tournament_never_notices(
    served: Served,
) -> None:
    arena, storage = served.arena, served.arena.storage
    served.web.wait()
    arena.start_tournament("cup", bytes(32), entrants=list(BOTS), **CUP)
    with ThreadPoolExecutor(POSTS + READS + 4) as pool:
        following = pool.submit(follow, served)
        arena.wait("cup", lambda status: status.sessions_done > 0)
        for number in range(len(ENDINGS)):
            lifecycle.pause(storage, ROOT, "held", utc_now())
            statuses = end_under_load(served, pool, number)
            lifecycle.resume(storage, ROOT, "held", utc_now())
            assert {*statuses} <= {201, 409}  # it was done, or nobody knows whether it was
            made = {one.bot for one in listed_versions(storage, "ann")}
            assert made >= {f"ann/bot-{number}-{at}@1" for at, status in enumerate(statuses) if status == 201}
            assert not [name for name in made if not name.endswith("@1")]
        planning.cancel(storage, ROOT, "held", utc_now())
        assert following.result(DEADLINE) == list(range(1, 2 * len(ENDINGS) + 3))
        arena.wait("cup", lambda status: status.ended)
        with Client(served.url) as client:
            report = check_export(f"{line}\n".encode() for line in client.export("cup"))
    assert report.problem is None
    assert {one for attempts in attempts_of(storage).values() for one in attempts} == {1}
    with storage.read() as tx:
        assert {match.failures for match in tx.exec(select(Match))} == {0}

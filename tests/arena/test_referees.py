"""Several referees: which of them gets a match, and what happens when one of them stops."""

import asyncio
import json
import re
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from arena.bots import versions
from arena.bots.journal import kinds_of, read_log
from arena.core.specs import make_spec
from arena.host.settings import load_settings
from arena.play.choosing import REST_SECONDS, Referees, Rests, best_referee, preference
from arena.queries.leaderboards import leaderboard
from arena.queries.scoreboard import standings
from arena.results.luck.references import weigh_due
from arena.store.models import ArenaKey, utc_now
from arena.store.storage import Storage
from arena.tournaments import creation, lifecycle, overview
from arena.tournaments.referees import Answer, ask_referees, nobody_asked
from arena.trust.exports.write import export_lines, export_records
from arena.trust.verify import check_export
from referee.errors import AttemptsBegun, RefereeUnavailable
from referee.matches.journal import LogQuery
from referee.matches.match import Presence
from referee.net.client import KeptChannels, RefereeStatus
from referee.service.begun import BegunAttempts
from referee.service.server import ServerOptions
from tests.arena.calm import attempts_of, forget_begun, in_attempts, play_all
from tests.arena.databases import open_new
from tests.arena.fakes import LOCKED, ROOT
from tests.arena.given_keys import give_keys
from tests.arena.ports import deaf_address, free_address
from tests.arena.running import RunningArena, running_arena
from tests.arena.servers import LOOPBACK, Proxy
from tests.arena.test_settings import TLS
from tests.arena.unwritable import run_with_small_disk
from tests.referee.support import WORKER_TOKEN, WireBot, match_spec, referee, timeless
from tests.waiting import DEADLINE, wait_for

HERE = Presence(connected=True, max_sessions=4, sessions=0)
FULL = Presence(connected=True, max_sessions=0, sessions=0)
AWAY = Presence(connected=False, max_sessions=0, sessions=0)


async def test_match_when_another_referee_has_begun_an_attempt_of_it_then_nobody_is_asked_to_play_it(
    tmp_path: Path,
) -> None:
    spec = match_spec()
    with BegunAttempts(tmp_path / "here.db") as here, BegunAttempts(tmp_path / "there.db") as there:
        here.begin(replace(spec, sessions=(replace(spec.sessions[0], attempt=2),)).attempts.values())
        async with (
            referee(options=ServerOptions(drain_seconds=0, begun=here)) as first,
            referee(options=ServerOptions(drain_seconds=0, begun=there)) as second,
        ):
            referees = workers_referees(tmp_path, first, second)

            def choose(attempt: int) -> str:
                session = replace(spec.sessions[0], attempt=attempt)
                return referees.choose(1, replace(spec, sessions=(session,)))

            assert await asyncio.to_thread(choose, 3) == second
            referees._refusing.failed(first, time.monotonic())  # it is left alone, but still asked
            for attempt in (1, 2, 2):
                with pytest.raises(AttemptsBegun, match=f"referee {first} has begun attempt 2 before"):
                    await asyncio.to_thread(choose, attempt)
            assert [await asyncio.to_thread(choose, 3) for _ in range(2)] == [second, second]


def workers_referees(folder: Path, *addresses: str, clock: Callable[[], float] = time.monotonic) -> Referees:
    """Return the referees at these addresses as a worker sees them."""
    values = {"data": folder, "worker_token": WORKER_TOKEN, "referees": addresses}
    return Referees(load_settings(values), clock)


def status(*bots: Presence, sessions: int = 0, draining: bool = False, not_ready: str = "") -> RefereeStatus:
    return RefereeStatus(draining, 0, sessions, 0, 0, bots, not_ready=not_ready)


def test_preference_when_referees_differ_then_bots_count_before_load() -> None:
    best_first = [
        status(HERE, HERE, sessions=50),
        status(HERE, HERE, sessions=90),
        status(HERE, FULL, sessions=1),
        status(HERE, AWAY, sessions=0),
        status(HERE, AWAY, sessions=7),
        status(AWAY, AWAY, sessions=0),
    ]
    assert sorted(best_first, key=preference) == best_first
    assert len({preference(one) for one in best_first}) == len(best_first)


def best_among(answers: dict[str, RefereeStatus | None], route: int = 0) -> str:
    """Return which referee is chosen if they report these statuses; None means no answer."""
    told = [Answer(address, said, "" if said else "does not answer") for address, said in answers.items()]
    return best_referee(told, route)


def test_choice_when_one_drains_or_is_away_then_it_is_left_out() -> None:
    busy = status(AWAY, sessions=9)
    for route in range(3):
        drains, full = status(HERE, draining=True), status(HERE, not_ready="full disk")
        assert best_among({"a:1": drains, "b:1": busy, "c:1": None, "d:1": full}, route) == "b:1"
    why = "referee a:1 is shutting down; referee c:1 does not answer; referee d:1 takes no match: full disk"
    with pytest.raises(RefereeUnavailable, match=f"^{why}$"):
        best_among({"a:1": drains, "c:1": None, "d:1": full})


def test_choice_when_referees_are_alike_then_the_route_decides() -> None:
    answers: dict[str, RefereeStatus | None] = {f"{name}:1": status(HERE) for name in "abc"}
    assert [best_among(answers, route) for route in range(4)] == ["a:1", "b:1", "c:1", "a:1"]


async def choose(referees: Referees, route: int) -> str:
    return await asyncio.to_thread(referees.choose, route, match_spec())


async def test_choice_when_asked_over_the_wire_then_it_is_where_the_bots_are(tmp_path: Path) -> None:
    with deaf_address() as nobody:
        async with referee() as first, referee() as second:
            referees = workers_referees(tmp_path, nobody, first, second)
            assert [await choose(referees, route) for route in (1, 2)] == [first, second]
            async with WireBot(second, 1, max_sessions=1):
                assert {await choose(referees, route) for route in range(3)} == {second}
        why = f"referee {nobody} .*; referee {first} cannot be reached: nothing listens there; "
        with pytest.raises(RefereeUnavailable, match=why):
            await choose(referees, 0)


async def test_asking_when_it_is_done_again_then_the_connection_is_kept_until_it_breaks() -> None:
    async with referee() as address:
        with Proxy(int(address.rpartition(":")[2])) as proxy:
            through = f"{LOOPBACK}:{proxy.port}"
            kept = KeptChannels(None)

            def ask() -> list[bool]:
                """Return whether there was an answer: before a cut, during it, and after it."""
                asked = partial(ask_referees, [through], WORKER_TOKEN, [1], channels=kept, timeout=DEADLINE)
                answers = [*asked(), *asked(), *asked()]
                proxy.cut()
                answers += asked()
                proxy.restore()
                return [answer.status is not None for answer in (*answers, *asked())]

            assert await asyncio.to_thread(ask) == [True, True, True, False, True]
            assert proxy.cuts == 1


def test_referee_when_its_disk_is_full_then_it_says_so_and_gets_matches_again_once_there_is_room(
    tmp_path: Path,
) -> None:
    full = "cannot note the attempts that it begins: database or disk is full"
    met = [json.loads(line) for line in run_with_small_disk("tests.arena.full_disk", tmp_path)]
    assert met == [[1, 2], f"match_stopped: {full}", full, [2, 2], [2, 2], [1, 2], ""]


def test_rests_when_an_address_fails_again_then_it_is_left_alone_for_longer() -> None:
    now = 100.0
    rests = Rests(lambda: now)
    both = ["a:1", "b:1"]
    for seconds in (*REST_SECONDS, REST_SECONDS[-1]):
        assert rests.take_due(both) == both
        rests.failed("a:1", now)
        rests.failed("a:1", now - 1)  # another thread's, of the same failure
        now += seconds - 0.5
        assert rests.take_due(both) == ["b:1"]
        now += 0.5
    assert rests.take_due(both) == both
    assert rests.take_due(both) == ["b:1"]  # one thread tries it
    rests.succeeded("a:1")
    assert rests.take_due(both) == both
    rests.failed("a:1", now)
    now += REST_SECONDS[0]
    assert rests.take_due(both) == both


async def test_choice_when_one_is_silent_then_it_is_asked_again_only_after_a_while(tmp_path: Path) -> None:
    now = 0.0
    async with referee() as first, referee() as second:
        with Proxy(int(first.rpartition(":")[2])) as proxy:
            through = f"{LOOPBACK}:{proxy.port}"
            referees = workers_referees(tmp_path, through, second, clock=lambda: now)
            assert await choose(referees, 0) == through
            proxy.cut()
            assert [await choose(referees, route) for route in range(2)] == [second, second]
            proxy.restore()
            assert await choose(referees, 0) == second  # it is not asked
            now += REST_SECONDS[0]
            assert await choose(referees, 0) == through


async def test_choice_when_the_only_one_that_can_play_is_left_alone_then_it_is_asked(tmp_path: Path) -> None:
    with deaf_address() as nobody:
        async with referee() as first:
            with Proxy(int(first.rpartition(":")[2])) as proxy:
                through = f"{LOOPBACK}:{proxy.port}"
                referees = workers_referees(tmp_path, nobody, through, clock=lambda: 0.0)
                proxy.cut()
                with pytest.raises(RefereeUnavailable):
                    await choose(referees, 0)
                proxy.restore()
                assert await choose(referees, 0) == through


BOTS = {
    "ann/greedy": "greedy.py",
    "bob/keeper": "keeper.py",
    "cy/pairs-first": "pairs_first.py",
    "dee/lowest": "lowest.py",
    "eve/greedy": "greedy.py",
    "fay/lowest": "lowest.py",
    "gus/keeper": "keeper.py",
    "hal/greedy": "greedy.py",
}
CUP = {
    "format": "round-robin",
    "rounds": 3,
    "ruleset": "chinese",
    "sessions": 6,
    "deals": 2,
    "decision_ms": 20_000,
    "entrants": list(BOTS),
}
SEED = bytes(range(32))
IDS = "r1,r2"


def played_by(arena: RunningArena, name: str) -> set[str]:
    """Return the matches that a local referee was given, according to its log."""
    log = (arena.settings.logs / f"{name}.log").read_text()
    return set(re.findall(r"match (\S+): \d+ sessions", log))


def outcome(storage: Storage) -> object:
    """Return everything that counts as the cup's result, whose export must be valid."""
    weigh_due(storage, utc_now, time.monotonic, seconds=60)  # what workers have not done yet
    report = check_export(line.encode() for line in export_lines(storage, "cup"))
    assert (report.problem, report.deals) == (None, 72)
    ratings = sorted((line.bot, line.rating) for line in leaderboard(storage).leaderboard)
    records = [timeless(json.loads(line)) for line in export_records(storage, "cup")]
    return standings(storage, "cup"), records, ratings


def calm(arena: RunningArena, folder: Path) -> object:
    """Play the cup again in a database of its own, with the running referee and bots; return the outcome."""
    attempts = attempts_of(arena.storage)
    forget_begun(arena.settings.data)
    referees = ",".join(arena.settings.referees)
    settings = load_settings({"data": folder, "referee_ids": IDS, "referees": referees})
    with open_new(settings) as storage:
        give_keys(settings, storage)
        with arena.storage.read() as tx, storage.write() as own:  # what the cards follow from
            key = tx.get_one(ArenaKey, ArenaKey.DECISIONS)
            own.merge(ArenaKey(name=key.name, key=key.key, since=key.since))
        for name in BOTS:  # in the same order, so that they have the numbers that the referee knows
            versions.register_version(storage, ROOT, name, utc_now())
        cup = creation.create(storage, ROOT, make_spec({"name": "cup"} | CUP), LOCKED, SEED)
        lifecycle.start(storage, ROOT, "cup", LOCKED, nobody_asked)
        run = in_attempts(arena.settings.listen, arena.settings.worker_secret(), attempts)
        play_all(storage, cup.id, run, lambda: overview.status(storage, "cup").ended)
        return outcome(storage)


def test_tournament_when_one_of_two_referees_drains_then_the_results_are_those_of_a_calm_run(
    tmp_path: Path,
) -> None:
    """Sessions in play when the referee is told to stop have time to end, so that nothing is played again."""
    address = free_address(2)
    settings = {"listen": address, "referees": "", "local_referees": 2, "drain_seconds": 60}
    settings["referee_ids"] = IDS  # with keys that are the same in both runs
    with running_arena(tmp_path / "stopped", BOTS, **settings) as arena:
        arena.start_tournament("cup", SEED, **CUP)
        arena.wait("cup", lambda status: status.sessions_done >= 6)
        arena.kill("referee1", signal.SIGTERM)
        cup = arena.wait("cup", lambda status: status.ended)
        assert (cup.state, cup.sessions_done) == ("finished", 36)
        assert played_by(arena, "referee1")
        assert played_by(arena, "referee2")
        log = arena.settings.logs / "referee1.log"
        wait_for(lambda: log.read_text().count("the referee listens on port") == 2)
        told = read_log(arena.storage, {1: "ann/greedy@1"}, LogQuery("", kinds_of("connection")))
        assert {one.referee for one in told if one.kind == "connected"} == {"r1", "r2"}
        assert {one.referee for one in told if one.kind == "lost"} == {"r1"}
        assert {number for attempts in attempts_of(arena.storage).values() for number in attempts} == {1}
        assert outcome(arena.storage) == calm(arena, tmp_path / "calm")


def test_tournament_when_everything_uses_tls_then_it_is_played(tmp_path: Path) -> None:
    tls = {
        "tls_certificate": TLS / "referee.pem",
        "tls_key": TLS / "referee.key",
        "tls_ca": TLS / "ca.pem",
        "tls_client_ca": TLS / "ca.pem",
        "tls_client_certificate": TLS / "worker.pem",
        "tls_client_key": TLS / "worker.key",
    }
    four = dict(list(BOTS.items())[:4])
    settings = {"listen": free_address(2), "referees": "", "local_referees": 2}
    with running_arena(tmp_path, four, **settings, **tls) as arena:
        small = {"entrants": list(four), "rounds": 1, "sessions": 2, "deals": 2}
        arena.start_tournament("cup", SEED, **(CUP | small))
        assert arena.wait("cup", lambda status: status.ended).state == "finished"
        for place in (1, 2):
            assert " with TLS" in (arena.settings.logs / f"referee{place}.log").read_text()


async def test_choice_when_a_match_names_other_bots_then_only_those_are_asked_about(tmp_path: Path) -> None:
    spec = match_spec()
    other = replace(spec, bots=spec.bots[2:])
    async with referee() as first, referee() as second, WireBot(first, 1), WireBot(second, 3):
        choice = await asyncio.to_thread(workers_referees(tmp_path, first, second).choose, 0, other)
    assert choice == second

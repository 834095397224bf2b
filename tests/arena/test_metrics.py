"""Metrics: what is counted, what the database says, and how it is published."""

import asyncio
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import grpc
import pytest
from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.parser import text_string_to_metric_families
from sqlmodel import select

from arena.cli.local import metrics_addresses
from arena.errors import SettingsError
from arena.host.settings import Settings, load_settings
from arena.play.matches.leases import claim
from arena.play.matches.playing import Run
from arena.play.metrics import CACHE_SECONDS, OUTCOMES, WORKER, DatabaseCollector, published
from arena.store.models import Session
from arena.store.schema import fingerprint
from arena.store.storage import Storage
from arena.store.watch import commit
from referee.errors import MatchRefused, RefereeUnavailable
from referee.matches.journal import Entry, EntryKind
from referee.native import build
from referee.service.metrics import PrometheusMeter, TimedContext
from referee.service.server import ServerOptions
from tests.arena.fakes import play_at_once
from tests.arena.ports import free_port, taken_address
from tests.arena.running import LATE_BOT, running_arena
from tests.arena.world import LEASE, World
from tests.referee.support import ListJournal, WireBot, referee
from tests.waiting import DEADLINE, wait_for

Numbers = dict[tuple[str, frozenset[tuple[str, str]]], float]


def number(numbers: Numbers, name: str, **labels: str) -> float:
    return numbers[name, frozenset(labels.items())]


def total(numbers: Numbers, name: str) -> float:
    """Return the sum of a metric over all labels."""
    return sum(value for (of, _), value in numbers.items() if of == name)


def scrape(address: str) -> Numbers:
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=DEADLINE) as response:
        families = text_string_to_metric_families(response.read().decode())
        return {(one.name, frozenset(one.labels.items())): one.value for of in families for one in of.samples}


def collected(*collectors: Any) -> Numbers:
    registry = CollectorRegistry()
    for collector in collectors:
        registry.register(collector)
    samples = [sample for family in registry.collect() for sample in family.samples]
    return {(one.name, frozenset(one.labels.items())): one.value for one in samples}


# A whole arena


def test_arena_when_a_tournament_was_played_then_all_processes_show_what_the_database_has(
    tmp_path: Path,
) -> None:
    bots = {
        "a/slow": LATE_BOT,
        "a/greedy": "greedy.py",
        "a/lowest": "lowest.py",
        "a/random": "random_bot.py",
    }
    first = free_port(3)
    listen = f"127.0.0.1:{first}"
    with running_arena(tmp_path / "arena", bots, metrics_listen=listen) as arena:
        strict = {"decision_ms": 5, "credit_ms": 0, "faults": 1000, "join_seconds": 60, "rated": False}
        fields = {"ruleset": "chinese", "format": "round-robin", "entrants": list(bots)}
        arena.start_tournament(
            "cup", bytes(32), sessions=4, deals=2, allow_same_owner=True, **fields, **strict
        )
        arena.wait("cup", lambda status: status.state == "finished")
        with arena.storage.read() as tx:
            sessions = tx.exec(select(Session)).all()
        faults = sum(sum(session.faults) for session in sessions)
        deals = sum(len(session.deal_points) for session in sessions)
        wait_for(  # the beat caches its metrics for some seconds
            lambda: number(scrape(f"127.0.0.1:{first + 2}"), "arena_tournaments", state="finished") == 1
        )
        referee_, worker, beat = (scrape(f"127.0.0.1:{first + place}") for place in range(3))

    assert faults > 0
    assert total(referee_, "referee_faults_total") == faults
    assert number(referee_, "referee_sessions_finished_total") == len(sessions) == 4
    assert number(referee_, "referee_deals_finished_total") == deals == 8
    assert number(referee_, "referee_matches_ended_total", outcome="done") == 1
    assert number(referee_, "referee_streams") == len(bots)
    assert number(referee_, "referee_sessions_open") == number(referee_, "referee_matches_running") == 0
    decisions = number(referee_, "referee_decisions_total")
    assert decisions >= number(referee_, "referee_decision_seconds_count") > 0
    assert number(referee_, "referee_messages_total", call="Play", direction="in") >= len(bots)
    assert number(referee_, "referee_message_bytes_total", call="Play", direction="out") > decisions
    assert number(referee_, "referee_round_trip_seconds", quantile="0.5") > 0

    assert number(worker, "arena_sessions_stored_total") == len(sessions)
    assert number(worker, "arena_store_seconds_count") == len(sessions)
    assert number(worker, "arena_matches_claimed_total") == 1
    assert number(worker, "arena_matches_ended_total", outcome="done") == 1
    assert number(worker, "arena_matches_in_hand") == 0

    assert number(beat, "arena_database_up") == 1
    assert number(beat, "arena_matches", state="done") == 1
    assert number(beat, "arena_queue_matches") == number(beat, "arena_leases_expired") == 0
    for numbers, process in ((referee_, "referee"), (worker, "worker"), (beat, "beat")):
        labels = {
            *(("process", process), ("version", "0.1.0"), ("commit", commit())),
            *(("build", build()), ("schema", fingerprint())),
        }
        assert ("arena_process_info", frozenset(labels)) in numbers


# Referee


async def test_referee_when_bots_come_and_are_refused_then_it_is_counted() -> None:
    meter, journal = PrometheusMeter(), ListJournal()
    options = ServerOptions(drain_seconds=0, journal=journal, meter=meter)
    async with referee(options=options) as address:
        async with WireBot(address, 1):
            with pytest.raises(grpc.aio.AioRpcError):
                async with WireBot(address, 1, token="nobody's"):
                    pass
            numbers = await asyncio.to_thread(collected, meter)
        assert number(numbers, "referee_up") == 1
        assert number(numbers, "referee_streams") == 1
        assert number(numbers, "referee_connections_total") == 1
        assert number(numbers, "referee_handshakes_refused_total", reason="token_unknown") == 1
        assert number(numbers, "referee_faults_total", kind="illegal") == 0
    assert [entry.kind for entry in journal.entries] == [EntryKind.CONNECTED, EntryKind.LOST]


async def test_referee_when_it_serves_no_more_then_only_that_is_shown() -> None:
    meter = PrometheusMeter()
    assert collected(meter) == {("referee_up", frozenset()): 0}
    loop = asyncio.new_event_loop()

    async def attach() -> None:
        async with referee(options=ServerOptions(drain_seconds=0, meter=meter)):
            pass

    await asyncio.to_thread(loop.run_until_complete, attach())
    loop.close()
    assert collected(meter) == {("referee_up", frozenset()): 0}


def test_journal_when_counted_then_entries_still_arrive() -> None:
    journal, meter = ListJournal(), PrometheusMeter()
    entry = Entry(1, EntryKind.FAULT, "timeout", "late")
    meter.over(journal).add(entry)
    assert journal.entries == [entry]
    numbers = collected(meter.counts)
    assert number(numbers, "referee_faults_total", kind="timeout") == 1
    assert total(numbers, "referee_faults_total") == 1


class Pipe:
    """A call's context, in which reading and writing take no time."""

    async def read(self) -> str:
        return "moves"

    async def write(self, message: object) -> None:
        pass


class Ticks:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def observed(seconds: Histogram) -> tuple[list[float], float]:
    """Return how many values there are up to each bound, and the sum of all values."""
    samples = [sample for family in seconds.collect() for sample in family.samples]
    below = [sample.value for sample in samples if sample.name == "s_bucket"]
    return below, next(sample.value for sample in samples if sample.name == "s_sum")


async def test_timing_when_one_session_is_played_then_each_decision_is_measured() -> None:
    clock, owed, seconds = Ticks(), set[int](), Histogram("s", "t", buckets=(1.0, 2.0, 4.0), registry=None)
    context = TimedContext(Pipe(), owed, seconds, clock)
    for took in (0.5, 1.5, 3.0, 5.0):
        owed.add(7)
        await context.write(b"turn")
        clock.now += took
        await context.read()
        owed.discard(7)
        await context.read()
        clock.now += 10  # nobody is thinking between the decisions
    assert observed(seconds) == ([1, 2, 3, 4], 10.0)


async def test_timing_when_a_turn_was_sent_before_then_it_is_not_taken_for_a_new_one() -> None:
    clock, owed, seconds = Ticks(), set[int](), Histogram("s", "t", buckets=(1.0, 2.0, 4.0), registry=None)
    context = TimedContext(Pipe(), owed, seconds, clock)
    owed |= {1}
    await context.write(b"turn of 1")
    owed |= {2}
    await context.write(b"turn of 2, while 1 is timed")
    clock.now = 1.5
    await context.read()
    owed.discard(1)
    await context.read()
    await context.write(b"no turn")  # nobody knows how long 2 has been owed
    clock.now = 100.0
    owed.discard(2)
    await context.write(b"fault of 2")
    assert observed(seconds) == ([0, 1, 1, 1], 1.5)


# Worker


def refusing(error: Exception) -> Run:
    def run(*_: object) -> Iterator[Any]:
        yield from ()
        raise error

    return run  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (None, "done"),
        (RefereeUnavailable("gone"), "unavailable"),
        (MatchRefused("no"), "refused"),
        (RuntimeError("a bug"), "error"),
    ],
)
def test_match_when_it_ends_then_its_outcome_is_counted(
    world: World, error: Exception | None, outcome: str
) -> None:
    world.advance(world.tournament().id)
    before = collected(WORKER)
    match_id = world.messages.pop(0)
    if isinstance(error, RuntimeError):
        with pytest.raises(RuntimeError):
            world.play(match_id, refusing(error))
    else:
        world.play(match_id, refusing(error) if error else play_at_once)
    after = collected(WORKER)
    changed = {one: after[one] - before[one] for one in after if after[one] != before[one]}
    assert number(changed, "arena_matches_claimed_total") == 1
    ended = [dict(labels)["outcome"] for name, labels in changed if name == "arena_matches_ended_total"]
    assert ended == [outcome]
    assert changed.get(("arena_sessions_stored_total", frozenset()), 0) == (3 if error is None else 0)


def test_outcomes_when_nothing_happened_then_all_are_shown() -> None:
    shown = {dict(labels).get("outcome") for name, labels in collected(WORKER) if "ended_total" in name}
    assert shown == set(OUTCOMES)


# Database


def test_queue_when_matches_wait_then_it_tells_how_many_and_how_long(world: World, storage: Storage) -> None:
    seconds = Ticks()
    collector = DatabaseCollector(storage, now=world.clock, clock=seconds)
    assert number(collected(collector), "arena_queue_matches") == 0

    world.advance(world.tournament(8).id)  # tables of four: two in each round
    world.clock.move(12)
    assert number(collected(collector), "arena_queue_matches") == 0, "asked again too soon"
    seconds.now += CACHE_SECONDS
    numbers = collected(collector)
    waiting = number(numbers, "arena_queue_matches")
    assert waiting == len(world.messages) > 0
    assert number(numbers, "arena_queue_oldest_seconds") == 12
    assert number(numbers, "arena_tournaments", state="running") == 1

    world.play(world.messages.pop(0), refusing(RefereeUnavailable("gone")))
    seconds.now += CACHE_SECONDS
    assert number(collected(collector), "arena_matches_failing") == 1


def test_leases_when_one_ran_out_then_it_is_counted(world: World, storage: Storage) -> None:
    seconds = Ticks()
    collector = DatabaseCollector(storage, now=world.clock, clock=seconds)
    world.advance(world.tournament().id)
    assert claim(storage, world.messages.pop(0), world.clock(), LEASE) is not None
    assert number(collected(collector), "arena_leases_expired") == 0
    world.clock.move(LEASE.total_seconds() + 1)
    seconds.now += CACHE_SECONDS
    numbers = collected(collector)
    assert number(numbers, "arena_leases_expired") == 1
    assert number(numbers, "arena_matches", state="running") == 1


def test_database_when_it_is_away_then_only_that_is_shown(tmp_path: Path) -> None:
    with Storage(f"sqlite:///{tmp_path}/no/such/folder.db") as storage:
        assert collected(DatabaseCollector(storage)) == {("arena_database_up", frozenset()): 0}
    with Storage(f"sqlite:///{tmp_path}/empty.db") as storage:
        assert collected(DatabaseCollector(storage)) == {("arena_database_up", frozenset()): 0}


# Publishing


def test_publishing_when_nothing_is_set_then_nothing_listens(settings: Settings) -> None:
    assert settings.metrics_listen == ""
    assert metrics_addresses(settings) == {}
    with published(settings, "worker", WORKER):
        pass


def test_publishing_when_the_port_is_taken_then_one_line_names_the_setting(tmp_path: Path) -> None:
    with taken_address() as address:
        settings = load_settings({"data": tmp_path, "metrics_listen": address})
        with (
            pytest.raises(SettingsError, match=rf"^setting metrics_listen: cannot listen on {address}: Addr"),
            published(settings, "worker", WORKER),
        ):
            pass


@pytest.mark.parametrize("address", ["9100", "h:0", "h:many", ":9", "h:70000"])
def test_address_when_it_is_wrong_then_the_setting_is_named(tmp_path: Path, address: str) -> None:
    with pytest.raises(SettingsError, match=r"^setting metrics_listen: "):
        load_settings({"data": tmp_path, "metrics_listen": address})


@pytest.mark.parametrize(
    ("count", "addresses"),
    [
        (1, {"referee": "h:9", "worker": "h:10", "beat": "h:11"}),
        (2, {"referee1": "h:9", "referee2": "h:10", "worker": "h:11", "beat": "h:12"}),
    ],
)
def test_ports_when_several_processes_run_then_they_follow_each_other(
    tmp_path: Path, count: int, addresses: Mapping[str, str]
) -> None:
    settings = load_settings({"data": tmp_path, "metrics_listen": "h:9", "local_referees": count})
    assert metrics_addresses(settings) == addresses


def test_ports_when_there_are_too_few_then_the_setting_is_named(tmp_path: Path) -> None:
    settings = load_settings({"data": tmp_path, "metrics_listen": "h:65534"})
    with pytest.raises(SettingsError, match=r"^setting metrics_listen: 3 ports from 65534 on go beyond"):
        metrics_addresses(settings)

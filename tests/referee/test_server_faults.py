"""Tests for bots' mistakes over real sockets, some with real processes: the referee tells them apart."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from referee.matches.journal import EntryKind
from referee.matches.match import Limits, SessionResult
from referee.service.server import ServerOptions
from referee.v1 import bots_pb2
from tests.referee.processes import bot_process, referee_process
from tests.referee.support import (
    LEGAL_PLAYS,
    ListJournal,
    WireBot,
    check_records,
    lowest,
    match_spec,
    play_match,
    referee,
    sdk_bots,
    watching,
)
from tests.waiting import until

LIMITS = Limits(decision_ms=2300, join_seconds=20, faults=2)


@asynccontextmanager
async def three_bots() -> AsyncIterator[tuple[str, ListJournal]]:
    """Run a referee with a journal, and three bots connected to it."""
    journal = ListJournal()
    async with (
        referee(options=ServerOptions(drain_seconds=0, journal=journal)) as address,
        sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)),
    ):
        yield address, journal


def kinds(result: SessionResult) -> list[str]:
    return [fault["kind"] for record in result.records for fault in json.loads(record).get("faults", ())]


async def until_open(started: asyncio.Event, journal: ListJournal, number: int) -> None:
    """Wait until the bot is connected and the match is running."""
    await until(lambda: started.is_set() and journal.of(number, EntryKind.CONNECTED), lambda: journal.entries)


@pytest.mark.parametrize(
    ("number", "kind", "decision_ms"),
    [(signal.SIGSTOP, "stall", 2300), (signal.SIGKILL, "disconnect", 1000)],
    ids=["stopped", "killed"],
)
async def test_bot_process_when_it_is_stopped_or_killed_then_its_faults_say_so(
    number: signal.Signals, kind: str, decision_ms: int
) -> None:
    async with three_bots() as (address, journal), bot_process(address, 4, 0.02) as bot:
        started = asyncio.Event()
        spec = match_spec(limits=LIMITS.model_copy(update={"decision_ms": decision_ms}), deals=50)
        running = asyncio.create_task(play_match(address, spec, started))
        await until_open(started, journal, 4)
        bot.signal(number)
        (result,) = await running
    check_records(spec, result)
    assert kinds(result) == [kind] * 2
    assert (result.forfeit, result.forfeits) == (None, (spec.sessions[0].seating.index(3),))
    faults = journal.of(4, EntryKind.FAULT)
    assert [entry.code for entry in faults] == [kind] * 2
    assert faults[0].details["hand"]
    assert not [entry for entry in journal.entries if entry.kind is EntryKind.FAULT and entry.version_id != 4]


async def test_bot_process_when_it_thinks_too_long_then_its_faults_are_timeouts() -> None:
    limits = Limits(decision_ms=1000, join_seconds=20, faults=4)
    async with three_bots() as (address, journal), bot_process(address, 4, 1.6):
        spec = match_spec(limits=limits, deals=2)
        (result,) = await play_match(address, spec)
    assert kinds(result) == ["timeout"] * 4
    assert journal.of(4, EntryKind.NOTICE, "stale_move")


async def test_client_when_it_answers_no_ping_then_its_faults_are_stalls() -> None:
    async with three_bots() as (address, journal), WireBot(address, 4, pongs=False) as bot:
        running = asyncio.create_task(play_match(address, match_spec(limits=LIMITS)))
        fault = await bot.next("fault")
        (result,) = await running
    assert fault.kind == bots_pb2.FAULT_KIND_STALL
    assert "the bot is connected, but answers no ping" in fault.reason
    assert kinds(result) == ["stall"] * 2
    assert len(journal.of(4, EntryKind.FAULT, "stall")) == 2


async def test_client_when_it_answers_pings_but_no_turn_then_its_faults_are_timeouts() -> None:
    async with three_bots() as (address, journal), WireBot(address, 4) as bot:
        limits = LIMITS.model_copy(update={"decision_ms": 1000})
        running = asyncio.create_task(play_match(address, match_spec(limits=limits)))
        fault = await bot.next("fault")
        (result,) = await running
    assert fault.kind == bots_pb2.FAULT_KIND_TIMEOUT
    assert kinds(result) == ["timeout"] * 2
    assert len(journal.of(4, EntryKind.FAULT, "timeout")) == 2


async def test_client_when_it_sends_only_wrong_things_then_each_has_its_fault_or_notice() -> None:
    limits = Limits(decision_ms=60_000, join_seconds=20, faults=1000)
    async with three_bots() as (address, journal), WireBot(address, 4, wants=LEGAL_PLAYS) as bot:
        spec = match_spec(limits=limits, deals=1)
        running = asyncio.create_task(play_match(address, spec))
        first = await bot.next("turn")
        await bot.move(first, sequence=first.sequence + 9)
        unknown = await bot.next("notice")
        await bot.move(first, [52] * 2)
        malformed = await bot.next("fault")
        await bot.move(first)
        repeated = await bot.next("notice")
        second = await bot.next("turn")
        await bot.move(second, list(range(1, 53)))
        illegal = await bot.next("fault")
        while not running.done():
            turn = asyncio.create_task(bot.next("turn"))
            await asyncio.wait([running, turn], return_when=asyncio.FIRST_COMPLETED)
            if not turn.done():
                turn.cancel()
                break
            asked = turn.result()
            await bot.move(asked, asked.legal_plays[0].cards if asked.legal_plays else ())
        (result,) = await running
    check_records(spec, result)
    assert unknown.code == bots_pb2.NOTICE_CODE_UNKNOWN_TURN
    assert repeated.code == bots_pb2.NOTICE_CODE_REPEATED_MOVE
    assert [malformed.kind, illegal.kind] == [bots_pb2.FAULT_KIND_MALFORMED, bots_pb2.FAULT_KIND_ILLEGAL]
    assert malformed.hand
    assert list(illegal.answered) == list(range(1, 53))
    assert kinds(result) == ["malformed", "illegal"]
    noted = [(entry.kind, entry.code) for entry in journal.entries if entry.session_id]
    assert noted == [
        (EntryKind.NOTICE, "unknown_turn"),
        (EntryKind.FAULT, "malformed"),
        (EntryKind.NOTICE, "repeated_move"),
        (EntryKind.FAULT, "illegal"),
    ]


async def test_referee_process_when_it_is_stopped_for_longer_than_the_limit_then_nobody_has_a_fault() -> None:
    limits = Limits(decision_ms=2000, join_seconds=20, faults=1)
    async with (
        referee_process() as (address, process),
        sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)),
        bot_process(address, 4, 0.02),
    ):
        started = asyncio.Event()
        spec = match_spec(limits=limits, sessions=4, deals=2)
        running = asyncio.create_task(play_match(address, spec, started))
        await started.wait()
        async with watching(address) as played:
            for _ in range(2):
                await played(20)
                process.signal(signal.SIGSTOP)
                await asyncio.sleep(3)  # the pause itself
                process.signal(signal.SIGCONT)
        assert not running.done()
        results = await running
    assert [result.faults for result in results] == [(0, 0, 0, 0)] * 4
    for result in results:
        check_records(spec, result)


async def test_stuck_bot_when_others_play_then_their_sessions_finish_meanwhile() -> None:
    limits = Limits(decision_ms=60_000, join_seconds=20)
    async with (
        three_bots() as (address, _),
        sdk_bots(address, dict.fromkeys((5, 6, 7, 8), lowest)),
        bot_process(address, 4, 0.01) as stuck,
    ):
        started = asyncio.Event()
        waiting = match_spec(limits=limits, sessions=12, deals=1, match_id="stuck")
        blocked = asyncio.create_task(play_match(address, waiting, started))
        await started.wait()
        stuck.signal(signal.SIGSTOP)
        free = match_spec((5, 6, 7, 8), limits=limits, sessions=16, match_id="free")
        results = await play_match(address, free)
        assert len(results) == 16
        assert not blocked.done()
        stuck.signal(signal.SIGCONT)
        assert [result.faults for result in await blocked] == [(0, 0, 0, 0)] * 12

"""Tests for bots that drop out and come back, and for second connections."""

import asyncio
import random
import signal
from typing import Any

import grpc
import pytest

from referee.matches.journal import EntryKind
from referee.matches.match import Limits
from referee.protocol.reasons import Reason, read_failure
from referee.service.server import ServerOptions
from referee.v1 import bots_pb2
from tests.referee.processes import bot_process
from tests.referee.support import (
    LEGAL_PLAYS,
    ListJournal,
    WireBot,
    lowest,
    match_spec,
    play_match,
    referee,
    sdk_bots,
    watching,
    without_times,
)
from tests.referee.test_server_rulesets import Checking
from tests.waiting import until

LIMITS = Limits(decision_ms=60_000, join_seconds=20, faults=1)


class _First(random.Random):
    """Chooses the first element of anything."""

    def choice(self, seq: Any) -> Any:
        return seq[0]


class Dropping(Checking):
    """Plays the first legal play, and breaks off its stream at every ``every``-th turn."""

    def __init__(self, address: str, number: int, every: int) -> None:
        super().__init__(WireBot(address, number, wants=LEGAL_PLAYS), number)
        self._address = address
        self._number = number
        self._every = every
        self._turns = 0
        self.drops = 0
        self.random = _First()

    async def answer(self, turn: bots_pb2.Turn) -> None:
        self._turns += 1
        if self._turns % self._every == 0:
            await self.bot.close()
            self.drops += 1
            self.views.clear()
            self.bot = WireBot(self._address, self._number, wants=LEGAL_PLAYS)
            await self.bot.connect()
            return
        await super().answer(turn)


@pytest.mark.parametrize("ruleset", ["chinese", "gamesky", "indonesia", "hong-kong-relatives-3"])
async def test_bot_when_it_drops_and_returns_then_all_goes_as_if_it_had_stayed(ruleset: str) -> None:
    numbers = (1, 2, 3) if ruleset.endswith("-3") else (1, 2, 3, 4)
    spec = match_spec(numbers, ruleset=ruleset, sessions=2, deals=2, limits=LIMITS)
    outcomes = []
    async with referee() as address, sdk_bots(address, dict.fromkeys(numbers[:-1], lowest)):
        for every in (1_000_000, 4):
            bot = Dropping(address, numbers[-1], every)
            await bot.bot.connect()
            playing = asyncio.create_task(bot.play())
            outcomes.append(await play_match(address, spec))
            playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)
            await bot.bot.close()
            assert bot.differences == []
    assert bot.drops > 2
    assert without_times(outcomes[0]) == without_times(outcomes[1])


async def test_bot_process_when_it_is_killed_and_started_again_then_all_goes_as_if_it_had_stayed() -> None:
    spec = match_spec(sessions=2, deals=4, limits=LIMITS)
    journal = ListJournal()
    options = ServerOptions(drain_seconds=0, journal=journal)
    async with referee(options=options) as address, sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)):
        async with sdk_bots(address, {4: lowest}):
            expected = await play_match(address, spec)
        started = asyncio.Event()
        async with bot_process(address, 4, 0.02) as first:
            running = asyncio.create_task(play_match(address, spec, started))
            await started.wait()
            async with watching(address) as played:
                await played(20)
            first.signal(signal.SIGKILL)
            await until(lambda: journal.of(4, EntryKind.LOST), lambda: journal.entries)
        assert not running.done()
        async with bot_process(address, 4):
            assert without_times(await running) == without_times(expected)
    assert not [entry for entry in journal.entries if entry.kind is EntryKind.FAULT]


async def test_clock_when_the_bot_is_away_then_it_runs_on() -> None:
    async with referee() as address, sdk_bots(address, dict.fromkeys((1, 2, 3, 5), lowest)):
        async with WireBot(address, 4) as bot:
            running = asyncio.create_task(play_match(address, match_spec(limits=LIMITS, deals=1)))
            first = await bot.next("turn")
        await play_match(address, match_spec((1, 2, 3, 5), match_id="meanwhile"))
        await asyncio.sleep(1)
        async with WireBot(address, 4) as again:
            second = await again.next("turn")
        assert second.sequence == first.sequence
        # Pauses of a busy machine are the referee's own, and it sets clocks back by them.
        assert second.decision_ms <= first.decision_ms - 250
        async with sdk_bots(address, {4: lowest}):
            (result,) = await running
    assert result.faults == (0, 0, 0, 0)


async def why_refused(address: str, number: int) -> str:
    """Return why a bot is refused when it connects."""
    bot = WireBot(address, number)
    await bot.write(bots_pb2.PlayRequest(hello=bots_pb2.Hello(protocol_version=1)))
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await bot._call.read()
    await bot.close()
    return read_failure(caught.value).reason


async def test_second_connection_when_the_first_lives_then_it_is_refused_and_the_first_plays_on() -> None:
    journal = ListJournal()
    options = ServerOptions(drain_seconds=0, journal=journal)
    async with (
        referee(options=options) as address,
        sdk_bots(address, dict.fromkeys((1, 2, 3, 4), lowest)),
        WireBot(address, 5),
    ):
        running = asyncio.create_task(play_match(address, match_spec(sessions=4, limits=LIMITS)))
        for number in (4, 5):
            while (reason := await why_refused(address, number)) == Reason.BUSY:
                pass  # the first is still being let in
            assert reason == Reason.ALREADY_CONNECTED
        results = await running
    assert [result.faults for result in results] == [(0, 0, 0, 0)] * 4
    assert journal.of(5, EntryKind.REFUSED, "already_connected")


async def test_second_connection_when_the_first_is_stuck_then_it_takes_its_place() -> None:
    async with (
        referee() as address,
        sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)),
        WireBot(address, 4, pongs=False) as stuck,
    ):
        running = asyncio.create_task(play_match(address, match_spec(limits=LIMITS)))
        await stuck.next("turn")
        async with sdk_bots(address, {4: lowest}):
            (result,) = await running
        error = await stuck.ended()
    assert read_failure(error).reason == Reason.REPLACED
    assert error.details() == "the bot connected again, and this stream gave no sign of life"
    assert result.faults == (0, 0, 0, 0)

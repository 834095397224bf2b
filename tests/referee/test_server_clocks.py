"""Tests for clocks over real sockets: only the referee measures, and only its own pings earn credit."""

import asyncio
from typing import Any

import pytest

from referee.bot import Play, Turn
from referee.matches.match import Limits
from referee.v1 import bots_pb2
from tests.referee.support import (
    LEGAL_PLAYS,
    WireBot,
    lowest,
    match_spec,
    play_match,
    referee,
    sdk_bots,
    without_times,
)
from tests.waiting import DEADLINE

LIMITS = Limits(decision_ms=5000, join_seconds=20, faults=1000, credit_ms=80)


class Ponging(WireBot):
    """A bot that answers pings late, or with wrong ids."""

    def __init__(self, address: str, number: int, *, delay: float = 0.0, wrong_by: int = 0) -> None:
        super().__init__(address, number, pongs=False, wants=LEGAL_PLAYS)
        self._delay = delay
        self._wrong_by = wrong_by
        self.ponged = 0

    async def answer_pings(self, count: int) -> None:
        async with asyncio.timeout(DEADLINE):
            while self.ponged < count:
                await asyncio.sleep(0.005)
                if len(self.pings) > self.ponged:
                    await asyncio.sleep(self._delay)
                    wrong = self.pings[self.ponged] + self._wrong_by
                    await self.write(bots_pb2.PlayRequest(pong=bots_pb2.Pong(id=wrong)))
                    self.ponged += 1


async def first_turn(address: str, bot: WireBot, limits: Limits = LIMITS) -> Any:
    """Return the bot's first turn in a match, which an SDK bot then finishes in its place."""
    async with sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)):
        running = asyncio.create_task(play_match(address, match_spec(limits=limits, deals=1)))
        turn = await bot.next("turn")
        await bot.close()
        async with sdk_bots(address, {4: lowest}):
            await running
        return turn


@pytest.mark.parametrize(
    ("delay", "credit_ms", "least", "most"),
    [(0.4, 80, 80, 80), (0.4, 1000, 81, 1000), (0.4, 0, 0, 0)],
    ids=["capped", "measured", "none"],
)
async def test_credit_when_pongs_are_late_then_it_is_what_was_measured_up_to_the_cap(
    delay: float, credit_ms: int, least: int, most: int
) -> None:
    # That round trips are exact to the millisecond is tested with the test's own clock (test_connection):
    # here the referee may be delayed, and then it subtracts its own delay.
    async with referee() as address, Ponging(address, 4, delay=delay) as bot:
        await bot.answer_pings(3)
        limits = Limits(decision_ms=5000, join_seconds=20, faults=1000, credit_ms=credit_ms)
        turn = await first_turn(address, bot, limits)
    assert least <= turn.credit_ms <= most
    assert turn.decision_ms <= 5000


async def test_credit_when_pongs_are_wrong_then_there_is_none() -> None:
    async with referee() as address, Ponging(address, 4, delay=0.1, wrong_by=1) as bot:
        await bot.answer_pings(1)
        turn = await first_turn(address, bot)
    assert turn.credit_ms == 0


async def test_session_started_when_there_are_clocks_then_it_names_them() -> None:
    limits = Limits(
        decision_ms=4000,
        join_seconds=20,
        faults=9,
        bank_ms=7000,
        increment_ms=30,
        credit_ms=5,
        ask_forced=True,
    )
    async with referee() as address, WireBot(address, 4) as bot:
        turn = await first_turn(address, bot, limits)
        (started,) = [event.session_started for event in bot.seen if event.HasField("session_started")]
    told = started.limits
    clocks = (told.decision, told.bank, told.increment, told.credit)
    assert [clock.ToMilliseconds() for clock in clocks] == [4000, 7000, 30, 5]
    assert (told.faults, told.ask_forced) == (9, True)
    assert turn.bank_ms >= 4000
    assert turn.credit_ms <= 5


async def test_bank_when_it_is_used_up_then_turns_run_out_with_it() -> None:
    limits = Limits(decision_ms=5000, bank_ms=250, join_seconds=20, faults=1000)
    async with (
        referee() as address,
        sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)),
        WireBot(address, 4) as bot,
    ):
        running = asyncio.create_task(play_match(address, match_spec(limits=limits, deals=1)))
        first = await bot.next("turn")
        fault = await bot.next("fault")
        assert first.decision_ms == first.bank_ms
        assert first.bank_ms <= 250
        assert fault.kind == bots_pb2.FAULT_KIND_TIMEOUT
        assert "(all that was left in the bank)" in fault.reason
        (result,) = await running
    assert result.forfeit is None


@pytest.mark.parametrize("ruleset", ["chinese", "gamesky", "indonesia"])
async def test_forced_turns_when_they_are_asked_then_the_records_are_the_same(ruleset: str) -> None:
    limits = Limits(join_seconds=20, decision_ms=60_000)
    forced = Limits(join_seconds=20, decision_ms=60_000, ask_forced=True)
    asked: list[int] = []

    def choose(turn: Turn) -> Play | None:
        if turn.kind == "play":
            asked.append(len(turn.legal) + turn.can_pass)
        return lowest(turn)

    async with referee() as address, sdk_bots(address, dict.fromkeys((1, 2, 3, 4), choose)):
        expected = await play_match(address, match_spec(ruleset=ruleset, sessions=2, limits=limits))
        assert min(asked) > 1
        asked.clear()
        results = await play_match(address, match_spec(ruleset=ruleset, sessions=2, limits=forced))
        assert without_times(results) == without_times(expected)
        assert min(asked) == 1

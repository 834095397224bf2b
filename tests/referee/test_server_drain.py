"""Tests for a referee that is told to stop in the middle of a match."""

import asyncio
import logging
import signal
import threading

import grpc
import pytest

from referee.errors import RefereeUnavailable
from referee.matches.auth import BotIdentity
from referee.matches.match import Limits, SessionResult
from referee.net.client import referee_status
from referee.protocol.reasons import Reason, read_failure
from referee.service.server import ServerOptions, Services
from referee.v1 import bots_pb2
from tests.referee.hostile import PREFACE, hello, play, settings, socket, status_of
from tests.referee.processes import referee_process
from tests.referee.support import (
    WORKER_TOKEN,
    Tokens,
    WireBot,
    check_records,
    lowest,
    match_spec,
    play_match,
    referee,
    sdk_bots,
)
from tests.waiting import DEADLINE, until

LIMITS = Limits(decision_ms=60_000, join_seconds=20)
OPTIONS = ServerOptions(drain_seconds=DEADLINE)


async def until_draining(address: str) -> None:
    async def draining() -> bool:
        return (await asyncio.to_thread(referee_status, address, WORKER_TOKEN)).draining

    await until(draining)


async def test_stop_when_a_match_runs_then_open_sessions_finish_and_the_rest_is_left() -> None:
    stop = asyncio.Event()
    spec = match_spec(sessions=6, limits=LIMITS, deals=1)
    async with (
        referee(options=OPTIONS, stop=stop) as address,
        sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)),
    ):
        bot = WireBot(address, 4, max_sessions=2)
        await bot.connect()
        arrived: list[SessionResult] = []
        running = asyncio.create_task(play_match(address, spec, arrived=arrived))
        await bot.next("turn")
        stop.set()
        await until_draining(address)
        with pytest.raises(RefereeUnavailable, match="closing: the referee is shutting down"):
            await play_match(address, match_spec((5, 6, 7, 8), match_id="new", limits=LIMITS))
        await bot.close()
        async with sdk_bots(address, {4: lowest}):
            with pytest.raises(RefereeUnavailable, match="the referee is shutting down"):
                await running
    assert sorted(result.number for result in arrived) == [1, 2]
    for result in arrived:
        assert result.forfeit is None
        check_records(spec, result)


async def test_stop_when_all_sessions_are_open_then_the_match_is_played_to_its_end() -> None:
    stop = asyncio.Event()
    async with (
        referee(options=OPTIONS, stop=stop) as address,
        sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)),
    ):
        async with WireBot(address, 4) as bot:
            running = asyncio.create_task(play_match(address, match_spec(sessions=3, limits=LIMITS)))
            await bot.next("turn")
            stop.set()
            await until_draining(address)
        async with sdk_bots(address, {4: lowest}):
            assert [result.number for result in await running] == [1, 2, 3]


@pytest.mark.parametrize("how", ["hurry", "time"])
async def test_stop_when_there_is_no_time_left_then_open_sessions_are_void(how: str) -> None:
    stop, hurry = asyncio.Event(), asyncio.Event()
    options = ServerOptions(drain_seconds=0.3 if how == "time" else 600)
    async with (
        referee(options=options, stop=stop, hurry=hurry) as address,
        sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)),
        WireBot(address, 4) as bot,
    ):
        arrived: list[SessionResult] = []
        running = asyncio.create_task(play_match(address, match_spec(limits=LIMITS), arrived=arrived))
        await bot.next("turn")
        stop.set()
        if how == "hurry":
            await until_draining(address)
            hurry.set()
        ended = await bot.next("session_ended")
        assert (ended.reason, list(ended.scores)) == (bots_pb2.SESSION_END_VOID, [])
        failure = read_failure(await bot.ended())
        assert (failure.reason, failure.final) == (Reason.CLOSING, False)
        assert bot.closing is not None
        assert bot.closing.end_delay.ToSeconds() <= options.drain_seconds
        assert bot.closing.retry_delay.ToSeconds() == failure.retry_seconds
        with pytest.raises(RefereeUnavailable):
            await running
        assert not arrived


async def test_referee_process_when_it_gets_sigterm_then_it_finishes_what_is_open_and_ends() -> None:
    spec = match_spec(sessions=2, deals=1, limits=LIMITS)
    async with referee_process() as (address, process), sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)):
        async with WireBot(address, 4) as bot:
            running = asyncio.create_task(play_match(address, spec))
            await bot.next("turn")
            process.signal(signal.SIGTERM)
            await until_draining(address)
        async with sdk_bots(address, {4: lowest}):
            results = await running
        assert await process.ended() == 0
    assert [result.faults for result in results] == [(0, 0, 0, 0)] * 2


class SlowTokens(Tokens):
    """Keeps looking up the first bot's token until it is told to finish."""

    def __init__(self) -> None:
        self.begun, self.end = threading.Event(), threading.Event()

    def bot(self, token: str) -> BotIdentity | None:
        if token == "bot-1":
            self.begun.set()
            self.end.wait(DEADLINE)
        return super().bot(token)


async def test_stop_when_calls_are_open_then_new_ones_are_refused() -> None:
    stop, tokens = asyncio.Event(), SlowTokens()
    async with referee(stop=stop, tokens=tokens) as address, socket(address) as connection:
        await connection.send(PREFACE + settings() + play(1))
        await asyncio.to_thread(tokens.begun.wait, DEADLINE)
        stop.set()
        codes = [await status_of(address, "Play", [hello()], "bot-2", end=False)]
        while codes[-1] is not grpc.StatusCode.UNAVAILABLE and len(codes) < 100:  # until it has begun to stop
            codes.append(await status_of(address, "Play", [hello()], "bot-2", end=False))
        tokens.end.set()
    assert codes[-1] is grpc.StatusCode.UNAVAILABLE


def test_log_when_a_call_was_cancelled_before_it_began_then_it_is_no_trouble(
    caplog: pytest.LogCaptureFixture,
) -> None:
    Services(Tokens(), OPTIONS)
    for error in (asyncio.CancelledError(), RuntimeError("an error")):
        logging.getLogger("grpc._cython.cygrpc").error("a call failed", exc_info=error)
    assert [str(record.exc_info[1]) for record in caplog.records if record.exc_info] == ["an error"]

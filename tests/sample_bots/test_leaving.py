"""Tests that the bots in other languages finish their sessions when they are told to leave."""

import asyncio
import os
import signal
from itertools import count

from referee.bot import Play, Turn
from referee.matches.match import SessionResult
from tests.referee.support import lowest, match_spec, play_match, referee, sdk_bots
from tests.sample_bots.programs import LIMITS
from tests.tied import tied
from tests.waiting import DEADLINE

IN_THE_MIDDLE = 200
"""Turns of the other bots after which this bot, too, has certainly seen the session."""


async def told_to_leave(*command: str) -> tuple[int, list[SessionResult]]:
    """Tell a bot to leave in the middle of its session; return its exit status and the results."""
    loop, running, turns = asyncio.get_running_loop(), asyncio.Event(), count()

    def choose(turn: Turn) -> Play | None:
        if next(turns) == IN_THE_MIDDLE:
            loop.call_soon_threadsafe(running.set)
        return lowest(turn)

    async with referee() as address, sdk_bots(address, dict.fromkeys((2, 3, 4), choose)):
        environment = {"PATH": os.environ["PATH"], "ARENA_TOKEN": "bot-1", "ARENA_REFEREE": address}
        process = await asyncio.create_subprocess_exec(
            *tied(*command), env=environment, stdin=asyncio.subprocess.DEVNULL
        )
        try:
            playing = asyncio.create_task(play_match(address, match_spec(deals=50, limits=LIMITS)))
            await asyncio.wait_for(running.wait(), DEADLINE)
            process.send_signal(signal.SIGTERM)
            results = await playing
            return await asyncio.wait_for(process.wait(), DEADLINE), results
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


async def test_bot_when_it_is_told_to_leave_in_a_session_then_it_plays_it_to_its_end(
    command: list[str],
) -> None:
    status, results = await told_to_leave(*command)
    assert status == 0
    assert [result.faults for result in results] == [(0, 0, 0, 0)]

"""Tests that the bots in other languages can play the recorded sessions of v1 (see ``tests.wire``)."""

import asyncio
import os
import signal

import pytest

from tests.tied import tied
from tests.wire import capture
from tests.wire.replay import RecordedReferee, recorded_referee
from tests.wire.streams import DEADLINE


async def play_recorded(name: str, *command: str) -> RecordedReferee:
    """Let a bot play a capture, and then tell it to leave; assert that it ends cleanly."""
    async with recorded_referee(name) as (address, referee):
        environment = {"PATH": os.environ["PATH"], "ARENA_TOKEN": "bot-1", "ARENA_REFEREE": address}
        process = await asyncio.create_subprocess_exec(
            *tied(*command), env=environment, stdin=asyncio.subprocess.DEVNULL
        )
        try:
            async with asyncio.timeout(2 * DEADLINE):
                await referee.over.wait()
                process.send_signal(signal.SIGTERM)
                assert await process.wait() == 0
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    return referee


@pytest.mark.parametrize("name", capture.NAMES)
async def test_bot_when_the_recorded_referee_plays_then_it_answers_every_turn_legally(
    command: list[str], name: str
) -> None:
    referee = await play_recorded(name, *command)
    assert referee.problems == []
    assert referee.left.is_set()

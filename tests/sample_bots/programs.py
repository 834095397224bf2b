"""Sample bots as programs: started, told to leave, and in matches with bots of this process."""

import asyncio
import os
import re
import runpy
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from referee.matches.match import Limits, SessionResult
from referee.ruleset import load_ruleset
from tests.referee.support import match_spec, play_match, referee, sdk_bots
from tests.sample_bots.toolchain import SAMPLES
from tests.tied import tied
from tests.waiting import DEADLINE

LIMITS = Limits(join_seconds=20, decision_ms=20_000)
"""Long enough that results do not depend on how busy the machine is."""
EXPECTED = re.compile(
    r"connected (as|to) |session (\S+ )?(in \S+ )?(begins|goes on|has ended)\b"
    r'|msg=connected |msg="session (begins|has ended)" |not shown '
)
"""Log lines of a bot in any language that has nothing to complain about."""


def python_bot(name: str) -> Any:
    """Return the names that a sample bot in Python defines."""
    return runpy.run_path(str(SAMPLES / "python" / f"{name}.py"))


RANDOM = python_bot("random_bot")["RandomBot"]
GREEDY = python_bot("greedy")["choose"]


@dataclass
class Bot:
    """A running bot; once it has ended, its exit status."""

    process: asyncio.subprocess.Process
    status: int = -1
    log: str = ""
    """What it has logged so far."""

    async def read(self) -> None:
        """Read the log until the bot ends."""
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            self.log += line.decode()


@asynccontextmanager
async def started(command: Sequence[str], **environment: str) -> AsyncIterator[Bot]:
    """Run a bot; at the end of the block tell it to leave, if it still runs, and note how it ended.

    Variables with an empty text are not set.
    """
    variables = {"PATH": os.environ["PATH"], "ARENA_TOKEN": "bot-1", **environment}
    process = await asyncio.create_subprocess_exec(
        *tied(*command),
        env={name: text for name, text in variables.items() if text},
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    bot = Bot(process)
    reading = asyncio.create_task(bot.read())
    try:
        yield bot
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        bot.status = await asyncio.wait_for(process.wait(), DEADLINE)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        await reading


async def ended(command: Sequence[str], **environment: str) -> Bot:
    """Return a bot that has ended without being told to."""
    async with started(command, **environment) as bot:
        await asyncio.wait_for(bot.process.wait(), DEADLINE)
    return bot


def totals(results: Sequence[SessionResult], players: int) -> list[int]:
    """Return the points of each bot, by number; in session n, seats are rotated by n - 1."""
    points = [0] * players
    for result in results:
        for seat, score in enumerate(result.points):
            points[(seat + result.number - 1) % players] += score
    return points


async def played(
    command: Sequence[str], ruleset: str | Mapping[str, object], other: Any, *, sessions: int
) -> list[SessionResult]:
    """Return the results of sessions of ten deals; fail on a fault, or a complaint in the log."""
    players = load_ruleset(ruleset).players
    others = dict.fromkeys(range(2, players + 1), other)
    spec = match_spec(range(1, players + 1), sessions=sessions, deals=10, ruleset=ruleset, limits=LIMITS)
    async with (
        referee() as address,
        started(command, ARENA_REFEREE=address) as bot,
        sdk_bots(address, others),
    ):
        results = await play_match(address, spec)
    assert [sum(result.faults) for result in results] == [0] * sessions
    assert bot.status == 0, bot.log
    assert [line for line in bot.log.splitlines() if not EXPECTED.search(line)] == []
    return results

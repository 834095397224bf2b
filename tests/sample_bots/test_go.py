"""Tests for the sample bot in Go: its own tests, its generated stubs, and sessions on a real referee."""

import asyncio
import os
import re
import runpy
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from referee.matches.match import Limits, SessionResult
from referee.ruleset import load_ruleset
from tests.referee.several import arena_of, local, two_streams
from tests.referee.support import match_spec, play_match, referee, sdk_bots
from tests.sample_bots.toolchain import SAMPLES, run_in
from tests.tied import tied
from tests.waiting import DEADLINE

FOLDER = SAMPLES / "go"
run = partial(run_in, FOLDER)
LIMITS = Limits(join_seconds=20, decision_ms=20_000)
"""Long enough that results do not depend on how busy the machine is."""
EXPECTED = re.compile(r'msg=(connected|"session begins"|"session has ended"|"not shown one by one") ')
"""Log lines of a bot that has nothing to complain about."""
GO_BOT = 1
"""The number of the bot in Go in its matches."""

RULESETS: list[dict[str, Any]] = [
    {"name": "chinese"},
    {"name": "chinese-2"},
    {"name": "gamesky"},
    {"name": "indonesia"},
    {"name": "lectio"},
    {"name": "only-a-game-8"},
    {"extends": "chinese-3", "name": "exchanging", "exchange": "loser_to_winner", "lead": "winner"},
    {"extends": "hong-kong-relatives-3", "name": "drawing", "draw_on_pass": "as_needed", "restock": True},
    {"extends": "gamesky", "name": "guarded", "guard": "must", "beat_own": True, "bombs_out_of_turn": True},
]
"""Among them: bombs out of turn, 60 tiles, two packs, an exchange, draws and beating one's own play."""


def python_bot(name: str) -> Any:
    """Return the names that a sample bot in Python defines."""
    return runpy.run_path(str(SAMPLES / "python" / f"{name}.py"))


RANDOM = python_bot("random_bot")["RandomBot"]
GREEDY = python_bot("greedy")["choose"]


@dataclass
class Bot:
    """A running bot; once it has ended, its exit status and log."""

    process: asyncio.subprocess.Process
    status: int = -1
    log: str = ""


@asynccontextmanager
async def started(program: Path, **environment: str) -> AsyncIterator[Bot]:
    """Run the bot; at the end of the block tell it to leave, and note how it ended."""
    process = await asyncio.create_subprocess_exec(
        *tied(program),
        env={"PATH": os.environ["PATH"], **environment},
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    reading = asyncio.create_task(process.communicate())
    bot = Bot(process)
    try:
        yield bot
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        bot.log = (await asyncio.wait_for(asyncio.shield(reading), DEADLINE))[1].decode()
        bot.status = await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
        await reading


def run_bot(program: Path, **environment: str) -> tuple[int, str]:
    """Return the exit status and the log of a bot that ends without being told to."""
    done = subprocess.run(
        [program],
        env=environment,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        timeout=DEADLINE,
    )
    return done.returncode, done.stderr


def totals(results: Sequence[SessionResult], players: int) -> list[int]:
    """Return the points of each bot, by number; in session n, seats are rotated by n - 1."""
    points = [0] * players
    for result in results:
        for seat, score in enumerate(result.points):
            points[(seat + result.number - 1) % players] += score
    return points


async def played(
    program: Path,
    ruleset: str | Mapping[str, object],
    other: Any,
    *,
    sessions: int,
    limits: Limits = LIMITS,
    expected: re.Pattern[str] = EXPECTED,
) -> list[int]:
    """Return each bot's points after sessions of ten deals; fail on a fault, or a complaint in the log."""
    players = load_ruleset(ruleset).players
    others = dict.fromkeys(range(GO_BOT + 1, players + 1), other)
    spec = match_spec(range(GO_BOT, players + 1), sessions=sessions, deals=10, ruleset=ruleset, limits=limits)
    async with (
        referee() as address,
        started(program, ARENA_TOKEN=f"bot-{GO_BOT}", ARENA_REFEREE=address) as bot,
        sdk_bots(address, others),
    ):
        results = await play_match(address, spec)
    assert results
    assert not any(fault for result in results for fault in result.faults)
    assert bot.status == 0, bot.log
    assert [line for line in bot.log.splitlines() if not expected.search(line)] == []
    return totals(results, players)


def test_sources_when_checked_then_they_are_formatted_and_vetted(go: str) -> None:
    assert run(str(Path(go).parent / "gofmt"), "-l", ".") == ""
    run(go, "vet", "./...")


def test_own_tests_when_run_then_they_pass(go: str) -> None:
    printed = run(go, "test", "./...")
    assert re.findall(r"^ok\s+(\S+)", printed, re.MULTILINE) == [
        "bigtwo-arena/sample-bot",
        "bigtwo-arena/sample-bot/client",
    ]


def test_stubs_when_generated_again_then_they_are_the_same(go: str, tmp_path: Path) -> None:
    run("./generate", str(tmp_path), PROTOC=f"{sys.executable} -m grpc_tools.protoc")
    assert stubs(tmp_path) == stubs(FOLDER), "the stubs do not match proto/: run sample_bots/go/generate"


def stubs(folder: Path) -> dict[str, str]:
    """Return the generated files by name, without the version of protoc in them."""
    found = {path.name: path.read_text() for path in (folder / "referee" / "v1").glob("*.go")}
    assert found
    return {name: re.sub(r"(?m)^//.*\bprotoc +v.*\n", "", text) for name, text in found.items()}


@pytest.mark.parametrize("ruleset", RULESETS, ids=lambda ruleset: str(ruleset["name"]))
async def test_sessions_when_others_are_random_then_no_fault_and_the_most_points(
    go_bot: Path, ruleset: dict[str, Any]
) -> None:
    points = await played(go_bot, ruleset, RANDOM, sessions=8)
    assert points[0] > max(points[1:])


async def test_sessions_when_others_are_random_then_it_loses_less_than_half_of_what_they_lose(
    go_bot: Path,
) -> None:
    points = await played(go_bot, "chinese", RANDOM, sessions=40)
    assert points[0] > max(points[1:]) / 2


async def test_sessions_when_others_are_greedy_then_the_most_points(go_bot: Path) -> None:
    points = await played(go_bot, "taiwan", GREEDY, sessions=40)
    assert points[0] > max(points[1:])


async def test_sessions_when_forced_turns_are_asked_then_no_fault(go_bot: Path) -> None:
    limits = Limits(join_seconds=20, decision_ms=20_000, bank_ms=600_000, increment_ms=100, ask_forced=True)
    await played(go_bot, "gamesky", RANDOM, sessions=4, limits=limits)


async def test_session_when_the_bot_is_killed_and_comes_back_then_it_is_resumed_without_a_fault(
    go_bot: Path,
) -> None:
    async with referee() as address, sdk_bots(address, dict.fromkeys((2, 3, 4), RANDOM)):
        environment = {"ARENA_TOKEN": f"bot-{GO_BOT}", "ARENA_REFEREE": address}
        running = asyncio.Event()
        async with started(go_bot, **environment) as first:
            playing = asyncio.create_task(play_match(address, match_spec(deals=100, limits=LIMITS), running))
            await asyncio.wait_for(running.wait(), DEADLINE)
            first.process.kill()
        assert not playing.done()
        async with started(go_bot, **environment) as second:
            results = await playing
    assert [result.faults for result in results] == [(0, 0, 0, 0)]
    assert totals(results, 4)[0] > max(totals(results, 4)[1:])
    assert second.status == 0, second.log


async def test_bot_when_it_is_given_two_addresses_of_a_referee_then_it_has_one_stream_to_each(
    go_bot: Path,
) -> None:
    arena = arena_of("", "")
    async with arena.referee(0) as first, arena.referee(1):
        environment = {"ARENA_TOKEN": f"bot-{GO_BOT}", "ARENA_REFEREE": f"{first},{local(first)}"}
        async with started(go_bot, **environment) as bot:
            await two_streams(arena)
    assert bot.log.count("not needed") == 1, bot.log
    assert bot.status == 0, bot.log


async def test_bot_when_its_token_is_unknown_then_it_ends_with_the_reason(go_bot: Path) -> None:
    async with referee() as address:
        status, log = await asyncio.to_thread(run_bot, go_bot, ARENA_TOKEN="nobody", ARENA_REFEREE=address)
    assert status == 1
    assert log.startswith(f"referee {address} refuses the bot: TOKEN_UNKNOWN: ")
    assert log.count("\n") == 1


def test_bot_when_its_environment_is_incomplete_then_one_line_names_the_variable(go_bot: Path) -> None:
    for environment, name in (
        ({}, "ARENA_TOKEN"),
        ({"ARENA_TOKEN": "bot-1", "ARENA_REFEREE": "here"}, "ARENA_REFEREE"),
        ({"ARENA_TOKEN": "bot-1", "ARENA_TLS_CA": os.devnull}, "ARENA_TLS_CA"),
    ):
        status, log = run_bot(go_bot, **environment)
        assert (status, log.count("\n")) == (1, 1)
        assert log.startswith(f"{name}: ")

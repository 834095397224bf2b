"""Tests for the sample bot in Java: its own tests, and sessions on a real referee."""

import asyncio
import os
import re
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from referee.matches.journal import EntryKind
from tests.referee.several import arena_of, local, play, until
from tests.referee.support import DEADLINE, match_spec, play_match, referee, sdk_bots
from tests.sample_bots.test_go import GREEDY, LIMITS, RANDOM, RULESETS, played, run_bot, started, totals
from tests.sample_bots.toolchain import SAMPLES, run_in

FOLDER = SAMPLES / "java"
EXPECTED = re.compile(r"connected as |session begins |session \S+ has ended: |not shown one by one: ")
"""Log lines of a bot that has nothing to complain about."""
SOME = [*RULESETS[2:3], *RULESETS[5:]]
"""Those with bombs out of turn, two packs, an exchange, draws and guards."""
PACKS = {"name": "packs", "decks": 3, "jokers": 2, "removed_cards": ["3C", "3H"], "players": 5}
at_table = partial(played, expected=EXPECTED)


def test_own_tests_when_run_then_they_pass_and_the_compiler_warns_of_signals_alone(
    mvn: str, tmp_path: Path
) -> None:
    shutil.copytree(FOLDER, tmp_path / "java", ignore=shutil.ignore_patterns("target"))  # bots run from there
    printed = run_in(tmp_path / "java", mvn, "--batch-mode", "test")
    total = re.findall(
        r"^\[INFO\] Tests run: (\d+), Failures: 0, Errors: 0, Skipped: 0$", printed, re.MULTILINE
    )
    assert len(total) == 1
    assert int(total[0]) > 90
    warnings = [line for line in printed.splitlines() if line.startswith("[WARNING]")]
    assert [line for line in warnings if "sun.misc.Signal" not in line] == []


@pytest.mark.parametrize("ruleset", [*SOME, PACKS], ids=lambda ruleset: str(ruleset["name"]))
async def test_sessions_when_others_are_random_then_no_fault_and_the_most_points(
    java_bot: Path, ruleset: dict[str, Any]
) -> None:
    points = await at_table(java_bot, ruleset, RANDOM, sessions=8)
    assert points[0] > max(points[1:])


async def test_sessions_when_others_are_greedy_then_the_most_points(java_bot: Path) -> None:
    points = await at_table(java_bot, "taiwan", GREEDY, sessions=40)
    assert points[0] > max(points[1:])


async def test_session_when_the_bot_is_killed_and_comes_back_then_it_is_resumed_without_a_fault(
    java_bot: Path,
) -> None:
    async with referee() as address, sdk_bots(address, dict.fromkeys((2, 3, 4), RANDOM)):
        environment = {"ARENA_TOKEN": "bot-1", "ARENA_REFEREE": address}
        running = asyncio.Event()
        async with started(java_bot, **environment) as first:
            playing = asyncio.create_task(play_match(address, match_spec(deals=100, limits=LIMITS), running))
            await asyncio.wait_for(running.wait(), DEADLINE)
            first.process.kill()
        assert not playing.done()
        async with started(java_bot, **environment) as second:
            results = await playing
    assert [result.faults for result in results] == [(0, 0, 0, 0)]
    assert totals(results, 4)[0] > max(totals(results, 4)[1:])
    assert second.status == 0, second.log


async def test_bot_when_it_is_given_two_addresses_of_a_referee_then_it_has_one_stream_to_each(
    java_bot: Path,
) -> None:
    arena = arena_of("", "")
    async with arena.referee(0) as first, arena.referee(1) as second:
        environment = {"ARENA_TOKEN": "bot-1", "ARENA_REFEREE": f"{first},{local(first)}"}
        async with started(java_bot, **environment) as bot:
            await until(lambda: arena.noted(EntryKind.REFUSED) == [1, 0])
            for address in (first, second):
                await play(address)
    assert arena.noted(EntryKind.CONNECTED) == [1, 1]
    assert arena.noted(EntryKind.REFUSED) == [1, 0]
    assert bot.log.count("not needed") == 1, bot.log
    assert bot.status == 0, bot.log


async def test_bot_when_its_token_is_unknown_then_it_ends_with_the_reason(java_bot: Path) -> None:
    async with referee() as address:
        status, log = await asyncio.to_thread(run_bot, java_bot, ARENA_TOKEN="nobody", ARENA_REFEREE=address)
    assert status == 1
    assert log.startswith(f"referee {address} refuses the bot: TOKEN_UNKNOWN: ")
    assert log.count("\n") == 1


def test_bot_when_its_environment_is_incomplete_then_one_line_names_the_variable(java_bot: Path) -> None:
    for environment, name in (
        ({}, "ARENA_TOKEN"),
        ({"ARENA_TOKEN": "bot-1", "ARENA_REFEREE": "here"}, "ARENA_REFEREE"),
        ({"ARENA_TOKEN": "bot-1", "ARENA_TLS_CA": os.devnull}, "ARENA_TLS_CA"),
    ):
        status, log = run_bot(java_bot, **environment)
        assert (status, log.count("\n")) == (1, 1)
        assert log.startswith(f"{name}: ")

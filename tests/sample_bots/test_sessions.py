"""Sessions of the sample bots in C++, Java and Rust on a real referee."""

import asyncio
import os
import re
from pathlib import Path
from typing import Any

import pytest

from referee.net.tls import ClientTls, ServerTls
from referee.service.serving import ServerOptions
from tests.referee.several import arena_of, local, two_streams
from tests.referee.support import match_spec, play_match, referee, sdk_bots
from tests.sample_bots.conftest import Certificates
from tests.sample_bots.test_go import EXPECTED as AS_IN_GO
from tests.sample_bots.test_go import GREEDY, LIMITS, RANDOM, RULESETS, played, run_bot, started, totals
from tests.waiting import DEADLINE

EXPECTED = re.compile(r"connected as |session begins |session \S+ has ended: |not shown one by one: ")
PACKS = {"name": "packs", "decks": 3, "jokers": 2, "removed_cards": ["3C", "3H"], "players": 5}


@pytest.fixture(params=["cpp", "java", "rust"])
def language(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def bot(language: str, request: pytest.FixtureRequest) -> Path:
    """Return the program of the bot in the language."""
    program: Path = request.getfixturevalue(f"{language}_bot")
    return program


@pytest.fixture
def expected(language: str) -> re.Pattern[str]:
    """Return what the log lines of a bot match that has nothing to complain about."""
    return AS_IN_GO if language == "rust" else EXPECTED


@pytest.mark.parametrize("ruleset", [*RULESETS, PACKS], ids=lambda ruleset: str(ruleset["name"]))
async def test_sessions_when_others_are_random_then_no_fault_and_the_most_points(
    bot: Path, ruleset: dict[str, Any], expected: re.Pattern[str]
) -> None:
    points = await played(bot, ruleset, RANDOM, sessions=8, expected=expected)
    assert points[0] > max(points[1:])


async def test_sessions_when_others_are_greedy_then_the_most_points(
    bot: Path, expected: re.Pattern[str]
) -> None:
    points = await played(bot, "taiwan", GREEDY, sessions=40, expected=expected)
    assert points[0] > max(points[1:])


async def test_session_when_the_bot_is_killed_and_comes_back_then_it_is_resumed_without_a_fault(
    bot: Path,
) -> None:
    async with referee() as address, sdk_bots(address, dict.fromkeys((2, 3, 4), RANDOM)):
        environment = {"ARENA_TOKEN": "bot-1", "ARENA_REFEREE": address}
        running = asyncio.Event()
        async with started(bot, **environment) as first:
            playing = asyncio.create_task(play_match(address, match_spec(deals=100, limits=LIMITS), running))
            await asyncio.wait_for(running.wait(), DEADLINE)
            first.process.kill()
        assert not playing.done()
        async with started(bot, **environment) as second:
            results = await playing
    assert [result.faults for result in results] == [(0, 0, 0, 0)]
    assert totals(results, 4)[0] > max(totals(results, 4)[1:])
    assert second.status == 0, second.log


async def test_bot_when_it_is_given_two_addresses_of_a_referee_then_it_has_one_stream_to_each(
    bot: Path,
) -> None:
    arena = arena_of("", "")
    async with arena.referee(0) as first, arena.referee(1):
        environment = {"ARENA_TOKEN": "bot-1", "ARENA_REFEREE": f"{first},{local(first)}"}
        async with started(bot, **environment) as running_bot:
            await two_streams(arena)
    assert running_bot.log.count("not needed") == 1, running_bot.log
    assert running_bot.status == 0, running_bot.log


async def test_bot_when_its_token_is_unknown_then_it_ends_with_the_reason(bot: Path) -> None:
    async with referee() as address:
        status, log = await asyncio.to_thread(run_bot, bot, ARENA_TOKEN="nobody", ARENA_REFEREE=address)
    assert status == 1
    assert log.startswith(f"referee {address} refuses the bot: TOKEN_UNKNOWN: ")
    assert log.count("\n") == 1


def test_bot_when_its_environment_is_incomplete_then_one_line_names_the_variable(bot: Path) -> None:
    for environment, name in (
        ({}, "ARENA_TOKEN"),
        ({"ARENA_TOKEN": "bot-1", "ARENA_REFEREE": "here"}, "ARENA_REFEREE"),
        ({"ARENA_TOKEN": "bot-1", "ARENA_TLS_CA": os.devnull}, "ARENA_TLS_CA"),
    ):
        status, log = run_bot(bot, **environment)
        assert (status, log.count("\n")) == (1, 1)
        assert log.startswith(f"{name}: ")


async def test_session_when_the_referee_asks_for_certificates_then_it_is_played(
    bot: Path, certificates: Certificates
) -> None:
    files = certificates.authority, certificates.certificate, certificates.key
    authority, certificate, key = (path.read_bytes() for path in files)
    options = ServerOptions(tls=ServerTls(certificate, key, authority), drain_seconds=0)
    tls = ClientTls(authority, certificate, key)
    environment = {
        "ARENA_TOKEN": "bot-1",
        "ARENA_TLS_CA": str(certificates.authority),
        "ARENA_TLS_CLIENT_CERTIFICATE": str(certificates.certificate),
        "ARENA_TLS_CLIENT_KEY": str(certificates.key),
    }
    async with (
        referee(options=options) as address,
        started(bot, ARENA_REFEREE=address.replace("127.0.0.1", "localhost"), **environment) as running_bot,
        sdk_bots(address, dict.fromkeys((2, 3, 4), RANDOM), tls=tls),
    ):
        results = await play_match(address, match_spec(limits=LIMITS), tls=tls)
    assert [result.faults for result in results] == [(0, 0, 0, 0)]
    assert running_bot.status == 0, running_bot.log

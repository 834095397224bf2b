"""Tests for the sample bot in C++: its own tests, and sessions on a real referee."""

import asyncio
import os
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from referee.matches.journal import EntryKind
from referee.service.serving import ServerOptions
from referee.tls import ClientTls, ServerTls
from tests.referee.several import arena_of, local, play, until
from tests.referee.support import DEADLINE, match_spec, play_match, referee, sdk_bots
from tests.sample_bots.conftest import Certificates
from tests.sample_bots.test_go import GREEDY, LIMITS, RANDOM, RULESETS, played, run_bot, started, totals
from tests.sample_bots.toolchain import SAMPLES, run_in

FOLDER = SAMPLES / "cpp"
EXPECTED = re.compile(r"connected as |session begins |session \S+ has ended: |not shown one by one: ")
"""Log lines of a bot that has nothing to complain about."""
SOME = [*RULESETS[2:3], *RULESETS[5:]]
"""Those with bombs out of turn, two packs, an exchange, draws and guards."""
PACKS = {"name": "packs", "decks": 3, "jokers": 2, "removed_cards": ["3C", "3H"], "players": 5}
at_table = partial(played, expected=EXPECTED)


@pytest.mark.parametrize(
    ("copy", "original"),
    [
        *((f"referee/v1/{name}", f"proto/referee/v1/{name}") for name in ("bots", "cards", "errors")),
        ("google/rpc/details", "sample_bots/typescript/proto/google/rpc/details"),
    ],
)
def test_proto_when_compared_then_it_is_a_copy(copy: str, original: str) -> None:
    path = FOLDER / "proto" / f"{copy}.proto"
    assert path.read_text() == (SAMPLES.parent / f"{original}.proto").read_text(), f"copy {original}.proto"


def test_own_tests_when_run_then_they_pass(cpp_build: Path) -> None:
    printed = run_in(cpp_build, str(cpp_build / "tests"))
    assert "SKIPPED" not in printed
    total = re.findall(r"^\[  PASSED  \] (\d+) tests\.$", printed, re.MULTILINE)
    assert len(total) == 1
    assert int(total[0]) > 50


@pytest.mark.parametrize("ruleset", [*SOME, PACKS], ids=lambda ruleset: str(ruleset["name"]))
async def test_sessions_when_others_are_random_then_no_fault_and_the_most_points(
    cpp_bot: Path, ruleset: dict[str, Any]
) -> None:
    points = await at_table(cpp_bot, ruleset, RANDOM, sessions=8)
    assert points[0] > max(points[1:])


async def test_sessions_when_others_are_greedy_then_the_most_points(cpp_bot: Path) -> None:
    points = await at_table(cpp_bot, "taiwan", GREEDY, sessions=40)
    assert points[0] > max(points[1:])


async def test_session_when_the_bot_is_killed_and_comes_back_then_it_is_resumed_without_a_fault(
    cpp_bot: Path,
) -> None:
    async with referee() as address, sdk_bots(address, dict.fromkeys((2, 3, 4), RANDOM)):
        environment = {"ARENA_TOKEN": "bot-1", "ARENA_REFEREE": address}
        running = asyncio.Event()
        async with started(cpp_bot, **environment) as first:
            playing = asyncio.create_task(play_match(address, match_spec(deals=100, limits=LIMITS), running))
            await asyncio.wait_for(running.wait(), DEADLINE)
            first.process.kill()
        assert not playing.done()
        async with started(cpp_bot, **environment) as second:
            results = await playing
    assert [result.faults for result in results] == [(0, 0, 0, 0)]
    assert totals(results, 4)[0] > max(totals(results, 4)[1:])
    assert second.status == 0, second.log


async def test_bot_when_it_is_given_two_addresses_of_a_referee_then_it_has_one_stream_to_each(
    cpp_bot: Path,
) -> None:
    arena = arena_of("", "")
    async with arena.referee(0) as first, arena.referee(1) as second:
        environment = {"ARENA_TOKEN": "bot-1", "ARENA_REFEREE": f"{first},{local(first)}"}
        async with started(cpp_bot, **environment) as bot:
            await until(lambda: arena.noted(EntryKind.REFUSED) == [1, 0])
            for address in (first, second):
                await play(address)
    assert arena.noted(EntryKind.CONNECTED) == [1, 1]
    assert arena.noted(EntryKind.REFUSED) == [1, 0]
    assert bot.log.count("not needed") == 1, bot.log
    assert bot.status == 0, bot.log


async def test_bot_when_its_token_is_unknown_then_it_ends_with_the_reason(cpp_bot: Path) -> None:
    async with referee() as address:
        status, log = await asyncio.to_thread(run_bot, cpp_bot, ARENA_TOKEN="nobody", ARENA_REFEREE=address)
    assert status == 1
    assert log.startswith(f"referee {address} refuses the bot: TOKEN_UNKNOWN: ")
    assert log.count("\n") == 1


def test_bot_when_its_environment_is_incomplete_then_one_line_names_the_variable(cpp_bot: Path) -> None:
    for environment, name in (
        ({}, "ARENA_TOKEN"),
        ({"ARENA_TOKEN": "bot-1", "ARENA_REFEREE": "here"}, "ARENA_REFEREE"),
        ({"ARENA_TOKEN": "bot-1", "ARENA_TLS_CA": os.devnull}, "ARENA_TLS_CA"),
    ):
        status, log = run_bot(cpp_bot, **environment)
        assert (status, log.count("\n")) == (1, 1)
        assert log.startswith(f"{name}: ")


async def test_session_when_the_referee_asks_for_certificates_then_it_is_played(
    cpp_bot: Path, certificates: Certificates
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
        started(cpp_bot, ARENA_REFEREE=address.replace("127.0.0.1", "localhost"), **environment) as bot,
        sdk_bots(address, dict.fromkeys((2, 3, 4), RANDOM), tls=tls),
    ):
        results = await play_match(address, match_spec(limits=LIMITS), tls=tls)
    assert [result.faults for result in results] == [(0, 0, 0, 0)]
    assert bot.status == 0, bot.log

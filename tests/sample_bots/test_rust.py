"""Tests for the sample bot in Rust: its own tests, and sessions on a real referee."""

import asyncio
import os
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from referee.matches.journal import EntryKind
from referee.matches.match import Limits
from referee.service.serving import ServerOptions
from referee.tls import ClientTls, ServerTls
from tests.referee.several import arena_of, local, play, until
from tests.referee.support import DEADLINE, match_spec, play_match, referee, sdk_bots
from tests.sample_bots.conftest import Certificates
from tests.sample_bots.test_go import GREEDY, LIMITS, RANDOM, RULESETS, played, run_bot, started, totals
from tests.sample_bots.toolchain import SAMPLES, run_in
from tests.tied import tied

FOLDER = SAMPLES / "rust"
run = partial(run_in, FOLDER)

PACKS: dict[str, Any] = {
    "name": "packs",
    "decks": 3,
    "jokers": 2,
    "removed_cards": ["3C", "3H"],
    "players": 5,
}


@pytest.mark.parametrize("name", ["bots", "cards", "errors"])
def test_proto_when_compared_then_it_is_a_copy(name: str) -> None:
    path = Path("proto", "referee", "v1", f"{name}.proto")
    original = SAMPLES.parent / path
    assert (FOLDER / path).read_text() == original.read_text(), f"copy {path} to sample_bots/rust/{path}"


def test_sources_when_checked_then_they_are_formatted_and_clippy_has_nothing_to_say(cargo: str) -> None:
    run(cargo, "fmt", "--check")
    run(cargo, "clippy", "--release", "--locked", "--all-targets", "--", "--deny", "warnings")


def test_own_tests_when_run_then_they_pass(cargo: str) -> None:
    printed = run(cargo, "test", "--release", "--locked")
    results = re.findall(r"^test result: (\w+)\. (\d+) passed; 0 failed; 0 ignored", printed, re.MULTILINE)
    assert [result for result, passed in results if int(passed)] == ["ok"] * 3  # units, client, vectors


@pytest.mark.parametrize("ruleset", [*RULESETS, PACKS], ids=lambda ruleset: str(ruleset["name"]))
async def test_sessions_when_others_are_random_then_no_fault_and_the_most_points(
    rust_bot: Path, ruleset: dict[str, Any]
) -> None:
    points = await played(rust_bot, ruleset, RANDOM, sessions=8)
    assert points[0] > max(points[1:])


async def test_sessions_when_others_are_greedy_then_the_most_points(rust_bot: Path) -> None:
    points = await played(rust_bot, "taiwan", GREEDY, sessions=40)
    assert points[0] > max(points[1:])


async def test_sessions_when_forced_turns_are_asked_then_no_fault(rust_bot: Path) -> None:
    limits = Limits(join_seconds=20, decision_ms=20_000, bank_ms=600_000, increment_ms=100, ask_forced=True)
    await played(rust_bot, "gamesky", RANDOM, sessions=4, limits=limits)


async def test_session_when_the_bot_is_killed_and_comes_back_then_it_is_resumed_without_a_fault(
    rust_bot: Path,
) -> None:
    async with referee() as address, sdk_bots(address, dict.fromkeys((2, 3, 4), RANDOM)):
        environment = {"ARENA_TOKEN": "bot-1", "ARENA_REFEREE": address}
        running = asyncio.Event()
        async with started(rust_bot, **environment) as first:
            playing = asyncio.create_task(play_match(address, match_spec(deals=100, limits=LIMITS), running))
            await asyncio.wait_for(running.wait(), DEADLINE)
            first.process.kill()
        assert not playing.done()
        async with started(rust_bot, **environment) as second:
            results = await playing
    assert [result.faults for result in results] == [(0, 0, 0, 0)]
    assert totals(results, 4)[0] > max(totals(results, 4)[1:])
    assert second.status == 0, second.log


async def test_bot_when_it_is_given_two_addresses_of_a_referee_then_it_has_one_stream_to_each(
    rust_bot: Path,
) -> None:
    arena = arena_of("", "")
    async with arena.referee(0) as first, arena.referee(1) as second:
        environment = {"ARENA_TOKEN": "bot-1", "ARENA_REFEREE": f"{first},{local(first)}"}
        async with started(rust_bot, **environment) as bot:
            await until(lambda: arena.noted(EntryKind.REFUSED) == [1, 0])
            for address in (first, second):
                await play(address)
    assert arena.noted(EntryKind.CONNECTED) == [1, 1]
    assert arena.noted(EntryKind.REFUSED) == [1, 0]
    assert bot.log.count("not needed") == 1, bot.log
    assert bot.status == 0, bot.log


async def test_bot_when_its_token_is_unknown_then_it_ends_with_the_reason(rust_bot: Path) -> None:
    async with referee() as address:
        status, log = await asyncio.to_thread(run_bot, rust_bot, ARENA_TOKEN="nobody", ARENA_REFEREE=address)
    assert status == 1
    assert log.startswith(f"referee {address} refuses the bot: TOKEN_UNKNOWN: ")
    assert log.count("\n") == 1


def test_bot_when_its_environment_is_incomplete_then_one_line_names_the_variable(rust_bot: Path) -> None:
    for environment, name in (
        ({}, "ARENA_TOKEN"),
        ({"ARENA_TOKEN": "bot-1", "ARENA_REFEREE": "here"}, "ARENA_REFEREE"),
        ({"ARENA_TOKEN": "bot-1", "ARENA_TLS_CA": os.devnull}, "ARENA_TLS_CA"),
    ):
        status, log = run_bot(rust_bot, **environment)
        assert (status, log.count("\n")) == (1, 1)
        assert log.startswith(f"{name}: ")


async def told(program: Path, text: str, **environment: str) -> None:
    """Start a bot, and wait until it has logged a text."""
    process = await asyncio.create_subprocess_exec(
        *tied(program),
        env={"ARENA_TOKEN": "bot-1", **environment},
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stderr is not None
        async with asyncio.timeout(DEADLINE):
            while text not in (line := await process.stderr.readline()).decode():
                assert line, f"it ended without {text!r}"
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_bot_when_tls_does_not_come_about_then_it_says_why(
    rust_bot: Path, certificates: Certificates
) -> None:
    tls = ServerTls(certificates.certificate.read_bytes(), certificates.key.read_bytes())
    authority = str(certificates.authority)
    async with referee(options=ServerOptions(tls=tls, drain_seconds=0)) as address:
        told_here = partial(told, rust_bot, ARENA_REFEREE=address)
        await told_here("it uses TLS, and this side does not: set ARENA_TLS_CA")
        await told_here("comes from no authority that ARENA_TLS_CA names", ARENA_TLS_CA="system")
    async with referee() as address:
        text = "it does not use TLS, and this side does: leave ARENA_TLS_CA out"
        await told(rust_bot, text, ARENA_REFEREE=address, ARENA_TLS_CA=authority)


async def test_session_when_the_referee_asks_for_certificates_then_it_is_played(
    rust_bot: Path, certificates: Certificates
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
        started(rust_bot, ARENA_REFEREE=address.replace("127.0.0.1", "localhost"), **environment) as bot,
        sdk_bots(address, dict.fromkeys((2, 3, 4), RANDOM), tls=tls),
    ):
        results = await play_match(address, match_spec(limits=LIMITS), tls=tls)
    assert [result.faults for result in results] == [(0, 0, 0, 0)]
    assert bot.status == 0, bot.log

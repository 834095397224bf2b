"""Tests for the sample bot in Rust: its own tests, and sessions on a real referee."""

import asyncio
import re
from functools import partial
from pathlib import Path

import pytest

from referee.matches.match import Limits
from referee.net.tls import ServerTls
from referee.service.serving import ServerOptions
from tests.referee.support import referee
from tests.sample_bots.conftest import Certificates
from tests.sample_bots.test_go import RANDOM, played
from tests.sample_bots.toolchain import SAMPLES, run_in
from tests.tied import tied
from tests.waiting import DEADLINE

FOLDER = SAMPLES / "rust"
run = partial(run_in, FOLDER)


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


async def test_sessions_when_forced_turns_are_asked_then_no_fault(rust_bot: Path) -> None:
    limits = Limits(join_seconds=20, decision_ms=20_000, bank_ms=600_000, increment_ms=100, ask_forced=True)
    await played(rust_bot, "gamesky", RANDOM, sessions=4, limits=limits)


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

"""Tests for the sample bot in Rust: its sources, and its own tests."""

import re
from functools import partial
from pathlib import Path

import pytest

from referee.net.tls import ServerTls
from referee.service.serving import ServerOptions
from tests.referee.support import referee
from tests.sample_bots.conftest import Certificates
from tests.sample_bots.programs import started
from tests.sample_bots.toolchain import SAMPLES, run_in
from tests.waiting import until

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


@pytest.mark.parametrize("language", ["rust"])
async def test_bot_when_its_authority_is_not_the_referees_then_it_says_so(
    command: list[str], certificates: Certificates
) -> None:
    tls = ServerTls(certificates.certificate.read_bytes(), certificates.key.read_bytes())
    async with (
        referee(options=ServerOptions(tls=tls, drain_seconds=0)) as address,
        started(command, ARENA_REFEREE=address, ARENA_TLS_CA="system") as bot,
    ):
        told = "comes from no authority that ARENA_TLS_CA names"
        await until(lambda: told in bot.log, lambda: bot.log)

"""Tests for the sample bot in TypeScript: its own tests, and sessions on a real referee."""

import asyncio
import json
import os
from functools import partial
from pathlib import Path

import pytest

from tests.needed import require
from tests.referee.support import match_spec, play_match, referee, sdk_bots
from tests.sample_bots.programs import LIMITS, RANDOM, ended, played, started
from tests.sample_bots.toolchain import SAMPLES, run_in

FOLDER = SAMPLES / "typescript"
run = partial(run_in, FOLDER)


def test_own_tests_when_run_then_pass(node: str) -> None:
    printed = run(require("npm"), "test")
    assert "# fail 0" in printed
    assert "# pass 0" not in printed


def test_generated_code_when_made_again_then_is_the_same(node: str, tmp_path: Path) -> None:
    run(require("npm"), "run", "generate", "--", "--output", str(tmp_path))
    fresh = {path.relative_to(tmp_path): path.read_text() for path in tmp_path.rglob("*.ts")}
    kept = {path.relative_to(FOLDER): path.read_text() for path in (FOLDER / "src" / "gen").rglob("*.ts")}
    assert fresh
    assert fresh == kept, "run `npm run generate` in sample_bots/typescript"


def test_lock_file_when_read_then_names_no_registry() -> None:
    packages = json.loads((FOLDER / "package-lock.json").read_text())["packages"]
    assert [name for name, package in packages.items() if "resolved" in package] == []


async def test_sessions_when_others_are_random_then_nearly_all_are_won(typescript_bot: list[str]) -> None:
    results = await played(typescript_bot, "chinese", RANDOM, sessions=20)
    won = [result for result in results if result.points[(1 - result.number) % 4] == max(result.points)]
    assert len(won) >= 16


class Wire:
    """A connection to a referee that can be cut."""

    def __init__(self, address: str, cut_after: int) -> None:
        self._host, port = address.split(":")
        self._port = int(port)
        self._ends: list[asyncio.StreamWriter] = []
        self.connections = 0
        self.from_referee = 0
        """Number of bytes received so far."""
        self.cut_after: int | None = cut_after
        """Cuts the connection, once, when this many bytes have come from the referee."""

    async def connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Connect a bot with the referee until one of them ends."""
        self.connections += 1
        to_bot = writer
        from_referee, to_referee = await asyncio.open_connection(self._host, self._port)
        self._ends = [to_bot, to_referee]
        await asyncio.gather(
            self._carry(reader, to_referee, count=False), self._carry(from_referee, to_bot, count=True)
        )

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, count: bool
    ) -> None:
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
                self.from_referee += len(data) if count else 0
                if self.cut_after is not None and self.from_referee >= self.cut_after:
                    self.cut_after = None
                    for end in self._ends:
                        end.transport.abort()
        except OSError:
            pass
        finally:
            writer.close()


async def test_session_when_the_wire_is_cut_then_it_is_resumed_without_a_fault(
    typescript_bot: list[str],
) -> None:
    async with referee() as address:
        # In a session of twenty deals, a bot receives some tens of kilobytes.
        wire = Wire(address, cut_after=5000)
        server = await asyncio.start_server(wire.connect, "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()
        async with (
            server,
            started(typescript_bot, ARENA_REFEREE=f"{host}:{port}") as bot,
            sdk_bots(address, dict.fromkeys((2, 3, 4), RANDOM)),
        ):
            results = await play_match(address, match_spec(deals=20, limits=LIMITS))
    assert [result.faults for result in results] == [(0, 0, 0, 0)]
    assert wire.cut_after is None
    assert wire.connections >= 2
    assert bot.log.count(" is connected to ") == 2
    assert bot.status == 0


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"ARENA_TOKEN": ""}, "ARENA_TOKEN: not set; it is the token that `arena bot register` printed"),
        ({"ARENA_REFEREE": "here"}, 'ARENA_REFEREE: "here" is not an address: it takes a host and a port'),
        ({"ARENA_REFEREE": "::1"}, 'ARENA_REFEREE: "::1" is not an address: it takes a host and a port'),
        ({"ARENA_REFEREE": ","}, "ARENA_REFEREE: names no referee"),
        ({"ARENA_TLS_CA": "/no/such/file"}, "ARENA_TLS_CA: ENOENT: no such file or directory"),
        ({"ARENA_TLS_CA": os.devnull}, "ARENA_TLS_CA: "),
        ({"ARENA_TLS_CLIENT_KEY": __file__}, "ARENA_TLS_CA: not set, though a certificate or a key is"),
    ],
)
async def test_start_when_the_environment_is_wrong_then_one_line_names_the_variable(
    typescript_bot: list[str], environment: dict[str, str], message: str
) -> None:
    bot = await ended(typescript_bot, **environment)
    assert (bot.status, bot.log.count("\n")) == (1, 1)
    assert bot.log.startswith(message)

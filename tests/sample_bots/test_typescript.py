"""Tests for the sample bot in TypeScript: its own tests, and sessions on a real referee."""

import asyncio
import json
import os
import re
import runpy
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from referee.matches.match import Limits, SessionResult
from referee.net.tls import ClientTls, ServerTls
from referee.ruleset import load_ruleset
from referee.service.reception import ANOTHER_ATTEMPT
from referee.service.serving import ServerOptions
from tests.needed import require
from tests.referee.several import arena_of, local, two_streams
from tests.referee.support import match_spec, play_match, referee, sdk_bots
from tests.sample_bots.conftest import Certificates
from tests.sample_bots.toolchain import SAMPLES, run_in
from tests.tied import tied
from tests.waiting import DEADLINE, until

FOLDER = SAMPLES / "typescript"
run = partial(run_in, FOLDER)
RANDOM_BOT = runpy.run_path(str(SAMPLES / "python" / "random_bot.py"))["RandomBot"]
PATIENT = Limits(join_seconds=20, decision_ms=20_000)
"""Long enough that results do not depend on how busy the machine is."""
BOT = 1
"""The number of the bot in its matches; the others play at random."""

RULESETS: list[dict[str, Any]] = [
    {"name": "chinese"},
    {"name": "chinese-2"},
    {"name": "gamesky"},
    {"name": "indonesia"},
    {"name": "lectio"},
    {"name": "only-a-game-8"},
    {"name": "packs", "decks": 3, "jokers": 2, "removed_cards": ["3C", "3H"], "players": 5},
    {"extends": "chinese-3", "name": "exchanging", "exchange": "loser_to_winner", "lead": "winner"},
    {"extends": "hong-kong-relatives-3", "name": "drawing", "draw_on_pass": "as_needed", "restock": True},
    {"extends": "gamesky", "name": "guarded", "guard": "must", "beat_own": True, "bombs_out_of_turn": True},
]
"""With bombs out of turn, 60 tiles, several packs, jokers, an exchange, draws, beating its own play."""


@dataclass
class Running:
    """A bot that was started."""

    process: asyncio.subprocess.Process
    lines: list[str] = field(default_factory=list)
    """What it has logged so far; complete once it has ended."""

    async def read(self) -> None:
        """Read the log until the bot ends."""
        assert self.process.stderr is not None
        async for line in self.process.stderr:
            self.lines.append(line.decode().rstrip())

    def without_news(self) -> list[str]:
        """Return the log lines that are about anything other than connections and the course of sessions."""
        news = re.compile(
            r" is connected to | session \S+ (in \S+ )?(begins|goes on|has ended): | not shown "
        )
        return [line for line in self.lines if not news.search(line)]


@asynccontextmanager
async def started(node: str, **environment: str) -> AsyncIterator[Running]:
    """Run the bot as a program; at the end of the block tell it to leave, if it is still running."""
    process = await asyncio.create_subprocess_exec(
        *tied(node, FOLDER / "dist" / "src" / "main.js"),
        env={"PATH": os.environ["PATH"], **environment},
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    bot = Running(process)
    reading = asyncio.create_task(bot.read())
    try:
        yield bot
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(DEADLINE):
            await process.wait()
            await reading
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
        await reading


async def ended(node: str, **environment: str) -> tuple[int | None, list[str]]:
    """Return the exit status and the log of a bot that ends without being told to."""
    async with started(node, **environment) as bot, asyncio.timeout(DEADLINE):
        await bot.process.wait()
    return bot.process.returncode, bot.lines


def totals(results: Sequence[SessionResult], players: int) -> list[int]:
    """Return the points of each bot, by number; in session n, seats are rotated by n - 1."""
    points = [0] * players
    for result in results:
        for seat, score in enumerate(result.points):
            points[(seat + result.number - 1) % players] += score
    return points


async def sessions(
    node: str,
    ruleset: str | Mapping[str, object],
    *,
    count: int,
    limits: Limits = PATIENT,
) -> tuple[list[SessionResult], Running]:
    """Play sessions of ten deals against random bots."""
    players = load_ruleset(ruleset).players
    others = dict.fromkeys(range(BOT + 1, players + 1), RANDOM_BOT)
    spec = match_spec(range(BOT, players + 1), sessions=count, deals=10, ruleset=ruleset, limits=limits)
    async with (
        referee() as address,
        started(node, ARENA_TOKEN=f"bot-{BOT}", ARENA_REFEREE=address) as bot,
        sdk_bots(address, others),
    ):
        results = await play_match(address, spec)
    return results, bot


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


@pytest.mark.parametrize("ruleset", RULESETS, ids=lambda ruleset: str(ruleset["name"]))
async def test_sessions_when_others_are_random_then_no_fault_and_the_most_points(
    node: str, ruleset: dict[str, Any]
) -> None:
    results, bot = await sessions(node, ruleset, count=8)
    points = totals(results, load_ruleset(ruleset).players)
    assert [sum(result.faults) for result in results] == [0] * 8
    assert points[0] > max(points[1:])
    assert bot.process.returncode == 0
    assert bot.without_news() == []


async def test_sessions_when_others_are_random_then_nearly_all_are_won(node: str) -> None:
    results, _ = await sessions(node, "chinese", count=20)
    won = [result for result in results if result.points[(1 - result.number) % 4] == max(result.points)]
    assert len(won) >= 16


async def test_session_when_forced_turns_are_asked_then_no_fault(node: str) -> None:
    limits = Limits(join_seconds=20, decision_ms=20_000, bank_ms=600_000, increment_ms=100, ask_forced=True)
    results, bot = await sessions(node, "gamesky", count=4, limits=limits)
    assert [sum(result.faults) for result in results] == [0] * 4
    assert bot.without_news() == []


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


async def test_session_when_the_wire_is_cut_then_it_is_resumed_without_a_fault(node: str) -> None:
    async with referee() as address:
        # In a session of twenty deals, a bot receives some tens of kilobytes.
        wire = Wire(address, cut_after=5000)
        server = await asyncio.start_server(wire.connect, "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()
        async with (
            server,
            started(node, ARENA_TOKEN="bot-1", ARENA_REFEREE=f"{host}:{port}") as bot,
            sdk_bots(address, dict.fromkeys((2, 3, 4), RANDOM_BOT)),
        ):
            results = await play_match(address, match_spec(deals=20, limits=PATIENT))
    assert [result.faults for result in results] == [(0, 0, 0, 0)]
    assert wire.cut_after is None
    assert wire.connections >= 2
    assert sum(" is connected to " in line for line in bot.lines) == 2
    assert bot.process.returncode == 0


async def test_bot_when_it_is_given_two_addresses_of_a_referee_then_it_has_one_stream_to_each(
    node: str,
) -> None:
    arena = arena_of("", "")
    async with arena.referee(0) as first, arena.referee(1):
        environment = {"ARENA_TOKEN": f"bot-{BOT}", "ARENA_REFEREE": f"{first},{local(first)}"}
        async with started(node, **environment) as bot:
            await two_streams(arena)
    assert sum("not needed" in line for line in bot.lines) == 1
    # The bot may try both addresses at the same moment, but the referee handles only one attempt at a time.
    assert [line for line in bot.without_news() if ANOTHER_ATTEMPT not in line] == []
    assert bot.process.returncode == 0


async def test_start_when_the_token_is_unknown_then_it_ends_with_the_reason(node: str) -> None:
    async with referee() as address:
        code, lines = await ended(node, ARENA_TOKEN="nobody", ARENA_REFEREE=address)
    assert code == 1
    assert len(lines) == 1
    assert lines[0].startswith(f"referee {address}: TOKEN_UNKNOWN: ")


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({}, "ARENA_TOKEN: not set; it is the token that `arena bot register` printed"),
        ({"ARENA_REFEREE": "here"}, 'ARENA_REFEREE: "here" is not an address: it takes a host and a port'),
        ({"ARENA_REFEREE": "::1"}, 'ARENA_REFEREE: "::1" is not an address: it takes a host and a port'),
        ({"ARENA_REFEREE": ","}, "ARENA_REFEREE: names no referee"),
        ({"ARENA_TLS_CA": "/no/such/file"}, "ARENA_TLS_CA: ENOENT: no such file or directory"),
        ({"ARENA_TLS_CA": os.devnull}, "ARENA_TLS_CA: "),
        ({"ARENA_TLS_CLIENT_KEY": __file__}, "ARENA_TLS_CA: not set, though a certificate or a key is"),
    ],
)
async def test_start_when_the_environment_is_wrong_then_one_line_names_the_variable(
    node: str, environment: dict[str, str], message: str
) -> None:
    token = {"ARENA_TOKEN": "bot-1"} if environment else {}
    code, lines = await ended(node, **token, **environment)
    assert (code, len(lines)) == (1, 1)
    assert lines[0].startswith(message)


async def test_bot_when_only_one_side_uses_tls_then_it_says_which(
    node: str, certificates: Certificates
) -> None:
    certificate, key = certificates.certificate.read_bytes(), certificates.key.read_bytes()
    options = ServerOptions(tls=ServerTls(certificate, key), drain_seconds=0)
    environment = {"ARENA_TOKEN": "bot-1"}
    async with (
        referee(options=options) as address,
        started(node, ARENA_REFEREE=address, **environment) as bot,
    ):
        told = f"referee {address}: it uses TLS, and this side does not: set ARENA_TLS_CA"
        await until(lambda: any(told in line for line in bot.lines))
    environment["ARENA_TLS_CA"] = str(certificates.authority)
    async with referee() as address, started(node, ARENA_REFEREE=address, **environment) as bot:
        told = f"referee {address}: it does not use TLS, and this side does: leave ARENA_TLS_CA out"
        await until(lambda: any(told in line for line in bot.lines))


async def test_session_when_the_referee_asks_for_certificates_then_it_is_played(
    node: str, certificates: Certificates
) -> None:
    authority, certificate, key = (
        path.read_bytes() for path in (certificates.authority, certificates.certificate, certificates.key)
    )
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
        started(node, ARENA_REFEREE=address, **environment) as bot,  # no warning that this is no name
        sdk_bots(address, dict.fromkeys((2, 3, 4), RANDOM_BOT), tls=tls),
    ):
        results = await play_match(address, match_spec(limits=PATIENT), tls=tls)
    assert [result.faults for result in results] == [(0, 0, 0, 0)]
    assert bot.without_news() == []

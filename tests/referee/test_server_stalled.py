"""Tests for bots that the referee cannot reach: they are blamed, unless it cannot reach most of them."""

import asyncio
import contextlib
import select
import socket as sockets_of_python
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from grpc_reflection.v1alpha.reflection_pb2 import ServerReflectionRequest

from referee.matches.auth import BotIdentity
from referee.matches.journal import EntryKind
from referee.matches.match import Limits, SessionResult
from referee.service import sockets
from referee.service.server import ServerOptions
from tests.referee import hostile
from tests.referee.hostile import PREFACE, headers, message, settings, window
from tests.referee.processes import referee_process
from tests.referee.support import ListJournal, Tokens, lowest, match_spec, play_match, referee, sdk_bots
from tests.waiting import DEADLINE, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sockets are inspected on Linux only")

BOTS = (1, 2, 3, 4)
LIMITS = Limits(decision_ms=300, join_seconds=20, faults=2, on_forfeit="end_session")
QUESTION = ServerReflectionRequest(file_containing_symbol="referee.v1.BotService").SerializeToString()
"""A request with a long answer."""
LOOKS = 30
"""How often in a row a connection must be full to count as full: gRPC and the kernel may still move data."""


@asynccontextmanager
async def full_connection(address: str) -> AsyncIterator[sockets_of_python.socket]:
    """Open a connection with a tiny receive buffer, clogged with unread answers."""
    host, port = address.rsplit(":", 1)
    loop = asyncio.get_running_loop()
    with sockets_of_python.socket() as one:
        one.setsockopt(sockets_of_python.SOL_SOCKET, sockets_of_python.SO_RCVBUF, 1)
        one.setblocking(False)
        await loop.sock_connect(one, (host, int(port)))
        await loop.sock_sendall(one, PREFACE + settings(initial_window_size=(1 << 31) - 1) + window(1 << 30))
        await loop.sock_sendall(one, headers(1, "ServerReflectionInfo"))
        async with asyncio.timeout(DEADLINE):
            full = 0
            while full < LOOKS:
                await loop.sock_sendall(one, message(1, QUESTION) * 10)
                await asyncio.sleep(0.01)
                full = full + 1 if is_full(int(port), one.getsockname()[1]) else 0
        yield one


def is_full(port: int, peer_port: int) -> bool:
    """Return whether the referee's end of a connection accepts no more data."""
    ours = [one.file for one in sockets.connections(port) if one.peer.port == peer_port]
    return bool(ours) and not select.select([], ours, [], 0)[1]


class Owners(Tokens):
    """Tokens of bots that belong to as many owners."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count = count

    def bot(self, token: str) -> BotIdentity | None:
        identity = super().bot(token)
        if identity is None:
            return None
        return identity._replace(name=f"owner{identity.version_id % self._count}/{identity.version_id}@1")


class Line:
    """A TCP forwarder to the referee that can hold back all bytes in both directions."""

    def __init__(self, address: str) -> None:
        self._host, self._port = address.rsplit(":", 1)
        self.open = asyncio.Event()
        """Bytes pass while it is set."""
        self.open.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        onward = await asyncio.open_connection(self._host, int(self._port))
        await asyncio.gather(self._pass(reader, onward[1]), self._pass(onward[0], writer))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 16):
                await self.open.wait()
                writer.write(data)
                await writer.drain()
        writer.close()


@asynccontextmanager
async def line_to(address: str) -> AsyncIterator[tuple[Line, str]]:
    """Yield a line to the referee, and its own address."""
    line = Line(address)
    server = await asyncio.start_server(line.serve, "127.0.0.1", 0)
    async with server:
        yield line, f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        line.open.set()


async def play_cut(owners: int, reached: Callable[[ListJournal], bool]) -> list[SessionResult]:
    """Play a match of bots of so many owners; cut the line to all of them at once, and mend it later."""
    journal = ListJournal()
    spec = match_spec(sessions=24, deals=2, limits=LIMITS.model_copy(update={"faults": 1000}))
    options = ServerOptions(drain_seconds=0, journal=journal)
    arrived: list[SessionResult] = []
    async with (
        referee(options=options, tokens=Owners(owners)) as address,
        line_to(address) as (line, through),
        sdk_bots(through, dict.fromkeys(BOTS, lowest), max_sessions=1),
    ):
        running = asyncio.create_task(play_match(address, spec, arrived=arrived))
        await until(lambda: arrived, pause=0.001)
        line.open.clear()
        await until(lambda: reached(journal), lambda: journal.entries)
        line.open.set()
        return await running


async def test_cut_when_all_owners_bots_are_silent_at_once_then_none_has_a_fault(
    caplog: pytest.LogCaptureFixture,
) -> None:
    results = await play_cut(4, lambda _: "clocks stand still" in caplog.text)
    assert [(result.faults, result.forfeit) for result in results] == [((0, 0, 0, 0), None)] * 24
    assert "clocks run again" in caplog.text


async def test_cut_when_all_silent_bots_belong_to_one_owner_then_they_are_blamed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    results = await play_cut(1, lambda journal: len(journal.of(1, EntryKind.FAULT)) > 1)
    assert sum(sum(result.faults) for result in results) > 1
    assert "clocks stand still" not in caplog.text


async def test_stall_when_grpcs_threads_do_nothing_for_seconds_then_no_bot_has_a_fault() -> None:
    # A stall is longer than the limit, and the limit longer than a busy machine delays the bots' answers.
    spec = match_spec(sessions=24, deals=2, limits=LIMITS.model_copy(update={"decision_ms": 2000}))
    arrived: list[SessionResult] = []
    async with referee_process() as (address, process), sdk_bots(address, dict.fromkeys(BOTS, lowest)):
        running = asyncio.create_task(play_match(address, spec, arrived=arrived))
        stalls: list[None] = []
        while len(stalls) < 2:
            await until(lambda: len(arrived) > len(stalls) or running.done(), pause=0.001)
            assert not running.done()
            stalls.append(None)
            process.stall_threads()
        results = await running
    assert [(result.faults, result.forfeit) for result in results] == [((0, 0, 0, 0), None)] * 24


async def test_play_when_its_way_back_is_full_before_then_each_session_is_the_bots_forfeit() -> None:
    journal = ListJournal()
    spec = match_spec(sessions=4, limits=LIMITS)
    async with (
        referee(options=ServerOptions(drain_seconds=0, journal=journal)) as address,
        sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)),
        full_connection(address) as one,
    ):
        play = headers(3, authorization="Bearer bot-4") + message(3, hostile.hello())
        await asyncio.get_running_loop().sock_sendall(one, play)
        await until(lambda: journal.of(4, EntryKind.CONNECTED), lambda: journal.entries)
        results = await play_match(address, spec)
    assert [result.forfeit for result in results] == [s.seating.index(3) for s in spec.sessions]
    assert {e.version_id for e in journal.entries if e.kind is EntryKind.FAULT} == {4}
    # On a slow machine, the referee has ended the stream before the last session begins.
    assert {e.code for e in journal.of(4, EntryKind.FAULT)} in ({"stall"}, {"stall", "disconnect"})

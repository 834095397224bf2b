"""Floods for ``benchmarks.hostile``, each from a different host than the honest bots, as seen by the referee.

``python -m benchmarks.floods ADDRESS`` says when it is ready. Each line that it reads names floods and the
hosts that they come from, as in ``pings 127.0.0.2 resets 127.0.0.3``; they run, all at once, until the next
line. All of it stays on the loopback interface.
"""

import asyncio
import contextlib
import os
import random
import socket
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar

from benchmarks.matches import match_spec
from referee.errors import RefereeUnavailable
from referee.matches.match import Limits, MatchSpec
from referee.net.client import run_match
from tests.referee import hostile
from tests.referee.hostile import PREFACE, frame, headers, message, settings

MATCH = "honest"
"""The match that the honest bots play."""
STREAMS = 900
"""Calls opened on one connection."""
PING = frame(hostile.PING, 0, 0, bytes(8))
CANCEL = (8).to_bytes(4)
"""The error code with which a stream is reset."""
HOST: ContextVar[str] = ContextVar("HOST")
"""The host that a flood comes from."""


def spec(name: str, bots: Sequence[int], sessions: int, decision_ms: int = 1000) -> MatchSpec:
    """Return a match of four bots."""
    return match_spec(name, bots, sessions, 1, Limits(decision_ms=decision_ms, join_seconds=20, faults=10))


class Raw:
    """A TCP connection to the referee that reads nothing."""

    def __init__(self, address: str, data: bytes) -> None:
        host, port = address.rsplit(":", 1)
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        self._socket.bind((HOST.get(), 0))
        self._socket.connect((host, int(port)))
        self._socket.setblocking(False)
        self._data = data

    async def send(self, seconds: float) -> None:
        """Send as much as the referee accepts within the given time."""
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(seconds):
                await asyncio.get_running_loop().sock_sendall(self._socket, self._data)

    def close(self) -> None:
        self._socket.close()


async def hold(address: str, data: bytes, connections: int, seconds: float) -> None:
    """Send the data on several connections, keep them open for a while without reading, and close them."""
    raw = [Raw(address, data) for _ in range(connections)]
    try:
        await asyncio.gather(*(one.send(seconds) for one in raw))
        await asyncio.sleep(seconds)
    finally:
        for one in raw:
            one.close()


def calls(path: str, body: bytes | None = None, streams: int = STREAMS, **more: str) -> bytes:
    """Return the bytes that open ``streams`` calls on one connection."""
    numbers = range(1, 2 * streams, 2)
    opened = [headers(n, path, **more) + (b"" if body is None else message(n, body)) for n in numbers]
    return PREFACE + settings() + frame(hostile.WINDOW_UPDATE, 0, 0, (1 << 20).to_bytes(4)) + b"".join(opened)


async def pings(address: str) -> None:
    """Send 20,000 PING frames and read none of the answers."""
    await hold(address, PREFACE + settings() + PING * 20_000, 1, 0.5)


async def many_pings(address: str) -> None:
    """Send 480,000 PING frames and read none of the answers."""
    await hold(address, PREFACE + settings() + PING * 480_000, 1, 2)


async def read_pings(address: str) -> None:
    """Send PING frames endlessly, and read the answers."""
    async with hostile.socket(address, HOST.get()) as connection:
        await connection.send(PREFACE + settings())
        closed = asyncio.create_task(connection.closed())
        while not closed.done():
            await connection.send(PING * 4000)
            await asyncio.sleep(0)


async def bot_pings(address: str) -> None:
    """Have a bot say hello and then send PING frames endlessly."""
    await _pings_of_bot(address, 4000, 0)


async def slow_pings(address: str) -> None:
    """Have a bot say hello and then send as many bytes of PING frames as it is allowed, endlessly."""
    await _pings_of_bot(address, 6000, 0.1)


async def _pings_of_bot(address: str, frames: int, seconds: float) -> None:
    """Have a bot say hello and then send ``frames`` PING frames every ``seconds`` seconds."""
    async with hostile.socket(address, HOST.get()) as connection:
        opening = headers(1, authorization="Bearer 97") + message(1, hostile.hello())
        await connection.send(PREFACE + settings() + opening)
        await asyncio.sleep(0.1)
        closed = asyncio.create_task(connection.closed())
        while not closed.done():
            await connection.send(PING * frames)
            await asyncio.sleep(seconds)


async def connections(address: str) -> None:
    """Close connections as soon as they are open."""
    for _ in range(200):
        Raw(address, b"").close()


async def resets(address: str) -> None:
    """Reset calls as soon as they are open."""
    opened = [headers(n, "Check") + frame(hostile.RST_STREAM, 0, n, CANCEL) for n in range(1, 8000, 2)]
    await hold(address, PREFACE + settings() + b"".join(opened), 1, 0.5)


async def references(address: str) -> None:
    """Open 300 calls, each with 16,000 references of a byte to one large header."""
    await _referring(address, 300, 16_000)


async def few_references(address: str) -> None:
    """Open 5,000 calls, each with 256 references of a byte to one large header."""
    await _referring(address, 5000, 256)


async def _referring(address: str, streams: int, count: int) -> None:
    opened = [
        hostile.referring(number, "Check", count, first=number == 1) for number in range(1, 2 * streams, 2)
    ]
    await hold(address, PREFACE + settings() + b"".join(opened), 1, 0.5)


async def watches(address: str) -> None:
    """Open 9,000 streams that watch the health service."""
    await hold(address, calls("Watch", b""), 10, 2)


async def unasked(address: str) -> None:
    """Open 18,000 calls whose request never arrives."""
    await hold(address, calls("GetStatus"), 20, 2)


async def silent(address: str) -> None:
    """Open streams with a token that never say hello."""
    await hold(address, calls("Play", authorization="Bearer 99"), 1, 2)


async def reconnects(address: str) -> None:
    """Connect with one token again and again, on many connections at once."""
    await hold(address, calls("Play", hostile.hello(), 50, authorization="Bearer 99"), 4, 0.1)


async def spectators(address: str) -> None:
    """Open streams of spectators that read nothing."""
    body = b"\x0a" + bytes([len(MATCH)]) + MATCH.encode()
    data = calls("WatchMatch", body, 500).replace(settings(), settings(initial_window_size=0))
    await hold(address, data, 4, 3)


async def garbage(address: str) -> None:
    """Send bytes that are not valid messages to all services."""
    rng = random.Random()
    for path in ("Play", "Check", "Watch", "ServerReflectionInfo", "WatchMatch", "GetStatus"):
        data = calls(path, b"\xff" + rng.randbytes(200), 50, authorization="Bearer 98")
        await hold(address, data, 1, 0.05)
    await hold(address, rng.randbytes(5000), 1, 0.05)


async def packed(address: str) -> None:
    """Play at a table of four bots that answer all turns with numbers that are not cards."""
    bots = [asyncio.create_task(_packed_bot(address, number)) for number in BOTS]
    try:
        while not any(bot.done() for bot in bots):
            await asyncio.to_thread(_run_packed, address)
    finally:
        for bot in bots:
            bot.cancel()


FLOODS: dict[str, Callable[[str], Awaitable[None]]] = {
    flood.__name__: flood
    for flood in (
        pings,
        many_pings,
        read_pings,
        bot_pings,
        slow_pings,
        references,
        few_references,
        watches,
        unasked,
        silent,
        reconnects,
        connections,
        resets,
        spectators,
        garbage,
        packed,
    )
}
BOTS = range(90, 94)
"""The bots of ``packed``."""


def _run_packed(address: str) -> None:
    for _ in run_match(address, "worker", spec("packed", BOTS, 2)):
        pass


async def _packed_bot(address: str, number: int) -> None:
    async with hostile.socket(address, HOST.get()) as connection:
        opening = headers(1, authorization=f"Bearer {number}") + message(1, hostile.hello())
        await connection.send(PREFACE + settings() + opening)
        async for turn in connection.turns():
            await connection.send(message(1, hostile.packed_move(turn, b"\xff")))


async def repeat(flood: str, host: str, address: str) -> None:
    """Run a flood again and again."""
    HOST.set(host)
    while True:
        with contextlib.suppress(OSError, EOFError, RefereeUnavailable):
            await FLOODS[flood](address)
        await asyncio.sleep(0.01)


async def main(address: str) -> None:
    os.nice(19)
    print("ready", flush=True)
    running: list[asyncio.Task[None]] = []
    while line := await asyncio.to_thread(sys.stdin.readline):
        for task in running:
            task.cancel()
        words = line.split()
        running = [
            asyncio.create_task(repeat(flood, host, address))
            for flood, host in zip(words[::2], words[1::2], strict=True)
        ]


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))

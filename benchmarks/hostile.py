"""What hostile clients do to honest tables: each flood beside four bots that play, with figures.

``python -m benchmarks.hostile`` plays undisturbed, then beside each flood, then undisturbed again, some times
over. For each flood it prints the honest sessions a second as a share of the undisturbed ones, the faults of
honest bots, the sessions that were voided, the calls of the worker that broke off, the most memory that the
referee used, and the tracebacks in its log. All of it stays on the loop-back interface, each flood has an end
in count and in time, and all processes are ended with the benchmark.
"""

import argparse
import asyncio
import contextlib
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from benchmarks.memory import resident
from benchmarks.referee import PLAYERS, median_and_range, process, read_line
from referee.client import run_match
from referee.errors import RefereeUnavailable
from referee.matches.match import Limits, MatchBot, MatchSpec, Progress, SessionResult, SessionSpec
from referee.ruleset import load_ruleset
from tests.referee import hostile
from tests.referee.hostile import PREFACE, frame, headers, message, settings

MATCH, HONEST = "honest", range(1, PLAYERS + 1)
SESSIONS, DEALS = 64, 1
"""Of one honest match; matches follow each other until the time is over."""
LIMITS = Limits(decision_ms=1000, join_ms=20_000, faults=10)
STREAMS = 900
"""Calls that are opened on one connection."""
FROM = "127.0.0.2"
"""Where the floods come from: another host, as the referee sees it."""
HEAD_START = 1.0
"""Seconds that a flood has before the measured matches begin."""
PATIENCE = 30.0
"""Seconds that the bots have to come."""
MIB = 1 << 20


# The floods: each goes on until its process is ended


class Raw:
    """A TCP connection to the referee that reads nothing."""

    def __init__(self, address: str, data: bytes) -> None:
        host, port = address.rsplit(":", 1)
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        self._socket.bind((FROM, 0))
        self._socket.connect((host, int(port)))
        self._socket.setblocking(False)
        self._data = data

    async def send(self, seconds: float) -> None:
        """Send what the referee takes within so many seconds."""
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(seconds):
                await asyncio.get_running_loop().sock_sendall(self._socket, self._data)

    def close(self) -> None:
        self._socket.close()


async def hold(address: str, data: bytes, connections: int, seconds: float) -> None:
    """Send the data on so many connections, keep them for some time without reading, and close them."""
    raw = [Raw(address, data) for _ in range(connections)]
    try:
        await asyncio.gather(*(one.send(seconds) for one in raw))
        await asyncio.sleep(seconds)
    finally:
        for one in raw:
            one.close()


def calls(path: str, body: bytes | None = None, streams: int = STREAMS, **more: str) -> bytes:
    """Return the bytes that open so many calls on one connection."""
    numbers = range(1, 2 * streams, 2)
    opened = [headers(n, path, **more) + (b"" if body is None else message(n, body)) for n in numbers]
    return PREFACE + settings() + frame(hostile.WINDOW_UPDATE, 0, 0, (1 << 20).to_bytes(4)) + b"".join(opened)


async def pings(address: str) -> None:
    """Send 20,000 PING frames, and read none of the answers."""
    await hold(address, PREFACE + settings() + frame(hostile.PING, 0, 0, bytes(8)) * 20_000, 1, 0.5)


async def watches(address: str) -> None:
    """Open 9,000 streams that watch the health."""
    await hold(address, calls("Watch", b""), 10, 2)


async def unasked(address: str) -> None:
    """Open 18,000 calls whose request never comes."""
    await hold(address, calls("GetStatus"), 20, 2)


async def silent(address: str) -> None:
    """Streams with a token that never say hello."""
    await hold(address, calls("Play", authorization="Bearer 99"), 1, 2)


async def reconnects(address: str) -> None:
    """Connect with one token again and again, on many connections at once."""
    await hold(address, calls("Play", hostile.hello(), 50, authorization="Bearer 99"), 4, 0.1)


async def spectators(address: str) -> None:
    """Spectators that read nothing."""
    body = b"\x0a" + bytes([len(MATCH)]) + MATCH.encode()
    data = calls("WatchMatch", body, 500).replace(settings(), settings(initial_window_size=0))
    await hold(address, data, 4, 3)


async def garbage(address: str) -> None:
    """Bytes that are no messages, for all services."""
    rng = random.Random()
    for path in ("Play", "Check", "Watch", "ServerReflectionInfo", "WatchMatch", "GetStatus"):
        data = calls(path, b"\xff" + rng.randbytes(200), 50, authorization="Bearer 98")
        await hold(address, data, 1, 0.05)
    await hold(address, rng.randbytes(5000), 1, 0.05)


async def packed(address: str) -> None:
    """Play a table of four bots that answer all turns with numbers that are no cards."""
    bots = [asyncio.create_task(_packed_bot(address, number)) for number in BOTS]
    await asyncio.to_thread(_run_packed, address)
    for bot in bots:
        bot.cancel()
    await asyncio.wait(bots)


FLOODS: dict[str, Callable[[str], Awaitable[None]]] = {
    flood.__name__: flood
    for flood in (pings, watches, unasked, silent, reconnects, spectators, garbage, packed)
}
BOTS = range(90, 94)
"""Those of ``packed``."""


def _run_packed(address: str) -> None:
    for _ in run_match(address, "worker", spec("packed", BOTS, 2)):
        pass


async def _packed_bot(address: str, number: int) -> None:
    async with hostile.socket(address) as connection:
        opening = headers(1, authorization=f"Bearer {number}") + message(1, hostile.hello())
        await connection.send(PREFACE + settings() + opening)
        async for turn in connection.turns():
            await connection.send(message(1, hostile.packed_move(turn, b"\xff")))


async def _flood(name: str, address: str, seconds: float) -> None:
    os.nice(19)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while True:
                with contextlib.suppress(OSError):
                    await FLOODS[name](address)
                await asyncio.sleep(0.01)


# The honest tables beside them


class Match(NamedTuple):
    """What became of an honest match."""

    sessions: int
    faults: int
    voided: int
    broken: int
    """1 where the worker's call broke off."""


class Run(NamedTuple):
    """What became of the honest tables."""

    rate: float
    """Sessions a second."""
    faults: int
    voided: int
    broken: int
    memory: int
    """The referee's resident memory at its most, in bytes."""
    tracebacks: int


def spec(name: str, bots: Sequence[int], sessions: int) -> MatchSpec:
    """Return a match of four bots that have a second for each decision."""
    return MatchSpec(
        match_id=name,
        tournament="bench",
        round=1,
        table=1,
        ruleset=load_ruleset("chinese").to_object(),
        bots=tuple(MatchBot(n, f"bench/bot{n}@1") for n in bots),
        sessions=tuple(SessionSpec(n + 1, (0, 1, 2, 3), os.urandom(32)) for n in range(sessions)),
        deals=DEALS,
        commitment="",
        limits=LIMITS,
    )


class Referee:
    """A referee in a process of its own, with what it logs and the most memory that it was seen to use."""

    def __init__(self, stack: ExitStack) -> None:
        self._log = log = stack.enter_context(tempfile.TemporaryFile("w+"))  # noqa: SIM115
        command = [sys.executable, "-m", "benchmarks.referee", "--serve"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        )
        stack.callback(self._process.wait)
        stack.callback(self._process.kill)
        self.address = f"127.0.0.1:{read_line(self._process)}"
        self.memory = 0

    def look(self) -> None:
        """Note the memory."""
        self.memory = max(self.memory, resident(self._process.pid))

    def tracebacks(self) -> int:
        """Return how many tracebacks it has logged."""
        self._log.seek(0)
        return self._log.read().count("Traceback")


def _nothing() -> None:
    pass


def play(flood: str | None, seconds: float) -> Run:
    """Play honest matches for so long, beside a flood if one is named."""
    with ExitStack() as stack:
        referee = Referee(stack)
        for number in HONEST:
            stack.enter_context(process("benchmarks.referee", "--bot", str(number), referee.address))
        _match(referee, 50, time.perf_counter() + PATIENCE)
        over = _nothing
        if flood is not None:
            command = ("benchmarks.hostile", "--flood", flood, referee.address, str(seconds + 30))
            over = stack.enter_context(process(*command)).kill
            time.sleep(HEAD_START)
        matches: list[Match] = []
        begun = time.perf_counter()
        while time.perf_counter() - begun < seconds:
            matches.append(_match(referee, SESSIONS, begun + seconds, over))
        sessions, faults, voided, broken = map(sum, zip(*matches, strict=True))
        return Run(sessions / seconds, faults, voided, broken, referee.memory, referee.tracebacks())


def _match(referee: Referee, most: int, until: float, over: Callable[[], None] = _nothing) -> Match:
    """Play an honest match to its end, and count the sessions until then, when ``over`` is called."""
    sessions = faults = voided = 0
    try:
        for update in run_match(referee.address, "worker", spec(MATCH, HONEST, most)):
            referee.look()
            if isinstance(update, Progress):
                voided = update.sessions_voided
            elif isinstance(update, SessionResult):
                faults += sum(update.faults)
                sessions += time.perf_counter() < until
            if time.perf_counter() >= until:
                over()
    except RefereeUnavailable:
        return Match(sessions, faults, voided, 1)
    return Match(sessions, faults, voided, 0)


def measure(flood: str, seconds: float, repeats: int) -> None:
    """Print a line for a flood."""
    runs = []
    for _ in range(repeats):
        before, beside, after = play(None, seconds), play(flood, seconds), play(None, seconds)
        runs.append((beside, 2 * beside.rate / max(1e-9, before.rate + after.rate)))
    shares = [share for _, share in runs]
    memory = max(run.memory for run, _ in runs) / MIB
    print(
        f"{flood:12} | {median_and_range(shares):18} | {sum(run.faults for run, _ in runs):6} |"
        f" {sum(run.voided for run, _ in runs):4} | {sum(run.broken for run, _ in runs):6} |"
        f" {memory:7.0f} MiB | {sum(run.tracebacks for run, _ in runs)}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("floods", nargs="*", metavar="FLOOD", help=f"of {', '.join(FLOODS)}; default: all")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--flood", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.flood:
        name, address, seconds = options.flood
        asyncio.run(_flood(name, address, float(seconds)))
        return
    print(
        f"{os.cpu_count()} cores, {options.repeats} x {options.seconds:g} s beside each flood: median (range)"
    )
    print("flood        | x undisturbed      | faults | void | broken | memory      | tracebacks")
    for flood in options.floods or FLOODS:
        measure(flood, options.seconds, options.repeats)


if __name__ == "__main__":
    main()

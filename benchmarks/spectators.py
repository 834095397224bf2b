"""What spectators cost a match: decisions a second without any, and with ten thousand that do not read.

``python -m benchmarks.spectators`` prints both rates, measured one after the other, several times.
"""

import argparse
import asyncio
import os
import statistics
import sys
import threading
import time
from contextlib import AsyncExitStack, ExitStack
from typing import Any

import grpc

from benchmarks.memory import resident, spec
from benchmarks.referee import PLAYERS, process, read_line
from referee.matches.match import Progress
from referee.net.client import run_match
from referee.v1 import spectators_pb2, spectators_pb2_grpc

SESSIONS = 64
PER_CHANNEL = 200
AT_ONCE = 100


async def watch(address: str, spectators: int) -> None:
    """Open streams that follow the match and read only the first message of each."""
    async with AsyncExitStack() as stack:
        calls: list[Any] = []
        while len(calls) < spectators:
            options = [("grpc.use_local_subchannel_pool", 1)]
            channel = await stack.enter_async_context(grpc.aio.insecure_channel(address, options=options))
            stub: Any = spectators_pb2_grpc.SpectatorServiceStub(channel)
            for _ in range(PER_CHANNEL // AT_ONCE):
                opened = [
                    stub.WatchMatch(spectators_pb2.WatchMatchRequest(match_id="watched"))
                    for _ in range(AT_ONCE)
                ]
                await asyncio.gather(*(call.read() for call in opened))
                calls += opened
        print("open", flush=True)
        await asyncio.to_thread(sys.stdin.read)


def measure(spectators: int, seconds: float) -> tuple[float, int]:
    """Return decisions a second, and the referee's resident memory in bytes."""
    with ExitStack() as stack:
        server = stack.enter_context(process("benchmarks.referee", "--serve"))
        address = f"127.0.0.1:{read_line(server)}"
        for number in range(1, PLAYERS + 1):
            stack.enter_context(process("benchmarks.referee", "--bot", str(number), address))
        watching, opened = None, threading.Event()
        marks: list[tuple[float, int]] = []
        for update in run_match(address, "worker", spec("watched", range(1, PLAYERS + 1), SESSIONS, 1000)):
            if not isinstance(update, Progress) or not update.decisions:
                continue
            if spectators and watching is None:
                command = ("benchmarks.spectators", "--watch", address, "--spectators", str(spectators))
                watching = stack.enter_context(process(*command))
                threading.Thread(
                    target=lambda child=watching: opened.set() if read_line(child) else None
                ).start()
            if watching is not None and not opened.is_set():
                continue
            marks.append((time.perf_counter(), update.decisions))
            if marks[-1][0] - marks[0][0] >= seconds:
                break
        (start, before), (end, after) = marks[0], marks[-1]
        return (after - before) / (end - start), resident(server.pid)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--spectators", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--watch", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.watch:
        asyncio.run(watch(options.watch, options.spectators))
        return
    print(f"{os.cpu_count()} cores, {options.repeats} x {options.seconds:g} s, {SESSIONS} sessions at once")
    ratios = []
    for _ in range(options.repeats):
        alone, _memory = measure(0, options.seconds)
        watched, memory = measure(options.spectators, options.seconds)
        ratios.append(watched / alone)
        print(
            f"{alone:,.0f} decisions/s without spectators, {watched:,.0f} with {options.spectators:,}"
            f" ({ratios[-1]:.2f}), {memory / (1 << 20):.0f} MiB",
            flush=True,
        )
    print(f"median {statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})")


if __name__ == "__main__":
    main()

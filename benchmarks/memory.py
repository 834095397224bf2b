"""What the referee holds in memory for an idle stream and an open session, and whether anything grows.

``python -m benchmarks.memory`` starts a referee in a process of its own and prints its resident memory: with
5,000 streams of waiting bots, with 2,000 open sessions that all wait for an answer, and in the course of a
million decisions of four Python bots (``--soak 0`` omits these).
"""

import argparse
import asyncio
import os
import time
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any

import grpc

from benchmarks.matches import match_spec
from benchmarks.referee import PLAYERS, process, read_line
from referee.matches.match import Limits, MatchSpec, Progress
from referee.net.client import run_match
from referee.protocol.requests import match_request
from referee.v1 import bots_pb2, bots_pb2_grpc
from referee.worker.v1alpha1 import worker_pb2, worker_pb2_grpc

STREAMS_PER_CHANNEL = 250
SESSIONS_PER_MATCH = 250
MIB = 1 << 20


def resident(pid: int) -> int:
    """Return the resident memory of a process, in bytes."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def spec(name: str, bots: range, sessions: int, deals: int) -> MatchSpec:
    """Return a match whose bots have ten minutes for each decision."""
    return match_spec(name, bots, sessions, deals, Limits(decision_ms=600_000))


async def _connect(stub: Any, number: int) -> object:
    call = stub.Play(metadata=(("authorization", f"Bearer {number}"),))
    hello = bots_pb2.Hello(protocol_version=1, max_sessions=SESSIONS_PER_MATCH)
    await call.write(bots_pb2.PlayRequest(hello=hello))
    await call.read()
    return call


async def hold(pid: int, address: str, streams: int, sessions: int) -> None:
    """Print the memory with idle streams, and then with open sessions."""
    async with AsyncExitStack() as stack:
        before, calls = resident(pid), []
        for first in range(1, streams + 1, STREAMS_PER_CHANNEL):
            options = [("grpc.use_local_subchannel_pool", 1)]
            channel = await stack.enter_async_context(grpc.aio.insecure_channel(address, options=options))
            stub: Any = bots_pb2_grpc.BotServiceStub(channel)
            workers: Any = worker_pb2_grpc.WorkerServiceStub(channel)
            numbers = range(first, min(first + STREAMS_PER_CHANNEL, streams + 1))
            for start in range(0, len(numbers), 50):
                calls += await asyncio.gather(*(_connect(stub, n) for n in numbers[start : start + 50]))
        used = resident(pid) - before
        print(f"{streams:,} idle streams: {used / MIB:.0f} MiB, {used / streams / 1024:.1f} KiB each")
        before = resident(pid)
        open_calls: list[Any] = []
        for match in range(sessions // SESSIONS_PER_MATCH):
            bots = range(1 + match * PLAYERS, 1 + (match + 1) * PLAYERS)
            request = match_request(spec(f"m{match}", bots, SESSIONS_PER_MATCH, 1000))
            open_calls.append(workers.RunMatch(request, metadata=(("authorization", "Bearer worker"),)))
        for call in open_calls:
            opened = worker_pb2.MatchProgress()
            while opened.sessions_open < SESSIONS_PER_MATCH:
                opened = (await call.read()).progress
        await asyncio.sleep(1)
        used = resident(pid) - before
        print(f"{sessions:,} open sessions: {used / MIB:.0f} MiB, {used / sessions / 1024:.1f} KiB each")


def soak(pid: int, address: str, decisions: int) -> None:
    """Print the memory in the course of this many decisions."""
    with ExitStack() as stack:
        for number in range(1, PLAYERS + 1):
            stack.enter_context(process("benchmarks.referee", "--bot", str(number), address))
        done, match, mark = 0, 0, 0
        begun = time.perf_counter()
        while done < decisions:
            match += 1
            here = 0
            for update in run_match(address, "worker", spec(f"soak{match}", range(1, PLAYERS + 1), 640, 10)):
                if isinstance(update, Progress):
                    here = update.decisions
                if done + here >= mark:
                    rate = (done + here) / (time.perf_counter() - begun)
                    print(
                        f"{done + here:10,} decisions, {rate:7,.0f}/s: {resident(pid) / MIB:.1f} MiB",
                        flush=True,
                    )
                    mark += decisions // 10
            done += here


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--streams", type=int, default=5000)
    parser.add_argument("--sessions", type=int, default=2000)
    parser.add_argument("--soak", type=int, default=1_000_000, metavar="DECISIONS")
    options = parser.parse_args()
    with ExitStack() as stack:
        server = stack.enter_context(process("benchmarks.referee", "--serve"))
        address = f"127.0.0.1:{read_line(server)}"
        print(f"a referee at rest: {resident(server.pid) / MIB:.0f} MiB")
        asyncio.run(hold(server.pid, address, options.streams, options.sessions))
    if options.soak:
        with ExitStack() as stack:
            server = stack.enter_context(process("benchmarks.referee", "--serve"))
            soak(server.pid, f"127.0.0.1:{read_line(server)}", options.soak)


if __name__ == "__main__":
    main()

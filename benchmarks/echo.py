"""The yardstick of the referee's benchmark: a grpc.aio echo of one-record messages on four streams.

It is grpc.aio as it comes; with ``--tuned`` it has the referee's event loop and precedence.
"""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator

import grpc
import uvloop

SERVICE = "benchmarks.Echo"
RECORD = b"x" * 138
"""One message, about the size of a turn with its actions."""


async def _echo(requests: AsyncIterator[bytes], context: object) -> AsyncIterator[bytes]:
    async for request in requests:
        yield request


async def serve() -> None:
    """Echo until standard input closes; print the port, and at the end the CPU seconds used."""
    server = grpc.aio.server()
    handler = grpc.stream_stream_rpc_method_handler(_echo)
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(SERVICE, {"Echo": handler})])
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    await server.start()
    await asyncio.to_thread(sys.stdin.read)
    print(time.process_time(), flush=True)
    os._exit(0)  # an orderly stop may print a traceback for an open call


async def dial(address: str, seconds: float) -> None:
    """Send a record, wait for its echo, and repeat; print their number, p50 and p99 in seconds."""
    async with grpc.aio.insecure_channel(address) as channel:
        call = channel.stream_stream(f"/{SERVICE}/Echo", None, None)(None)
        end, times = time.perf_counter() + seconds, []
        while (start := time.perf_counter()) < end:
            await call.write(RECORD)
            await call.read()
            times.append(time.perf_counter() - start)
    times.sort()
    print(len(times), times[len(times) // 2], times[len(times) * 99 // 100], flush=True)


if __name__ == "__main__":
    tuned, serves = "--tuned" in sys.argv, sys.argv[1] == "serve"
    if tuned and serves:
        from referee.service.server import take_precedence  # its import sets what the bare echo goes without

        take_precedence()
    run = uvloop.run if tuned else asyncio.run
    run(serve() if serves else dial(sys.argv[1], float(sys.argv[2])))
    os._exit(0)

"""A referee and bots as processes of their own, to be stopped, continued and killed.

``python -m tests.referee.processes referee`` prints its port and serves until SIGTERM;
``… bot ADDRESS NUMBER SECONDS`` plays the lowest card after thinking for this many seconds about each turn.
"""

import asyncio
import ctypes
import logging
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from benchmarks.memory import resident
from referee.bot import Play, Turn
from referee.bot import run as run_bot
from referee.service.server import ServerOptions, run
from tests.referee.support import Tokens
from tests.tied import tied
from tests.waiting import DEADLINE

STALL = signal.SIGQUIT
"""A referee's process handles it with the C library's ``sleep``, which is given the signal's number, 3."""
_libc = ctypes.CDLL(None)


class Process:
    """A running process."""

    def __init__(self, popen: "subprocess.Popen[str]", errors: str) -> None:
        self._popen = popen
        self._errors = errors

    @property
    def lives(self) -> bool:
        return self._popen.poll() is None

    def signal(self, number: signal.Signals) -> None:
        os.kill(self._popen.pid, number)

    @property
    def descriptors(self) -> tuple[int, int]:
        """The soft and the hard limit of descriptors that it may use."""
        return resource.prlimit(self._popen.pid, resource.RLIMIT_NOFILE)

    @property
    def memory(self) -> int:
        """Its resident memory, in bytes."""
        return resident(self._popen.pid)

    def limit_descriptors(self, most: int) -> None:
        """Let it use no more descriptors than this."""
        resource.prlimit(self._popen.pid, resource.RLIMIT_NOFILE, (most, most))

    def stall_threads(self) -> None:
        """Make all threads of a referee but that of its event loop sleep for three seconds, gRPC's too."""
        pid = self._popen.pid
        for thread in map(int, os.listdir(f"/proc/{pid}/task")):
            if thread != pid:
                _libc.tgkill(pid, thread, STALL)

    async def line(self) -> str:
        """Return the next line that it prints."""
        assert self._popen.stdout is not None
        async with asyncio.timeout(DEADLINE):
            return (await asyncio.to_thread(self._popen.stdout.readline)).strip()

    async def ended(self) -> int:
        """Wait for its end; return its exit code."""
        return await asyncio.to_thread(self._popen.wait, DEADLINE)

    def errors(self) -> str:
        """Return its log so far."""
        with open(self._errors) as file:
            return file.read()


@asynccontextmanager
async def process(*arguments: str) -> AsyncIterator[Process]:
    """Run a process of this module; kill it at the end of the block, or if the tests are killed."""
    with tempfile.NamedTemporaryFile("w") as errors:
        command = tied(sys.executable, "-m", "tests.referee.processes", *arguments)
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as popen:
            try:
                yield Process(popen, errors.name)
            finally:
                popen.kill()


@asynccontextmanager
async def referee_process() -> AsyncIterator[tuple[str, Process]]:
    """Run a referee in a process of its own; fail if it logs a traceback."""
    async with process("referee") as running:
        yield f"127.0.0.1:{await running.line()}", running
        if running.lives:
            running.signal(signal.SIGINT)
        assert await running.ended() == 0
        assert "Traceback" not in running.errors(), running.errors()


@asynccontextmanager
async def bot_process(address: str, number: int, seconds: float = 0.0) -> AsyncIterator[Process]:
    """Run a bot in a process of its own."""
    async with process("bot", address, str(number), str(seconds)) as running:
        yield running


def main(kind: str, *arguments: str) -> None:
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    if kind == "referee":
        _libc.signal(STALL, _libc.sleep)
        options = ServerOptions(drain_seconds=5)
        run("127.0.0.1:0", Tokens(), options=options, on_ready=lambda port: print(port, flush=True))
        return
    address, number, seconds = arguments
    think = float(seconds)

    def choose(turn: Turn) -> Play | None:
        if think:
            time.sleep(think)
        return turn.legal[0] if turn.legal else None

    run_bot(choose, token=f"bot-{number}", addresses=[address])


if __name__ == "__main__":
    main(*sys.argv[1:])

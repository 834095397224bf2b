"""Waiting for effects of other tasks, threads and processes."""

import asyncio
import subprocess
import time
from collections.abc import Callable
from inspect import isawaitable
from pathlib import Path

DEADLINE = 120.0
"""Seconds after which a test gives up."""


def wait_for(
    condition: Callable[[], object],
    *,
    meanwhile: Callable[[], object] = lambda: None,
    seen: Callable[[], object] = lambda: "",
    seconds: float = DEADLINE,
) -> None:
    """Return as soon as the condition holds, calling ``meanwhile`` between checks.

    Fail after ``seconds``, with what ``seen`` returns then.
    """
    began = time.monotonic()
    while not condition():
        waited = time.monotonic() - began
        assert waited < seconds, f"gave up waiting: {seen()}"
        meanwhile()
        time.sleep(min(0.02 + waited / 50, 0.25))  # checking takes CPU time that those waited for could use


async def until(
    condition: Callable[[], object], seen: Callable[[], object] = lambda: "", pause: float = 0.01
) -> None:
    """Like ``wait_for``, in an event loop, which goes on for ``pause`` seconds between checks.

    The condition may be a coroutine function.
    """
    deadline = time.monotonic() + DEADLINE
    while True:
        holds = condition()
        if await holds if isawaitable(holds) else holds:
            return
        assert time.monotonic() < deadline, f"gave up waiting: {seen()}"
        await asyncio.sleep(pause)


def wait_for_line(process: subprocess.Popen[str], folder: Path, logs: str, words: str) -> None:
    """Wait until these words appear in one of the logs of a process, which match ``logs`` in ``folder``."""

    def running() -> None:
        assert process.poll() is None, process.communicate()

    def text() -> str:
        return "".join(log.read_text() for log in folder.glob(logs))

    wait_for(lambda: words in text(), meanwhile=running, seen=text)


def is_gone(pid: int) -> bool:
    """Return whether the process has ended, reaped by its parent or not; this works only on Linux."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True

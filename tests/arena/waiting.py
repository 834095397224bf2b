"""Waiting for what other threads and processes bring about."""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

DEADLINE = 120.0
"""Seconds after which a test gives up."""


def wait_for(
    condition: Callable[[], object],
    *,
    meanwhile: Callable[[], object] = lambda: None,
    told: Callable[[], object] = lambda: "no more is known",
    seconds: float = DEADLINE,
) -> None:
    """Return as soon as the condition holds, with a call of ``meanwhile`` between looks.

    Fail after so many seconds, with what ``told`` returns.
    """
    began = time.monotonic()
    while not condition():
        waited = time.monotonic() - began
        assert waited < seconds, f"gave up waiting: {told()}"
        meanwhile()
        time.sleep(min(0.02 + waited / 50, 0.25))  # looking costs what those waited for could use


def wait_for_line(process: subprocess.Popen[str], folder: Path, logs: str, words: str) -> None:
    """Wait until these words stand in one of the logs (a pattern) that a process keeps in a folder."""

    def running() -> None:
        assert process.poll() is None, process.communicate()

    wait_for(lambda: any(words in log.read_text() for log in folder.glob(logs)), meanwhile=running)


def is_gone(pid: int) -> bool:
    """Return whether the process has ended, reaped by its parent or not; only Linux tells."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True

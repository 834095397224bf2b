"""Waiting for effects of other threads and processes."""

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
    """Return as soon as the condition holds, calling ``meanwhile`` between checks.

    Fail after ``seconds``, with the text that ``told`` returns.
    """
    began = time.monotonic()
    while not condition():
        waited = time.monotonic() - began
        assert waited < seconds, f"gave up waiting: {told()}"
        meanwhile()
        time.sleep(min(0.02 + waited / 50, 0.25))  # checking takes CPU time that those waited for could use


def wait_for_line(process: subprocess.Popen[str], folder: Path, logs: str, words: str) -> None:
    """Wait until these words appear in one of the logs of a process, which match ``logs`` in ``folder``."""

    def running() -> None:
        assert process.poll() is None, process.communicate()

    wait_for(lambda: any(words in log.read_text() for log in folder.glob(logs)), meanwhile=running)


def is_gone(pid: int) -> bool:
    """Return whether the process has ended, reaped by its parent or not; this works only on Linux."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True

"""Bots as processes of their own: started, watched, and ended together with all that they started."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from referee.child import tied
from referee.console import ROUTINE, last_words
from referee.environment import environment_for_bots
from referee.errors import ProgramError
from referee.interrupts import FORCE
from referee.plain import plain

GRACE_SECONDS = 2.0
"""How long bots have to end when they are told to."""
POLL_SECONDS = 0.05


@dataclass
class Child:
    """A bot's process."""

    name: str
    process: "subprocess.Popen[bytes]"
    log: Path
    """The file that takes its output."""

    def printed(self) -> list[str]:
        """Return the lines that it printed, without what the SDK logs when nothing is wrong."""
        text = self.log.read_text(encoding="utf-8", errors="replace")
        return [plain(line) for line in text.splitlines() if line.strip() and not ROUTINE.match(line)]


class Children:
    """A context whose end ends the bots' processes started in it. Their output goes to ``folder``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._children: list[Child] = []

    def start(self, name: str, command: Sequence[str], given: Mapping[str, str]) -> None:
        """Start a bot with ``given`` in its environment. Raise ProgramError if there is no such program."""
        log = self._folder / f"{len(self._children)}.log"
        try:
            with log.open("wb") as file:
                process = subprocess.Popen(
                    tied(*command),
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    env=environment_for_bots(given),
                    start_new_session=True,  # Ctrl-C is for the parent, which then ends its children
                )
        except OSError as error:
            raise ProgramError(name, f"cannot be started: {error.strerror}") from None
        self._children.append(Child(name, process, log))

    def check(self) -> None:
        """Raise ProgramError if one of them has ended."""
        for child in self._children:
            status = child.process.poll()
            if status is not None:
                how = f"by {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
                said = last_words(child.printed())
                raise ProgramError(child.name, f"ended {how}{said and f'; {said}'}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        running = [child.process for child in self._children]
        for process in running:
            signal_group(process, signal.SIGTERM)
        deadline = time.monotonic() + GRACE_SECONDS
        while time.monotonic() < deadline and any(process.poll() is None for process in running):
            time.sleep(POLL_SECONDS)
        for process in running:
            signal_group(process, FORCE)
            process.wait()


def signal_group(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    """Signal a child, if it runs, and all that it started: it leads a process group of its own."""
    if process.poll() is not None:
        return
    if sys.platform == "win32":
        process.terminate()
    else:
        os.killpg(process.pid, number)

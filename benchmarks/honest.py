"""Honest tables at a referee, for benchmarks of what hostile clients do to them."""

import os
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from benchmarks.floods import MATCH, spec
from benchmarks.memory import resident
from benchmarks.referee import PLAYERS, process, read_line
from referee.errors import RefereeUnavailable
from referee.matches.match import Progress, SessionResult
from referee.net.client import run_match

HONEST = range(1, PLAYERS + 1)
SESSIONS = 4000
"""Sessions of one honest match, so many that they do not all end at once. One match follows another."""
WARM = 50
"""Sessions played before anything is measured."""
LOOK_SECONDS = 0.05
"""Seconds between measurements of the referee's memory."""


class Size(NamedTuple):
    """The size of a process."""

    memory: int
    """Resident memory, in bytes."""
    files: int
    threads: int


class Referee:
    """A referee in a process of its own, with its log and the peak of its measured memory."""

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

    def wait(self, until: float) -> None:
        """Wait, and measure the memory meanwhile."""
        while (left := until - time.perf_counter()) > 0:
            self.memory = max(self.memory, resident(self._process.pid))
            time.sleep(min(left, LOOK_SECONDS))

    def size(self) -> Size:
        """Return its present size."""
        folder = Path(f"/proc/{self._process.pid}")
        return Size(
            resident(self._process.pid), len(os.listdir(folder / "fd")), len(os.listdir(folder / "task"))
        )

    def cpu(self) -> float:
        """Return the CPU seconds that it has used."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def logged(self, text: str) -> int:
        """Return how often this text is in its log."""
        self._log.seek(0)
        return self._log.read().count(text)


class Tables:
    """Honest bots that play match after match, in a thread, and the results so far."""

    def __init__(self, referee: Referee, decision_ms: int = 1000) -> None:
        self._referee = referee
        self._spec = spec(MATCH, HONEST, SESSIONS, decision_ms)
        self._over = threading.Event()
        self.finished: list[float] = []
        """When each session was finished."""
        self.faults = self.voided = self.broken = 0
        """``broken``: calls of the worker that broke off."""
        self._thread = threading.Thread(target=self._play, daemon=True)
        self._thread.start()

    def warm_up(self) -> None:
        """Wait until some sessions are finished."""
        while len(self.finished) < WARM:
            time.sleep(LOOK_SECONDS)

    def rate(self, begin: float, end: float) -> float:
        """Return the sessions a second in a period."""
        return sum(begin <= at < end for at in self.finished) / (end - begin)

    def stop(self) -> None:
        """Break off the last match."""
        self._over.set()
        self._thread.join()

    def _play(self) -> None:
        while not self._over.is_set():
            begun = self.voided
            try:
                for update in run_match(self._referee.address, "worker", self._spec):
                    if isinstance(update, Progress):
                        self.voided = begun + update.sessions_voided
                    elif isinstance(update, SessionResult):
                        self.finished.append(time.perf_counter())
                        self.faults += sum(update.faults)
                    if self._over.is_set():
                        return
            except RefereeUnavailable:
                self.broken += 1


class Window(NamedTuple):
    """A period of honest play."""

    rate: float
    """Sessions a second."""
    cost: float
    """CPU seconds that the referee uses for a session."""


def play_for(referee: Referee, tables: Tables, seconds: float) -> Window:
    """Return how honest bots play during the given time, from now on."""
    begin, used = time.perf_counter(), referee.cpu()
    referee.wait(begin + seconds)
    rate = tables.rate(begin, begin + seconds)
    return Window(rate, (referee.cpu() - used) / max(1e-9, rate * seconds))


def start(stack: ExitStack, decision_ms: int = 1000) -> tuple[Referee, Tables]:
    """Return a referee with honest tables, once these play."""
    referee = Referee(stack)
    for number in HONEST:
        stack.enter_context(process("benchmarks.referee", "--bot", str(number), referee.address))
    tables = Tables(referee, decision_ms)
    tables.warm_up()
    return referee, tables


class Attackers:
    """A process that floods a referee."""

    def __init__(self, stack: ExitStack, referee: Referee) -> None:
        self._child = stack.enter_context(process("benchmarks.floods", referee.address))
        if read_line(self._child) != "ready":
            raise RuntimeError("the floods cannot begin")

    def flood(self, *floods: tuple[str, str]) -> None:
        """Start these floods, each from its host, in place of those before; without arguments, stop."""
        assert self._child.stdin is not None
        self._child.stdin.write(" ".join(f"{flood} {host}" for flood, host in floods) + "\n")
        self._child.stdin.flush()

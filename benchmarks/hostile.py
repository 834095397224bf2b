"""What hostile clients do to honest tables: each flood next to four bots that play, with figures.

``python -m benchmarks.hostile`` has four bots play match after match, for each flood at a referee of its own,
alternately undisturbed and during the flood. It prints the honest sessions a second during the flood as a
share of those before and after it, the faults of honest bots, the sessions that were voided, the calls of the
worker that broke off, the most memory that the referee used, and the tracebacks in its log. The referee's CPU
time for an honest session, as a share of that undisturbed, hardly depends on what else the machine does.
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from benchmarks.floods import FLOODS, MATCH, spec
from benchmarks.memory import resident
from benchmarks.referee import PLAYERS, median_and_range, process, read_line
from referee.client import run_match
from referee.errors import RefereeUnavailable
from referee.matches.match import Progress, SessionResult

HONEST = range(1, PLAYERS + 1)
SESSIONS = 4000
"""Of one honest match: so many that they do not all end at the same time. Matches follow each other."""
WARM = 50
"""Sessions that are played before anything is measured."""
LOOK_SECONDS = 0.05
"""How often the referee's memory is measured."""
MIB = 1 << 20


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

    def wait(self, until: float) -> None:
        """Wait, and look at the memory meanwhile."""
        while (left := until - time.perf_counter()) > 0:
            self.memory = max(self.memory, resident(self._process.pid))
            time.sleep(min(left, LOOK_SECONDS))

    def cpu(self) -> float:
        """Return the CPU seconds that it has used."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def tracebacks(self) -> int:
        """Return how many tracebacks it has logged."""
        self._log.seek(0)
        return self._log.read().count("Traceback")


class Tables:
    """Honest bots that play match after match, in a thread, and what became of that."""

    def __init__(self, referee: Referee) -> None:
        self._referee = referee
        self._over = threading.Event()
        self.finished: list[float] = []
        """When each session was finished."""
        self.faults = self.voided = self.broken = 0
        self._thread = threading.Thread(target=self._play, daemon=True)
        self._thread.start()

    def rate(self, begin: float, end: float) -> float:
        """Return the sessions a second in a time."""
        return sum(begin <= at < end for at in self.finished) / (end - begin)

    def stop(self) -> None:
        """Break the last match off."""
        self._over.set()
        self._thread.join()

    def _play(self) -> None:
        while not self._over.is_set():
            begun = self.voided
            try:
                for update in run_match(self._referee.address, "worker", spec(MATCH, HONEST, SESSIONS)):
                    if isinstance(update, Progress):
                        self.voided = begun + update.sessions_voided
                    elif isinstance(update, SessionResult):
                        self.finished.append(time.perf_counter())
                        self.faults += sum(update.faults)
                    if self._over.is_set():
                        return
            except RefereeUnavailable:
                self.broken += 1


class Outcome(NamedTuple):
    """What became of honest tables during a flood."""

    shares: list[float]
    """Of the undisturbed sessions a second, in each repeat."""
    costs: list[float]
    """The referee's CPU time for an honest session, as multiples of that undisturbed."""
    faults: int
    voided: int
    broken: int
    """Calls of the worker that broke off."""
    memory: int
    """The referee's resident memory at its most, in bytes."""
    tracebacks: int


def play(flood: str, seconds: float, repeats: int) -> Outcome:
    """Play honest matches, alternately undisturbed and during a flood."""
    with ExitStack() as stack:
        referee = Referee(stack)
        for number in HONEST:
            stack.enter_context(process("benchmarks.referee", "--bot", str(number), referee.address))
        tables = Tables(referee)
        while len(tables.finished) < WARM:
            time.sleep(LOOK_SECONDS)
        calm, beside = [], []
        for _ in range(repeats):
            with process("benchmarks.floods", flood, referee.address) as child:
                assert read_line(child) == "ready"
                calm.append(_measure(referee, tables, seconds))
                assert child.stdin is not None
                child.stdin.write("\n")
                child.stdin.flush()
                beside.append(_measure(referee, tables, seconds))
        calm.append(_measure(referee, tables, seconds))
        tables.stop()
        shares = [beside[n].rate / mean(calm[n].rate, calm[n + 1].rate) for n in range(repeats)]
        costs = [beside[n].cost / mean(calm[n].cost, calm[n + 1].cost) for n in range(repeats)]
        return Outcome(
            shares, costs, tables.faults, tables.voided, tables.broken, referee.memory, referee.tracebacks()
        )


class Window(NamedTuple):
    """Some seconds of honest play."""

    rate: float
    """Sessions a second."""
    cost: float
    """CPU seconds of the referee for a session."""


def _measure(referee: Referee, tables: Tables, seconds: float) -> Window:
    """Return how honest bots play in the time to come."""
    begin, used = time.perf_counter(), referee.cpu()
    referee.wait(begin + seconds)
    rate = tables.rate(begin, begin + seconds)
    return Window(rate, (referee.cpu() - used) / max(1e-9, rate * seconds))


def mean(one: float, other: float) -> float:
    return max(1e-9, (one + other) / 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("floods", nargs="*", metavar="FLOOD", help=f"of {', '.join(FLOODS)}; default: all")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    print(
        f"{os.cpu_count()} cores, {platform.system()}, {options.repeats} x {options.seconds:g} s during each"
        " flood: median (range)"
    )
    print(
        "flood        | x undisturbed      | x CPU a session    | faults | void | broken | MiB  | tracebacks"
    )
    for flood in options.floods or FLOODS:
        seen = play(flood, options.seconds, options.repeats)
        shares, costs = median_and_range(seen.shares), median_and_range(seen.costs)
        print(
            f"{flood:12} | {shares:18} | {costs:18} | {seen.faults:6} | {seen.voided:4} | {seen.broken:6} |"
            f" {seen.memory / MIB:4.0f} | {seen.tracebacks}",
            flush=True,
        )


if __name__ == "__main__":
    main()

"""Child processes: started, restarted when they die, and never outliving their parent.

There are no threads: the owner of a supervisor calls ``check`` at intervals.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from arena.errors import ProcessFailed
from arena.host.files import make_private
from referee.processes.child import tied
from referee.processes.console import ROUTINE
from referee.processes.environment import environment_for_bots

SETTLE_SECONDS = 5.0
"""A child that fails sooner than this after its first start is assumed to fail again."""

BACK_OFF = (0.2, 1.0, 2.0, 5.0, 10.0)
"""Seconds until a child that died is restarted; the last value applies to all further deaths."""

GRACE_SECONDS = 10.0
"""How long a child may take to end after it was told to stop."""

POLL_SECONDS = 0.05

KEPT_LINES = 10
"""How many of the last lines printed by a failed child are kept."""


@dataclass
class Child:
    """A command that is kept running."""

    name: str
    command: Sequence[str]
    log: Path
    environment: Mapping[str, str]
    stop_with: signal.Signals = signal.SIGTERM
    """The signal that tells it to stop."""
    process: subprocess.Popen[bytes] | None = None
    """The process; None if it is dead, to be restarted at ``start_at``."""
    started_at: float = 0.0
    start_at: float = 0.0
    log_size: int = 0
    """Size of the log when the process was started."""
    deaths: int = 0
    """Deaths since it last ran for long."""
    settled: bool = False
    """Whether it ever ran for long, or died of a signal."""
    status: int = 0
    """How it last ended: its exit status, or the negative number of the signal that ended it."""
    cause: str = ""
    """What it printed last, if it ended with an error."""


class Supervisor:
    """The children of this process; leaving it as a context stops them all.

    ``report`` gets a line for people whenever a child is restarted. With ``reap``, children of nobody else
    are reaped, too: in a container, its first process inherits all whose parents have ended.
    """

    def __init__(
        self,
        logs: Path,
        environment: Mapping[str, str] | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        grace: float = GRACE_SECONDS,
        report: Callable[[str], None] = lambda _: None,
        reap: bool = os.getpid() == 1,
    ) -> None:
        self._logs = logs
        self._grace = grace
        self._report = report
        self._reap = reap
        self._environment = {**os.environ, **(environment or {})}
        self._clock = clock
        self._children: dict[str, Child] = {}

    def start(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str] | None = None,
        stop_with: signal.Signals = signal.SIGTERM,
        *,
        trusted: bool = True,
    ) -> None:
        """Start a command; its output is appended to ``<logs>/<name>.log``.

        ``stop_with`` is the signal that later tells it to stop. A program that is not ``trusted`` gets none
        of the arena's settings except those in ``environment``.
        """
        variables = (
            {**self._environment, **(environment or {})} if trusted else environment_for_bots(environment)
        )
        child = Child(name, command, self._logs / f"{name}.log", variables, stop_with)
        self._spawn(child)
        self._children[name] = child

    def check(self) -> None:
        """Restart children that have died, once their time has come.

        Raise ProcessFailed if a child ended with an error as soon as it was first started.
        """
        for child in self._children.values():
            if child.process is None:
                if self._clock() >= child.start_at:
                    pid = self._spawn(child)
                    cause = f" ({child.cause})" if child.cause else ""
                    self._report(
                        f"{child.name} ended {_how(child.status)}{cause}; it runs again (process {pid})"
                    )
            elif child.process.poll() is not None:
                self._bury(child, child.process.returncode)
            elif self._clock() - child.started_at > SETTLE_SECONDS:
                child.settled, child.deaths = True, 0

        if self._reap:
            self._reap_others()

    def _reap_others(self) -> None:
        own = [child.process.pid for child in self._children.values() if child.process is not None]
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT  # one of our own stays for ``poll``
        with suppress(ChildProcessError):
            while (ended := os.waitid(os.P_ALL, 0, flags)) is not None and ended.si_pid not in own:
                os.waitpid(ended.si_pid, 0)

    def pid(self, name: str) -> int | None:
        """Return the process id of a child; None while it is dead. Raise KeyError for an unknown child."""
        process = self._children[name].process
        return process.pid if process else None

    def stop(self, name: str) -> None:
        """Stop one child for good."""
        _stop([self._children.pop(name)], self._grace)

    def stop_all(self) -> None:
        """Stop all children for good, all at once."""
        children, self._children = list(self._children.values()), {}
        _stop(children, self._grace)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop_all()

    def _spawn(self, child: Child) -> int:
        make_private(child.log.parent)
        with child.log.open("ab") as log:
            child.log_size = log.tell()
            child.process = subprocess.Popen(
                tied(*child.command),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=child.environment,
                start_new_session=True,  # Ctrl-C is for the parent, which then stops its children
            )
        child.started_at = self._clock()
        return child.process.pid

    def _bury(self, child: Child, status: int) -> None:
        printed = _last_lines(child) if status > 0 else []
        cause = cause_in(printed)
        child.process, child.status, child.cause = None, status, cause
        if status > 0 and not child.settled:
            raise ProcessFailed(
                f"{child.name}: {cause or f'ended with status {status}'}", printed, status=status, cause=cause
            )
        child.settled = True
        child.start_at = self._clock() + BACK_OFF[min(child.deaths, len(BACK_OFF) - 1)]
        child.deaths += 1


def _stop(children: Sequence[Child], grace: float) -> None:
    running = [child.process for child in children if child.process is not None]
    for child in children:
        if child.process is not None:
            _signal(child.process, child.stop_with)
    deadline = time.monotonic() + grace
    while time.monotonic() < deadline and any(process.poll() is None for process in running):
        time.sleep(POLL_SECONDS)
    for process in running:
        _signal(process, signal.SIGKILL)
        process.wait()


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Signal a child and all processes that it started: it leads a process group of its own."""
    if process.poll() is None:
        os.killpg(process.pid, number)


def _how(status: int) -> str:
    """Return how a process ended, in words."""
    if status >= 0:
        return f"with status {status}"
    try:
        return f"by {signal.Signals(-status).name}"
    except ValueError:
        return f"by signal {-status}"


def cause_in(printed: Sequence[str]) -> str:
    """Return the last line that a program printed, ignoring routine log lines."""
    return next((line for line in reversed(printed) if not ROUTINE.match(line)), "")


def _last_lines(child: Child) -> list[str]:
    with child.log.open("rb") as log:
        log.seek(child.log_size)
        return log.read().decode(errors="replace").strip().splitlines()[-KEPT_LINES:]

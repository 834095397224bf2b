"""Sessions played in several processes at once."""

import os
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field
from multiprocessing import connection
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any, NamedTuple, TypeAlias

from referee.errors import ProgramError
from referee.local.played import Played
from referee.local.table import LocalTable, Setting
from referee.matches.match import SessionSpec
from referee.spawned import let_children_import, starting

AHEAD = 2
"""How many sessions a process is given ahead, so that it never waits for the next one."""
LOOK_SECONDS = 1.0
"""Seconds between two checks whether a bot thinks for very long."""
LONG_SECONDS = 30.0
"""A decision that takes longer is reported."""

Pipe: TypeAlias = Any
"""An end of a multiprocessing pipe, which is of another type on Windows."""
Thinking: TypeAlias = Any
"""Shared numbers: the session that a process plays, the bot that is thinking, from 1 (0: none), how many
decisions were begun, and then for each bot its decisions and the microseconds that they took."""

Thought: TypeAlias = Sequence[tuple[int, float]]
"""By bot, decisions and the seconds that they took."""

_BEFORE = 3
"""How many numbers come before those of the bots."""


def play_here(setting: Setting, sessions: Iterator[SessionSpec]) -> Generator[Played, None, None]:
    """Yield sessions as they are played in this process; what bots print goes to standard error."""
    with redirect_stdout(sys.stderr):
        table = LocalTable(setting)
    for session in sessions:
        with redirect_stdout(sys.stderr):
            played = table.play(session)
        yield played


def play_in_processes(
    setting: Setting,
    sessions: Iterator[SessionSpec],
    jobs: int,
    report: Callable[[str], None],
    tick: Callable[[Thought], None] = lambda _thought: None,
) -> Generator[Played, None, None]:
    """Yield sessions as ``jobs`` processes play them, in any order; closing the generator ends these.

    ``report`` is given a line when a bot thinks for very long; while no session ends, ``tick`` is given how
    long bots have thought so far. Raise ProgramError if a bot cannot be loaded, or ends its process.
    """
    with _processes(setting, jobs) as workers:
        for worker in workers:
            worker.give(sessions)
        while busy := [worker for worker in workers if worker.owed]:
            ready = connection.wait([worker.pipe for worker in busy], LOOK_SECONDS)
            for worker in busy:
                if worker.pipe in ready:
                    yield worker.take()
                    worker.give(sessions)
                else:
                    worker.look(report)
            if not ready:
                tick(_thought(workers, len(setting.names)))


def _thought(workers: "Sequence[_Worker]", bots: int) -> Thought:
    """Return how long bots have thought, in all processes together."""
    sums = [sum(numbers) for numbers in zip(*(worker.thinking[_BEFORE:] for worker in workers), strict=True)]
    return [(sums[2 * bot], sums[2 * bot + 1] / 1e6) for bot in range(bots)]


class _Unusable(NamedTuple):
    """Why a process cannot play."""

    program: str
    reason: str


@dataclass
class _Worker:
    """A process that plays, as seen by its parent."""

    setting: Setting
    process: SpawnProcess
    pipe: Pipe
    thinking: Thinking
    owed: int = 0
    """How many sessions were given to it and have not come back."""
    _seen: tuple[int, ...] = ()
    _since: float = field(default_factory=time.monotonic)
    _report_after: float = LONG_SECONDS

    def give(self, sessions: Iterator[SessionSpec]) -> None:
        """Give it as many sessions as it may have at a time."""
        while self.owed < AHEAD and (session := next(sessions, None)) is not None:
            with suppress(BrokenPipeError):  # it has ended, which shows when its answer is read
                self.pipe.send(session)
            self.owed += 1

    def take(self) -> Played:
        """Return a session that it has played."""
        try:
            message = self.pipe.recv()
        except (EOFError, ConnectionResetError):
            raise self._ended() from None
        if isinstance(message, _Unusable):
            raise ProgramError(*message)
        self.owed -= 1
        played: Played = message
        return played

    def look(self, report: Callable[[str], None]) -> None:
        """Report a bot that thinks for very long, and again when it has taken twice as long."""
        seen, now = tuple(self.thinking), time.monotonic()
        if seen != self._seen:
            self._seen, self._since, self._report_after = seen, now, LONG_SECONDS
        elif seen and seen[1] and now - self._since > self._report_after:
            name = self.setting.names[seen[1] - 1]
            report(f"{name} has been thinking for {now - self._since:.0f} s, in session {seen[0]}")
            self._report_after *= 2

    def _ended(self) -> ProgramError:
        self.process.join()
        session, bot, *_ = self.thinking
        status = self.process.exitcode or 0
        how = f"by {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
        who = self.setting.names[bot - 1] if bot else "a bot"
        return ProgramError(who, f"ended its process {how}, in session {session}")


@contextmanager
def _processes(setting: Setting, jobs: int) -> Iterator[list[_Worker]]:
    """Start processes for the duration of the block."""
    workers: list[_Worker] = []
    try:
        with starting() as context:
            workers.extend(_started(context, setting) for _ in range(jobs))
        yield workers
    finally:
        for worker in workers:
            worker.pipe.close()
            worker.process.terminate()
        for worker in workers:
            worker.process.join()


def _started(context: SpawnContext, setting: Setting) -> _Worker:
    ours, theirs = context.Pipe()
    thinking = context.RawArray("q", _BEFORE + 2 * len(setting.names))
    process = context.Process(target=_work, args=(setting, theirs, thinking), daemon=True)
    process.start()
    theirs.close()
    return _Worker(setting, process, ours, thinking)


def _work(setting: Setting, pipe: Pipe, thinking: Thinking) -> None:
    """Play the sessions that come through the pipe until it closes; this runs in a process of its own."""
    os.dup2(2, 1)  # what bots print must not get mixed with the results
    let_children_import()
    begun = 0

    def note(session: int, bot: int) -> None:
        nonlocal begun
        now = time.perf_counter_ns()
        if before := thinking[1]:  # this includes the little that the table did since
            place = _BEFORE + 2 * (before - 1)
            thinking[place] += 1
            thinking[place + 1] += (now - begun) // 1000
        begun = now
        thinking[0], thinking[1], thinking[2] = session, bot + 1, thinking[2] + 1

    try:
        table = LocalTable(setting, note)
        while True:
            played = table.play(pipe.recv())
            thinking[1] = 0
            pipe.send(played)
    except ProgramError as error:
        pipe.send(_Unusable(error.field, error.reason))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # nobody wants more

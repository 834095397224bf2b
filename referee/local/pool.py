"""Sessions played in processes of their own."""

import json
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import connection
from multiprocessing.context import SpawnContext, SpawnProcess
from struct import Struct
from typing import Any, NamedTuple, TypeAlias

from referee.errors import ProgramError
from referee.local.session import CHOOSE, cards_text
from referee.local.table import LocalTable, Setting, session_id
from referee.local.tally import Played, Thought
from referee.matches.match import SessionSpec
from referee.processes.spawned import let_children_import, starting
from referee.rules.rulebook import rules_of

AHEAD = 2
"""How many sessions a process is given ahead, so that it never waits for the next one."""
LOOK_SECONDS = 1.0
"""Seconds between two looks at what the processes do."""
STUCK_SECONDS = 2.0
"""A decision that takes longer is part of the progress."""
LONG_SECONDS = 5.0
"""A decision that takes longer, and longer than allowed, is reported with its position."""

GRACE_SECONDS = 2.0
"""How long a process that does nothing may take to end, with what its bots started."""

Pipe: TypeAlias = Any
"""An end of a multiprocessing pipe, which is of another type on Windows."""
Shared: TypeAlias = Any
"""Memory that a process and its parent share."""


class _Code(NamedTuple):
    """What a process does: the arguments of ``EnteringBot``, and since when in nanoseconds."""

    begun: int
    session: int
    bot: int
    """-1 if no bot's code runs."""
    deal: int
    method: str
    hand: int
    to_beat: int

    @property
    def seconds(self) -> float:
        """How long it has been doing this."""
        return (time.perf_counter_ns() - self.begun) / 1e9

    def where(self, setting: Setting) -> str:
        """Describe where a bot's code runs."""
        if not self.session:
            return "while its file was loaded"
        deal = f" deal {self.deal}" if self.deal else ""
        if self.method != CHOOSE:
            return f"in {self.method}, {session_id(self.session)}{deal}"
        rules = rules_of(json.loads(setting.ruleset))
        return f"in {session_id(self.session)}{deal}: {cards_text(rules, self.hand, self.to_beat)}"


MASK_BYTES = 64
"""More than the cards of all packs take."""
_CODE = Struct(f"=4q16s{MASK_BYTES}s{MASK_BYTES}s")
"""A ``_Code`` in memory."""


class _Activity:
    """What a process is doing and has done, in memory that it shares with its parent."""

    def __init__(self, context: SpawnContext, bots: int) -> None:
        self._code: Shared = context.RawArray("B", _CODE.size)
        self._sums: Shared = context.RawArray("q", 2 * bots)
        """For each bot its decisions and the microseconds that they took."""
        self._begun, self._bot = 0, -1
        """When the decision that is open was begun, and its bot; -1 if none is open."""
        self.rest()

    def enter(self, session: int, bot: int, method: str, deal: int, hand: int, to_beat: int) -> None:
        """Note that the process begins to run the code of a bot."""
        now = time.perf_counter_ns()
        if self._bot >= 0:  # this includes the little that the table did since
            self._sums[2 * self._bot] += 1
            self._sums[2 * self._bot + 1] += (now - self._begun) // 1000
        self._begun, self._bot = now, bot if method == CHOOSE else -1
        cards = hand.to_bytes(MASK_BYTES, "little"), to_beat.to_bytes(MASK_BYTES, "little")
        _CODE.pack_into(self._code, 0, now, session, bot, deal, method.encode(), *cards)

    def rest(self) -> None:
        """Note that the process runs no bot's code."""
        self.enter(0, -1, "", 0, 0, 0)

    def now(self) -> _Code:
        """Return what it is doing."""
        begun, session, bot, deal, method, *cards = _CODE.unpack_from(self._code)
        hand, to_beat = (int.from_bytes(mask, "little") for mask in cards)
        return _Code(begun, session, bot, deal, method.rstrip(b"\0").decode(), hand, to_beat)

    def times(self) -> list[tuple[int, float]]:
        """Return, by bot, decisions and the seconds that they took."""
        return [(self._sums[at], self._sums[at + 1] / 1e6) for at in range(0, len(self._sums), 2)]


def play_in_processes(
    setting: Setting,
    sessions: Iterator[SessionSpec],
    jobs: int,
    report: Callable[[str], None],
    tick: Callable[[Thought], None] = lambda _thought: None,
) -> Generator[Played, None, None]:
    """Yield sessions as ``jobs`` processes play them, in any order; bots can be debugged in a single one.

    Closing the generator ends these processes, and those that bots started.

    ``report`` is given a line when a bot does not answer for long; every second, ``tick`` is given what bots
    have thought so far. Raise ProgramError if a bot cannot be loaded, or ends its process.
    """
    with _processes(setting, jobs) as workers:
        for worker in workers:
            worker.give(sessions)
        due = time.monotonic() + LOOK_SECONDS
        while busy := [worker for worker in workers if worker.owed]:
            ready = connection.wait([worker.pipe for worker in busy], LOOK_SECONDS)
            for worker in busy:
                if worker.pipe in ready:
                    yield worker.take()
                    worker.give(sessions)
            if time.monotonic() >= due:
                due = time.monotonic() + LOOK_SECONDS
                for worker in busy:
                    worker.look(report)
                tick(_thought([worker.activity for worker in workers]))


def _thought(activities: Sequence[_Activity]) -> Thought:
    """Return what bots have thought, in all processes together."""
    by_bot = zip(*(activity.times() for activity in activities), strict=True)
    times = [(sum(number for number, _ in those), sum(spent for _, spent in those)) for those in by_bot]
    codes = [activity.now() for activity in activities]
    seconds, bot = max((code.seconds, code.bot) if code.bot >= 0 else (0.0, -1) for code in codes)
    return Thought(times, (bot, seconds) if seconds > STUCK_SECONDS else None)


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
    activity: _Activity
    owed: int = 0
    """How many sessions were given to it and have not come back."""
    _seen: int = 0
    """When the code was begun that ran at the last look."""
    _report_after: float = 0.0

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
        """Report a bot that does not answer for long, and again when it has taken twice as long."""
        code = self.activity.now()
        if code.begun != self._seen:
            self._seen = code.begun
            self._report_after = max(LONG_SECONDS, self.setting.decision_ms / 1000)
        if code.bot >= 0 and code.seconds > self._report_after:
            self._report_after = 2 * code.seconds
            name, where = self.setting.names[code.bot], code.where(self.setting)
            report(f"{name} has not answered for {code.seconds:.0f} s, {where}; Ctrl-C ends this")

    def _ended(self) -> ProgramError:
        code = self.activity.now()
        self.process.join()
        status = self.process.exitcode or 0
        how = f"by {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
        if code.bot < 0:
            return ProgramError("a bot", f"ended its process {how}")
        name, where = self.setting.names[code.bot], code.where(self.setting)
        return ProgramError(name, f"ended its process {how} after {code.seconds:.1f} s, {where}")

    def end(self, deadline: float) -> None:
        """End the process and all that it started; until then it may end by itself if it does nothing."""
        if self.activity.now().bot < 0:
            self.process.join(max(0, deadline - time.monotonic()))
        self.process.kill()
        if sys.platform != "win32":
            with suppress(ProcessLookupError):  # it leads no group
                os.killpg(self.process.ident or 0, signal.SIGKILL)
        self.process.join()


@contextmanager
def _processes(setting: Setting, jobs: int) -> Iterator[list[_Worker]]:
    """Start processes for the duration of the block."""
    workers: list[_Worker] = []
    try:
        with starting() as context:
            workers.extend(_started(context, setting, jobs == 1) for _ in range(jobs))
        yield workers
    finally:
        for worker in workers:
            worker.pipe.close()  # which ends those that wait for a session
        deadline = time.monotonic() + GRACE_SECONDS
        for worker in workers:
            worker.end(deadline)


def _started(context: SpawnContext, setting: Setting, alone: bool) -> _Worker:
    ours, theirs = context.Pipe()
    activity = _Activity(context, len(setting.names))
    process = context.Process(target=_work, args=(setting, theirs, activity, alone))
    process.start()
    theirs.close()
    return _Worker(setting, process, ours, activity)


def _work(setting: Setting, pipe: Pipe, activity: _Activity, alone: bool) -> None:
    """Play the sessions that come through the pipe until it closes; this runs in a process of its own."""
    os.dup2(2, 1)  # what bots print must not get mixed with the results
    sys.stdout = sys.stderr  # nor stay in a buffer when they end the process
    let_children_import()
    multiprocessing.set_start_method(None, force=True)  # bots start processes as the system does
    if alone:
        with suppress(OSError):  # there is none
            sys.stdin = open(0, closefd=False)  # noqa: SIM115 for debuggers; multiprocessing has closed it
    if sys.platform != "win32" and not (alone and os.isatty(0)):
        os.setpgid(0, 0)  # only the terminal's own group may read from it
    try:
        table = LocalTable(setting, activity.enter)
        activity.rest()
        while True:
            played = table.play(pipe.recv())
            activity.rest()
            pipe.send(played)
    except ProgramError as error:
        pipe.send(_Unusable(error.field, error.reason))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # nobody wants more

"""Following a tournament: a bar on a terminal, a line now and then in a log."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from arena.cli.output import print_json_line
from arena.models import utc_now
from arena.services import tournaments
from arena.services.tournaments import TournamentStatus
from arena.storage import Storage

POLL_SECONDS = 0.25

WINDOW_SECONDS = 10.0
"""The rate is that of the last so many seconds."""

STILL_SECONDS = 8.0
"""After so long without a session and without a match being played, it is asked whether anybody works."""

HELD_UP_SECONDS = 30.0
"""The same where something holds matches up, so that workers wait between their attempts."""

NOBODY_WORKS = "no worker has come for {:.0f} s: is `arena up` or `arena worker` running?"

LINES = 10
"""Lines in a log, about, from a tournament's start to its end."""


class Pace:
    """How fast sessions finish, by what was seen in the last seconds."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def add(self, now: float, done: int) -> None:
        """Note how many sessions are done at a time in seconds."""
        self._seen.append((now, done))
        while now - self._seen[0][0] > WINDOW_SECONDS:
            self._seen.popleft()

    @property
    def rate(self) -> float:
        """Sessions a second; 0 while it is not known."""
        (began, first), (now, last) = self._seen[0], self._seen[-1]
        return (last - first) / (now - began) if now > began else 0.0


def sessions_in_all(status: TournamentStatus) -> int:
    """Sessions of the whole tournament, rounds that are not paired yet among them."""
    if status.rounds is None:
        return status.sessions_total
    return status.rounds * (status.entrants // status.table_size) * status.sessions


def pace_text(status: TournamentStatus, pace: Pace) -> str:
    """What is done, how fast, and how long the rest will take."""
    done, total = status.sessions_done, sessions_in_all(status)
    rounds = f"round {status.round} of {status.rounds or '?'}"
    text = f"{rounds}, {done} of {total} sessions"
    if pace.rate and done < total:
        text += f", {pace.rate:.1f}/s, {duration((total - done) / pace.rate)} left"
    return text


def duration(seconds: float) -> str:
    """A time span for people: 42 s, 3 min 20 s, 2 h 05 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


class Notes:
    """What holds a tournament up, each thing told once."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def new(self, notes: Sequence[str]) -> list[str]:
        """Those that have not been told yet."""
        fresh = [note for note in notes if note not in self._told]
        self._told.update(fresh)
        return fresh


class Display(Protocol):
    """Something that shows how a tournament stands."""

    def show(self, status: TournamentStatus, text: str, notes: Sequence[str]) -> None: ...

    def close(self) -> None: ...


class Bar:
    """A progress bar, with notes above it."""

    def __init__(self, out: Console) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[text]}"))
        self._progress = Progress(*columns, console=out)
        self._task = self._progress.add_task("", text="")
        self._notes = Notes()
        self._progress.start()

    def show(self, status: TournamentStatus, text: str, notes: Sequence[str]) -> None:
        for note in self._notes.new(notes):
            self._progress.console.print(f"{status.name}: {note}", markup=False)
        self._progress.update(
            self._task,
            description=status.name,
            completed=status.sessions_done,
            total=sessions_in_all(status) or 1,
            text=text,
        )

    def close(self) -> None:
        self._progress.stop()


class Lines:
    """A line at the start, at the end, after each tenth, and for each note."""

    def __init__(self, out: Console) -> None:
        self._out = out
        self._notes = Notes()
        self._step = -1

    def show(self, status: TournamentStatus, text: str, notes: Sequence[str]) -> None:
        for note in self._notes.new(notes):
            self._out.print(f"{status.name}: {note}", soft_wrap=True)
        step = LINES * status.sessions_done // max(1, sessions_in_all(status))
        if step > self._step:
            self._step = step
            self._out.print(f"{status.name}: {text}", soft_wrap=True)

    def close(self) -> None:
        pass


class JsonLines:
    """A JSON object a line, whenever something has changed."""

    def __init__(self) -> None:
        self._last: dict[str, object] = {}

    def show(self, status: TournamentStatus, text: str, notes: Sequence[str]) -> None:
        shown = {**asdict(status), "notes": list(notes)}
        del shown["leased_until"]  # moves all the time
        if shown != self._last:
            self._last = shown
            print_json_line(shown)

    def close(self) -> None:
        pass


def follow(
    storage: Storage,
    name: str,
    out: Console,
    *,
    tick: Callable[[], None] = lambda: None,
    as_json: bool = False,
    clock: Callable[[], float] = time.monotonic,
    now: Callable[[], datetime] = utc_now,
    sleep: Callable[[float], None] = time.sleep,
) -> TournamentStatus:
    """Show a tournament's progress until it has ended or failed; gives how it stands then.

    ``tick`` is called each time before it is looked at; ``clock`` gives seconds, ``now`` the time of leases.
    """
    display = _display(out, as_json)
    pace = Pace()
    moved_at, moved_to = clock(), -1
    try:
        while True:
            tick()
            status, seconds = tournaments.status(storage, name), clock()
            pace.add(seconds, status.sessions_done)
            at_work = status.leased_until is not None and status.leased_until > now()
            if status.sessions_done != moved_to or at_work:
                moved_at, moved_to = seconds, status.sessions_done
            patience = HELD_UP_SECONDS if status.waiting else STILL_SECONDS
            still = seconds - moved_at > patience and status.state == "running"
            notes = [*status.waiting, *([NOBODY_WORKS.format(patience)] if still else [])]
            display.show(status, pace_text(status, pace), notes)
            if status.ended or status.state == "failed":
                return status
            sleep(POLL_SECONDS)
    finally:
        display.close()


def _display(out: Console, as_json: bool) -> Display:
    if as_json:
        return JsonLines()
    return Bar(out) if out.is_terminal else Lines(out)

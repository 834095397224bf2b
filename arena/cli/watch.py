"""Following a tournament: a progress bar on a terminal, occasional lines in a log."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from rich.console import Console
from rich.live import Live

from arena.errors import Unreachable
from arena.jsonvalues import to_json
from arena.operations import tournaments
from arena.play.rounds import waiting
from arena.play.rounds.waiting import Obstacles
from arena.store.models import TournamentState, utc_now
from arena.store.storage import Storage
from arena.tournaments import overview
from arena.tournaments.overview import TournamentStatus
from arena.tournaments.referees import Ask, nobody_asked
from referee.cli.output import print_json_line
from referee.cli.tables import FittedBar

if TYPE_CHECKING:
    from arena.client import Client

POLL_SECONDS = 0.25

WINDOW_SECONDS = 10.0
"""Seconds over which the rate is measured."""

STILL_SECONDS = 8.0
"""After this long without progress and without a match being played, a missing worker is reported."""

OBSTACLE_SECONDS = 30.0
"""The same if something hinders matches, so that workers wait between their attempts."""

LOOK_SECONDS = 2.0
"""How often to look for what hinders the tournament."""

NOBODY_WORKS = "no worker has come for {:.0f} s: is `arena up` or `arena worker` running?"
OTHERS_FIRST = "no worker has come for {:.0f} s: the running ones play {}"
GOES_ON = "goes on"

LINES = 10
"""Approximate number of lines in a log from a tournament's start to its end."""


class Pace:
    """The rate at which sessions finish, measured over the last seconds."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def add(self, now: float, done: int) -> None:
        """Record how many sessions are done at this time, in seconds."""
        self._seen.append((now, done))
        while now - self._seen[0][0] > WINDOW_SECONDS:
            self._seen.popleft()

    @property
    def rate(self) -> float:
        """Return the sessions per second; 0 while this is not known."""
        (began, first), (now, last) = self._seen[0], self._seen[-1]
        return (last - first) / (now - began) if now > began else 0.0


def progress_text(status: TournamentStatus) -> str:
    """Describe the progress."""
    rounds = f"round {status.round} of {status.rounds or '?'}"
    return f"{rounds}, {status.sessions_done} of {status.sessions_total} sessions"


def pace_text(status: TournamentStatus, pace: Pace) -> str:
    """Describe the progress, the rate, and how long the rest will take."""
    done, total, text = status.sessions_done, status.sessions_total, progress_text(status)
    if status.state == TournamentState.PAUSED:
        text += ", paused"
    elif pace.rate and done < total:
        text += f", {pace.rate:.1f}/s, {duration((total - done) / pace.rate)} left"
    return text


def duration(seconds: float) -> str:
    """Format a time span for people: 42 s, 3 min 20 s, 2 h 05 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


class Notes:
    """The obstacles of a tournament, each reported once as long as it lasts."""

    def __init__(self) -> None:
        self._shown: Sequence[str] = ()

    def new(self, status: TournamentStatus, notes: Sequence[str]) -> list[str]:
        """Return the new notes; when none is left, the note that the tournament continues."""
        fresh = [note for note in notes if note not in self._shown]
        goes_on = self._shown and not notes and status.state == TournamentState.RUNNING
        self._shown = notes
        return [GOES_ON] if goes_on else fresh


class Display(Protocol):
    """Something that displays a tournament's progress."""

    def show(self, status: TournamentStatus, text: str, notes: Sequence[str]) -> None: ...

    def close(self) -> None: ...


class Bar:
    """A progress bar, with notes above it."""

    def __init__(self, out: Console) -> None:
        self._live = Live(console=out, vertical_overflow="visible")
        self._notes = Notes()
        self._live.start()

    def show(self, status: TournamentStatus, text: str, notes: Sequence[str]) -> None:
        for note in self._notes.new(status, notes):
            self._live.console.print(f"{status.tournament}: {note}", markup=False, soft_wrap=True)
        self._live.update(FittedBar(status.tournament, status.sessions_done, status.sessions_total, text))

    def close(self) -> None:
        self._live.stop()


class PlainLines:
    """Prints a line at the start, at the end, after each tenth, and for each note."""

    def __init__(self, out: Console) -> None:
        self._out = out
        self._notes = Notes()
        self._step = -1

    def show(self, status: TournamentStatus, text: str, notes: Sequence[str]) -> None:
        for note in self._notes.new(status, notes):
            self._out.print(f"{status.tournament}: {note}", soft_wrap=True)
        step = LINES * status.sessions_done // max(1, status.sessions_total)
        if step > self._step:
            self._step = step
            self._out.print(f"{status.tournament}: {text}", soft_wrap=True)

    def close(self) -> None:
        pass


class JsonLines:
    """Prints a JSON object on a line of its own whenever something has changed."""

    def __init__(self) -> None:
        self._last: dict[str, object] = {}

    def show(self, status: TournamentStatus, text: str, notes: Sequence[str]) -> None:
        line = {**to_json(status), "notes": list(notes)}
        del line["leased_until"]  # changes all the time
        if line != self._last:
            self._last = line
            print_json_line(line)

    def close(self) -> None:
        pass


class Watcher:
    """Finds out what hinders a tournament, from what was seen since its last progress."""

    def __init__(self, storage: Storage, ask: Ask) -> None:
        self._storage = storage
        self._ask = ask
        self._state: TournamentState | None = None
        self._looked_at = 0.0
        self._obstacles = Obstacles()
        self._moved_at = 0.0
        self._moved_to: object = None

    def notes(self, status: TournamentStatus, seconds: float, now: datetime) -> list[str]:
        """Return a line for each obstacle; ``seconds`` is a clock's time, ``now`` that of leases."""
        if status.state != self._state or seconds - self._looked_at >= LOOK_SECONDS:
            self._looked_at = seconds
            self._obstacles = waiting.obstacles(self._storage, status, self._ask, now)
        self._state, obstacles = status.state, self._obstacles
        moved_to = (status.sessions_done, obstacles.for_worker, obstacles.tried)
        if moved_to != self._moved_to or waiting.is_played(status, now):
            self._moved_at, self._moved_to = seconds, moved_to
        patience = OBSTACLE_SECONDS if obstacles.lines else STILL_SECONDS
        if not obstacles.for_worker or seconds - self._moved_at <= patience:
            return list(obstacles.lines)
        others = waiting.busy_elsewhere(self._storage, status, now)
        nobody = OTHERS_FIRST.format(patience, ", ".join(others)) if others else NOBODY_WORKS.format(patience)
        return [*obstacles.lines, nobody]


def follow(
    storage: Storage,
    name: str,
    out: Console,
    *,
    ask: Ask = nobody_asked,
    tick: Callable[[], None] = lambda: None,
    as_json: bool = False,
    clock: Callable[[], float] = time.monotonic,
    now: Callable[[], datetime] = utc_now,
    sleep: Callable[[float], None] = time.sleep,
) -> TournamentStatus:
    """Show a tournament's progress until it has ended or failed; return its state then.

    ``ask`` asks the referees if there is no progress; ``tick`` is called before each look;
    ``clock`` returns seconds, ``now`` the time that leases go by.
    """
    display = _display(out, as_json)
    pace, watcher = Pace(), Watcher(storage, ask)
    try:
        while True:
            tick()
            status, seconds = overview.status(storage, name), clock()
            pace.add(seconds, status.sessions_done)
            display.show(status, pace_text(status, pace), watcher.notes(status, seconds, now()))
            if status.ended or status.state == "failed":
                return status
            sleep(POLL_SECONDS)
    finally:
        display.close()


def follow_there(
    arena: "Client",
    name: str,
    out: Console,
    *,
    as_json: bool = False,
    clock: Callable[[], float] = time.monotonic,
) -> TournamentStatus:
    """Show the progress of a tournament on an arena on the network, as ``follow`` does."""
    display, pace, notes, looked_at = _display(out, as_json), Pace(), list[str](), -LOOK_SECONDS
    try:
        for event in arena.follow(name):
            if not isinstance(event, TournamentStatus):
                continue
            seconds = clock()
            pace.add(seconds, event.sessions_done)
            if seconds - looked_at >= LOOK_SECONDS:
                looked_at, notes = seconds, list(arena.call(tournaments.show_tournament, name).waits)
            display.show(event, pace_text(event, pace), [] if event.ended else notes)
            if event.ended or event.state == "failed":
                return event
        raise Unreachable(f"the event stream of {name} ended before the tournament did")
    finally:
        display.close()


def _display(out: Console, as_json: bool) -> Display:
    if as_json:
        return JsonLines()
    return Bar(out) if out.is_terminal else PlainLines(out)

"""What a referee counts, and how it stands now. The surroundings publish it."""

import asyncio
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from referee.matches.journal import Entry, EntryKind, Journal, LogEntry, LogQuery
from referee.matches.lobby import TAKEN_OVER, Lobby
from referee.matches.running import Match

LATENCY_BOUNDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Seconds: upper bounds of a histogram's classes, beside the one without a bound."""

READ_SECONDS = 2.0
"""How long the referee's event loop may take to say how it stands."""


class Histogram:
    """How often values of each size came."""

    def __init__(self, bounds: Sequence[float] = LATENCY_BOUNDS) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        """By class, not summed up; the last one has no upper bound."""
        self.sum = 0.0

    def observe(self, value: float) -> None:
        """Notes a value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.sum += value

    def copy(self) -> "Histogram":
        """A histogram of its own with the same values."""
        other = Histogram(self.bounds)
        other.counts, other.sum = list(self.counts), self.sum
        return other


@dataclass(frozen=True, slots=True)
class Reading:
    """How a referee stands, and what it has counted since it started."""

    streams: int
    sessions_open: int
    matches_running: int
    spectators: int
    draining: bool
    events_waiting: int
    """Events that no message has taken yet, for all bots."""
    round_trips: Sequence[float]
    """Seconds, for each stream of which it is known; ascending."""
    loop_delay: float
    """Seconds that the event loop took to come to this reading."""
    decisions: int
    """Turns asked. Those of void sessions are not in it, unless they were read while they were open."""
    sessions_finished: int
    sessions_voided: int
    """Stopped because the referee could not hand out a turn, or failed."""
    tables_failed: int
    """Stopped by an error in the referee."""
    deals: int
    """In the finished sessions."""
    matches: Mapping[str, int]
    """By how they ended: ``done``, ``taken_over``, ``stopped`` by the worker, ``given_up`` by the referee."""
    journal: Mapping[tuple[EntryKind, str], int]
    """What was noted for authors, by kind and code."""
    handshakes_refused: Mapping[str, int]
    """Streams of bots that were not let in, by the protocol's reason."""
    messages: Mapping[tuple[str, ...], int]
    """By call and direction, ``in`` or ``out``."""
    message_bytes: Mapping[tuple[str, ...], int]
    decision_seconds: Histogram
    """A sample, of one turn at a time for each stream: from when it was sent until it was settled."""


class Meter:
    """Counts for one referee. All methods but ``read`` are for its event loop."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._lobby: Lobby | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._running: dict[Match, int] = {}
        """Running matches with the decisions that were seen last."""
        self._decisions = 0
        self._sessions = 0
        self._voided = 0
        self._deals = 0
        self._matches: Counter[str] = Counter()
        self.journal: Counter[tuple[EntryKind, str]] = Counter()
        self.handshakes_refused: Counter[str] = Counter()
        self.messages: Counter[tuple[str, ...]] = Counter()
        self.message_bytes: Counter[tuple[str, ...]] = Counter()
        self.decision_seconds = Histogram()

    def attach(self, lobby: Lobby) -> None:
        """From now on this is the lobby that is read; called in its event loop."""
        self._lobby, self._loop = lobby, asyncio.get_running_loop()

    def read(self) -> Reading | None:
        """How the referee stands; None when it does not serve or does not answer. For any other thread."""
        loop = self._loop
        if loop is None or loop.is_closed():
            return None
        asked = self._read(monotonic())
        try:
            return asyncio.run_coroutine_threadsafe(asked, loop).result(READ_SECONDS)
        except (RuntimeError, TimeoutError, asyncio.CancelledError):
            asked.close()
            return None

    async def _read(self, asked_at: float) -> Reading:
        lobby = self._lobby
        assert lobby is not None
        delay = monotonic() - asked_at
        for match, seen in self._running.items():
            self._running[match] = max(seen, lobby.progress(match).decisions)
        connections = [found for version in lobby.connected() if (found := lobby.connection(version))]
        return Reading(
            streams=len(connections),
            sessions_open=lobby.sessions,
            matches_running=lobby.matches,
            spectators=lobby.spectators,
            draining=lobby.draining,
            events_waiting=sum(len(connection.outbox) for connection in connections),
            round_trips=sorted(trip for connection in connections if (trip := connection.round_trip)),
            loop_delay=delay,
            decisions=self._decisions + sum(self._running.values()),
            sessions_finished=self._sessions,
            sessions_voided=self._voided + sum(match.voided for match in self._running),
            tables_failed=lobby.failures,
            deals=self._deals,
            matches=dict(self._matches),
            journal=dict(self.journal),
            handshakes_refused=dict(self.handshakes_refused),
            messages=dict(self.messages),
            message_bytes=dict(self.message_bytes),
            decision_seconds=self.decision_seconds.copy(),
        )

    # Matches

    def opened(self, match: Match) -> None:
        """A match begins."""
        self._running[match] = 0

    def finished(self, deals: int) -> None:
        """A session was played to its end."""
        self._sessions += 1
        self._deals += deals

    def closed(self, match: Match, decisions: int) -> str:
        """The call for a match ends, before what is still open in it becomes void; gives its outcome."""
        self._decisions += max(decisions, self._running.pop(match, 0))
        self._voided += match.voided
        if match.ended:
            outcome = "taken_over" if match.ended == TAKEN_OVER else "given_up"
        else:
            outcome = "done" if match.done else "stopped"
        self._matches[outcome] += 1
        return outcome

    # Messages

    def refused(self, reason: str) -> None:
        """Count a bot's stream that was not let in; ``reason`` is the protocol's."""
        self.handshakes_refused[reason.lower()] += 1

    def sized(self, call: str, direction: str, convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """``convert``, a call's reader (``in``) or writer (``out``), which then counts the messages."""
        key = call, direction
        messages, sizes = self.messages, self.message_bytes
        into = direction == "in"

        def counted(message: Any) -> Any:
            converted = convert(message)
            messages[key] += 1
            sizes[key] += len(message if into else converted)
            return converted

        return counted

    def timed(self, context: Any, owed: set[int]) -> "TimedContext":
        """The context of a bot's call, of whose turns a sample is timed; ``owed`` as in ``Outbox``."""
        return TimedContext(context, owed, self.decision_seconds, self._clock)

    def over(self, journal: Journal) -> "CountingJournal":
        """``journal``, of which it is counted what goes in."""
        return CountingJournal(journal, self.journal)


class TimedContext:
    """A bot's call in which one turn at a time is timed: timing each would cost more than it tells.

    A turn is known by its session, which is owed from when the message is sent until it is settled.
    """

    def __init__(
        self, context: Any, owed: set[int], seconds: Histogram, clock: Callable[[], float] = monotonic
    ) -> None:
        self._context = context
        self._owed = owed
        self._seconds = seconds
        self._clock = clock
        self._handle: int | None = None
        """The session whose turn is timed; None: the next message may begin one."""
        self._since = self._arrived = clock()
        self._earlier: set[int] = set()
        """Sessions whose turn was sent before, so that it is not known when."""

    async def read(self) -> Any:
        """The next message; called when the last one has been dealt with."""
        self._settle(self._arrived)
        message = await self._context.read()
        self._arrived = self._clock()
        return message

    async def write(self, message: Any) -> None:
        """Sends a message; the turns in it are owed already."""
        now = self._clock()
        self._settle(now)
        if self._handle is None and (fresh := self._owed - self._earlier):
            self._handle, self._since = fresh.pop(), now
        await self._context.write(message)

    def _settle(self, now: float) -> None:
        """Ends the timing of a turn that is not owed any more."""
        if self._handle is None:
            self._earlier &= self._owed
        elif self._handle not in self._owed:
            self._seconds.observe(max(0.0, now - self._since))
            self._handle, self._earlier = None, set(self._owed)


class CountingJournal:
    """Counts what goes into a journal."""

    def __init__(self, journal: Journal, counts: Counter[tuple[EntryKind, str]]) -> None:
        self._journal = journal
        self._counts = counts

    def add(self, entry: Entry) -> None:
        """Takes an entry."""
        # A notice's and a fault's code are the referee's own words; so are the ends of connections.
        self._counts[entry.kind, entry.code] += 1
        self._journal.add(entry)

    def read(self, token: str, query: LogQuery) -> list[LogEntry]:
        """As the journal does."""
        return self._journal.read(token, query)

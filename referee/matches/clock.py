"""A seat's clock, and one queue for everything in a referee that waits for a time. Times are passed in."""

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

from referee.matches.match import Limits

UNSENT_GRACE = 2.0
"""Seconds beyond the decision limit that a turn may wait for its stream: this bounds how long a stream that
does not take its messages can keep a table waiting."""
NEVER = float("-inf")


@dataclass(frozen=True, slots=True)
class TimeControl:
    """What all clocks of a session are set to, in seconds."""

    limit: float
    """For one decision."""
    bank: float
    """For all decisions of a session; 0 if there is no bank."""
    increment: float
    """What each decision adds to the bank."""
    credit: float
    """The most that is credited to a decision for the network."""

    @classmethod
    def of(cls, limits: Limits) -> "TimeControl":
        """Return the time control of a session's limits."""
        return cls(
            limits.decision_ms / 1000,
            limits.bank_ms / 1000,
            limits.increment_ms / 1000,
            limits.credit_ms / 1000,
        )


class Clock:
    """The clock of one seat. All times are seconds of one monotonic clock, and may come in any order.

    An alarm is told when it rang, which may be before a turn was handed out meanwhile, and ``delay`` may move
    a hand-over to a time that is still to come: until then the decision has taken no time.
    """

    __slots__ = ("asked_at", "bank", "control", "credit", "handed_at", "probed", "time", "used")

    def __init__(self, control: TimeControl) -> None:
        self.control = control
        self.bank = control.bank
        """Seconds left."""
        self.time = control.limit
        """Seconds that the decision may take, without the credit."""
        self.credit = 0.0
        """Seconds credited to the decision for the network."""
        self.asked_at = 0.0
        self.handed_at: float | None = None
        """When the turn was handed to the stream, which started the clock; None if it does not run yet."""
        self.probed = NEVER
        """Since when the time ran of which half was up when a sign of life was last asked for."""
        self.used = 0.0
        """Seconds that all settled decisions took together."""

    def ask(self, now: float) -> None:
        """Begin a decision: until the turn is handed to a stream, only the grace for that runs."""
        self.asked_at = now
        self.handed_at = None
        self.credit = 0.0
        if self.control.bank:
            self.time = min(self.control.limit, self.bank)

    def start(self, now: float, credit: float = 0.0) -> None:
        """Start running, with as much of ``credit`` for the network as the time control allows."""
        self.handed_at = now
        most = self.control.credit
        self.credit = credit if credit < most else most

    @property
    def _since(self) -> float:
        """Since when the decision's time runs, or the grace if its turn has not been handed to the stream."""
        return self.asked_at if self.handed_at is None else self.handed_at

    @property
    def deadline(self) -> float:
        """When the decision's time is up, or the grace if its turn has not been handed to the stream."""
        return self._since + self.time + (UNSENT_GRACE if self.handed_at is None else self.credit)

    @property
    def look(self) -> float:
        """When the decision must be checked: half of its time is up, or after ``looked`` all of it."""
        return self.deadline if self.probed == self._since else self.deadline - self.time / 2

    def looked(self) -> None:
        """Note that half of the decision's time is up: the next look is at its end."""
        self.probed = self._since

    def settle(self, now: float) -> float:
        """End the decision: take its time from the bank, and add the increment; return its time.

        A credit is only for this decision: the bank still pays for all of its time.
        """
        handed_at = self.handed_at
        spent = 0.0 if handed_at is None or now < handed_at else now - handed_at
        self.used += spent
        if self.control.bank:
            self.bank = max(0.0, self.bank - spent) + self.control.increment
        return spent

    def delay(self, seconds: float) -> None:
        """Set the clock back by a time in which it did not run."""
        if self.probed == self._since:
            self.probed += seconds
        self.asked_at += seconds
        if self.handed_at is not None:
            self.handed_at += seconds

    def elapsed(self, now: float) -> float:
        """Return the seconds that the decision has taken so far; 0 while the clock does not run."""
        handed_at = self.handed_at
        return 0.0 if handed_at is None or now < handed_at else now - handed_at

    def part(self, now: float) -> float:
        """Return what fraction of its time the decision has taken beyond the credit; below 0 within it."""
        handed_at, time = self.handed_at, self.time
        if handed_at is None or not time:
            return 0.0 if time else 1.0
        return ((0.0 if now < handed_at else now - handed_at) - self.credit) / time

    def left(self, now: float) -> float:
        """Return the seconds that are left for the decision without the credit, from 0 to all of its time."""
        return min(self.time, max(0.0, self.deadline - self.credit - now))


class Alarms:
    """Times, each with a handle that says whom to call then.

    Handles, not objects: the queue must not keep a closed table alive. An alarm cannot be withdrawn; whoever
    is called too early sets the next one.
    """

    def __init__(self) -> None:
        self._queue: list[tuple[float, int]] = []

    def set(self, when: float, handle: int) -> None:
        """Set an alarm for ``handle`` at that time."""
        heappush(self._queue, (when, handle))

    def due(self, now: float) -> Iterator[tuple[float, int]]:
        """Take out the alarms that are due, including those added meanwhile, the earliest first."""
        queue = self._queue
        while queue and queue[0][0] <= now:
            yield heappop(queue)

    def soonest(self) -> float | None:
        """Return the time of the next alarm; None while there is none."""
        return self._queue[0][0] if self._queue else None

    def __iter__(self) -> Iterator[tuple[float, int]]:
        return iter(self._queue)

"""A bot's live stream as the lobby sees it: what waits for it, how far away it is, how much it can take."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from referee.matches.auth import BotIdentity
from referee.matches.outbox import Outbox
from referee.ruleset.model import Ruleset

if TYPE_CHECKING:
    from referee.matches.seat import Seat

ROOMY, TIGHT = 1 / 8, 1 / 2
"""Fractions of the time that a decision may take: a bot that answers within the first one may have twice as
many sessions, and one that needs more than the second one gets half as many."""
CAUTION = 64
"""For how many messages a bot gets no more sessions once it has had too many."""


class Pace:
    """How many sessions a bot can handle, judged by how long it takes for its turns.

    The clocks of all turns that a bot has been sent run at the same time, so one that thinks for 0.3 s about
    each of ten turns takes 3 s for the last. It begins with one session.
    """

    __slots__ = ("caution", "room")

    def __init__(self) -> None:
        self.room = 1
        """Sessions at once."""
        self.caution = 0
        """For how many more messages it gets no further sessions."""

    def answered(self, part: float, sessions: int, most: int) -> bool:
        """Note an answer that took ``part`` of its time, with this number of sessions open.

        Return whether ``room`` has grown; it grows up to ``most``.
        """
        if part > TIGHT:
            self.room = max(1, min(self.room, sessions) // 2)
            self.caution = CAUTION
            return False
        if self.caution:
            self.caution -= 1
            return False
        if part > ROOMY or sessions < self.room or self.room >= most:
            return False
        self.room = min(2 * self.room, most)
        return True


PING_SECONDS = 10.0
"""How often a stream is pinged unless there is another reason."""
STUCK_SECONDS = 1.0
"""How long a ping may go unanswered before the bot counts as stuck."""
LOST_SECONDS = 60.0
"""How long a ping may go unanswered with nothing else heard, or a message wait to be taken, before the stream
is closed."""
READY_SECONDS = 1.0
"""How long a stream must have been ready before a turn not handed out is the referee's fault: far longer than
messages are held back, and half of the grace that a turn has to wait for its stream."""
ROUND_TRIPS = 8
"""How many of the last round trips count: the shortest is the stream's, as bots made the others longer."""
FIRST_PINGS = 3
"""How many pings follow each other when a stream opens, so that its round trip is known."""

ALLOWANCE = 1000.0
"""How many messages without effect a stream may send at once before it is closed for flooding. This is more
than a bot's sessions, all of which may end while its answers are on their way."""
ALLOWANCE_PER_SECOND = 50.0
BACKLOG = 20_000
"""How many events may wait for a stream that takes no messages before it is closed."""


class CloseCode(StrEnum):
    """Why the referee closes a stream; the values are the protocol's reasons."""

    FLOOD = "FLOOD"
    LOST = "PING_UNANSWERED"
    REPLACED = "REPLACED"
    REVOKED = "TOKEN_REVOKED"
    UNREADABLE = "MESSAGE_UNREADABLE"
    CLOSING = "CLOSING"


class Wants(NamedTuple):
    """What a bot wants to be told with each turn."""

    legal_plays: bool = False
    hands: bool = False
    """Its own hand, and the number of cards of each seat."""


class Shutdown(NamedTuple):
    """What a bot receives when the referee begins to shut down."""

    reason: str
    end_at: float
    """When its stream ends at the latest."""


class Closing(NamedTuple):
    """How a stream is to end."""

    code: CloseCode
    reason: str


class Connection:
    """A bot's live stream. All times are seconds of one monotonic clock, passed in."""

    def __init__(
        self,
        identity: BotIdentity,
        max_sessions: int,
        wake: Callable[[], None],
        now: float = 0.0,
        *,
        wants: Wants | None = None,
        pace: Pace | None = None,
        lacks: Callable[[Ruleset], Sequence[str]] = lambda ruleset: (),
        host: str = "",
    ) -> None:
        """Create a connection; ``lacks`` says in words what a ruleset requires that the bot cannot do.

        ``host`` is the host that it comes from, empty for the referee's own.
        ``pace`` is for a bot that lets the referees decide how many sessions it gets: as many as it can
        handle, up to ``max_sessions``.
        """
        self.identity = identity
        self.owner = identity.name.partition("/")[0]
        self.host = host
        self.max_sessions = max_sessions
        self.pace = pace
        self.wants = wants
        """None if it wants nothing beyond what every bot is told."""
        self.lacks = lacks
        self.bounds: Sequence[str] = ()
        """The bounds on rulesets that the bot stated, in words."""
        self.outbox = Outbox(wake)
        self.closing: Closing | None = None
        """Set when the referee ends the stream; the server sees it when it is woken."""
        self.ping_due = False
        self.shutdown_due: Shutdown | None = None
        """The shutdown to tell the bot about; None once it was told."""
        self.heard_at = now
        self.seats: Mapping[int, Seat] = {}
        """The bot's seats at tables, by the handles of their sessions. Kept by ``Connections`` while this is
        the bot's live stream, and empty otherwise: another stream may have the seats."""
        self._over: dict[int, None] = {}
        """Sessions that ended while its answer may have been on its way, by handle, the latest last."""
        self._wake = wake
        self._ready = False
        self._changed_at = now
        """When the writer last became ready or busy."""
        self._ping = 0
        self._pinged_at: float | None = None
        self._round_trips: deque[float] = deque(maxlen=ROUND_TRIPS)
        self._allowance = ALLOWANCE
        self._allowance_at = now

    @property
    def round_trip(self) -> float:
        """Seconds; 0 while it is not known."""
        return min(self._round_trips, default=0.0)

    @property
    def room(self) -> int:
        """How many sessions at once the bot is given here."""
        return self.max_sessions if self.pace is None else min(self.max_sessions, self.pace.room)

    def answers(self, handle: int, now: float) -> bool:
        """Note that the bot answers a turn of a session; return whether ``room`` has grown."""
        pace, seat = self.pace, self.seats.get(handle)
        if pace is None or seat is None or seat.turn is None:
            return False
        part, sessions = seat.clock.part(now), len(self.seats)
        if part <= ROOMY and sessions < pace.room and not pace.caution:
            return False  # as ``answered``, without a call for each message
        return pace.answered(part, sessions, self.max_sessions)

    # The writer

    def writing(self, now: float) -> None:
        """Note that a message waits for the stream to take it, as the first one does from the start."""
        self._ready, self._changed_at = False, now

    def written(self, now: float) -> None:
        """Note that the stream has taken the message: the writer is ready for the next one."""
        self._ready, self._changed_at = True, now

    @property
    def blocked(self) -> bool:
        """Whether a message waits for the stream to take it."""
        return not self._ready

    def was_ready(self, now: float) -> bool:
        """Return whether the writer has been ready for so long that a message not yet handed to it was held
        up by the referee, and not by the bot's stream."""
        return self._ready and now - self._changed_at >= READY_SECONDS

    def announce(self, shutdown: Shutdown) -> None:
        """Tell the bot that the referee begins to shut down."""
        self.shutdown_due = shutdown
        self._wake()

    def take_shutdown(self) -> Shutdown | None:
        """Return the shutdown that the bot must be told about now, once."""
        shutdown, self.shutdown_due = self.shutdown_due, None
        return shutdown

    # Pings

    def probe(self) -> None:
        """Ask for a sign of life, unless that has been done already."""
        if self._pinged_at is None and not self.ping_due:
            self.ping_due = True
            self._wake()

    def delay(self, seconds: float) -> None:
        """Note that the referee was away for ``seconds``: that time does not count for pings and messages."""
        self._changed_at += seconds
        if self._pinged_at is not None:
            self._pinged_at += seconds

    def take_ping(self, now: float) -> int:
        """Return the number of the ping that is due and sent now."""
        self.ping_due = False
        self._ping += 1
        self._pinged_at = now
        return self._ping

    def pong(self, number: int, now: float) -> bool:
        """Take the answer to a ping; return whether it is the one that was open."""
        if self._pinged_at is None or number != self._ping:
            return False
        # ``delay`` may have moved a ping sent while the referee lagged to a time that is still to come.
        self._round_trips.append(max(0.0, now - self._pinged_at))
        self._pinged_at = None
        self.heard_at = now
        if len(self._round_trips) < FIRST_PINGS:
            self.probe()
        return True

    def is_stuck(self, now: float) -> bool:
        """Return whether a ping has been open for too long, and nothing was heard meanwhile."""
        return self._pinged_at is not None and now - max(self._pinged_at, self.heard_at) >= STUCK_SECONDS

    def is_lost(self, now: float) -> bool:
        """Return whether the stream should be given up: it answers nothing, or takes nothing."""
        silent = self._pinged_at is not None and now - max(self._pinged_at, self.heard_at) >= LOST_SECONDS
        stopped = not self._ready and now - self._changed_at >= LOST_SECONDS
        return silent or stopped or len(self.outbox) > BACKLOG

    # Floods

    def note_over(self, handle: int) -> None:
        """Note that a session was void or forfeit: the bot may have answered before it could know."""
        self._over[handle] = None
        if len(self._over) > ALLOWANCE:
            del self._over[next(iter(self._over))]

    def excuse(self, handle: int) -> bool:
        """Return whether an answer may have been on its way when its session ended: one for each session."""
        if handle not in self._over:
            return False
        del self._over[handle]
        return True

    def useless(self, now: float) -> bool:
        """Note a message without an effect; return whether that was one too many."""
        earned = (now - self._allowance_at) * ALLOWANCE_PER_SECOND
        self._allowance = min(ALLOWANCE, self._allowance + earned) - 1
        self._allowance_at = now
        return self._allowance < 0

    def close(self, code: CloseCode, reason: str) -> None:
        """Have the server end the stream; the first reason stands."""
        if self.closing is None:
            self.closing = Closing(code, reason)
            self._wake()

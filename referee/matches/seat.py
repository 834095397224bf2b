"""What a table keeps of a seat, what it needs from outside, and the bots that forfeited."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from referee.deals.action import Forfeit
from referee.deals.deal import Deal
from referee.deals.session import Substitutes
from referee.matches.clock import Clock, TimeControl
from referee.matches.events import Event, Sight, Turn
from referee.matches.journal import SEVERAL_OWED
from referee.matches.kinds import FaultKind, NoticeCode
from referee.matches.match import Limits, Signed
from referee.matches.outbox import Outbox
from referee.native import native
from referee.records.record import played_for

if TYPE_CHECKING:
    from referee.matches.table import Table

LATE_KEPT = 64
"""For how many turns that ran out each seat remembers when, to say how late an answer came."""

HELD = -1
"""The sequence of a turn that is held: no answer has it."""

STUCK = ("takes no messages", "answers no ping")
"""What a stalled bot fails to do, before and after the turn was handed to its stream."""


class Seat:
    """A seat at a table: what its bot has been told and owes, its clock, and where its turns go."""

    __slots__ = ("_late", "clock", "faults", "index", "log_sent", "outbox", "sequence", "table", "turn")
    __deletable__ = ("table",)  # a compiled class must say so

    def __init__(self, table: "Table", index: int, control: TimeControl) -> None:
        self.table = table
        self.index = index
        self.clock = Clock(control)
        self.outbox: Outbox | None = None
        """The outbox of the bot's stream; None while it is not connected."""
        self.turn: Turn | None = None
        """The decision that the bot owes."""
        self.sequence = 0
        """The sequence of the last turn."""
        self.log_sent = 0
        """How much of the deal's log the bot has been told; see ``log_length``."""
        self.faults = 0
        self._late: dict[int, float] = {}
        """When turns ran out, by sequence."""

    def leave(self) -> None:
        """Let go of the table, which holds its seats: a cycle would wait for the garbage collector."""
        del self.table

    def hold(self, turn: Turn) -> None:
        """Take no answer to a turn that ran out, until it is known who is to blame.

        One that waits for its stream is left alone: it cannot be answered yet.
        """
        if self.clock.handed_at is not None and turn.sequence != HELD:
            self.note_late(turn.sequence, self.clock.deadline)
            turn.sequence = HELD

    def release(self) -> bool:
        """Take an answer to a turn that was held; return whether it was."""
        turn = self.turn
        if turn is None or turn.sequence != HELD:
            return False
        turn.sequence = self.sequence
        return True

    def thought(self, now: float) -> float:
        """Return the seconds that its decisions have taken, including an open one.

        That takes no longer than it may: a turn that ran out is held while it is in doubt who is to blame.
        """
        clock = self.clock
        return clock.used + (0.0 if self.turn is None else clock.elapsed(min(now, clock.deadline)))

    def note_late(self, sequence: int, deadline: float) -> None:
        """Remember when a turn ran out."""
        late = self._late
        late[sequence] = deadline
        if len(late) > LATE_KEPT:
            del late[next(iter(late))]

    def why(self, kind: FaultKind) -> str:
        """Return why a turn that was not answered in time is a fault of this kind, in words."""
        clock = self.clock
        within = f"no answer within {clock.time * 1000:.0f} ms"
        if clock.credit >= 0.001:
            within += f" and {clock.credit * 1000:.0f} ms for the network"
        if clock.time < clock.control.limit:
            within += " (all that was left in the bank)"
        if kind is FaultKind.DISCONNECT:
            return f"{within}: the bot was not connected"
        if kind is FaultKind.STALL:
            return f"{within}: the bot is connected, but {STUCK[clock.handed_at is not None]}"
        owed = 0 if self.outbox is None else len(self.outbox.owed)
        return f"{within}: the bot owed {owed} answers at once; {SEVERAL_OWED}" if owed > 1 else within

    def ignored(self, sequence: int, now: float) -> tuple[NoticeCode, str]:
        """Return why an answer to this turn, which is not open, has no effect."""
        ran_out = self._late.get(sequence)
        if ran_out is not None:
            late = (now - ran_out) * 1000
            text = f"turn {sequence} is over: the answer came {late:.0f} ms after its time"
            return NoticeCode.STALE_MOVE, text
        if 0 < sequence <= self.sequence:
            return NoticeCode.REPEATED_MOVE, f"turn {sequence} was answered already"
        return NoticeCode.UNKNOWN_TURN, f"turn {sequence} was not asked; the last one was {self.sequence}"


class TableEvents(Protocol):
    """Where a table's messages, questions and deadlines go.

    None of the methods may change the table, except ``finished``.
    """

    def send(self, seat: int, event: Event) -> None:
        """Send an event to the bot in ``seat``; turns go to its outbox instead."""

    def probe(self, seat: int) -> None:
        """Ask the bot in ``seat`` for a sign of life."""

    def in_doubt(self, seat: int, ran_out_at: float, now: float) -> bool:
        """Return whether the bot in ``seat``, whose time was up then, may be silent without being to blame.

        The turn is held until that is known.
        """

    def blame(self, seat: int, handed_at: float | None, now: float) -> FaultKind | None:
        """Return why the bot in ``seat`` did not answer a turn: time-out, stall or disconnect.

        ``handed_at`` is when it got the turn, None if its stream has not taken it. Return None if it was the
        referee that did not hand it out.
        """

    def expect(self, when: float) -> None:
        """Have the table look at its clocks at that time; forget a later time given before."""

    def show(self, sight: Sight) -> None:
        """Show something to spectators."""

    def sign(self, digest: str) -> Signed:
        """Return the digest of the session's result with the referee's signature."""

    def finished(self) -> None:
        """Note that the session is over; the table has its result."""


@native(allow_interpreted_subclasses=True)
class NoAlarms:
    """What the table of a session without clocks and spectators needs from outside, except ``send``."""

    def probe(self, seat: int) -> None:
        """Ask for no sign of life: bots answer in their turn."""

    def in_doubt(self, seat: int, ran_out_at: float, now: float) -> bool:
        """Doubt nothing: no alarm runs."""
        return False

    def blame(self, seat: int, handed_at: float | None, now: float) -> FaultKind | None:
        """Blame nobody: no alarm runs."""
        return None

    def expect(self, when: float) -> None:
        """Expect nothing: no alarm runs."""

    def show(self, sight: Sight) -> None:
        """Show nothing: nobody watches."""

    def sign(self, digest: str) -> Signed:
        """Sign nothing."""
        return Signed("", "", "")

    def finished(self) -> None:
        """Do nothing: whoever plays the session sees it."""


class Forfeits:
    """Which seats are played for, since when, and what acts for the seats that are not asked."""

    __slots__ = ("_limits", "_seats", "act", "all")

    def __init__(self, limits: Limits, seats: int) -> None:
        self._limits = limits
        self._seats = seats
        self.all: list[Forfeit] = []
        """In the order in which they came."""
        self.act: Callable[[Deal], None] | None = None if limits.ask_forced else Deal.act_for_forced
        """Acts for seats that are not asked: those that are forced, and those that are played for."""

    def add(self, *forfeits: Forfeit) -> None:
        """Play for the seats of more bots from now on."""
        if forfeits:
            self.all += forfeits
            limits = self._limits
            self.act = Substitutes(self.seats, limits.on_forfeit, forced=not limits.ask_forced)

    @property
    def seats(self) -> set[int]:
        """The seats that are played for."""
        return {forfeit.seat for forfeit in self.all}

    def goes_on_without(self, seats: Sequence[int]) -> bool:
        """Return whether the session goes on if the bots in these seats, too, forfeit it."""
        return self._limits.on_forfeit != "end_session" and len(self.seats | {*seats}) < self._seats

    def recorded(self) -> list[dict[str, object]]:
        """Return the forfeits in the form of a deal's record."""
        return played_for(self.all, self._limits.on_forfeit)

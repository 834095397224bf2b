"""What a table needs from outside."""

from typing import Protocol

from referee.matches.events import Event, Sight
from referee.matches.kinds import FaultKind
from referee.matches.match import Signed


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

"""What a table asks of its surroundings."""

from typing import Protocol

from referee.matches.events import Event, Sight
from referee.matches.kinds import FaultKind
from referee.matches.match import Signed


class TableEvents(Protocol):
    """Where a table's messages, questions and deadlines go. None of the methods may change the table, but
    for ``finished``."""

    def send(self, seat: int, event: Event) -> None:
        """Take an event for the bot in ``seat``; its turns go to its outbox instead."""

    def probe(self, seat: int) -> None:
        """Ask the bot in ``seat`` for a sign of life."""

    def blame(self, seat: int, handed_at: float | None, now: float) -> FaultKind | None:
        """Return why the bot in ``seat`` did not answer a turn that it got at that time (None: its stream has
        not taken it): time-out, stall or disconnect; None when it is the referee that did not hand it out."""

    def expect(self, when: float) -> None:
        """Call ``expire`` at that time; a time given before, which is later, is forgotten."""

    def show(self, sight: Sight) -> None:
        """Take what spectators are to see."""

    def sign(self, digest: str) -> Signed:
        """Return the digest of the session's result with the referee's signature."""

    def finished(self) -> None:
        """Learn that the session is over; its result stands in the table."""

"""What a referee reports about itself while it serves, for something that counts."""

from collections.abc import Callable
from typing import Any

from referee.matches.journal import Journal
from referee.matches.lobby import TAKEN_OVER, Lobby
from referee.matches.running import Match


class Meter:
    """Counts nothing; ``referee.service.metrics`` has one that does."""

    def attach(self, lobby: Lobby) -> None:
        """Observe this lobby from now on; this is called in its event loop."""

    def opened(self, match: Match) -> None:
        """Note that a match begins."""

    def finished(self, deals: int) -> None:
        """Count a session that was played to its end."""

    def closed(self, match: Match, decisions: int) -> str:
        """Count an ending call for a match, before what is still open becomes void; return its outcome."""
        if match.ended:
            return "taken_over" if match.ended == TAKEN_OVER else "given_up"
        return "done" if match.done else "stopped"

    def refused(self, reason: str) -> None:
        """Count a bot's stream that was not let in; ``reason`` is the protocol's."""

    def sized(
        self, call: str, direction: str, convert: Callable[[Any], Any] | None
    ) -> Callable[[Any], Any] | None:
        """Return ``convert``, which reads ("in") or writes ("out") a call's messages, with these counted.

        None stands for messages that stay bytes.
        """
        return convert

    def timed(self, context: Any, owed: set[int]) -> Any:
        """Return the context of a bot's call, with a sample of its turns timed; ``owed`` is the outbox's."""
        return context

    def over(self, journal: Journal) -> Journal:
        """Return ``journal``, with its new entries counted."""
        return journal

"""Answers that are read as they come: exports line by line, and the event streams of tournaments."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, Union

import httpx2

from arena.client.call import Call
from arena.client.decode import NotDecoded, decode
from arena.errors import Unreachable

if TYPE_CHECKING:
    from arena.tournaments.overview import TournamentStatus

TRIES = 5
"""Connections in a row that tell nothing, after which nobody goes on."""

SILENCE_SECONDS = 60.0
"""After so long without a sign of life, a connection is taken for lost."""

AGAIN_SECONDS = 1.0
"""How long to wait before coming back."""

Told: TypeAlias = Union["TournamentStatus", Mapping[str, Any]]
"""How a tournament stands, or an event of its chain."""


def export_of(tournament: str, deals: bool) -> Call[Any]:
    """Return the call for a tournament's export, or for its deal records only."""
    named = {"tournament": tournament}
    return Call("GET", "/tournaments/{tournament}/export", str, named, {"deals": deals})


class Lines:
    """Lines of a text that comes in chunks; each ends with a line feed."""

    def __init__(self) -> None:
        self._rest = b""

    def take(self, chunk: bytes) -> list[str]:
        """Return the lines that end with this chunk."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        return [line.decode() for line in lines]

    def end(self) -> None:
        """Raise Unreachable if the text ended within a line."""
        if self._rest:
            raise Unreachable("the export ends in the middle of a line")


class Following:
    """What is known of a tournament that is followed."""

    def __init__(self, tournament: str, last: int = 0) -> None:
        self.tournament = tournament
        self.last = last
        """Number of the latest event."""
        self.ended = False
        self._in_vain = 0

    @property
    def call(self) -> Call[Any]:
        """Return the call for the stream."""
        named = {"tournament": self.tournament}
        return Call("GET", "/tournaments/{tournament}/events", str, named)

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers with which the stream begins where the last one ended."""
        return {"Accept": "text/event-stream", "Last-Event-ID": str(self.last)}

    def take(self, sent: httpx2.ServerSentEvent) -> Told | None:
        """Return what an event of the stream tells; None: nothing. Raise Unreachable."""
        from arena.tournaments.overview import TournamentStatus  # which brings the database's models

        try:
            found: Any = json.loads(sent.data)
            if sent.event == "status":
                self._in_vain = 0
                return decode(TournamentStatus, found)
            if sent.event == "event":
                self._in_vain, self.last = 0, int(found["number"])
                return dict(found)
        except (NotDecoded, ValueError, KeyError, TypeError) as error:
            raise Unreachable(f"the event stream is not as this version expects: {error}") from None
        self.ended = self.ended or sent.event == "end"
        return None

    def lost(self, error: Unreachable | None) -> None:
        """Note that a stream ended, and why; None: as it should. Raise Unreachable if that goes on."""
        self._in_vain += 1
        if not self.ended and self._in_vain >= TRIES:
            raise error or Unreachable(f"the event stream of {self.tournament} ends again and again")

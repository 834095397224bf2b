"""Answers that are read as they come: exports line by line, and event streams."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar, Union

import httpx2

from arena.client.call import Call
from arena.errors import Unreachable
from arena.jsonvalues import NotDecoded, from_text

if TYPE_CHECKING:
    from arena.tournaments.overview import TournamentStatus

TRIES = 5
"""After this many connections in a row without an event, the client gives up."""

SILENCE_SECONDS = 60.0
"""Silence after which a connection is considered lost."""

AGAIN_SECONDS = 1.0
"""Wait before reconnecting."""

Told: TypeAlias = Union["TournamentStatus", Mapping[str, Any]]
"""A tournament's status, or an event of its chain."""


def export_of(tournament: str, deals: bool) -> Call[Any]:
    """Return the call for a tournament's export, or for its deal records only."""
    named = {"tournament": tournament}
    return Call("GET", "/tournaments/{tournament}/export", str, named, {"deals": deals})


class LineSplitter:
    """LineSplitter of a text that comes in chunks; each ends with a line feed."""

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


class Happened(NamedTuple):
    """An event in a match that is being played, as a stream reports it."""

    kind: str
    """``deal``, ``step``, ``over`` or ``idle`` (docs/api.md)."""
    data: Mapping[str, Any]


T = TypeVar("T")


class Stream(Generic[T]):
    """An event stream that is followed to its end, over as many connections as necessary."""

    def __init__(self, call: Call[Any], name: str) -> None:
        self.call = call
        self.ended = False
        self._name = name
        self._in_vain = 0

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers of the next connection."""
        return {"Accept": "text/event-stream"}

    def take(self, event: httpx2.ServerSentEvent) -> T | None:
        """Decode an event of the stream; return None if it carries nothing. Raise Unreachable."""
        try:
            value = self._decode(event.event, event.data)
        except (NotDecoded, ValueError, KeyError, TypeError) as error:
            raise Unreachable(f"the event stream is not as this version expects: {error}") from None
        if value is not None:
            self._in_vain = 0
        self.ended = self.ended or event.event == "end"
        return value

    def _decode(self, kind: str, data: str) -> T | None:
        """Decode an event. Raise whatever shows that it is not one."""
        raise NotImplementedError

    def lost(self, error: Unreachable | None) -> None:
        """Record that a connection ended, closed or with an error. Raise Unreachable if it recurs."""
        self._in_vain += 1
        if not self.ended and self._in_vain >= TRIES:
            raise error or Unreachable(f"the event stream of {self._name} ends again and again")


class Following(Stream[Told]):
    """A tournament that is followed; each connection continues where the last one was lost."""

    def __init__(self, tournament: str, last: int = 0) -> None:
        call: Call[Any] = Call("GET", "/tournaments/{tournament}/events", str, {"tournament": tournament})
        super().__init__(call, tournament)
        self.last = last
        """Number of the latest event."""

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers that make the stream begin where the last one ended."""
        return {**super().headers, "Last-Event-ID": str(self.last)}

    def _decode(self, kind: str, data: str) -> Told | None:
        from arena.tournaments.overview import TournamentStatus  # which brings the database's models

        if kind == "status":
            return from_text(TournamentStatus, data)
        if kind == "event":
            fields = dict(json.loads(data))
            self.last = int(fields["number"])
            return fields
        return None


class Looking(Stream[Happened]):
    """A match that is watched; each connection begins with the present state of its sessions."""

    def __init__(self, tournament: str, round: int, table: int) -> None:
        named = {"tournament": tournament, "round": round, "table": table}
        call: Call[Any] = Call("GET", "/matches/{tournament}/{round}/{table}/events", str, named)
        super().__init__(call, f"{tournament}/{round}/{table}")

    def _decode(self, kind: str, data: str) -> Happened | None:
        return Happened(kind, dict(json.loads(data))) if kind != "end" else None

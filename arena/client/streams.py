"""Answers that are read as they come: exports line by line, and event streams."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar, Union

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


class Happened(NamedTuple):
    """What a stream tells of a match that is being played."""

    kind: str
    """``deal``, ``step``, ``over`` or ``idle`` (docs/api.md)."""
    data: Mapping[str, Any]


T = TypeVar("T")


class Stream(Generic[T]):
    """An event stream that is followed to its end, over as many connections as that takes."""

    def __init__(self, call: Call[Any], name: str) -> None:
        self.call = call
        self.ended = False
        self._name = name
        self._in_vain = 0

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers of the next connection."""
        return {"Accept": "text/event-stream"}

    def take(self, sent: httpx2.ServerSentEvent) -> T | None:
        """Return what an event of the stream tells; None: nothing. Raise Unreachable."""
        try:
            found: Any = json.loads(sent.data)
            told = self._read(sent.event, found)
        except (NotDecoded, ValueError, KeyError, TypeError) as error:
            raise Unreachable(f"the event stream is not as this version expects: {error}") from None
        if told is not None:
            self._in_vain = 0
        self.ended = self.ended or sent.event == "end"
        return told

    def _read(self, kind: str, found: Any) -> T | None:
        """Return what an event tells. Raise what says that it is none."""
        raise NotImplementedError

    def lost(self, error: Unreachable | None) -> None:
        """Note that a connection ended, and why; None: as it should. Raise Unreachable if that goes on."""
        self._in_vain += 1
        if not self.ended and self._in_vain >= TRIES:
            raise error or Unreachable(f"the event stream of {self._name} ends again and again")


class Following(Stream[Told]):
    """A tournament that is followed; where the connection was lost, the next one goes on."""

    def __init__(self, tournament: str, last: int = 0) -> None:
        call: Call[Any] = Call("GET", "/tournaments/{tournament}/events", str, {"tournament": tournament})
        super().__init__(call, tournament)
        self.last = last
        """Number of the latest event."""

    @property
    def headers(self) -> dict[str, str]:
        """Return the headers with which the stream begins where the last one ended."""
        return {**super().headers, "Last-Event-ID": str(self.last)}

    def _read(self, kind: str, found: Any) -> Told | None:
        from arena.tournaments.overview import TournamentStatus  # which brings the database's models

        if kind == "status":
            return decode(TournamentStatus, found)
        if kind == "event":
            self.last = int(found["number"])
            return dict(found)
        return None


class Looking(Stream[Happened]):
    """A match that is looked at; each connection begins with how its sessions stand."""

    def __init__(self, tournament: str, round: int, table: int) -> None:
        named = {"tournament": tournament, "round": round, "table": table}
        call: Call[Any] = Call("GET", "/matches/{tournament}/{round}/{table}/events", str, named)
        super().__init__(call, f"{tournament}/{round}/{table}")

    def _read(self, kind: str, found: Any) -> Happened | None:
        return Happened(kind, dict(found)) if kind != "end" else None

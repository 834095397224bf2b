"""What a bot's author may read later: connections, faults and notices. The referee's host keeps it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple, Protocol, TypeAlias

from referee.native import native


class EntryKind(StrEnum):
    """What an entry is about."""

    CONNECTED = "connected"
    LEFT = "left"
    """The bot said goodbye."""
    LOST = "lost"
    """The connection broke, or the referee closed it; ``code`` says why."""
    REFUSED = "refused"
    """A connection with the bot's token was refused."""
    FAULT = "fault"
    NOTICE = "notice"


CONNECTION = (EntryKind.CONNECTED, EntryKind.LEFT, EntryKind.LOST, EntryKind.REFUSED)

KINDS = {"fault": (EntryKind.FAULT,), "notice": (EntryKind.NOTICE,), "connection": CONNECTION}
"""What a reader can ask for, and the kinds of entries that this means."""

ASKED = (
    KINDS | {kind.value: (kind,) for kind in EntryKind} | {"disconnected": (EntryKind.LEFT, EntryKind.LOST)}
)
"""All words by which a reader can ask."""


def kinds_asked(word: str) -> tuple[EntryKind, ...] | None:
    """Return the kinds of entries that a word, a prefix of one or a plural means; None if that is unclear."""
    said = word.lower()
    exact = ASKED.get(said) or ASKED.get(said.removesuffix("s"))
    meant = {exact} if exact else {kinds for name, kinds in ASKED.items() if said and name.startswith(said)}
    return meant.pop() if len(meant) == 1 else None


KEPT = 5_000
"""How many entries are kept for a bot version, the newest."""

SEVERAL_OWED = "see max_sessions"
"""The end of a time-out's text if the bot owed several answers at the time."""


class Entry(NamedTuple):
    """One line of a bot version's log."""

    version_id: int
    kind: EntryKind
    code: str
    """Kind of the fault, code of the notice, or why a connection ended; may be empty."""
    text: str
    """The reason in words."""
    session_id: str = ""
    """``match/number`` if it is about a session; else empty."""
    details: Mapping[str, object] = {}
    """JSON values. For a fault: its position (``deal``, ``action``, ``turn``, ``seat``, ``hand``, ``to_beat``
    and, from the second one on, the ``attempt``), what the bot ``answered``, the ``default`` action,
    ``faults`` of ``fault_limit``, ``elapsed_ms`` and ``credit_ms``. For the end of a connection: the
    ``round_trip_ms`` measured."""


@dataclass(frozen=True, slots=True)
class LogEntry:
    """An entry as it is read."""

    id: int
    """Grows with time."""
    at: datetime
    bot: str
    """``owner/bot@number``."""
    referee: str
    """The referee that saw it, by its id."""
    kind: str
    """An EntryKind, or one that only a newer referee knows."""
    code: str
    """Kind of the fault, code of the notice, or why a connection ended; may be empty."""
    text: str
    """The reason in words."""
    session_id: str
    """``match/number``; empty if it is not about a session."""
    details: Mapping[str, object]
    """For a fault, the position, and what was answered and played."""


@dataclass(frozen=True, slots=True)
class LogQuery:
    """Which entries are asked for."""

    bot: str
    """``owner/bot`` for all its versions, or ``owner/bot@number``."""
    kinds: tuple[EntryKind, ...] = ()
    """Empty for all kinds."""
    session: str | None = None
    """A session's name or the beginning of one, up to a ``/``; None: all."""
    limit: int = 50
    """The most entries, of which the newest are returned."""
    after: int = 0
    """Only entries with a larger id."""
    before: int | None = None
    """Only entries with a smaller id; None for up to the newest."""


@dataclass(frozen=True, slots=True)
class BotDeal:
    """A finished deal, as the author of a bot at its table reads it."""

    bot: str
    """``owner/bot@number``."""
    session_id: str
    """``match/number``."""
    seat: int
    """The bot's seat."""
    at: datetime
    """When the session was stored."""
    record: Mapping[str, Any]
    """The full deal record (docs/formats.md)."""

    @property
    def points(self) -> int:
        """The bot's points."""
        points: int = self.record["points"][self.seat]
        return points

    @property
    def lost(self) -> bool:
        """Whether another seat got more points than the bot."""
        return is_lost(self.record["points"], self.seat)


def is_lost(points: Sequence[int], seat: int) -> bool:
    """Return whether another seat got more points in a deal than ``seat``; ``points`` are by seat."""
    return max(points) > points[seat]


Place: TypeAlias = tuple[int, int, int]
"""Where a page of deals ends: the session and the place at its table, as the referee's host counts them, and
the deal."""


@dataclass(frozen=True, slots=True)
class DealQuery:
    """Which deals are asked for."""

    bot: str
    """``owner/bot`` for all its versions, or ``owner/bot@number``."""
    session: str | None = None
    """A session's name or the beginning of one, up to a ``/``; None: all."""
    lost: bool = False
    """Only deals in which another seat got more points."""
    limit: int = 50
    """The most deals, of which the newest are returned."""
    before: Place | None = None
    """Only deals before this one; None for up to the newest."""


class DealPage(NamedTuple):
    """Deals that were found, the newest first."""

    deals: Sequence[BotDeal]
    before: Place | None
    """Where to continue for more; None if there are none."""


class Journal(Protocol):
    """Keeps entries, and knows what was played."""

    def add(self, entry: Entry) -> None:
        """Add an entry; this is called in the referee's event loop, so it must not block or raise."""

    def read(self, token: str, query: LogQuery) -> list[LogEntry]:
        """Return entries of a bot that ``token`` opens, the newest first; may block.

        Raise LogClosed where the token does not open them, LogQueryError where the query is wrong.
        """

    def deals(self, token: str, query: DealQuery) -> DealPage:
        """Return deals of a bot that ``token`` opens, the newest first; may block.

        Raise LogClosed where the token does not open them, LogQueryError where the query is wrong.
        """


@native(allow_interpreted_subclasses=True)
class NoJournal:
    """Keeps nothing."""

    def add(self, entry: Entry) -> None:
        """Discard the entry."""

    def read(self, token: str, query: LogQuery) -> list[LogEntry]:
        """Return none."""
        return []

    def deals(self, token: str, query: DealQuery) -> DealPage:
        """Return none."""
        return DealPage((), None)

"""What a bot's author may read later: connections, faults and notices. The surroundings keep it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, NamedTuple, Protocol, TypeAlias


class EntryKind(StrEnum):
    """What an entry is about."""

    CONNECTED = "connected"
    LEFT = "left"
    """The bot said goodbye."""
    LOST = "lost"
    """The connection broke, or the referee closed it; ``code`` says why."""
    REFUSED = "refused"
    """A connection with the bot's token was not taken."""
    FAULT = "fault"
    NOTICE = "notice"


CONNECTION = (EntryKind.CONNECTED, EntryKind.LEFT, EntryKind.LOST, EntryKind.REFUSED)

KINDS = {"fault": (EntryKind.FAULT,), "notice": (EntryKind.NOTICE,), "connection": CONNECTION}
"""What a reader can ask for, and the kinds of entries that it means."""

ASKED = (
    KINDS | {kind.value: (kind,) for kind in EntryKind} | {"disconnected": (EntryKind.LEFT, EntryKind.LOST)}
)
"""All words that a reader can ask by."""


def kinds_asked(word: str) -> tuple[EntryKind, ...] | None:
    """Return the kinds of entries that a word means, perhaps cut short or in the plural; None: unclear."""
    said = word.lower()
    exact = ASKED.get(said) or ASKED.get(said.removesuffix("s"))
    meant = {exact} if exact else {kinds for one, kinds in ASKED.items() if said and one.startswith(said)}
    return meant.pop() if len(meant) == 1 else None


KEPT = 5_000
"""Entries that are kept of a bot version, the newest."""

SEVERAL_OWED = "see max_sessions"
"""What the text of a time-out ends with if the bot owed several answers then."""


class Entry(NamedTuple):
    """One line of a bot version's log."""

    version_id: int
    kind: EntryKind
    code: str
    """Kind of the fault, code of the notice, or why a connection ended; may be empty."""
    text: str
    """The reason in words."""
    session_id: str = ""
    """``match/number``, where it is about a session."""
    details: Mapping[str, object] = {}
    """JSON values. For a fault its position: ``deal``, ``action``, ``turn``, ``seat``, ``hand``, ``to_beat``,
    and from the second one on the ``attempt``; what the bot ``answered``, the ``default`` action, ``faults``
    of ``fault_limit``, ``elapsed_ms`` and ``credit_ms``. For the end of a connection the ``round_trip_ms``
    that was measured."""


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
    """An EntryKind, or what a newer referee has more."""
    code: str
    """Kind of the fault, code of the notice, or why a connection ended; may be empty."""
    text: str
    """The reason in words."""
    session_id: str
    """``match/number``; empty where it is not about a session."""
    details: Mapping[str, object]
    """For a fault the position, and what was answered and played."""


@dataclass(frozen=True, slots=True)
class LogQuery:
    """Which entries are asked for."""

    bot: str
    """``owner/bot`` for all its versions, or ``owner/bot@number``."""
    kinds: tuple[EntryKind, ...] = ()
    """Empty: all."""
    session: str | None = None
    """A session's name or the beginning of one, up to a ``/``; None: all."""
    limit: int = 50
    """Entries at most, the newest."""
    after: int = 0
    """Only entries with a larger id."""
    before: int | None = None
    """Only entries with a smaller id; None: up to the newest."""


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
    """Return whether somebody got more points in a deal than a seat; ``points`` are by seat."""
    return max(points) > points[seat]


Place: TypeAlias = tuple[int, int, int]
"""Where a page of deals ends: the session and the place at its table, as the surroundings count them, and
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
    """Deals at most, the newest."""
    before: Place | None = None
    """Only deals before this one; None: up to the newest."""


class DealPage(NamedTuple):
    """Deals that were found, the newest first."""

    deals: Sequence[BotDeal]
    before: Place | None
    """Where to go on for more; None: there are none."""


class Journal(Protocol):
    """Keeps entries, and knows what was played."""

    def add(self, entry: Entry) -> None:
        """Take an entry; called in the referee's event loop, so it must not block or raise."""

    def read(self, token: str, query: LogQuery) -> list[LogEntry]:
        """Return entries of a bot that ``token`` opens, the newest first; may block.

        Raise LogClosed where the token does not open them, LogQueryError where the query is wrong.
        """

    def deals(self, token: str, query: DealQuery) -> DealPage:
        """Return deals of a bot that ``token`` opens, the newest first; may block.

        Raise LogClosed where the token does not open them, LogQueryError where the query is wrong.
        """


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

"""What a bot's author may read later: connections, faults and notices. The surroundings keep it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, Protocol

from referee.matches.events import Fault, Notice, SessionInfo


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
    """JSON values. For a fault its position: ``deal``, ``action``, ``turn``, ``seat``, ``hand``, ``to_beat``;
    and what the bot ``answered``, the ``default`` action, ``faults`` of ``fault_limit``, ``elapsed_ms`` and
    ``credit_ms``. For the end of a connection the ``round_trip_ms`` that was measured."""


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


class Journal(Protocol):
    """Keeps entries."""

    def add(self, entry: Entry) -> None:
        """Take an entry; called in the referee's event loop, so it must not block or raise."""

    def read(self, token: str, query: LogQuery) -> list[LogEntry]:
        """Return entries of a bot that ``token`` opens, the newest first; may block.

        Raise LogClosed where the token does not open them, LogQueryError where the query is wrong.
        """


class NoJournal:
    """Keeps nothing."""

    def add(self, entry: Entry) -> None:
        """Discard the entry."""

    def read(self, token: str, query: LogQuery) -> list[LogEntry]:
        """Return none."""
        return []


def notice_entry(version: int, notice: Notice) -> Entry:
    """Return the log entry that tells an author of a notice that is about no session."""
    return Entry(version, EntryKind.NOTICE, notice.code.value, notice.text)


def event_entry(version: int, info: SessionInfo, event: Fault | Notice) -> Entry:
    """Return the log entry that tells an author of a fault or a notice in a session."""
    if isinstance(event, Notice):
        details: dict[str, object] = {"sequence": event.sequence}
        return Entry(version, EntryKind.NOTICE, event.code.value, event.text, info.session_id, details)
    cards = info.rules.text
    details = {
        "deal": event.deal,
        "action": event.action,
        "sequence": event.sequence,
        "turn": event.stage.value,
        "seat": event.seat,
        "hand": cards(event.hand),
        "to_beat": cards(event.to_beat),
        "answered": cards(event.answered),
        "default": cards(event.default) or "-",
        "faults": event.faults,
        "fault_limit": info.limits.faults,
        "elapsed_ms": event.elapsed_ms,
        "credit_ms": event.credit_ms,
    }
    reason = event.reason
    if event.faults >= info.limits.faults:
        reason += "; with this fault the session is forfeit"
    return Entry(version, EntryKind.FAULT, event.kind.value, reason, info.session_id, details)

"""What only a bot's owners may see: its log, its deals, the results of its checks."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from arena.actors import Actor
from arena.bots.deals import read_deals
from arena.bots.journal import read_log
from arena.bots.versions import versions_for
from arena.core.cursors import make_cursor, read_cursor
from arena.store.storage import Storage
from referee.matches.journal import DealQuery, LogEntry, LogQuery


@dataclass(frozen=True, slots=True)
class LogLine:
    """An entry of a bot's log."""

    at: datetime
    bot: str
    """``owner/bot@number``."""
    referee: str
    """The referee that wrote it."""
    kind: str
    """``connected``, ``left``, ``lost``, ``refused``, ``fault`` or ``notice``."""
    code: str
    """Kind of the fault, code of the notice, or why a connection ended; may be empty."""
    text: str
    """The reason in words."""
    session_id: str
    """``tournament/round/table/session``; empty if it is not about a session."""
    details: Mapping[str, Any]
    """For a fault the position, and what was answered and played."""


@dataclass(frozen=True, slots=True)
class LogPage:
    """A page of a bot's log, newest first."""

    log: tuple[LogLine, ...]
    next: str | None
    """Cursor of the next page; None if there is none."""


def log_for(storage: Storage, actor: Actor, query: LogQuery, cursor: str | None = None) -> LogPage:
    """Return entries of a bot for its owner, or an operator, newest first.

    Raise SpecError, UnknownError, NotAllowed.
    """
    versions = versions_for(storage, actor, query.bot)
    question = replace(query, limit=0)
    if cursor is not None:
        [before] = read_cursor(question, cursor, int)
        query = replace(query, before=before)
    lines = read_log(storage, versions, replace(query, limit=query.limit + 1))[::-1]
    last, more = query.limit - 1, len(lines) > query.limit
    return LogPage(
        tuple(map(_line, lines[: query.limit])), make_cursor(question, (lines[last].id,)) if more else None
    )


def _line(entry: LogEntry) -> LogLine:
    return LogLine(
        at=entry.at,
        bot=entry.bot,
        referee=entry.referee,
        kind=entry.kind,
        code=entry.code,
        text=entry.text,
        session_id=entry.session_id,
        details=entry.details,
    )


@dataclass(frozen=True, slots=True)
class OwnDeal:
    """A finished deal, for the author of a bot at its table."""

    bot: str
    """``owner/bot@number``."""
    session_id: str
    """``tournament/round/table/session``."""
    seat: int
    """The bot's seat."""
    at: datetime
    """When the session was stored."""
    points: int
    """The bot's points."""
    lost: bool
    """Whether another seat got more points than the bot."""
    record: Mapping[str, Any]
    """The full deal record (docs/formats.md)."""


@dataclass(frozen=True, slots=True)
class OwnDeals:
    """A page of deals, newest first; it may have fewer than were asked for even if others follow."""

    deals: tuple[OwnDeal, ...]
    next: str | None
    """Cursor of the next page; None if there is none."""


def deals_for(storage: Storage, actor: Actor, query: DealQuery, cursor: str | None = None) -> OwnDeals:
    """Return deals of a bot for its owner, or an operator, newest first.

    Raise SpecError, UnknownError, NotAllowed.
    """
    versions = versions_for(storage, actor, query.bot)
    question = replace(query, limit=0)
    if cursor is not None:
        session, position, deal = read_cursor(question, cursor, int, int, int)
        query = replace(query, before=(session, position, deal))
    page = read_deals(storage, versions, query)
    deals = tuple(
        OwnDeal(line.bot, line.session_id, line.seat, line.at, line.points, line.lost, line.record)
        for line in page.deals
    )
    return OwnDeals(deals, None if page.before is None else make_cursor(question, page.before))

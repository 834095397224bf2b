"""The deals of a session, for anybody."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from arena.core.cursors import make_cursor, read_cursor
from arena.errors import UnknownError
from arena.play.matches.overview import shown_deals
from arena.store.storage import Storage
from arena.tournaments.overview import find_tournament


@dataclass(frozen=True, slots=True)
class SessionDeals:
    """Deals of a finished session."""

    deals: tuple[Mapping[str, Any], ...]
    """Full deal records, each of which can be replayed on its own."""
    next: str | None
    """Cursor of the next page; None if there is none."""


@dataclass(frozen=True, slots=True)
class DealInSession:
    """A deal of a finished session."""

    record: Mapping[str, Any]
    """The full deal record."""
    deals: int
    """How many deals its session has."""
    shared: bool
    """Whether other tables of the round play it too, in a duplicate tournament."""


def session_deals(
    storage: Storage,
    tournament: str,
    round: int,
    table: int,
    number: int,
    limit: int = 50,
    cursor: str | None = None,
) -> SessionDeals:
    """Return deals of a finished session for anybody, in order.

    Raise UnknownError; StateError while other tables still have to play these deals; SpecError for a cursor
    of another list.
    """
    question = (tournament, round, table, number)
    [after] = (0,) if cursor is None else read_cursor(question, cursor, int)
    records = shown_deals(storage, tournament, round, table, number)
    deals = tuple(records[max(after, 0) :][:limit])
    last = max(after, 0) + len(deals)
    return SessionDeals(deals, make_cursor(question, (last,)) if last < len(records) else None)


def one_deal(
    storage: Storage, tournament: str, round: int, table: int, number: int, deal: int
) -> Mapping[str, Any]:
    """Return a deal of a finished session for anybody. Raise the same errors as ``session_deals``."""
    return deal_in_session(storage, tournament, round, table, number, deal).record


def deal_in_session(
    storage: Storage, tournament: str, round: int, table: int, number: int, deal: int
) -> DealInSession:
    """Return a deal of a finished session for anybody, and how many there are. Raise the same errors."""
    records = shown_deals(storage, tournament, round, table, number)
    if not 1 <= deal <= len(records):
        raise UnknownError(f"no deal {deal} in session {number}: it has {len(records)}")
    with storage.read() as tx:
        shared = find_tournament(tx, tournament).duplicate
    return DealInSession(records[deal - 1], len(records), shared)

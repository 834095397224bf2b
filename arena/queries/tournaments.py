"""Tournaments, newest first."""

from dataclasses import dataclass

from sqlmodel import col, select

from arena.core.cursors import make_cursor, read_cursor
from arena.store.models import Tournament, TournamentState
from arena.store.storage import Storage
from arena.tournaments.overview import TournamentStatus, statuses_of


@dataclass(frozen=True, slots=True)
class TournamentPage:
    """Some tournaments."""

    tournaments: list[TournamentStatus]
    """The newest first."""
    next: str | None
    """Cursor of the next page; None if there is none."""


def list_tournaments(
    storage: Storage, state: TournamentState | None = None, limit: int = 100, cursor: str | None = None
) -> TournamentPage:
    """Return the status of tournaments, in one state or in all, without test matches.

    Raise SpecError for a cursor of another list.
    """
    question = ("tournaments", state)
    shown = select(Tournament).where(col(Tournament.test).is_(False))
    rows = shown.order_by(col(Tournament.id).desc())
    if state is not None:
        rows = rows.where(Tournament.state == state)
    if cursor is not None:
        [before] = read_cursor(question, cursor, int)
        rows = rows.where(col(Tournament.id) < before)
    with storage.read() as tx:
        found = tx.exec(rows.limit(limit + 1)).all()
        statuses = statuses_of(tx, found[:limit])
    more = make_cursor(question, (statuses[-1].id,)) if len(found) > limit else None
    return TournamentPage(statuses, more)

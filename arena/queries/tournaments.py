"""Tournaments, newest first."""

from dataclasses import dataclass

from sqlmodel import col, select

from arena.core.cursors import make_cursor, read_cursor
from arena.store.models import Tournament, TournamentState
from arena.store.storage import Storage
from arena.tournaments.overview import TournamentStatus, statuses_of


@dataclass(frozen=True, slots=True)
class Asked:
    """Which tournaments are wanted; None stands for all."""

    state: TournamentState | None = None


@dataclass(frozen=True, slots=True)
class TournamentPage:
    """Some tournaments."""

    tournaments: list[TournamentStatus]
    """The newest first."""
    next: str | None
    """Cursor of the next page; None if there is none."""


def list_tournaments(storage: Storage, asked: Asked, limit: int, cursor: str | None = None) -> TournamentPage:
    """Return the state of tournaments, without test matches. Raise SpecError for a cursor of another list."""
    shown = select(Tournament).where(col(Tournament.test).is_(False))
    rows = shown.order_by(col(Tournament.id).desc())
    if asked.state is not None:
        rows = rows.where(Tournament.state == asked.state)
    if cursor is not None:
        [before] = read_cursor(asked, cursor, int)
        rows = rows.where(col(Tournament.id) < before)
    with storage.read() as tx:
        found = tx.exec(rows.limit(limit + 1)).all()
        statuses = statuses_of(tx, found[:limit])
    more = make_cursor(asked, (statuses[-1].id,)) if len(found) > limit else None
    return TournamentPage(statuses, more)

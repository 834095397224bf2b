"""The tables of a round, read from the rows."""

from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any

from sqlalchemy import bindparam
from sqlmodel import col, select

from arena.store.models import Match, Round, Seat
from arena.store.storage import Transaction


@dataclass(frozen=True, slots=True)
class Table:
    """A match, and who sits there in the order of positions."""

    match: Match
    seats: tuple[Seat, ...]

    @property
    def version_ids(self) -> tuple[int, ...]:
        """Return the bot version in each of the seats."""
        return tuple(seat.version_id for seat in self.seats)


def tables_of(tx: Transaction, round: Round) -> list[Table]:
    """Return the tables of a round in the order of their numbers."""
    rows = tx.exec(_select_tables(), params={"round": round.id})
    tables = []
    for _, seated in groupby(rows, key=lambda row: row[0].id):
        matches, seats = zip(*seated, strict=True)
        tables.append(Table(matches[0], seats))
    return tables


@cache
def _select_tables() -> Any:
    return (
        select(Match, Seat)
        .join(Seat, col(Seat.match_id) == Match.id)
        .where(Match.round_id == bindparam("round"))
        .order_by(col(Match.table_number), col(Seat.position))
    )

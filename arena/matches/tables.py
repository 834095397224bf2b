"""The tables of a round, read from the rows."""

from dataclasses import dataclass
from itertools import groupby

from sqlmodel import col, select

from arena.models import Entrant, Match, Round, Seat
from arena.storage import Transaction


@dataclass(frozen=True, slots=True)
class Table:
    """A match, and who sits there in the order of positions."""

    match: Match
    seats: tuple[Seat, ...]
    version_ids: tuple[int, ...]
    """The bot version in each of the seats."""


def tables_of(tx: Transaction, round: Round) -> list[Table]:
    """Return the tables of a round in the order of their numbers."""
    rows = (
        select(Match, Seat, Entrant.version_id)
        .join(Seat, col(Seat.match_id) == Match.id)
        .join(Entrant, col(Entrant.id) == Seat.entrant_id)
        .where(Match.round_id == round.id)
        .order_by(col(Match.table_number), col(Seat.position))
    )
    tables = []
    for _, seated in groupby(tx.exec(rows), key=lambda row: row[0].id):
        matches, seats, version_ids = zip(*seated, strict=True)
        tables.append(Table(matches[0], seats, version_ids))
    return tables

"""The recent past that matters to a continuous tournament's next batch, read from the rows."""

from collections.abc import Mapping, Sequence
from itertools import groupby

from sqlalchemy.orm import aliased
from sqlmodel import col, func, select

from arena.core.pairing import RECENT, Recent
from arena.play.rounds.planning import tables_paired
from arena.store.models import Entrant, Match, Round, Seat, Tournament
from arena.store.storage import Transaction, among


def recent_tables(
    tx: Transaction, tournament: Tournament, entrants: int, present: Mapping[int, int]
) -> Recent:
    """Return the recent past of those present, given as numbers by entrants' ids.

    It is what ``arena.core.pairing.Batches`` returns from all tables; here those at which one of them
    are read. A tournament's matches have ascending ids in the order of rounds and tables.
    """
    first = _first_match(tx, tournament, tournament.paired - entrants + 1)
    latest = _match_at(tx, tournament, tables_paired(tx, tournament.id, tournament.paired) - entrants)
    return Recent(_seats_since(tx, present, latest), _tables_since(tx, present, first))


def _first_match(tx: Transaction, tournament: Tournament, number: int) -> int:
    """Return the id of the first match of a round; 0 for a round before the first."""
    of_it = (Round.tournament_id == tournament.id, Round.number == number)
    first = select(Match.id).join(Round, col(Round.id) == Match.round_id).where(*of_it)
    return tx.exec(first.where(Match.table_number == 1)).first() or 0


def _match_at(tx: Transaction, tournament: Tournament, tables: int) -> int:
    """Return the id of the match with ``tables`` tables before it; 0 if the number is not positive."""
    if tables <= 0:
        return 0
    rounds = (
        select(Round.id, Round.tables_before)
        .where(Round.tournament_id == tournament.id, col(Round.tables_before) <= tables)
        .order_by(col(Round.tables_before).desc())
    )
    round_id, before = tx.exec(rounds.limit(1)).one()
    place = (Match.round_id == round_id, Match.table_number == tables - before + 1)
    return tx.exec(select(Match.id).where(*place)).one()


def _seats_since(tx: Transaction, present: Mapping[int, int], first: int) -> dict[int, int]:
    """Return how often each of those present sat at a match with this or a higher id."""
    seats = select(Seat.entrant_id, func.count()).where(
        col(Seat.entrant_id).in_(present), col(Seat.match_id) >= first
    )
    return {present[id_]: count for id_, count in tx.exec(seats.group_by(col(Seat.entrant_id)))}


def _tables_since(tx: Transaction, present: Mapping[int, int], first: int) -> list[Sequence[int]]:
    """Return the tables of those present, from a match on, that are among the latest of somebody there."""
    mine, there, later = aliased(Seat), aliased(Seat), aliased(Seat)
    as_many_later = (
        select(later.id)
        .where(later.entrant_id == there.entrant_id, col(later.match_id) > mine.match_id)
        .order_by(col(later.match_id))
        .limit(1)
        .offset(RECENT - 1)
        .correlate(mine, there)
        .scalar_subquery()
    )
    somebodys = select(there.id).where(there.match_id == mine.match_id, as_many_later.is_(None))
    # Seen as a value, not as a join: for that PostgreSQL would read all seats there ever were.
    one_there = somebodys.correlate(mine).limit(1).scalar_subquery()
    recent = select(mine.match_id).where(
        col(mine.entrant_id).in_(present), col(mine.match_id) >= first, one_there.is_not(None)
    )
    seats = (
        select(Seat.match_id, Entrant.number)
        .join(Entrant, col(Entrant.id) == Seat.entrant_id)
        .where(among(Seat.match_id, {*tx.exec(recent)}))
        .order_by(col(Seat.match_id), col(Seat.position))
    )
    tables = groupby(tx.exec(seats), key=lambda row: row[0])
    return [tuple(number for _, number in rows) for _, rows in tables]

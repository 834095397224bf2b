"""Sessions that bots forfeited, by absence or by too many faults."""

from collections import Counter

from sqlalchemy import String, cast
from sqlalchemy import select as select_columns
from sqlmodel import col, select

from arena.models import BEGUN, Entrant, EntrantSum, Match, Round, Seat, Session, Tournament
from arena.storage import Transaction


def forfeited_sessions(tx: Transaction, tournament: Tournament) -> Counter[int]:
    """Return how many sessions each entrant forfeited so far, by its number.

    For summed rounds the number is stored; for others the sessions are read.
    """
    kept = (
        select(Entrant.number, EntrantSum.forfeits)
        .join(EntrantSum, col(EntrantSum.entrant_id) == Entrant.id)
        .where(Entrant.tournament_id == tournament.id, EntrantSum.forfeits > 0)
    )
    return Counter(dict(tx.exec(kept).all())) + _in_other_rounds(tx, tournament)


def _in_other_rounds(tx: Transaction, tournament: Tournament) -> Counter[int]:
    sat = (
        select_columns(col(Session.seating), col(Session.forfeits), col(Seat.position), col(Entrant.number))
        .join(Match, col(Match.id) == Session.match_id)
        .join(Round, col(Round.id) == Match.round_id)
        .join(Seat, col(Seat.match_id) == Match.id)
        .join(Entrant, col(Entrant.id) == Seat.entrant_id)
        .where(
            col(Round.tournament_id) == tournament.id,
            col(Round.summed).is_(False),
            col(Round.state).in_(BEGUN),
            cast(col(Session.forfeits), String) != "[]",
        )
    )
    return Counter(
        number
        for seating, forfeits, position, number in tx.execute(sat)
        for seat in forfeits
        if seating[seat] == position
    )

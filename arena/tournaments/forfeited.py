"""Sessions that bots forfeited, by absence or by too many faults."""

from collections import Counter, defaultdict

from sqlalchemy import String, cast
from sqlalchemy import select as select_columns
from sqlmodel import col, select

from arena.store.models import BEGUN, Entrant, EntrantSum, Match, Round, Seat, Session, Tournament
from arena.store.storage import Transaction


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


def forfeited_shares(tx: Transaction, tournament: Tournament) -> dict[tuple[int, int], dict[int, float]]:
    """Return, by round and table, the share of the sessions that each entrant forfeited, by its number.

    Only the sessions in which somebody forfeited are read.
    """
    counts: dict[tuple[int, int], Counter[int]] = defaultdict(Counter)
    sat = (
        select_columns(
            col(Round.number),
            col(Match.table_number),
            col(Session.seating),
            col(Session.forfeits),
            col(Seat.position),
            col(Entrant.number),
        )
        .join(Match, col(Match.id) == Session.match_id)
        .join(Round, col(Round.id) == Match.round_id)
        .join(Seat, col(Seat.match_id) == Match.id)
        .join(Entrant, col(Entrant.id) == Seat.entrant_id)
        .where(col(Match.tournament_id) == tournament.id, cast(col(Session.forfeits), String) != "[]")
    )
    for round, table, seating, forfeits, position, number in tx.execute(sat):
        counts[round, table][number] += sum(seating[seat] == position for seat in forfeits)
    return {
        place: {number: count / tournament.sessions for number, count in found.items() if count}
        for place, found in counts.items()
    }


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

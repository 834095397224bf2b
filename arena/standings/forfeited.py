"""Sessions that bots forfeited, by absence or by too many faults."""

from collections import Counter

from sqlalchemy import select as select_columns
from sqlmodel import col

from arena.models import Entrant, Match, Seat, Session, Tournament
from arena.storage import Transaction


def forfeited_sessions(tx: Transaction, tournament: Tournament) -> Counter[int]:
    """Return how many sessions of finished matches each entrant forfeited, by its number."""
    of_it = (col(Match.tournament_id) == tournament.id, col(Session.forfeited_from).is_not(None))
    joined = col(Match.id) == Session.match_id
    sessions = select_columns(col(Session.match_id), col(Session.seating), col(Session.forfeits))
    found = tx.execute(sessions.join(Match, joined).where(*of_it)).all()
    seats = (
        select_columns(col(Seat.match_id), col(Seat.position), col(Entrant.number))
        .join(Entrant, col(Entrant.id) == Seat.entrant_id)
        .where(
            col(Seat.match_id).in_(select_columns(col(Session.match_id)).join(Match, joined).where(*of_it))
        )
    )
    number_at = {(match, position): number for match, position, number in tx.execute(seats)} if found else {}
    return Counter(number_at[match, seating[seat]] for match, seating, forfeits in found for seat in forfeits)

"""Simulating an organiser who re-signs altered results, with the referees' keys or its own."""

from sqlmodel import select

from arena.store.models import Match, Round, Session, Tournament
from arena.store.records import lean_records, names_and_points
from arena.store.storage import Transaction
from referee.records.results import Result, shown_digest
from referee.signing import SigningKey
from tests.referee.key import KEY


def sign_anew(tx: Transaction, key: SigningKey = KEY, tournament_id: int = 1) -> None:
    """Sign the results of all sessions of a tournament as they now stand in the database."""
    tx.flush()
    tournament = tx.get_one(Tournament, tournament_id)
    played = select(Session, Match).join(Match).where(Match.tournament_id == tournament_id)
    for session, match in tx.exec(played):
        names, _ = names_and_points(tx, match)
        round = tx.get_one(Round, match.round_id).number
        records = lean_records(tx, session)
        result = Result(
            commitment=tournament.commitment or "",
            session=f"{tournament.name}/{round}/{match.table_number}/{session.number}",
            attempt=match.attempts[session.number - 1],
            seats=[names[position] for position in session.seating],
            points=session.points,
            faults=session.faults,
            forfeits=session.forfeits,
            deals=shown_digest(records),
        )
        session.signed = key.sign(result.digest)._asdict()

"""What matches count, kept with their seats where the points as they were played do not tell.

In a duplicate tournament, points are compared with those of the same seat at other tables, which takes all
sessions of a round; an organiser may have corrected points; and whoever forfeited a match is behind.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import isclose
from typing import Any, NamedTuple

from sqlalchemy import or_
from sqlalchemy import select as select_columns
from sqlmodel import col

from arena.core.corrections import adjusted
from arena.core.duplicate import PlayedSession
from arena.core.ranking import MatchOutcome
from arena.results.standings.outcomes import Table, corrections_of, outcomes, scores_of
from arena.store.models import COUNTED, Entrant, Match, MatchState, Round, Seat, Tournament
from arena.store.storage import Transaction
from arena.tournaments.roster import forfeited_shares


def keep_counted(
    tournament: Tournament,
    round: Round,
    tables: Sequence[Table],
    played: Mapping[int, Sequence[PlayedSession]],
) -> None:
    """Set what the finished matches of a round count, which ends; ``played`` has their sessions by table."""
    compared = scores_of(played) if tournament.duplicate else {}
    for table in tables:
        number = table.match.table_number
        sessions = played.get(number, ())
        forfeits = Counter(session.seating[seat] for session in sessions for seat in session.forfeits)
        if not (compared or forfeits):
            continue
        scores = compared.get(number)
        points = dict(enumerate(scores or [seat.points for seat in table.seats]))
        shares = {position: count / len(sessions) for position, count in forfeits.items()}
        places = MatchOutcome(round.number, number, points, shares).places
        for position, seat in enumerate(table.seats):
            seat.score, seat.place = scores[position] if scores else None, places[position]


class WrongSeat(NamedTuple):
    """A seat with which something else is kept than its match counts."""

    tournament: str
    id: int
    round: int
    table: int
    score: float | None
    """What should be kept; None for nothing."""
    place: int | None

    def problem(self, _: Transaction) -> str:
        """Return in words what is wrong."""
        return f"{self.tournament}: what round {self.round}, table {self.table} counts is wrong"


def wrong_seats(tx: Transaction, tournament: Tournament) -> Iterator[WrongSeat]:
    """Yield the seats of finished matches in rounds that ended whose score or place is wrong."""
    ended = col(Round.state).in_(COUNTED)
    corrections = [each for each in corrections_of(tx, tournament) if each.points is not None]
    corrected = {(each.round, each.table) for each in corrections}
    forfeited = forfeited_shares(tx, tournament, ended)
    special = col(Round.number).in_({round for round, _ in (*corrected, *forfeited)})
    which = (ended,) if tournament.duplicate else (ended, special)
    matches = adjusted(outcomes(tx, tournament, *which), corrections)
    counted = {(match.round, match.table): match for match in matches}
    place_of: tuple[Any, ...] = (Round.number, Match.table_number, Entrant.number)
    stored: tuple[Any, ...] = (Seat.id, Seat.score, Seat.place)
    seats = (
        select_columns(*place_of, *stored)
        .join(Match, col(Match.id) == Seat.match_id)
        .join(Round, col(Round.id) == Match.round_id)
        .join(Entrant, col(Entrant.id) == Seat.entrant_id)
        .where(col(Match.tournament_id) == tournament.id, col(Match.state) == MatchState.DONE, ended)
    )
    if not tournament.duplicate:
        seats = seats.where(or_(special, col(Seat.score).is_not(None), col(Seat.place).is_not(None)))
    for round, table, entrant, id, score, place in tx.connection().execute(seats).all():
        is_scored = tournament.duplicate or (round, table) in corrected
        match = counted[round, table] if is_scored or (round, table) in forfeited else None
        right = WrongSeat(
            *(tournament.name, id, round, table),
            score=match.points[entrant] if match is not None and is_scored else None,
            place=match.places[entrant] if match is not None else None,
        )
        if place != right.place or not _is_close(score, right.score):
            yield right


def _is_close(score: float | None, right: float | None) -> bool:
    if score is None or right is None:
        return score is right
    return isclose(score, right, abs_tol=1e-6)

"""What a format needs to know of a tournament, read from the rows."""

from collections.abc import Sequence
from functools import partial
from itertools import groupby

from sqlmodel import col, select

from arena.core.formats import Course, Setup
from arena.core.pairing import Pairing
from arena.core.pairing.chance import lots
from arena.results.standings.outcomes import outcomes
from arena.store.models import Entrant, Match, Round, Seat, Tournament
from arena.store.storage import Transaction
from arena.tournaments.entrants import EntrantInfo, present_in


def setup_of(tournament: Tournament) -> Setup:
    """Return the tournament's settings for its format."""
    return Setup(
        size=tournament.table_size,
        rounds=tournament.rounds,
        options=tournament.options,
        lots=lots(tournament.commitment or "", tournament.beacon_value),
        owners_apart=not tournament.allow_same_owner,
    )


def course_of(tx: Transaction, tournament: Tournament, entrants: Sequence[EntrantInfo]) -> Course:
    """Return the course of a tournament that is paired in rounds, for use while the transaction lasts."""
    return Course(
        entrants=[entrant.number for entrant in entrants],
        present=present_in(tx, tournament, tournament.paired + 1),
        paired=tournament.paired,
        pairings=[pairing for _, pairing in paired_rounds(tx, tournament)],
        owners={entrant.number: entrant.owner_id for entrant in entrants},
        outcomes=partial(outcomes, tx, tournament),
    )


def paired_rounds(tx: Transaction, tournament: Tournament) -> list[tuple[Round, Pairing]]:
    """Return the rounds paired so far with their pairings, in order."""
    of_it = Round.tournament_id == tournament.id
    rounds = select(Round).where(of_it).order_by(col(Round.number))
    seats = (
        select(Match.round_id, Match.table_number, Entrant.number)
        .select_from(Round)
        .join(Match, col(Match.round_id) == Round.id)
        .join(Seat, col(Seat.match_id) == Match.id)
        .join(Entrant, col(Entrant.id) == Seat.entrant_id)
        .where(of_it)
        .order_by(col(Match.round_id), col(Match.table_number), col(Seat.position))
    )
    tables: dict[int, list[tuple[int, ...]]] = {}
    for (round_id, _), rows in groupby(tx.exec(seats), key=lambda row: (row[0], row[1])):
        tables.setdefault(round_id, []).append(tuple(number for _, _, number in rows))
    return [
        (round, Pairing(tuple(tables.get(round.id, ())), tuple(round.byes)))
        for round in tx.exec(rounds).all()
    ]

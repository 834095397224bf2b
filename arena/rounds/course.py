"""What a format needs to know of a tournament, read from the rows."""

from collections.abc import Collection, Sequence
from functools import partial
from itertools import groupby

from sqlmodel import col, select

from arena.formats import FORMATS, Course, Rated, Setup
from arena.models import Entrant, Match, Rating, Round, RoundState, Seat, Tournament
from arena.pairing import Pairing
from arena.pairing.chance import lots
from arena.ratings.elo import START
from arena.standings.outcomes import outcomes
from arena.storage import Transaction
from arena.tournaments.entrants import EntrantInfo, present_in


def setup_of(tournament: Tournament) -> Setup:
    """Return what the tournament was asked for as."""
    return Setup(
        size=tournament.table_size,
        rounds=tournament.rounds,
        options=tournament.options,
        lots=lots(tournament.commitment or "", tournament.beacon_value),
        owners_apart=not tournament.allow_same_owner,
    )


def course_of(
    tx: Transaction,
    tournament: Tournament,
    entrants: Sequence[EntrantInfo],
    present: Collection[int] | None = None,
) -> Course:
    """Return how the tournament has gone, to be used while the transaction lasts.

    ``present`` are those who can be seated next, by number; None: all who have come and not withdrawn.
    """
    back = FORMATS[tournament.format].looks_back(len(entrants))
    after = 0 if back is None else tournament.paired - back
    return Course(
        entrants=[entrant.number for entrant in entrants],
        present=present_in(tx, tournament, tournament.paired + 1) if present is None else present,
        paired=tournament.paired,
        pairings=[pairing for _, pairing in paired_rounds(tx, tournament, after)],
        owners={entrant.number: entrant.owner_id for entrant in entrants},
        outcomes=partial(outcomes, tx, tournament),
        ratings=partial(_ratings, tx, tournament, entrants),
    )


def free_entrants(
    tx: Transaction, tournament: Tournament, entrants: Sequence[EntrantInfo]
) -> tuple[list[EntrantInfo], int]:
    """Return those of a continuous tournament's entrants that have not withdrawn and sit at no open table.

    And how many sit at one.
    """
    open_seats = (
        select(Seat.entrant_id)
        .join(Match, col(Match.id) == Seat.match_id)
        .join(Round, col(Round.id) == Match.round_id)
        .where(Round.tournament_id == tournament.id, Round.state == RoundState.OPEN)
        .where(col(Match.finished_at).is_(None))
    )
    busy = set(tx.exec(open_seats))
    there = set(present_in(tx, tournament, tournament.paired + 1))
    free = [one for one in entrants if one.entrant_id not in busy and one.number in there]
    return free, len(busy)


def paired_rounds(tx: Transaction, tournament: Tournament, after: int = 0) -> list[tuple[Round, Pairing]]:
    """Return the rounds paired so far with their pairings, in order: all, or those after number ``after``."""
    wanted = (Round.tournament_id == tournament.id, col(Round.number) > after)
    rounds = select(Round).where(*wanted).order_by(col(Round.number))
    seats = (
        select(Match.round_id, Match.table_number, Entrant.number)
        .select_from(Round)
        .join(Match, col(Match.round_id) == Round.id)
        .join(Seat, col(Seat.match_id) == Match.id)
        .join(Entrant, col(Entrant.id) == Seat.entrant_id)
        .where(*wanted)
        .order_by(col(Match.round_id), col(Match.table_number), col(Seat.position))
    )
    tables: dict[int, list[tuple[int, ...]]] = {}
    for (round_id, _), rows in groupby(tx.exec(seats), key=lambda row: (row[0], row[1])):
        tables.setdefault(round_id, []).append(tuple(number for _, _, number in rows))
    return [
        (round, Pairing(tuple(tables.get(round.id, ())), tuple(round.byes)))
        for round in tx.exec(rounds).all()
    ]


def _ratings(tx: Transaction, tournament: Tournament, entrants: Sequence[EntrantInfo]) -> dict[int, Rated]:
    """Return by entrant its rating in the tournament's pool."""
    rows = select(Rating.version_id, Rating.value, Rating.weight).where(
        Rating.ruleset_id == tournament.ruleset_id, Rating.table_size == tournament.table_size
    )
    rated = {version_id: Rated(value, weight) for version_id, value, weight in tx.exec(rows)}
    return {entrant.number: rated.get(entrant.version_id, Rated(START, 0)) for entrant in entrants}

"""Storing the sums of standings as rounds close, and adding what is not in them yet when they are read."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select
from sqlalchemy import select as select_columns
from sqlmodel import col, select

from arena.core.corrections import Correction, adjust, demoted, disqualified_by
from arena.core.formats import FORMATS
from arena.core.ranking import Meeting, Pair, Played, Results, Standing, Sum, Sums, ranked
from arena.results.ledgers import ENCOUNTERS, ENTRANTS, Part
from arena.results.standings.outcomes import Table, corrections_of, outcomes, played_deals
from arena.store.models import (
    BEGUN,
    Encounter,
    Entrant,
    EntrantSum,
    Match,
    MatchState,
    Round,
    RoundState,
    Seat,
    Tournament,
)
from arena.store.storage import Transaction
from arena.tournaments.roster import EntrantInfo

AT_ONCE = 5_000
"""Pairs of entrants that are read at a time."""


def add_round(
    tx: Transaction, tournament: Tournament, round: Round, tables: Sequence[Table], played: Played
) -> None:
    """Add the finished matches of a round that ends to the sums of its tournament, whose row is locked.

    Its byes count only if all of it was played.
    """
    sums = Sums()
    seated = {
        table.match.table_number: {seat.entrant_id: seat.points for seat in table.seats} for table in tables
    }
    sums.add_round(round.number, seated, played, duplicate=tournament.duplicate)
    if round.byes and round.state == RoundState.CLOSED:
        sat_out = (Entrant.tournament_id == tournament.id, col(Entrant.number).in_(round.byes))
        sums.add_byes(tx.exec(select(Entrant.id).where(*sat_out)))
    ENTRANTS.add(tx, sums.entrants)
    ENCOUNTERS.add(tx, sums.pairs)
    round.summed = True


def current_sums(tx: Transaction, tournament: Tournament) -> Sums:
    """Return the sums over all finished matches, by the entrants' ids: those stored, plus other rounds.

    Its pairs are those of the other rounds alone.
    """
    sums = Sums(dict(_stored_entrants(tx, tournament)))
    add_rounds(tx, tournament, sums, col(Round.summed).is_(False), col(Round.state).in_(BEGUN))
    return sums


class CurrentStandings(NamedTuple):
    """The standings after all finished matches, with the organiser's corrections."""

    lines: list[Standing]
    sums: Sums
    """What they follow from, by the entrants' ids."""
    disqualified: set[int]
    """The entrants that are disqualified, by number."""


def current_standings(
    tx: Transaction,
    tournament: Tournament,
    entrants: Sequence[EntrantInfo],
    also: Sequence[Correction] = (),
) -> CurrentStandings:
    """Return the standings after all matches that are done, and corrections; with ``also``, as if made.

    No closed round is read, except those with a match of which points were adjusted.
    """
    sums, corrections = current_sums(tx, tournament), [*corrections_of(tx, tournament), *also]
    rounds = {correction.round for correction in corrections if correction.points}
    if rounds:
        ids = {entrant.number: entrant.entrant_id for entrant in entrants}
        played = outcomes(tx, tournament, col(Round.number).in_(rounds))
        adjust(lambda number: sums.of(ids[number]), played, corrections)
    numbers, results = [entrant.number for entrant in entrants], _results(tx, tournament, entrants, sums)
    lines = ranked(numbers, results, tournament.table_size, FORMATS[tournament.format].criteria)
    disqualified = disqualified_by(corrections)
    return CurrentStandings(demoted(lines, disqualified), sums, disqualified)


def current_results(tx: Transaction, tournament: Tournament, entrants: Sequence[EntrantInfo]) -> Results:
    """Return what standings follow from, as played, by entrants' numbers; for use in this transaction."""
    return _results(tx, tournament, entrants, current_sums(tx, tournament))


def _results(tx: Transaction, tournament: Tournament, entrants: Sequence[EntrantInfo], sums: Sums) -> Results:
    numbers = {entrant.entrant_id: entrant.number for entrant in entrants}
    totals, meetings = sums.results(_stored_meetings(tx, tournament))
    for total in totals.values():
        if not (tournament.duplicate and total.matches):
            total.points = int(total.points)  # whole numbers, kept in a column that has fractions, too
    return Results(
        {numbers[entrant_id]: total for entrant_id, total in totals.items()},
        ((numbers[one], numbers[other], matches) for one, other, matches in meetings),
    )


def _stored_meetings(tx: Transaction, tournament: Tournament) -> Iterator[Meeting]:
    """Yield all pairs that met in rounds that are summed, the lower id first, with their matches.

    These are the many rows behind standings: only what standings take is read, and few are held at a time.
    """
    columns = (Encounter.entrant_id, Encounter.other_id, Encounter.matches)
    rows = _encounters(tournament, *map(col, columns))
    yield from tx.connection().execute(rows, execution_options={"yield_per": AT_ONCE})


def standings_parts(tournament: Tournament, right: Sums) -> list[Part[Any]]:
    """Return the sums that are stored of a tournament, beside what they should be."""
    ids = select(Entrant.id).where(Entrant.tournament_id == tournament.id)
    problem = f"{tournament.name}: the sums of its standings are wrong"
    return [
        Part(ENTRANTS, right.entrants, problem, which=col(EntrantSum.entrant_id).in_(ids)),
        Part(ENCOUNTERS, right.pairs, problem, which=col(Encounter.entrant_id).in_(ids)),
    ]


def pairs_among(
    tx: Transaction, tournament: Tournament, entrant_ids: Collection[int]
) -> Mapping[tuple[int, int], Pair]:
    """Return the results of all finished matches between each two of these entrants, the lower id first.

    Only their own rows are read, however many others there are.
    """
    those = (col(Encounter.entrant_id).in_(entrant_ids), col(Encounter.other_id).in_(entrant_ids))
    sums = Sums(pairs=dict(_stored_pairs(tx, tournament, *those)))
    open_rounds = (col(Round.summed).is_(False), col(Round.state).in_(BEGUN))
    theirs = select(Seat.match_id).where(col(Seat.entrant_id).in_(entrant_ids))
    # Comparing duplicate deals makes no difference to who finished before whom.
    _add_played(tx, tournament, sums, *open_rounds, col(Match.id).in_(theirs), duplicate=False)
    members = {*entrant_ids}
    return {both: pair for both, pair in sums.pairs.items() if members.issuperset(both)}


def _stored_entrants(tx: Transaction, tournament: Tournament) -> Iterator[tuple[int, Sum]]:
    sums = (getattr(EntrantSum, name) for name in ENTRANTS.columns)
    entered = select_columns(col(EntrantSum.entrant_id), *sums).join(
        Entrant, col(Entrant.id) == EntrantSum.entrant_id
    )
    for entrant_id, *values in tx.execute(entered.where(col(Entrant.tournament_id) == tournament.id)).all():
        yield entrant_id, Sum(*values)


def _stored_pairs(
    tx: Transaction, tournament: Tournament, *which: ColumnElement[bool]
) -> Iterator[tuple[tuple[int, int], Pair]]:
    columns = (getattr(Encounter, name) for name in (*ENCOUNTERS.key, *ENCOUNTERS.columns))
    rows = _encounters(tournament, *columns).where(*which)
    for one, other, *counts in tx.connection().execute(rows).all():
        yield (one, other), Pair(*counts)


def _encounters(tournament: Tournament, *columns: Any) -> Select[Any]:
    """Select these columns of the pairs that met in a tournament."""
    rows = select_columns(*columns).join(Entrant, col(Entrant.id) == Encounter.entrant_id)
    return rows.where(col(Entrant.tournament_id) == tournament.id)


def add_rounds(tx: Transaction, tournament: Tournament, sums: Sums, *which: ColumnElement[bool]) -> None:
    """Add the finished matches of the rounds that meet these conditions, and the byes of closed ones."""
    _add_played(tx, tournament, sums, *which, duplicate=tournament.duplicate)
    closed = (col(Round.tournament_id) == tournament.id, col(Round.state) == RoundState.CLOSED, *which)
    byes = [number for numbers in tx.exec(select(Round.byes).where(*closed)) for number in numbers]
    if byes:
        numbered = (Entrant.tournament_id == tournament.id, col(Entrant.number).in_(set(byes)))
        ids = dict(tx.exec(select(Entrant.number, Entrant.id).where(*numbered)).all())
        sums.add_byes(ids[number] for number in byes)


def _add_played(
    tx: Transaction, tournament: Tournament, sums: Sums, *which: ColumnElement[bool], duplicate: bool
) -> None:
    """Add the finished matches that meet these conditions on rounds and matches."""
    seated = _seated(tx, tournament, *which)
    for number, played in played_deals(tx, tournament, *which):
        sums.add_round(number, seated[number], played, duplicate=duplicate)


def _seated(
    tx: Transaction, tournament: Tournament, *which: ColumnElement[bool]
) -> Mapping[int, Mapping[int, Mapping[int, int]]]:
    """Return, by round and table, the points of the entrants there, in the order of positions."""
    seats = (
        select_columns(col(Round.number), col(Match.table_number), col(Seat.entrant_id), col(Seat.points))
        .select_from(Round)
        .join(Match, col(Match.round_id) == Round.id)
        .join(Seat, col(Seat.match_id) == Match.id)
        .where(col(Round.tournament_id) == tournament.id, *which, col(Match.state) == MatchState.DONE)
        .order_by(col(Round.number), col(Match.table_number), col(Seat.position))
    )
    rows = tx.connection().execute(seats)
    return {
        number: {
            table: {entrant: points for *_, entrant, points in there}
            for table, there in groupby(of_round, key=lambda row: row[1])
        }
        for number, of_round in groupby(rows, key=lambda row: row[0])
    }

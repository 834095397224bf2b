"""What has been played in a tournament, read from the rows into plain values.

Entrants are named by their number in the list of entrants, so that the same entrants in the same order are
paired in the same way everywhere.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from typing import Any

from sqlalchemy import ColumnElement, bindparam
from sqlalchemy import select as select_columns
from sqlmodel import col, select

from arena.core.corrections import Correction, read_correction
from arena.core.duplicate import PlayedSession, scores
from arena.core.ranking import MatchOutcome
from arena.store.models import (
    Entrant,
    Match,
    MatchState,
    Round,
    Seat,
    Session,
    Tournament,
    TournamentEvent,
)
from arena.store.storage import Transaction
from arena.tournaments.roster import forfeited_shares


@dataclass(frozen=True, slots=True)
class Table:
    """A match, and who sits there in the order of positions."""

    match: Match
    seats: tuple[Seat, ...]

    @property
    def version_ids(self) -> tuple[int, ...]:
        """Return the bot version in each of the seats."""
        return tuple(seat.version_id for seat in self.seats)


def tables_of(tx: Transaction, round: Round) -> list[Table]:
    """Return the tables of a round in the order of their numbers."""
    rows = tx.exec(_select_tables(), params={"round": round.id})
    tables = []
    for _, seated in groupby(rows, key=lambda row: row[0].id):
        matches, seats = zip(*seated, strict=True)
        tables.append(Table(matches[0], seats))
    return tables


@cache
def _select_tables() -> Any:
    return (
        select(Match, Seat)
        .join(Seat, col(Seat.match_id) == Match.id)
        .where(Match.round_id == bindparam("round"))
        .order_by(col(Match.table_number), col(Seat.position))
    )


def outcomes(tx: Transaction, tournament: Tournament, *which: ColumnElement[bool]) -> list[MatchOutcome]:
    """Return how the finished matches ended, in the order of rounds, tables and positions.

    What counts is points; in a duplicate tournament, the scores of ``arena.core.duplicate``. ``which`` are
    conditions on rounds.
    """
    compared = duplicate_points(tx, tournament, *which) if tournament.duplicate else {}
    forfeited = forfeited_shares(tx, tournament, *which)
    rows = (
        select(Round.number, Match.table_number, Entrant.number, Seat.points)
        .select_from(Match)
        .join(Round, col(Round.id) == Match.round_id)
        .join(Seat, col(Seat.match_id) == Match.id)
        .join(Entrant, col(Entrant.id) == Seat.entrant_id)
        .where(Match.tournament_id == tournament.id, Match.state == MatchState.DONE, *which)
        .order_by(col(Round.number), col(Match.table_number), col(Seat.position))
    )
    ended = []
    for key, seats in groupby(tx.exec(rows), key=lambda row: (row[0], row[1])):
        points: dict[int, float] = {entrant: points for _, _, entrant, points in seats}
        if key in compared:
            points = dict(zip(points, compared[key], strict=True))
        ended.append(MatchOutcome(*key, points, forfeited.get(key, {})))
    return ended


def duplicate_points(
    tx: Transaction, tournament: Tournament, *which: ColumnElement[bool]
) -> dict[tuple[int, int], tuple[float, ...]]:
    """Return the points that count in a duplicate tournament by position, for each finished match.

    ``which`` are conditions on rounds.
    """
    points_at: dict[tuple[int, int], tuple[float, ...]] = {}
    for round, tables in played_deals(tx, tournament, *which):
        points_at |= {(round, table): points for table, points in scores_of(tables).items()}
    return points_at


def scores_of(tables: Mapping[int, Sequence[PlayedSession]]) -> dict[int, tuple[float, ...]]:
    """Return the points that count in a duplicate round by table and position, from its sessions."""
    return dict(zip(tables, scores(list(tables.values())), strict=True))


def played_in(tx: Transaction, tournament: Tournament, round: Round) -> dict[int, list[PlayedSession]]:
    """Return the sessions of a round's finished matches by table, in order."""
    return dict(played_deals(tx, tournament, col(Round.id) == round.id)).get(round.number, {})


def played_deals(
    tx: Transaction, tournament: Tournament, *which: ColumnElement[bool]
) -> Iterator[tuple[int, dict[int, list[PlayedSession]]]]:
    """Yield the number of each round with a finished match, and the sessions of these by table, in order.

    ``which`` are conditions on rounds and matches. One statement reads them, and holds no more than a round
    at a time.
    """
    sessions = (
        select_columns(
            col(Round.number),
            col(Match.table_number),
            col(Session.number),
            col(Session.seating),
            col(Session.deal_points),
            col(Session.deal_attempts),
            col(Session.forfeits),
            col(Session.forfeit),
            col(Session.forfeited_from),
            col(Session.faults),
            col(Session.leaver),
        )
        .select_from(Round)
        .join(Match, col(Match.round_id) == Round.id)
        .join(Session, col(Session.match_id) == Match.id)
        .where(col(Round.tournament_id) == tournament.id, *which, col(Match.state) == MatchState.DONE)
        .order_by(col(Round.number), col(Match.table_number), col(Session.number))
    )
    rows = tx.connection().execute(sessions, execution_options={"yield_per": 200})
    for round, of_it in groupby(rows, key=lambda row: row[0]):
        tables: dict[int, list[PlayedSession]] = {}
        for _, table, *session in of_it:
            tables.setdefault(table, []).append(PlayedSession(*session))
        yield round, tables


def corrections_of(tx: Transaction, tournament: Tournament) -> list[Correction]:
    """Return what the organiser decided about the standings, in order; nothing before the end."""
    if tournament.finished_at is None:
        return []
    of_it = (TournamentEvent.tournament_id == tournament.id, TournamentEvent.kind == "corrected")
    events = tx.exec(select(TournamentEvent).where(*of_it).order_by(col(TournamentEvent.number)))
    return [read_correction(event.number, event.at.isoformat(), event.details) for event in events]

"""A match as it is shown, with its finished sessions and their records."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import col, select

from arena.errors import UnknownError
from arena.matches.records import full_records, names_and_points, sessions_of
from arena.models import Match, Round, Session
from arena.storage import Storage
from arena.tournaments.overview import find_tournament


@dataclass(frozen=True, slots=True)
class SessionView:
    """A finished session."""

    number: int
    names: tuple[str, ...]
    """By seat."""
    points: tuple[int, ...]
    """By seat."""
    faults: tuple[int, ...]
    """By seat."""
    forfeits: tuple[int, ...]
    """The seats whose bots forfeited it, in order."""
    finished_at: datetime
    records: tuple[Mapping[str, object], ...]
    """Full deal records."""


@dataclass(frozen=True, slots=True)
class MatchView:
    """A match with all its finished sessions."""

    tournament: str
    round: int
    table: int
    state: str
    problem: str | None
    """What last kept it from being played; None: nothing does."""
    names: tuple[str, ...]
    """By position at the table."""
    points: tuple[int, ...] | None
    """By position at the table; None while it is not done."""
    sessions: tuple[SessionView, ...]


def match_view(storage: Storage, tournament: str, round: int, table: int) -> MatchView:
    """Return a match by tournament, round and table; raise UnknownError if there is none."""
    with storage.read() as tx:
        row = find_tournament(tx, tournament)
        match = tx.exec(
            select(Match)
            .join(Round, col(Round.id) == Match.round_id)
            .where(Match.tournament_id == row.id, Round.number == round, Match.table_number == table)
        ).first()
        if match is None:
            raise UnknownError(f"no round {round}, table {table} in tournament {tournament!r}")
        names, points = names_and_points(tx, match)
        return MatchView(
            tournament=tournament,
            round=round,
            table=table,
            state=match.state.value,
            problem=match.problem,
            names=names,
            points=points if match.finished_at is not None and match.state == "done" else None,
            sessions=tuple(
                _session_view(session, names, tuple(full_records(tx, row, round, match, session, names)))
                for session in sessions_of(tx, match)
            ),
        )


def _session_view(
    session: Session, names: tuple[str, ...], records: tuple[Mapping[str, object], ...]
) -> SessionView:
    return SessionView(
        number=session.number,
        names=tuple(names[position] for position in session.seating),
        points=tuple(session.points),
        faults=tuple(session.faults),
        forfeits=tuple(session.forfeits),
        finished_at=session.finished_at,
        records=records,
    )

"""Deal records of a tournament, and its matches to look at."""

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import col, select

from arena.errors import UnknownError
from arena.models import (
    BotVersion,
    Entrant,
    Match,
    Round,
    RoundState,
    Seat,
    Session,
    StoredRuleset,
    Tournament,
)
from arena.storage import Storage, Transaction
from arena.tournaments.lifecycle import find_tournament
from referee.records.record import full_record


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
    forfeit: int | None
    """The seat that forfeited it; None: nobody."""
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
    """A match by tournament, round and table. UnknownError."""
    with storage.read() as tx:
        row = find_tournament(tx, tournament)
        match = tx.exec(
            select(Match)
            .join(Round, col(Round.id) == Match.round_id)
            .where(Match.tournament_id == row.id, Round.number == round, Match.table_number == table)
        ).first()
        if match is None:
            raise UnknownError(f"no round {round}, table {table} in tournament {tournament!r}")
        names, points = _seats(tx, match)
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


def export_records(storage: Storage, name: str) -> Iterator[str]:
    """The deal records of a tournament as JSON lines, by round, table, session and deal. UnknownError.

    Of a duplicate tournament that has not ended, only those of closed rounds: the deals of an open one are
    still to be played at other tables.
    """
    with storage.read() as tx:
        tournament = find_tournament(tx, name)
        for round in shown_rounds(tx, tournament):
            for match in _matches(tx, round):
                names, _ = _seats(tx, match)
                for session in sessions_of(tx, match):
                    for record in full_records(tx, tournament, round.number, match, session, names):
                        yield json_line(record)
                    tx.expunge(session)


def json_line(value: object) -> str:
    """A value as JSON without blanks."""
    return json.dumps(value, separators=(",", ":"))


def shown_rounds(tx: Transaction, tournament: Tournament) -> Sequence[Round]:
    """The rounds whose deals may be shown, in order."""
    opened = select(Round).where(Round.tournament_id == tournament.id, col(Round.started_at).is_not(None))
    if tournament.duplicate and tournament.finished_at is None:
        opened = opened.where(Round.state == RoundState.CLOSED)
    return tx.exec(opened.order_by(col(Round.number))).all()


def _matches(tx: Transaction, round: Round) -> Sequence[Match]:
    return tx.exec(select(Match).where(Match.round_id == round.id).order_by(col(Match.table_number))).all()


def _seats(tx: Transaction, match: Match) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Names and points by position at the table."""
    rows = tx.exec(
        select(BotVersion.name, Seat.points)
        .join(Entrant, col(Entrant.version_id) == BotVersion.id)
        .join(Seat, col(Seat.entrant_id) == Entrant.id)
        .where(Seat.match_id == match.id)
        .order_by(col(Seat.position))
    ).all()
    return tuple(name for name, _ in rows), tuple(points for _, points in rows)


def sessions_of(tx: Transaction, match: Match) -> list[Session]:
    """The finished sessions of a match, by number."""
    return list(tx.exec(select(Session).where(Session.match_id == match.id).order_by(col(Session.number))))


def _session_view(
    session: Session, names: tuple[str, ...], records: tuple[Mapping[str, object], ...]
) -> SessionView:
    return SessionView(
        number=session.number,
        names=tuple(names[position] for position in session.seating),
        points=tuple(session.points),
        faults=tuple(session.faults),
        forfeit=session.forfeit,
        finished_at=session.finished_at,
        records=records,
    )


def full_records(
    tx: Transaction,
    tournament: Tournament,
    round: int,
    match: Match,
    session: Session,
    names: tuple[str, ...],
) -> Iterator[dict[str, object]]:
    """The deal records of a session; ``names`` are the bots by position at the table."""
    ruleset = tx.get_one(StoredRuleset, tournament.ruleset_id)
    for line in zlib.decompress(session.records).decode().splitlines():
        yield full_record(
            json.loads(line),
            ruleset=ruleset.content,
            tournament=tournament.name,
            round=round,
            table=match.table_number,
            session=session.number,
            seats=[names[position] for position in session.seating],
        )

"""Deal records of a tournament: matches to look at, and the proof that the seeds were kept to."""

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import col, select

from arena.errors import StateError, UnknownError
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
from arena.services.tournaments import find_tournament
from arena.storage import Storage, Transaction
from referee.errors import RecordError
from referee.record import full_record
from referee.replay import Replayer
from referee.shuffle import commitment, deal_seed, session_seed


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


@dataclass(frozen=True, slots=True)
class Verification:
    """Whether a tournament's deals follow from its seed."""

    deals: int
    """Deals that were checked."""
    problem: str | None
    """The first thing that is wrong; None: nothing."""


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
                for session in _sessions(tx, match)
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
                for session in _sessions(tx, match):
                    for record in full_records(tx, tournament, round.number, match, session, names):
                        yield _line(record)
                    tx.expunge(session)


def verify_deals(storage: Storage, name: str) -> Verification:
    """Deals every hand of a tournament again from its revealed seed, and replays every action.

    UnknownError; StateError while the seed is not revealed.
    """
    with storage.read() as tx:
        tournament = find_tournament(tx, name)
        if tournament.finished_at is None:
            raise StateError(f"tournament {name!r} has not ended, so its seed is not revealed yet")
        seed = bytes.fromhex(tournament.seed)
        if commitment(seed) != tournament.commitment:
            return Verification(0, "the revealed seed is not the one that was committed to")
        deals = 0
        for round in shown_rounds(tx, tournament):
            for match in _matches(tx, round):
                names, _ = _seats(tx, match)
                for session in _sessions(tx, match):
                    replayer = Replayer()
                    for record in full_records(tx, tournament, round.number, match, session, names):
                        problem = _problem(replayer, seed, record, tournament.duplicate)
                        if problem is not None:
                            places = ("round", "table", "session", "deal")
                            where = " ".join(f"{part} {record[part]}" for part in places)
                            return Verification(deals, f"{where}: {problem}")
                        deals += 1
                    tx.expunge(session)
        return Verification(deals, None)


def _problem(replayer: Replayer, seed: bytes, record: Mapping[str, object], duplicate: bool) -> str | None:
    round, table, session, deal = (int(str(record[part])) for part in ("round", "table", "session", "deal"))
    expected = deal_seed(session_seed(seed, round, None if duplicate else table, session), deal)
    if record["seed"] != expected.hex():
        return "the deal's seed does not follow from the tournament's"
    try:
        replayer.check(record)
    except RecordError as error:
        return str(error)
    return None


def _line(value: object) -> str:
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


def _sessions(tx: Transaction, match: Match) -> list[Session]:
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

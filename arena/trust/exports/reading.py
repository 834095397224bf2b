"""Reading a tournament that is exported: what can still change at once, the rest a few tables at a time."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import select as select_columns
from sqlmodel import col, func, select

from arena.core.formats import FORMATS
from arena.errors import StateError
from arena.store.models import (
    COUNTED,
    Match,
    MatchState,
    RatingChange,
    Round,
    Seat,
    Session,
    SessionRecords,
    SessionReference,
    StoredRuleset,
    Tournament,
)
from arena.store.records import may_be_shown, unpack_records
from arena.store.storage import Storage, Transaction, among
from arena.tournaments.overview import find_tournament
from arena.tournaments.roster import EntrantInfo, list_entrants
from referee.reference.values import REFERENCE

PAGE = 100
"""About how many sessions are read in one transaction; at least those of a match."""


def shown_rounds(tx: Transaction, tournament: Tournament) -> Sequence[Round]:
    """Return the rounds whose deals may be shown, in order."""
    opened = select(Round).join(Tournament, col(Tournament.id) == Round.tournament_id)
    opened = opened.where(Round.tournament_id == tournament.id, col(Round.started_at).is_not(None))
    return tx.exec(opened.where(may_be_shown()).order_by(col(Round.number))).all()


class MatchRow(NamedTuple):
    """As much of a match's row as an export takes: those of a whole round are held at once."""

    id: int
    table_number: int
    state: MatchState
    attempts: Sequence[int]


class SeatRow(NamedTuple):
    """As much of a seat's row as an export takes."""

    id: int
    position: int
    points: int
    faults: int


@dataclass(frozen=True, slots=True)
class Seated:
    """A table and its entrants in the order of their places."""

    match: MatchRow
    seats: Sequence[SeatRow]
    entrants: Sequence[EntrantInfo]

    @property
    def bots(self) -> list[str]:
        return [entrant.name for entrant in self.entrants]


@dataclass(frozen=True, slots=True)
class Played(Seated):
    """A table with what was played there."""

    sessions: Sequence[Session]
    """Its finished sessions, by number."""
    packed: Mapping[int, bytes]
    """Their records, by the session's id."""
    worth: Sequence[Mapping[str, object]]
    """What the cards of its sessions were worth, as far as the present reference has said it."""

    def lean_records(self, session: Session) -> list[dict[str, Any]]:
        return unpack_records(self.packed[session.id])


@dataclass(frozen=True, slots=True)
class Begun:
    """A tournament as it was when its export began: all of it that can still change."""

    tournament: Tournament
    ruleset: StoredRuleset
    entrants: Sequence[EntrantInfo]
    rounds: Sequence[Round]
    """Those to be exported, in order."""
    open: Mapping[int, Sequence[Seated]]
    """The tables of those that are being played, by the round's id."""
    sessions: Mapping[int, Sequence[Session]]
    """The finished sessions of these, by the match's id."""


def begin(tx: Transaction, name: str, choose: Callable[[Transaction, Tournament], Sequence[Round]]) -> Begun:
    """Read the part of a tournament that can still change."""
    tournament = find_tournament(tx, name)
    entrants, rounds = list_entrants(tx, tournament), choose(tx, tournament)
    open_rounds = [round for round in rounds if round.state not in COUNTED]
    seated = {round.id: _with_entrants(tx, round, entrants) for round in open_rounds}
    sessions: dict[int, list[Session]] = {}
    for tables in seated.values():
        sessions |= _sessions_of(tx, [table.match.id for table in tables])
    ruleset = tx.get_one(StoredRuleset, tournament.ruleset_id)
    return Begun(tournament, ruleset, entrants, rounds, seated, sessions)


def _sessions_of(tx: Transaction, match_ids: Sequence[int]) -> dict[int, list[Session]]:
    """Return the finished sessions of matches, by number."""
    rows = select(Session).where(among(Session.match_id, match_ids))
    sessions: dict[int, list[Session]] = {}
    for session in tx.exec(rows.order_by(col(Session.match_id), col(Session.number))):
        sessions.setdefault(session.match_id, []).append(session)
    return sessions


def tables_of(storage: Storage, begun: Begun, round: Round) -> Sequence[Seated]:
    """Return the tables of a round."""
    if round.id in begun.open:
        return begun.open[round.id]
    with storage.read() as tx:
        return _with_entrants(tx, round, begun.entrants)


def pages(begun: Begun, tables: Sequence[Seated]) -> Iterator[Sequence[Seated]]:
    """Yield tables, some at a time."""
    at_once = max(1, PAGE // begun.tournament.sessions)
    return (tables[at : at + at_once] for at in range(0, len(tables), at_once))


def played(storage: Storage, begun: Begun, round: Round, tables: Sequence[Seated]) -> Iterator[Played]:
    """Yield these tables with what was played there, which one short transaction reads.

    What is read of rounds that are over, and of finished sessions, never changes.
    """
    match_ids = [table.match.id for table in tables]
    with storage.read() as tx:
        sessions = begun.sessions if round.id in begun.open else _sessions_of(tx, match_ids)
        ids = [session.id for match_id in match_ids for session in sessions.get(match_id, ())]
        records = select(SessionRecords.session_id, SessionRecords.records)
        packed = dict(tx.exec(records.where(among(SessionRecords.session_id, ids))).all())
        worth = worth_of(tx, ids)
    for table in tables:
        of_it = sessions.get(table.match.id, ())
        weighed = [
            {"session": session.number, "worth": worth[session.id]}
            for session in of_it
            if worth.get(session.id)
        ]
        yield Played(table.match, table.seats, table.entrants, of_it, packed, weighed)


def require_unchanged(storage: Storage, begun: Begun) -> None:
    """Raise StateError if a round that was over when the export began is not as it was.

    Such rounds never change, so the database was restored, or replaced by another.
    """
    rows = select(Round.id, Round.state, Round.finished_at, Round.rated_after)
    with storage.read() as tx:
        now = {row[0]: tuple(row) for row in tx.exec(rows.where(Round.tournament_id == begun.tournament.id))}
    for round in begun.rounds:
        was = (round.id, round.state, round.finished_at, round.rated_after)
        if round.state in COUNTED and now.get(round.id) != was:
            name = begun.tournament.name
            reason = f"round {round.number} is not what it was when the export began"
            raise StateError(
                f"tournament {name} was restored while it was exported: {reason}; export it again"
            )


def in_rated_order(tx: Transaction, tournament: Tournament) -> Sequence[Round]:
    """Return the rounds whose deals may be shown in the order in which they were rated.

    Continuous tournaments end theirs in any order.
    """
    rounds = shown_rounds(tx, tournament)
    if not FORMATS[tournament.format].in_batches:
        return rounds
    first = (
        select(Match.round_id, func.min(RatingChange.id))
        .join(RatingChange, col(RatingChange.match_id) == Match.id)
        .where(Match.tournament_id == tournament.id)
        .group_by(col(Match.round_id))
    )
    rated = dict(tx.exec(first).all())
    return sorted(rounds, key=lambda round: (rated.get(round.id, math.inf), round.number))


def worth_of(tx: Transaction, session_ids: Sequence[int]) -> dict[int, object]:
    """Return what the cards of sessions were worth, as far as the present reference has said it."""
    rows = select(SessionReference.session_id, SessionReference.worth).where(
        among(SessionReference.session_id, session_ids), SessionReference.reference == REFERENCE.name
    )
    return dict(tx.exec(rows).all())


def _with_entrants(tx: Transaction, round: Round, entrants: Sequence[EntrantInfo]) -> list[Seated]:
    by_id = {entrant.entrant_id: entrant for entrant in entrants}
    of_match: tuple[Any, ...] = (Match.id, Match.table_number, Match.state, Match.attempts)
    of_seat: tuple[Any, ...] = (Seat.id, Seat.position, Seat.points, Seat.faults, Seat.entrant_id)
    rows = (
        select_columns(*of_match, *of_seat)
        .join(Seat, col(Seat.match_id) == Match.id)
        .where(col(Match.round_id) == round.id)
        .order_by(col(Match.table_number), col(Seat.position))
    )
    tables = []
    for _, seated in groupby(tx.connection().execute(rows), key=itemgetter(0)):
        there = list(seated)
        seats = [SeatRow(*row[4:8]) for row in there]
        tables.append(Seated(MatchRow(*there[0][:4]), seats, [by_id[row[8]] for row in there]))
    return tables

"""A tournament as one file that proves itself (docs/formats.md, "Exports"), or its deal records alone."""

import math
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import select as select_columns
from sqlalchemy.exc import NoResultFound
from sqlalchemy.orm import aliased
from sqlmodel import col, func, select

from arena.core.canonical import deals_digest, json_line
from arena.core.formats import FORMATS
from arena.core.pairing import owner_of
from arena.core.parts import (
    EndPart,
    MatchPart,
    Part,
    ReferencePart,
    RoundEndPart,
    RoundPart,
    TournamentPart,
    make_part,
    standing_object,
)
from arena.errors import StateError
from arena.results.standings.outcomes import duplicate_points
from arena.results.standings.stored import current_standings
from arena.store.models import (
    COUNTED,
    Entrant,
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
from arena.tournaments.entrants import EntrantInfo, list_entrants
from arena.tournaments.events import events_of, head_of
from arena.tournaments.overview import ENDED, find_tournament
from referee.plain import plain_line
from referee.records.record import full_record
from referee.reference.values import REFERENCE

PAGE = 100
"""About how many sessions are read in one transaction; at least those of a match."""

LONGEST_REASON = 100
"""The most characters of what damaged rows led to."""


@contextmanager
def naming_damage(name: str) -> Iterator[None]:
    """Raise StateError for rows of a tournament that do not belong together, or hold what they never should.

    Only somebody who changed the database by hand, or a damaged disk, leaves such rows.
    """
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, NoResultFound, zlib.error) as error:
        reason = plain_line(f"{type(error).__name__}: {error}", LONGEST_REASON)
        raise StateError(
            f"tournament {name} cannot be exported: its rows in the database are damaged ({reason})"
        ) from error


def export_records(storage: Storage, name: str) -> Generator[str]:
    """Yield the deal records of a tournament as JSON lines, by round, table, session and deal.

    For a duplicate tournament that has not ended, only those of closed rounds: the deals of an open one are
    still to be played at other tables. They are read as ``export_lines`` reads them. Raise UnknownError if
    there is no such tournament, and StateError as it does.
    """
    with naming_damage(name):
        with storage.read() as tx:
            begun = _begin(tx, name, shown_rounds)
        for round in begun.rounds:
            for seated in _pages(begun, _tables_of(storage, begun, round)):
                for table in _played(storage, begun, round, seated):
                    yield from _records(begun, round, table)
        _require_unchanged(storage, begun)


def shown_rounds(tx: Transaction, tournament: Tournament) -> Sequence[Round]:
    """Return the rounds whose deals may be shown, in order."""
    opened = select(Round).join(Tournament, col(Tournament.id) == Round.tournament_id)
    opened = opened.where(Round.tournament_id == tournament.id, col(Round.started_at).is_not(None))
    return tx.exec(opened.where(may_be_shown()).order_by(col(Round.number))).all()


class _Match(NamedTuple):
    """As much of a match's row as an export takes: those of a whole round are held at once."""

    id: int
    table_number: int
    state: MatchState
    attempts: Sequence[int]


class _Seat(NamedTuple):
    """As much of a seat's row as an export takes."""

    id: int
    position: int
    points: int
    faults: int


@dataclass(frozen=True, slots=True)
class _Seated:
    """A table and its entrants in the order of their places."""

    match: _Match
    seats: Sequence[_Seat]
    entrants: Sequence[EntrantInfo]

    @property
    def bots(self) -> list[str]:
        return [entrant.name for entrant in self.entrants]


@dataclass(frozen=True, slots=True)
class _Played(_Seated):
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
class _Begun:
    """A tournament as it was when its export began: all of it that can still change."""

    tournament: Tournament
    ruleset: StoredRuleset
    entrants: Sequence[EntrantInfo]
    rounds: Sequence[Round]
    """Those to be exported, in order."""
    open: Mapping[int, Sequence[_Seated]]
    """The tables of those that are being played, by the round's id."""
    sessions: Mapping[int, Sequence[Session]]
    """The finished sessions of these, by the match's id."""


def _begin(
    tx: Transaction, name: str, choose: Callable[[Transaction, Tournament], Sequence[Round]]
) -> _Begun:
    """Read the part of a tournament that can still change."""
    tournament = find_tournament(tx, name)
    entrants, rounds = list_entrants(tx, tournament), choose(tx, tournament)
    open_rounds = [round for round in rounds if round.state not in COUNTED]
    seated = {round.id: _with_entrants(tx, round, entrants) for round in open_rounds}
    sessions: dict[int, list[Session]] = {}
    for tables in seated.values():
        sessions |= _sessions_of(tx, [table.match.id for table in tables])
    ruleset = tx.get_one(StoredRuleset, tournament.ruleset_id)
    return _Begun(tournament, ruleset, entrants, rounds, seated, sessions)


def _sessions_of(tx: Transaction, match_ids: Sequence[int]) -> dict[int, list[Session]]:
    """Return the finished sessions of matches, by number."""
    rows = select(Session).where(among(Session.match_id, match_ids))
    sessions: dict[int, list[Session]] = {}
    for session in tx.exec(rows.order_by(col(Session.match_id), col(Session.number))):
        sessions.setdefault(session.match_id, []).append(session)
    return sessions


def _tables_of(storage: Storage, begun: _Begun, round: Round) -> Sequence[_Seated]:
    """Return the tables of a round."""
    if round.id in begun.open:
        return begun.open[round.id]
    with storage.read() as tx:
        return _with_entrants(tx, round, begun.entrants)


def _pages(begun: _Begun, tables: Sequence[_Seated]) -> Iterator[Sequence[_Seated]]:
    """Yield tables, some at a time."""
    at_once = max(1, PAGE // begun.tournament.sessions)
    return (tables[at : at + at_once] for at in range(0, len(tables), at_once))


def _played(storage: Storage, begun: _Begun, round: Round, tables: Sequence[_Seated]) -> Iterator[_Played]:
    """Yield these tables with what was played there, which one short transaction reads.

    What is read of rounds that are over, and of finished sessions, never changes.
    """
    match_ids = [table.match.id for table in tables]
    with storage.read() as tx:
        sessions = begun.sessions if round.id in begun.open else _sessions_of(tx, match_ids)
        ids = [session.id for match_id in match_ids for session in sessions.get(match_id, ())]
        records = select(SessionRecords.session_id, SessionRecords.records)
        packed = dict(tx.exec(records.where(among(SessionRecords.session_id, ids))).all())
        worth = _worth(tx, ids)
    for table in tables:
        of_it = sessions.get(table.match.id, ())
        weighed = [{"session": one.number, "worth": worth[one.id]} for one in of_it if worth.get(one.id)]
        yield _Played(table.match, table.seats, table.entrants, of_it, packed, weighed)


def _records(begun: _Begun, round: Round, table: _Played) -> Iterator[str]:
    """Yield the deal records of a match."""
    for session in table.sessions:
        for record in table.lean_records(session):
            yield json_line(
                full_record(
                    record,
                    ruleset=begun.ruleset.content,
                    tournament=begun.tournament.name,
                    round=round.number,
                    table=table.match.table_number,
                    session=session.number,
                    seats=[table.bots[position] for position in session.seating],
                )
            )


def _require_unchanged(storage: Storage, begun: _Begun) -> None:
    """Raise StateError if a round that was over when the export began is not as it was.

    Such rounds never change, so the database was restored, or replaced by another.
    """
    kept = select(Round.id, Round.state, Round.finished_at, Round.rated_after)
    with storage.read() as tx:
        now = {row[0]: tuple(row) for row in tx.exec(kept.where(Round.tournament_id == begun.tournament.id))}
    for round in begun.rounds:
        was = (round.id, round.state, round.finished_at, round.rated_after)
        if round.state in COUNTED and now.get(round.id) != was:
            name = begun.tournament.name
            reason = f"round {round.number} is not what it was when the export began"
            raise StateError(
                f"tournament {name} was restored while it was exported: {reason}; export it again"
            )


def export_lines(storage: Storage, name: str) -> Generator[str]:
    """Yield a tournament as JSON lines: its parts, and the deal records between them. Raise UnknownError.

    The seed is included once the tournament has ended.

    The export is the tournament as it was when the first line was read. One transaction then reads everything
    that can still change: the events, the standings, and how far open rounds have got. Everything else is
    read while it is written, a few tables in a transaction, so that none stays open however long a reader
    takes: rounds that are over and finished sessions never change. Raise StateError if they did nevertheless.
    """
    with naming_damage(name):
        parts = sha256()

        def written(part: Mapping[str, object]) -> str:
            parts.update(str(part["digest"]).encode())
            return json_line(part)

        def line(kind: type[Part], **content: object) -> str:
            return written(make_part(kind, **content))

        with storage.read() as tx:
            begun = _begin(tx, name, _in_rated_order)
            tournament, entrants = begun.tournament, begun.entrants
            events = events_of(tx, tournament)
            head = head_of(tx, tournament, now=None)
            whole = _tournament(tx, tournament, entrants, events)
            lines = current_standings(tx, tournament, entrants).lines
        yield written(head)
        yield line(TournamentPart, **whole)
        yield from map(written, events)
        for round in begun.rounds:
            tables = _tables_of(storage, begun, round)
            with storage.read() as tx:
                paired = _round(tx, tournament, round, tables)
            yield line(RoundPart, **paired)
            for seated in _pages(begun, tables):
                for table in _played(storage, begun, round, seated):
                    yield line(MatchPart, **_match(round, table))
                    yield from _records(begun, round, table)
                    if table.worth:
                        yield json_line(_reference(round, table.match, table.worth))
            if round.state in COUNTED:
                with storage.read() as tx:
                    ended = _round_end(tx, tournament, round, tables)
                yield line(RoundEndPart, **ended)
        _require_unchanged(storage, begun)
        names = {entrant.number: entrant.name for entrant in entrants}
        standings = [standing_object(standing, names[standing.entrant]) for standing in lines]
        yield line(EndPart, standings=standings, parts=parts.hexdigest())


def _tournament(
    tx: Transaction,
    tournament: Tournament,
    entrants: Sequence[EntrantInfo],
    events: Sequence[Mapping[str, object]],
) -> dict[str, object]:
    times = {str(event["event"]): event["at"] for event in reversed(events)}
    rows = {row.number: row for row in tx.exec(select(Entrant).where(Entrant.tournament_id == tournament.id))}
    return {
        "state": tournament.state.value,
        "rounds": tournament.rounds,
        "entrants": [
            {
                "number": entrant.number,
                "bot": entrant.name,
                "owner": owner_of(entrant.name),
                "entered_at_round": rows[entrant.number].entered_at_round,
                "withdrawn_after": rows[entrant.number].withdrawn_after,
                "absences": rows[entrant.number].absences,
            }
            for entrant in entrants
        ],
        "seed": tournament.seed if tournament.state in ENDED else None,
        "beacon_value": tournament.beacon_value,
        "created_at": _time(tournament.created_at),
        "started_at": times.get("started"),
        "finished_at": times.get("finished", times.get("cancelled", _time(tournament.finished_at))),
        **({"confirm": True} if tournament.confirm else {}),
    }


def _in_rated_order(tx: Transaction, tournament: Tournament) -> Sequence[Round]:
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


def _round(
    tx: Transaction, tournament: Tournament, round: Round, tables: Sequence[_Seated]
) -> dict[str, object]:
    return {
        "round": round.number,
        "state": round.state.value,
        "tables": [[entrant.number for entrant in table.entrants] for table in tables],
        "byes": list(round.byes),
        "free": round.free,
        "pool": [] if round.rated_after is None else _pool(tx, tournament, round, tables),
    }


def _pool(
    tx: Transaction, tournament: Tournament, round: Round, tables: Sequence[_Seated]
) -> list[dict[str, object]]:
    """Return the ratings that do not come from the tournament's earlier rounds, with their origins."""
    names = {seat.id: name for table in tables for seat, name in zip(table.seats, table.bots, strict=True)}
    changes = tx.exec(
        select(RatingChange)
        .join(Match, col(Match.id) == RatingChange.match_id)
        .where(Match.round_id == round.id)
    ).all()
    first = min((change.id for change in changes), default=0)
    earlier = aliased(RatingChange)
    before = (earlier.rating_id == RatingChange.rating_id, earlier.id < first)
    last = (
        select(func.max(earlier.id)).where(*before).scalar_subquery()
    )  # from an index, which reads no other
    latest = select(last).select_from(RatingChange).join(Match, col(Match.id) == RatingChange.match_id)
    ids = [id for id in tx.exec(latest.where(Match.round_id == round.id)) if id is not None]
    rows = tx.exec(
        select(RatingChange.rating_id, Tournament.name, Round.number, Match.table_number)
        .join(Match, col(Match.id) == RatingChange.match_id)
        .join(Round, col(Round.id) == Match.round_id)
        .join(Tournament, col(Tournament.id) == Match.tournament_id)
        .where(among(RatingChange.id, ids))
    )
    since = {
        rating_id: {"tournament": name, "round": number, "table": table}
        for rating_id, name, number, table in rows
    }
    ratings: list[dict[str, object]] = [
        {"bot": names[change.seat_id], "rating": change.before, "since": since.get(change.rating_id)}
        for change in sorted(changes, key=lambda change: change.id)
    ]
    return [rating for rating in ratings if _elsewhere(rating["since"], tournament)]


def _elsewhere(since: object, tournament: Tournament) -> bool:
    return not isinstance(since, dict) or since["tournament"] != tournament.name


def _match(round: Round, table: _Played) -> dict[str, object]:
    return {
        "round": round.number,
        "table": table.match.table_number,
        "state": table.match.state.value,
        "bots": table.bots,
        "points": [seat.points for seat in table.seats],
        "faults": [seat.faults for seat in table.seats],
        "sessions": [
            {
                "session": session.number,
                "seating": session.seating,
                "points": session.points,
                "faults": session.faults,
                "forfeit": session.forfeit,
                "forfeits": session.forfeits,
                "attempts": table.match.attempts[session.number - 1] if table.match.attempts else 1,
                "deals": len(session.deal_points),
                "digest": deals_digest(table.lean_records(session)),
                "signed": session.signed,
            }
            for session in table.sessions
        ],
    }


def _worth(tx: Transaction, session_ids: Sequence[int]) -> dict[int, object]:
    """Return what the cards of sessions were worth, as far as the present reference has said it."""
    rows = select(SessionReference.session_id, SessionReference.worth).where(
        among(SessionReference.session_id, session_ids), SessionReference.reference == REFERENCE.name
    )
    return dict(tx.exec(rows).all())


def _reference(round: Round, match: _Match, worth: Sequence[Mapping[str, object]]) -> dict[str, object]:
    return make_part(
        ReferencePart,
        round=round.number,
        table=match.table_number,
        reference=REFERENCE.name,
        hash=REFERENCE.hash,
        plays=REFERENCE.plays,
        parts=REFERENCE.parts,
        beta=round.beta,
        sessions=worth,
    )


def _round_end(
    tx: Transaction, tournament: Tournament, round: Round, tables: Sequence[_Seated]
) -> dict[str, object]:
    changes = {
        seat_id: {"before": before, "after": after}
        for seat_id, before, after in tx.exec(
            select(RatingChange.seat_id, RatingChange.before, RatingChange.after)
            .join(Match, col(Match.id) == RatingChange.match_id)
            .where(Match.round_id == round.id)
        )
    }
    compared = duplicate_points(tx, tournament, col(Round.id) == round.id) if tournament.duplicate else None
    return {
        "round": round.number,
        "rated_after": round.rated_after,
        "scores": None
        if compared is None
        else [compared.get((round.number, table.match.table_number)) for table in tables],
        "ratings": [
            [_change(changes, round, table, seat) for seat in table.seats]
            if table.match.state == MatchState.DONE
            else None
            for table in tables
        ]
        if tournament.rated
        else None,
    }


def _change(
    changes: Mapping[int, dict[str, float]], round: Round, table: _Seated, seat: _Seat
) -> dict[str, float]:
    if seat.id not in changes:
        where = f"round {round.number}, table {table.match.table_number}: {table.bots[seat.position]}"
        raise StateError(f"{where}: its rating change is missing; see arena rating rebuild")
    return changes[seat.id]


def _with_entrants(tx: Transaction, round: Round, entrants: Sequence[EntrantInfo]) -> list[_Seated]:
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
        seats = [_Seat(*row[4:8]) for row in there]
        tables.append(_Seated(_Match(*there[0][:4]), seats, [by_id[row[8]] for row in there]))
    return tables


def _time(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()

"""A tournament as one file that proves itself (docs/formats.md, "Exports"), or its deal records alone."""

import math
import zlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from sqlalchemy.exc import NoResultFound
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
from arena.results.standings.outcomes import duplicate_points, tables_of
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
    SessionReference,
    Tournament,
)
from arena.store.records import full_records, lean_records, may_be_shown, names_and_points, sessions_of
from arena.store.storage import Storage, Transaction
from arena.tournaments.entrants import EntrantInfo, list_entrants
from arena.tournaments.events import events_of, head_of
from arena.tournaments.overview import ENDED, find_tournament
from referee.plain import plain_line
from referee.reference.values import REFERENCE

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
    still to be played at other tables. Raise UnknownError if there is no such tournament.
    """
    with storage.read() as tx, naming_damage(name):
        tournament = find_tournament(tx, name)
        for round in shown_rounds(tx, tournament):
            for match in _matches(tx, round):
                names, _ = names_and_points(tx, match)
                for session in sessions_of(tx, match):
                    for record in full_records(tx, tournament, round.number, match, session, names):
                        yield json_line(record)
                    tx.expunge(session)


def _matches(tx: Transaction, round: Round) -> Sequence[Match]:
    return tx.exec(select(Match).where(Match.round_id == round.id).order_by(col(Match.table_number))).all()


def shown_rounds(tx: Transaction, tournament: Tournament) -> Sequence[Round]:
    """Return the rounds whose deals may be shown, in order."""
    opened = select(Round).join(Tournament, col(Tournament.id) == Round.tournament_id)
    opened = opened.where(Round.tournament_id == tournament.id, col(Round.started_at).is_not(None))
    return tx.exec(opened.where(may_be_shown()).order_by(col(Round.number))).all()


@dataclass(frozen=True, slots=True)
class _Seated:
    """A table and its entrants in the order of their places."""

    match: Match
    seats: Sequence[Seat]
    entrants: Sequence[EntrantInfo]

    @property
    def bots(self) -> list[str]:
        return [entrant.name for entrant in self.entrants]


def export_lines(storage: Storage, name: str) -> Generator[str]:
    """Yield a tournament as JSON lines: its parts, and the deal records between them. Raise UnknownError.

    The seed is included once the tournament has ended.
    """
    with storage.read() as tx, naming_damage(name):
        tournament = find_tournament(tx, name)
        entrants = list_entrants(tx, tournament)
        parts = sha256()

        def written(part: Mapping[str, object]) -> str:
            parts.update(str(part["digest"]).encode())
            return json_line(part)

        def line(kind: type[Part], **content: object) -> str:
            return written(make_part(kind, **content))

        events = events_of(tx, tournament)
        yield written(head_of(tx, tournament, now=None))
        yield line(TournamentPart, **_tournament(tx, tournament, entrants, events))
        yield from map(written, events)
        for round in _in_rated_order(tx, tournament, shown_rounds(tx, tournament)):
            tables = _with_entrants(tx, round, entrants)
            yield line(RoundPart, **_round(tx, tournament, round, tables))
            for table in tables:
                sessions = sessions_of(tx, table.match)
                yield line(MatchPart, **_match(tx, round, table, sessions))
                for session in sessions:
                    seats = tuple(table.bots)
                    for record in full_records(tx, tournament, round.number, table.match, session, seats):
                        yield json_line(record)
                    tx.expunge(session)
                if worth := _worth(tx, table.match):
                    yield json_line(_reference(round, table.match, worth))
            if round.state in COUNTED:
                yield line(RoundEndPart, **_round_end(tx, tournament, round, tables))
        names = {entrant.number: entrant.name for entrant in entrants}
        lines = current_standings(tx, tournament, entrants).lines
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


def _in_rated_order(tx: Transaction, tournament: Tournament, rounds: Sequence[Round]) -> list[Round]:
    """Return rounds in the order in which they were rated; continuous tournaments end theirs in any order."""
    if not FORMATS[tournament.format].in_batches:
        return list(rounds)
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
    here = select(RatingChange.rating_id).join(Match, col(Match.id) == RatingChange.match_id)
    latest = (
        select(func.max(RatingChange.id))
        .where(
            RatingChange.id < first,
            col(RatingChange.rating_id).in_(here.where(Match.round_id == round.id)),
        )
        .group_by(col(RatingChange.rating_id))
    )
    rows = tx.exec(
        select(RatingChange.rating_id, Tournament.name, Round.number, Match.table_number)
        .join(Match, col(Match.id) == RatingChange.match_id)
        .join(Round, col(Round.id) == Match.round_id)
        .join(Tournament, col(Tournament.id) == Match.tournament_id)
        .where(col(RatingChange.id).in_(latest))
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


def _match(tx: Transaction, round: Round, table: _Seated, sessions: Sequence[Session]) -> dict[str, object]:
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
                "digest": deals_digest(lean_records(tx, session)),
                "signed": session.signed,
            }
            for session in sessions
        ],
    }


def _worth(tx: Transaction, match: Match) -> list[dict[str, object]]:
    """Return what the cards of a match's sessions were worth, as far as the present reference has said it."""
    rows = (
        select(Session.number, SessionReference.worth)
        .join(SessionReference, col(SessionReference.session_id) == Session.id)
        .where(Session.match_id == match.id, SessionReference.reference == REFERENCE.name)
        .order_by(col(Session.number))
    )
    return [{"session": number, "worth": worth} for number, worth in tx.exec(rows) if worth]


def _reference(round: Round, match: Match, worth: Sequence[Mapping[str, object]]) -> dict[str, object]:
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
        change.seat_id: {"before": change.before, "after": change.after}
        for change in tx.exec(
            select(RatingChange)
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
    changes: Mapping[int, dict[str, float]], round: Round, table: _Seated, seat: Seat
) -> dict[str, float]:
    if seat.id not in changes:
        where = f"round {round.number}, table {table.match.table_number}: {table.bots[seat.position]}"
        raise StateError(f"{where}: its rating change is missing; see arena rating rebuild")
    return changes[seat.id]


def _with_entrants(tx: Transaction, round: Round, entrants: Sequence[EntrantInfo]) -> list[_Seated]:
    by_id = {entrant.entrant_id: entrant for entrant in entrants}
    return [
        _Seated(table.match, table.seats, [by_id[seat.entrant_id] for seat in table.seats])
        for table in tables_of(tx, round)
    ]


def _time(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()

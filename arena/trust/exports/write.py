"""A tournament as one file that proves itself (docs/formats.md, "Exports"), or its deal records alone."""

import zlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from hashlib import sha256

from sqlalchemy.exc import NoResultFound
from sqlalchemy.orm import aliased
from sqlmodel import col, func, select

from arena.core.canonical import deals_digest, json_line
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
    Tournament,
)
from arena.store.storage import Storage, Transaction, among
from arena.tournaments.events import events_of, head_of
from arena.tournaments.overview import ENDED
from arena.tournaments.roster import EntrantInfo
from arena.trust.exports.reading import (
    Begun,
    Played,
    Seated,
    SeatRow,
    begin,
    in_rated_order,
    pages,
    played,
    require_unchanged,
    shown_rounds,
    tables_of,
)
from referee.reading.plain import plain_line
from referee.records.record import full_record
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
    still to be played at other tables. They are read as ``export_lines`` reads them. Raise UnknownError if
    there is no such tournament, and StateError as it does.
    """
    with naming_damage(name):
        with storage.read() as tx:
            begun = begin(tx, name, shown_rounds)
        for round in begun.rounds:
            for seated in pages(begun, tables_of(storage, begun, round)):
                for table in played(storage, begun, round, seated):
                    yield from _records(begun, round, table)
        require_unchanged(storage, begun)


def _records(begun: Begun, round: Round, table: Played) -> Iterator[str]:
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
            begun = begin(tx, name, in_rated_order)
            tournament, entrants = begun.tournament, begun.entrants
            events = events_of(tx, tournament)
            head = head_of(tx, tournament, now=None)
            whole = _tournament(tx, tournament, entrants, events)
            lines = current_standings(tx, tournament, entrants).lines
        yield written(head)
        yield line(TournamentPart, **whole)
        yield from map(written, events)
        for round in begun.rounds:
            tables = tables_of(storage, begun, round)
            with storage.read() as tx:
                paired = _round(tx, tournament, round, tables)
            yield line(RoundPart, **paired)
            for seated in pages(begun, tables):
                for table in played(storage, begun, round, seated):
                    yield line(MatchPart, **_match(round, table))
                    yield from _records(begun, round, table)
                    if table.worth:
                        yield json_line(reference_part(round, table.match.table_number, table.worth))
            if round.state in COUNTED:
                with storage.read() as tx:
                    ended = _round_end(tx, tournament, round, tables)
                yield line(RoundEndPart, **ended)
        require_unchanged(storage, begun)
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


def _round(
    tx: Transaction, tournament: Tournament, round: Round, tables: Sequence[Seated]
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
    tx: Transaction, tournament: Tournament, round: Round, tables: Sequence[Seated]
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


def _match(round: Round, table: Played) -> dict[str, object]:
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


def reference_part(round: Round, table: int, worth: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """Return what the cards of a match were worth; ``worth`` is by session, as far as it is known."""
    return make_part(
        ReferencePart,
        round=round.number,
        table=table,
        reference=REFERENCE.name,
        hash=REFERENCE.hash,
        plays=REFERENCE.plays,
        parts=REFERENCE.parts,
        beta=round.beta,
        beta_after=round.weighed_after,
        sessions=worth,
    )


def _round_end(
    tx: Transaction, tournament: Tournament, round: Round, tables: Sequence[Seated]
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
    changes: Mapping[int, dict[str, float]], round: Round, table: Seated, seat: SeatRow
) -> dict[str, float]:
    if seat.id not in changes:
        where = f"round {round.number}, table {table.match.table_number}: {table.bots[seat.position]}"
        raise StateError(f"{where}: its rating change is missing; see arena rating rebuild")
    return changes[seat.id]


def _time(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()

"""A match for display: its finished sessions, their deals, and how it counts in its tournament."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlmodel import col, select

from arena.core.duplicate import DealScore, RoundBeside, all_beside, scores_at
from arena.errors import StateError, UnknownError
from arena.results.standings.outcomes import played_deals
from arena.store.models import Match, MatchState, Round, Seat, Session, StoredRuleset, Tournament
from arena.store.records import full_records, may_be_shown, names_and_points, sessions_of
from arena.store.storage import Storage, Transaction
from arena.tournaments.overview import find_tournament


class Counts:
    """A match with points and what counts; both are None as long as they are not known."""

    __slots__ = ()

    points: tuple[int, ...] | None
    scores: tuple[float, ...] | None

    @property
    def as_played(self) -> bool:
        """Whether nothing else counts than the points as they were played."""
        return self.scores is None or self.scores == self.points


class Counted(NamedTuple):
    """How a match that is done counts, by position; nothing in a duplicate round that goes on."""

    scores: tuple[float, ...] | None
    places: tuple[int, ...] | None


NOT_YET = Counted(None, None)


def count(
    points: Sequence[int],
    scores: Sequence[float | None],
    places: Sequence[int | None],
    *,
    duplicate: bool,
) -> Counted:
    """Return how a match that is done counts, from what is kept with its seats."""
    stored_places = tuple(place for place in places if place is not None)
    if stored_places:
        pairs = zip(points, scores, strict=True)
        return Counted(tuple(float(own if score is None else score) for own, score in pairs), stored_places)
    if duplicate:
        return NOT_YET
    return Counted(
        tuple(map(float, points)), tuple(1 + sum(other > own for other in points) for own in points)
    )


def deals_beside(storage: Storage, name: str, round: int) -> RoundBeside:
    """Return what the deals of a duplicate round that is over are compared with. Raise UnknownError.

    All sessions of the round are read, but the answer is small, and never changes.
    """
    with storage.read() as tx:
        tables = dict(played_deals(tx, find_tournament(tx, name), col(Round.number) == round))
    return all_beside([*tables.get(round, {}).values()])


def deal_scores_at(
    storage: Storage, name: str, round: int, table: int, beside: RoundBeside
) -> Mapping[int, Sequence[DealScore]]:
    """Return what the deals of a finished match in a duplicate tournament count, by session.

    ``beside`` is what they are compared with. Raise UnknownError.
    """
    which = (col(Round.number) == round, col(Match.table_number) == table)
    with storage.read() as tx:
        tables = dict(played_deals(tx, find_tournament(tx, name), *which)).get(round, {})
    sessions = tables.get(table, [])
    return {each.number: deals for each, deals in zip(sessions, scores_at(sessions, beside), strict=True)}


STILL_PLAYED = "other tables still have to play these deals; they are shown once the round is over"
"""Why a deal of a duplicate tournament is not shown."""


@dataclass(frozen=True, slots=True)
class PlayedSession:
    """A finished session."""

    session: int
    bots: tuple[str, ...]
    """By seat."""
    points: tuple[int, ...] | None
    """By seat; None if the deals are withheld, because points would tell which seat had good cards."""
    faults: tuple[int, ...]
    """By seat."""
    forfeits: tuple[int, ...]
    """The seats whose bots forfeited it, in order."""
    deal_points: tuple[tuple[int, ...], ...] | None
    """The points of each deal, by seat; None if ``points`` is."""
    finished_at: datetime


@dataclass(frozen=True, slots=True)
class PlayedMatch(Counts):
    """A match with its finished sessions, without their deals."""

    tournament: str
    round: int
    table: int
    state: str
    """``waiting``, ``running``, ``done``, ``failed`` or ``cancelled``."""
    problem: str | None
    """What last kept it from being played; None if nothing does."""
    bots: tuple[str, ...]
    """By position at the table."""
    points: tuple[int, ...] | None
    """By position at the table, as they were played; None while it is not done."""
    scores: tuple[float, ...] | None
    """By position, what counts: the points, in a duplicate tournament beside the same seat at other tables,
    with the organiser's corrections; None while it is not done, and until a duplicate round is over."""
    places: tuple[int, ...] | None
    """By position, the place at the table, from 1; None if ``scores`` is."""
    duplicate: bool
    """Whether its tournament is a duplicate one, all of whose tables play the same cards."""
    ruleset: Mapping[str, Any]
    """The whole ruleset."""
    sessions: tuple[PlayedSession, ...]
    """In order."""
    withheld: str | None
    """Why there are neither deals nor their points: other tables of a duplicate tournament still have to play
    these deals; None if they are shown."""


def played_match(storage: Storage, tournament: str, round: int, table: int) -> PlayedMatch:
    """Return a match by tournament, round and table; raise UnknownError if there is none."""
    with storage.read() as tx:
        place = _find(tx, tournament, round, table)
        match = place.match
        names, points = names_and_points(tx, match)
        is_open = are_shown(tx, match.round_id)
        done, duplicate = match.state == MatchState.DONE, place.tournament.duplicate
        seats = select(Seat.score, Seat.place).where(Seat.match_id == match.id).order_by(col(Seat.position))
        scores, places = zip(*tx.exec(seats), strict=True)
        counted = count(points, scores, places, duplicate=duplicate) if done else NOT_YET
        return PlayedMatch(
            tournament=place.tournament.name,
            round=place.round,
            table=match.table_number,
            state=match.state.value,
            problem=match.problem,
            bots=names,
            points=points if done else None,
            scores=counted.scores,
            places=counted.places,
            duplicate=duplicate,
            ruleset=tx.get_one(StoredRuleset, place.tournament.ruleset_id).content,
            sessions=tuple(_played_session(session, names, is_open) for session in sessions_of(tx, match)),
            withheld=None if is_open else STILL_PLAYED,
        )


def _played_session(session: Session, names: tuple[str, ...], is_open: bool) -> PlayedSession:
    """Return a session, with points only if its deals are shown."""
    return PlayedSession(
        session=session.number,
        bots=tuple(names[position] for position in session.seating),
        points=tuple(session.points) if is_open else None,
        faults=tuple(session.faults),
        forfeits=tuple(session.forfeits),
        deal_points=tuple(map(tuple, session.deal_points)) if is_open else None,
        finished_at=session.finished_at,
    )


def is_over(storage: Storage, tournament: str, round: int, table: int) -> bool:
    """Return whether a match is over; raise UnknownError if there is none."""
    with storage.read() as tx:
        return _find(tx, tournament, round, table).match.state in (MatchState.DONE, MatchState.CANCELLED)


def shown_deals(
    storage: Storage, tournament: str, round: int, table: int, number: int
) -> list[Mapping[str, Any]]:
    """Return the full records of a finished session's deals, for anybody.

    Raise UnknownError, and StateError while other tables still have to play these deals.
    """
    with storage.read() as tx:
        place = _find(tx, tournament, round, table)
        if not are_shown(tx, place.match.round_id):
            raise StateError(STILL_PLAYED)
        sessions = sessions_of(tx, place.match)
        numbered = [session for session in sessions if session.number == number]
        if not numbered:
            done = ", ".join(str(played.number) for played in sessions) or "none"
            raise UnknownError(f"no session {number} is done in this match; done: {done}")
        names, _ = names_and_points(tx, place.match)
        return [*full_records(tx, place.tournament, round, place.match, numbered[0], names)]


def are_shown(tx: Transaction, round_id: int) -> bool:
    """Return whether the deals of a round may be shown."""
    rounds = select(Round.id).join(Tournament, col(Tournament.id) == Round.tournament_id)
    return tx.exec(rounds.where(Round.id == round_id, may_be_shown())).first() is not None


class _Place(NamedTuple):
    tournament: Tournament
    round: int
    match: Match


def _find(tx: Transaction, tournament: str, round: int, table: int) -> _Place:
    """Return a match by its place. Raise UnknownError."""
    row = find_tournament(tx, tournament)
    match = tx.exec(
        select(Match)
        .join(Round, col(Round.id) == Match.round_id)
        .where(Match.tournament_id == row.id, Round.number == round, Match.table_number == table)
    ).first()
    if match is None:
        raise UnknownError(f"no round {round}, table {table} in tournament {tournament!r}")
    return _Place(row, round, match)

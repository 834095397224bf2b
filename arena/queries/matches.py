"""Matches that are done, newest first."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from heapq import merge
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Select,
    String,
    and_,
    bindparam,
    cast,
    exists,
    false,
    literal_column,
    or_,
    tuple_,
)
from sqlalchemy import select as select_columns
from sqlalchemy.orm import aliased
from sqlmodel import col, select

from arena.core.cursors import Key, make_cursor, read_cursor
from arena.errors import SpecError, UnknownError
from arena.queries.names import find_tournament, rulesets_called, versions_called
from arena.queries.sessions import Counts, count
from arena.store.models import (
    BotVersion,
    Entrant,
    Match,
    MatchState,
    RatingChange,
    Round,
    Seat,
    Session,
    StoredRuleset,
    Tournament,
)
from arena.store.storage import Ids, Storage, Transaction, among

NONE: Any = literal_column("0")
"""A literal, so that databases see that the index of seats with faults is enough."""

FEW = 20
"""A bot's matches in at most this many tournaments are looked up in each of them."""


class Result(StrEnum):
    """The result of a match for a bot, by what counts; as long as that is not known, it has none."""

    WON = "won"
    """Nobody was ahead."""
    LOST = "lost"
    """Somebody was ahead."""


@dataclass(frozen=True, slots=True)
class MatchQuery:
    """Which matches are wanted; None stands for all. ``owner/bot`` is all its versions."""

    bot: str | None = None
    """A bot that sat at the table."""
    opponent: str | None = None
    """Another bot that sat there."""
    ruleset: str | None = None
    """Name, ``name@version``, or the beginning of its hash."""
    tournament: str | None = None
    round: int | None = None
    """A round of the tournament."""
    since: datetime | None = None
    """Finished then or later."""
    until: datetime | None = None
    """Finished before."""
    faults: bool = False
    """Only matches with faults, of the bot if one is named."""
    result: Result | None = None
    """The result of the bot."""
    tests: bool = True
    """Whether test matches are wanted; where neither a bot nor a tournament is named, they never are."""


@dataclass(frozen=True, slots=True)
class MatchLine(Counts):
    """A match that is done; what it says about bots is by position at the table."""

    tournament: str
    round: int
    table: int
    ruleset: str
    """Name and version, as ``hong-kong@1``."""
    finished_at: datetime
    deals: int
    """Deals that were played."""
    bots: tuple[str, ...]
    """By position."""
    points: tuple[int, ...]
    """By position, as they were played."""
    scores: tuple[float, ...] | None
    """By position, what counts: the points, in a duplicate tournament beside the same seat at other tables,
    with the organiser's corrections; None until a duplicate round is over."""
    places: tuple[int, ...] | None
    """By position, the place at the table, from 1; None if ``scores`` is."""
    faults: tuple[int, ...]
    """By position."""
    forfeits: tuple[int, ...]
    """How many sessions each of them forfeited, by position."""
    changes: tuple[float, ...] | None
    """Changes of Elo, by position; None if the match is not rated, or its round is not closed yet."""


class MatchPlace(NamedTuple):
    """Where and when a match was played."""

    tournament: str
    round: int
    table: int
    finished_at: datetime


@dataclass(frozen=True, slots=True)
class MatchPage:
    """A page of matches."""

    matches: tuple[MatchLine, ...]
    """Those that are done, the newest first."""
    next: str | None
    """Cursor of the next page; None if there is none."""


def newest_of(tx: Transaction, version_ids: Sequence[int], limit: int) -> tuple[MatchLine, ...]:
    """Return the newest matches of these versions of a bot."""
    keys = _keys(tx, _way_of(aliased(Seat), version_ids), [col(Match.state) == MatchState.DONE], None, limit)
    return tuple(match_lines(tx, [key[-1] for key in keys]))


def newest_between(
    tx: Transaction, version_ids: Sequence[int], opponents: Collection[int], limit: int
) -> list[int]:
    """Return the ids of the newest matches of these versions of a bot with some of another one."""
    own = aliased(Seat)
    met = exists(col(Seat.id)).where(*_sits(Seat, own, opponents))
    conditions = [col(Match.state) == MatchState.DONE, met]
    return [key[-1] for key in _keys(tx, _way_of(own, version_ids), conditions, None, limit)]


def newest_ids(tx: Transaction, query: MatchQuery, limit: int) -> list[int]:
    """Return the ids of the newest matches. Raise the errors of ``find_matches``."""
    return [key[-1] for key in _keys(tx, *_plan(tx, query), None, limit)]


def find_places(storage: Storage, query: MatchQuery, limit: int) -> list[MatchPlace]:
    """Return where the newest matches were played, newest first. Raise the errors of ``find_matches``."""
    with storage.read() as tx:
        match_ids = newest_ids(tx, query, limit)
        rows = (
            select_columns(Match.id, Tournament.name, Round.number, Match.table_number, Match.finished_at)  # type: ignore[call-overload]
            .join(Round, col(Round.id) == Match.round_id)
            .join(Tournament, col(Tournament.id) == Match.tournament_id)
            .where(among(Match.id, match_ids))
        )
        by_match = {match_id: MatchPlace(*place) for match_id, *place in tx.execute(rows)}
        return [by_match[match_id] for match_id in match_ids]


class _Way(NamedTuple):
    """How to find matches in order: an index leads to those of each selection."""

    selections: list[Select[Any]]
    order: tuple[Any, ...]
    """Columns whose values descend from one match to the next; the last one is the match's id."""
    kinds: tuple[type, ...]
    """The types of these columns."""


def find_matches(
    storage: Storage, query: MatchQuery, limit: int = 50, cursor: str | None = None
) -> MatchPage:
    """Return matches that are done, newest first.

    The newest is the one that was paired last; without a bot, a tournament or faults it is the one that
    finished last. Raise UnknownError for names, and SpecError for a cursor of another list or if a bot is
    missing.
    """
    if query.bot is None and (query.opponent is not None or query.result is not None):
        raise SpecError("bot", "missing; opponent and result need it")
    if query.tournament is None and query.round is not None:
        raise SpecError("tournament", "missing; round needs it")
    if query.since is not None and query.until is not None and query.since >= query.until:
        raise SpecError("until", f"{query.until.isoformat()} is not after {query.since.isoformat()}")
    with storage.read() as tx:
        way, conditions = _plan(tx, query)
        after = None if cursor is None else read_cursor(query, cursor, *way.kinds)
        keys = _keys(tx, way, conditions, after, limit + 1)
        lines = tuple(match_lines(tx, [key[-1] for key in keys[:limit]]))
        return MatchPage(lines, make_cursor(query, keys[limit - 1]) if len(keys) > limit else None)


def _plan(tx: Transaction, query: MatchQuery) -> tuple[_Way, list[Any]]:
    """Return the way to the matches that were asked for, and the conditions on it."""
    own = aliased(Seat)
    return _way(tx, query, own), [*_conditions(tx, query, own)]


def _way(tx: Transaction, query: MatchQuery, own: Any) -> _Way:
    if query.bot is not None:
        if seats := _entered(tx, query, own):
            return _Way([_seated(own).where(seat) for seat in seats], (own.match_id,), (int,))
        return _way_of(own, [version.id for version in versions_called(tx, query.bot)])
    if query.faults:
        return _Way([_seated(own).where(own.faults > NONE).distinct()], (own.match_id,), (int,))
    if query.tournament is not None:
        order: tuple[Any, ...] = (col(Match.round_id), col(Match.table_number), col(Match.id))
        return _Way([select_columns(*order)], order, (int, int, int))
    order = (col(Match.finished_at), col(Match.id))
    return _Way([*_under(tx, query, select_columns(*order))], order, (datetime, int))


def _way_of(own: Any, version_ids: Sequence[int]) -> _Way:
    """Return the way to the matches in which these versions sit in ``own`` seat."""
    seats = [_seated(own).where(own.version_id == version_id) for version_id in version_ids]
    return _Way(seats, (own.match_id,), (int,))


def _entered(tx: Transaction, query: MatchQuery, own: Any) -> list[ColumnElement[bool]]:
    """Return conditions on the bot's seats in the tournaments that were asked for, if these are few.

    If they are many, hardly any of the bot's matches are in others.
    """
    if query.tournament is None and query.ruleset is None:
        return []
    versions = [version.id for version in versions_called(tx, query.bot or "")]
    entered = select(Entrant.id).where(col(Entrant.version_id).in_(versions))
    if query.tournament is not None:
        entered = entered.where(Entrant.tournament_id == find_tournament(tx, query.tournament))
    if query.ruleset is not None:
        entered = entered.join(Tournament, col(Tournament.id) == Entrant.tournament_id)
        entered = entered.where(col(Tournament.ruleset_id).in_(rulesets_called(tx, query.ruleset)))
    rows_found = tx.exec(entered.limit(FEW + 1)).all()
    if not rows_found:
        return [false()]
    return [own.entrant_id == entrant for entrant in rows_found] if len(rows_found) <= FEW else []


def _under(tx: Transaction, query: MatchQuery, rows: Select[Any]) -> Iterator[Select[Any]]:
    """Yield the matches under each ruleset that was asked for, or all."""
    if query.ruleset is None:
        yield rows
        return
    for ruleset_id in rulesets_called(tx, query.ruleset):
        yield rows.where(col(Match.ruleset_id) == ruleset_id)


def _seated(own: Any) -> Select[Any]:
    return select_columns(own.match_id).join(Match, col(Match.id) == own.match_id)


def _conditions(tx: Transaction, query: MatchQuery, own: Any) -> Iterator[Any]:
    """Yield the conditions on Match and on the bot's own seat."""
    yield col(Match.state) == MatchState.DONE
    if not query.tests or (query.bot is None and query.tournament is None):
        its = (col(Tournament.id) == Match.tournament_id, col(Tournament.test))
        yield ~exists(col(Tournament.id)).where(*its)
    if query.since is not None:
        yield col(Match.finished_at) >= query.since
    if query.until is not None:
        yield col(Match.finished_at) < query.until
    if query.tournament is not None:
        tournament_id = find_tournament(tx, query.tournament)
        yield col(Match.tournament_id) == tournament_id
        if query.bot is None and query.faults:
            yield own.match_id.between(*_ends(tx, tournament_id))
        if query.round is not None:
            yield col(Match.round_id) == _find_round(tx, tournament_id, query)
    if query.ruleset is not None:
        yield col(Match.ruleset_id).in_(rulesets_called(tx, query.ruleset))
    if query.bot is not None and query.faults:
        yield own.faults > NONE
    if query.opponent is not None:
        opponents = {version.id for version in versions_called(tx, query.opponent)}
        other = aliased(Seat)
        there = [*_sits(other, own, opponents)]
        if not opponents.isdisjoint(version.id for version in versions_called(tx, query.bot or "")):
            there.append(other.id != own.id)  # without this, an index answers both conditions
        yield exists(col(other.id)).where(*there)
    if query.result is not None:
        other = aliased(Seat)
        better = exists(other.id).where(other.match_id == own.match_id, other.points > own.points)  # type: ignore[arg-type]
        lost = query.result is Result.LOST
        its = (col(Tournament.id) == Match.tournament_id, col(Tournament.duplicate))
        by_points = and_(own.place.is_(None), ~exists(col(Tournament.id)).where(*its))
        by_place = own.place > 1 if lost else own.place == 1
        yield or_(by_place, and_(by_points, better if lost else ~better))


def _ends(tx: Transaction, tournament_id: int) -> tuple[int, int]:
    """Return the ids of a tournament's first and last match that are done; ids ascend from round to round.

    Between these, its faults are found without going through those of everything that was played later.
    """
    ids = select(Match.id).where(Match.tournament_id == tournament_id, Match.state == MatchState.DONE)
    places = (col(Match.round_id), col(Match.table_number))
    first = tx.exec(ids.order_by(*places).limit(1)).first()
    last = tx.exec(ids.order_by(*(place.desc() for place in places)).limit(1)).first()
    return first or 0, last or 0


def _sits(seat: Any, own: Any, version_ids: Collection[int]) -> Iterator[ColumnElement[bool]]:
    """Yield the conditions that one of these versions sits in a seat at the table of a bot's own seat."""
    yield seat.match_id == own.match_id
    yield seat.version_id.in_(version_ids)


def _find_round(tx: Transaction, tournament_id: int, query: MatchQuery) -> int:
    """Return the id of the round that was asked for; raise UnknownError."""
    this = select(Round.id).where(Round.tournament_id == tournament_id, Round.number == query.round)
    row = tx.exec(this).first()
    if row is None:
        raise UnknownError(f"{query.tournament} has no round {query.round} yet")
    return row


def _keys(
    tx: Transaction, way: _Way, conditions: Sequence[ColumnElement[bool]], after: Key | None, limit: int
) -> list[Key]:
    """Return the keys of the next matches, in order."""
    keys = []
    for selection in way.selections:
        rows = selection.where(*conditions)
        if after is not None:
            rows = rows.where(tuple_(*way.order) < tuple_(*after))
        rows = rows.order_by(*(column.desc() for column in way.order)).limit(limit)
        keys.append([tuple(row) for row in tx.execute(rows)])
    return list(islice(dict.fromkeys(merge(*keys, reverse=True)), limit))


def match_lines(tx: Transaction, match_ids: Sequence[int]) -> Iterator[MatchLine]:
    """Yield matches by their ids, in this order."""
    these = {"matches": match_ids}
    seats: dict[int, list[Any]] = {}
    for seat in tx.connection().execute(_seats(), these):
        seats.setdefault(seat.match_id, []).append(seat)
    forfeits = Counter(
        (row.match_id, row.seating[seat])
        for row in tx.connection().execute(_forfeits(), these)
        for seat in row.forfeits
    )
    by_match = {row.id: row for row in tx.connection().execute(_displayed(), these)}
    for match_id in match_ids:
        row, there = by_match[match_id], seats[match_id]
        points, changes = tuple(seat.points for seat in there), tuple(seat.change for seat in there)
        scores, places = [seat.score for seat in there], [seat.place for seat in there]
        counted = count(points, scores, places, duplicate=row.duplicate)
        yield MatchLine(
            tournament=row.tournament,
            round=row.round,
            table=row.table_number,
            ruleset=f"{row.ruleset}@{row.version}",
            finished_at=row.finished_at,
            deals=row.deals_done,
            bots=tuple(seat.bot for seat in there),
            points=points,
            scores=counted.scores,
            places=counted.places,
            faults=tuple(seat.faults for seat in there),
            forfeits=tuple(forfeits[match_id, position] for position in range(len(there))),
            changes=None if None in changes else changes,
        )


THESE = bindparam("matches", type_=Ids())
"""Matches by their ids, in statements that are made once, because most pages use them."""


@cache
def _displayed() -> Select[Any]:
    """Select what is displayed of matches."""
    columns: tuple[Any, ...] = (
        *(Match.id, Match.table_number, Match.finished_at, Match.deals_done, Tournament.duplicate),
        *(col(Tournament.name).label("tournament"), col(Round.number).label("round")),
        *(col(StoredRuleset.name).label("ruleset"), StoredRuleset.version),
    )
    return (
        select_columns(*columns)
        .join(Round, col(Round.id) == Match.round_id)
        .join(Tournament, col(Tournament.id) == Match.tournament_id)
        .join(StoredRuleset, col(StoredRuleset.id) == Tournament.ruleset_id)
        .where(among(Match.id, THESE))
    )


@cache
def _seats() -> Select[Any]:
    """Select name, points, what counts, faults and change of Elo of each position."""
    columns: tuple[Any, ...] = (
        *(Seat.match_id, Seat.points, Seat.score, Seat.place, Seat.faults),
        *(col(BotVersion.name).label("bot"), (col(RatingChange.after) - RatingChange.before).label("change")),
    )
    return (
        select_columns(*columns)
        .join(BotVersion, col(BotVersion.id) == Seat.version_id)
        .outerjoin(
            RatingChange,
            and_(col(RatingChange.match_id) == Seat.match_id, col(RatingChange.seat_id) == Seat.id),
        )
        .where(among(Seat.match_id, THESE))
        .order_by(col(Seat.match_id), col(Seat.position))
    )


@cache
def _forfeits() -> Select[Any]:
    """Select the seats that forfeited sessions, with the seatings."""
    columns: tuple[Any, ...] = (Session.match_id, Session.seating, Session.forfeits)
    return select_columns(*columns).where(
        among(Session.match_id, THESE), cast(col(Session.forfeits), String) != "[]"
    )

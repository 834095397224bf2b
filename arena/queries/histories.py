"""The history of a bot's Elo and strength, across its versions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import cache
from heapq import merge
from itertools import islice
from operator import itemgetter
from typing import Any, NamedTuple

from sqlalchemy import Select, bindparam
from sqlalchemy import select as select_columns
from sqlmodel import col, func, select

from arena.core.cursors import LARGEST, make_cursor, read_cursor
from arena.queries.names import NamedPool, choose_pools, versions_called
from arena.results.strength.pools import Pool
from arena.results.strength.scale import figures
from arena.store.models import (
    BotVersion,
    Match,
    Rating,
    RatingChange,
    Round,
    Strength,
    StrengthPoint,
    Tournament,
)
from arena.store.storage import Ids, Storage, Transaction, among

NEWEST = (LARGEST, LARGEST)
"""The ids, of both kinds, before which lines are wanted if all are."""


class HistoryKind(StrEnum):
    """What a line of a history is about."""

    ELO = "elo"
    """A match changed the rating."""
    STRENGTH = "strength"
    """A fit changed the strength; it stands until the next such line."""


@dataclass(frozen=True, slots=True)
class HistoryQuery:
    """Which history is wanted, and in which pools; None stands for all."""

    bot: str
    """``owner/bot``, with all its versions, or one of them."""
    ruleset: str | None = None
    """Name, ``name@version``, or the beginning of its hash."""
    table_size: int | None = None
    kind: HistoryKind | None = None


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """A change of Elo by a match, or of the strength by a fit; the fields of the other are None."""

    at: datetime
    """When the round was closed, or the pool fitted."""
    kind: HistoryKind
    """``elo``: a match changed the rating. ``strength``: a fit changed the strength."""
    bot: str
    """Which version."""
    ruleset: str
    """Name and version, as ``hong-kong@1``."""
    table_size: int
    tournament: str | None
    """This and what follows up to ``change``: None for a strength."""
    round: int | None
    table: int | None
    rating: float | None
    """Elo after the match."""
    change: float | None
    """By how much the match changed it."""
    figure: float | None
    """Strength on a scale like that of Elo, above the present anchor; this and what follows: None for Elo."""
    figure_low: float | None
    """The lower end of its 95 % interval."""
    figure_high: float | None
    """The upper end."""
    deals: int | None
    """How many deals the strength is based on."""


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """A page of a bot's history."""

    history: tuple[HistoryLine, ...]
    """The latest change first."""
    next: str | None
    """Cursor of the next page; None if there is none."""


class _Entry(NamedTuple):
    """What a line is about, with its place; lists of these are in descending order."""

    at: datetime
    is_strength: bool
    id: int
    rated: "_Rated"
    values: Sequence[Any]
    """Of a match: Elo before and after, and the match's id; of a fit: strength, error, deals, deviation."""


class _Rated(NamedTuple):
    """A version in a pool."""

    rating_id: int
    version_id: int
    name: str
    pool: NamedPool


def history(
    storage: Storage, query: HistoryQuery, limit: int = 100, cursor: str | None = None
) -> HistoryPage:
    """Return the changes of Elo and strength of a bot's versions, newest first.

    Raise SpecError for a malformed name or a cursor of another list, UnknownError.
    """
    with storage.read() as tx:
        before = [*NEWEST] if cursor is None else [*read_cursor(query, cursor, int, int)]
        lists = [
            list_
            for rated in _rated(tx, query, versions_called(tx, query.bot))
            for list_ in _entries(tx, query, rated, before, limit + 1)
        ]
        entries = list(islice(merge(*lists, key=_place, reverse=True), limit + 1))
        lines = _lines(tx, entries[:limit])
    for entry in entries[:limit]:
        before[entry.is_strength] = min(before[entry.is_strength], entry.id)
    return HistoryPage(lines, make_cursor(query, tuple(before)) if len(entries) > limit else None)


def latest(
    storage: Storage, query: HistoryQuery, limits: Mapping[HistoryKind, int]
) -> tuple[HistoryLine, ...]:
    """Return the newest lines, up to the limit of each kind, newest first.

    Raise SpecError for a malformed name, UnknownError.
    """
    entries: list[_Entry] = []
    with storage.read() as tx:
        all_rated = _rated(tx, query, versions_called(tx, query.bot))
        for kind, limit in limits.items():
            of_kind = replace(query, kind=kind)
            lists = [list_ for rated in all_rated for list_ in _entries(tx, of_kind, rated, NEWEST, limit)]
            entries += islice(merge(*lists, key=_place, reverse=True), limit)
        return _lines(tx, sorted(entries, key=_place, reverse=True))


_place = itemgetter(0, 1, 2)


def _rated(tx: Transaction, query: HistoryQuery, versions: Sequence[BotVersion]) -> list[_Rated]:
    """Return the ratings of versions in the pools that were asked for, in the order of the versions."""
    names = {version.id: version.name for version in versions}
    rated: Any = select(Rating.version_id, Rating.id, Rating.ruleset_id, Rating.table_size)
    of_versions = tx.exec(rated.where(col(Rating.version_id).in_(names))).all()
    ratings = {(version_id, Pool(*pool)): rating_id for version_id, rating_id, *pool in of_versions}
    pools = choose_pools(tx, query.ruleset, query.table_size, [pool for _, pool in ratings])
    return [
        _Rated(ratings[version_id, pool.pool], version_id, name, pool)
        for version_id, name in names.items()
        for pool in pools
        if (version_id, pool.pool) in ratings
    ]


def _entries(
    tx: Transaction, query: HistoryQuery, rated: _Rated, before: Sequence[int], limit: int
) -> Iterator[list[_Entry]]:
    """Yield the changes of Elo of a version in a pool before an id, and those of its strength."""
    connection = tx.connection()
    if query.kind is not HistoryKind.STRENGTH:
        parameters = {"rating": rated.rating_id, "before": before[False], "most": limit}
        rows = connection.execute(_newest_changes(), parameters).all()
        yield [_Entry(at, False, id, rated, values) for id, at, *values in rows]
    if query.kind is not HistoryKind.ELO:
        pool = rated.pool.pool._asdict()
        parameters = {"version": rated.version_id, **pool, "before": before[True], "most": limit}
        rows = connection.execute(_newest_points(), parameters).all()
        yield [_Entry(at, True, id, rated, values) for id, at, *values in rows]


@cache
def _newest_changes() -> Select[Any]:
    """Select changes of a rating before an id; made once, because every page of a bot uses it."""
    columns: tuple[Any, ...] = (
        RatingChange.id,
        RatingChange.created_at,
        RatingChange.before,
        RatingChange.after,
        RatingChange.match_id,
    )
    changes = select_columns(*columns).where(
        col(RatingChange.rating_id) == bindparam("rating"), col(RatingChange.id) < bindparam("before")
    )
    return changes.order_by(col(RatingChange.id).desc()).limit(bindparam("most"))


def above_present_anchor() -> Any:
    """Return the value of a point of a history, above the anchor of the latest fit of its bot."""
    same = (
        col(Strength.version_id) == StrengthPoint.version_id,
        col(Strength.ruleset_id) == StrengthPoint.ruleset_id,
        col(Strength.table_size) == StrengthPoint.table_size,
    )
    shift = select_columns(col(Strength.shift)).where(*same).correlate(StrengthPoint).scalar_subquery()
    return col(StrengthPoint.value) - func.coalesce(shift, 0.0)


@cache
def _newest_points() -> Select[Any]:
    """Select the strengths of a version in a pool before an id."""
    columns: tuple[Any, ...] = (
        StrengthPoint.id,
        StrengthPoint.fitted_at,
        above_present_anchor(),
        StrengthPoint.error,
        StrengthPoint.deals,
        StrengthPoint.deviation,
    )
    points = select_columns(*columns).where(
        col(StrengthPoint.version_id) == bindparam("version"),
        col(StrengthPoint.ruleset_id) == bindparam("ruleset_id"),
        col(StrengthPoint.table_size) == bindparam("table_size"),
        col(StrengthPoint.id) < bindparam("before"),
    )
    return points.order_by(col(StrengthPoint.id).desc()).limit(bindparam("most"))


def _lines(tx: Transaction, entries: Sequence[_Entry]) -> tuple[HistoryLine, ...]:
    """Return lines; only for these is looked up where the matches were played."""
    match_ids = [e.values[-1] for e in entries if not e.is_strength]
    rows = tx.connection().execute(_where_played(), {"matches": match_ids}).all() if match_ids else ()
    played = {row[0]: row[1:] for row in rows}
    return tuple(_fitted(e) if e.is_strength else _changed(e, *played[e.values[-1]]) for e in entries)


@cache
def _where_played() -> Select[Any]:
    """Select tournament, round and table of matches."""
    columns: tuple[Any, ...] = (Match.id, Tournament.name, Round.number, Match.table_number)
    return (
        select_columns(*columns)
        .join(Round, col(Round.id) == Match.round_id)
        .join(Tournament, col(Tournament.id) == Match.tournament_id)
        .where(among(Match.id, bindparam("matches", type_=Ids())))
    )


def _changed(entry: _Entry, tournament: str, round: int, table: int) -> HistoryLine:
    before, after, _ = entry.values
    return HistoryLine(
        at=entry.at,
        kind=HistoryKind.ELO,
        bot=entry.rated.name,
        ruleset=entry.rated.pool.ruleset,
        table_size=entry.rated.pool.table_size,
        tournament=tournament,
        round=round,
        table=table,
        rating=after,
        change=after - before,
        figure=None,
        figure_low=None,
        figure_high=None,
        deals=None,
    )


def _fitted(entry: _Entry) -> HistoryLine:
    value, error, deals, deviation = entry.values
    middle, low, high = figures(value, error, deviation)
    return HistoryLine(
        at=entry.at,
        kind=HistoryKind.STRENGTH,
        bot=entry.rated.name,
        ruleset=entry.rated.pool.ruleset,
        table_size=entry.rated.pool.table_size,
        tournament=None,
        round=None,
        table=None,
        rating=None,
        change=None,
        figure=middle,
        figure_low=low,
        figure_high=high,
        deals=deals,
    )

"""The history of a bot's Elo and strength, across its versions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from heapq import merge
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import select as select_columns
from sqlmodel import col, select

from arena.models import Match, Rating, RatingChange, Round, StrengthPoint, Tournament
from arena.queries.cursors import make_cursor, read_cursor
from arena.queries.names import versions_called
from arena.queries.pools import NamedPool, choose_pools
from arena.ratings.elo import TWO_SIDED
from arena.storage import Storage, Transaction
from arena.strength.kept import Pool
from arena.strength.scale import figure

LAST = 2**31 - 1
"""As much as any id can be, in PostgreSQL too."""

NEWEST = (LAST, LAST)
"""Before what lines are wanted, of both kinds, if all are."""


class HistoryKind(StrEnum):
    """What a line of a history is about."""

    ELO = "elo"
    """A match changed the rating."""
    STRENGTH = "strength"
    """A fit changed the strength; it stands until the next such line."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Whose history, of what, in which pools; None: all."""

    bot: str
    """``owner/bot``, with all its versions, or one of them."""
    ruleset: str | None = None
    """Name, ``name@version``, or the beginning of its hash."""
    table_size: int | None = None
    kind: HistoryKind | None = None


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """A change of Elo by a match, or of the strength by a fit; what the other has is None."""

    at: datetime
    """When the round was closed, or the pool fitted."""
    kind: HistoryKind
    name: str
    """``owner/bot@version``."""
    ruleset: str
    """Name and version, as ``hong-kong@1``."""
    table_size: int
    tournament: str | None
    round: int | None
    table: int | None
    rating: float | None
    """Elo after the match."""
    change: float | None
    """What the match changed."""
    figure: float | None
    """Strength on a scale like that of Elo."""
    figure_low: float | None
    """The lower end of its 95 % interval."""
    figure_high: float | None
    """The upper end."""
    deals: int | None
    """Deals that the strength comes from."""


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """A page of a history, newest first."""

    lines: tuple[HistoryLine, ...]
    next: str | None
    """Cursor of the next page; None: there is none."""


class _Told(NamedTuple):
    """A line with its place: lists of these fall."""

    at: datetime
    is_strength: bool
    id: int
    line: HistoryLine


def history(storage: Storage, asked: Asked, limit: int = 100, cursor: str | None = None) -> HistoryPage:
    """Return how Elo and strength of a bot's versions went, newest first.

    Raise SpecError for no such name or a cursor of another list, UnknownError.
    """
    with storage.read() as tx:
        before = [*NEWEST] if cursor is None else [*read_cursor(asked, cursor, int, int)]
        lists = [
            found
            for version in versions_called(tx, asked.bot)
            for pool in _pools(tx, asked, version.id)
            for found in _both(tx, asked, version.id, version.name, pool, before, limit + 1)
        ]
        told = list(islice(merge(*lists, key=lambda one: one[:3], reverse=True), limit + 1))
    for one in told[:limit]:
        before[one.is_strength] = min(before[one.is_strength], one.id)
    next = make_cursor(asked, tuple(before)) if len(told) > limit else None
    return HistoryPage(tuple(one.line for one in told[:limit]), next)


def latest(storage: Storage, asked: Asked, limits: Mapping[HistoryKind, int]) -> tuple[HistoryLine, ...]:
    """Return so many of the newest lines of each kind, the newest first.

    Raise SpecError for no such name, UnknownError.
    """
    told: list[_Told] = []
    with storage.read() as tx:
        versions = versions_called(tx, asked.bot)
        pools = {version.id: _pools(tx, asked, version.id) for version in versions}
        for kind, limit in limits.items():
            lists = [
                found
                for version in versions
                for pool in pools[version.id]
                for found in _both(
                    tx, replace(asked, kind=kind), version.id, version.name, pool, NEWEST, limit
                )
            ]
            told += islice(merge(*lists, key=lambda one: one[:3], reverse=True), limit)
    return tuple(one.line for one in sorted(told, key=lambda one: one[:3], reverse=True))


def _pools(tx: Transaction, asked: Asked, version_id: int) -> list[NamedPool]:
    """Return the pools in which a version is rated, of those that are asked for."""
    rated = select(Rating.ruleset_id, Rating.table_size).where(Rating.version_id == version_id)
    own = [Pool(*row) for row in tx.exec(rated)]
    return choose_pools(tx, asked.ruleset, asked.table_size, own)


def _both(
    tx: Transaction,
    asked: Asked,
    version_id: int,
    name: str,
    pool: NamedPool,
    before: Sequence[int],
    limit: int,
) -> Iterator[list[_Told]]:
    """Yield the changes of Elo of a version in a pool before an id, and those of its strength."""
    if asked.kind is not HistoryKind.STRENGTH:
        yield [*_changes(tx, version_id, name, pool, before[False], limit)]
    if asked.kind is not HistoryKind.ELO:
        yield [*_points(tx, version_id, name, pool, before[True], limit)]


def _changes(
    tx: Transaction, version_id: int, name: str, pool: NamedPool, before: int, limit: int
) -> Iterator[_Told]:
    rating = select(Rating.id).where(
        Rating.version_id == version_id,
        Rating.ruleset_id == pool.ruleset_id,
        Rating.table_size == pool.table_size,
    )
    columns: tuple[Any, ...] = (RatingChange, Tournament.name, Round.number, Match.table_number)
    rows = (
        select_columns(*columns)
        .join(Match, col(Match.id) == RatingChange.match_id)
        .join(Round, col(Round.id) == Match.round_id)
        .join(Tournament, col(Tournament.id) == Match.tournament_id)
        .where(col(RatingChange.rating_id).in_(tx.exec(rating).all()), col(RatingChange.id) < before)
        .order_by(col(RatingChange.id).desc())
        .limit(limit)
    )
    for row, tournament, round, table in tx.execute(rows):
        line = HistoryLine(
            at=row.created_at,
            kind=HistoryKind.ELO,
            name=name,
            ruleset=pool.ruleset,
            table_size=pool.table_size,
            tournament=tournament,
            round=round,
            table=table,
            rating=row.after,
            change=row.after - row.before,
            figure=None,
            figure_low=None,
            figure_high=None,
            deals=None,
        )
        yield _Told(row.created_at, False, row.id, line)


def _points(
    tx: Transaction, version_id: int, name: str, pool: NamedPool, before: int, limit: int
) -> Iterator[_Told]:
    points = select(StrengthPoint).where(
        StrengthPoint.version_id == version_id,
        StrengthPoint.ruleset_id == pool.ruleset_id,
        StrengthPoint.table_size == pool.table_size,
        StrengthPoint.id < before,
    )
    for row in tx.exec(points.order_by(col(StrengthPoint.id).desc()).limit(limit)):
        off = TWO_SIDED * row.error
        line = HistoryLine(
            at=row.fitted_at,
            kind=HistoryKind.STRENGTH,
            name=name,
            ruleset=pool.ruleset,
            table_size=pool.table_size,
            tournament=None,
            round=None,
            table=None,
            rating=None,
            change=None,
            figure=figure(row.value, row.deviation),
            figure_low=figure(row.value - off, row.deviation),
            figure_high=figure(row.value + off, row.deviation),
            deals=row.deals,
        )
        yield _Told(row.fitted_at, True, row.id, line)

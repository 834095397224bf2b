"""Leaderboards: the best of a pool, and those around a bot."""

import json
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from typing import Any

from sqlalchemy import Select, bindparam
from sqlalchemy import select as select_columns
from sqlmodel import col

from arena.core.cursors import make_cursor, read_cursor
from arena.core.luck import Luck, LuckLine
from arena.errors import SpecError, UnknownError
from arena.queries.board import Before, CutPool, Leaderboard, LeaderboardLine
from arena.queries.histories import above_present_anchor
from arena.queries.names import NamedPool, choose_pools, placed_in, versions_called, versions_of_owner
from arena.queries.places import (
    Filter,
    Key,
    Placed,
    find_lines,
    lines_after,
    lines_before,
    newest_rated,
    offsets,
)
from arena.results.ledgers import LUCK
from arena.results.strength.pools import Pool
from arena.results.strength.scale import figure
from arena.store.models import LuckTally, Rating, RatingChange, StrengthFit, StrengthPoint
from arena.store.storage import Ids, Storage, Transaction, among


def earlier(tx: Transaction, pools: Mapping[Pool, Sequence[Placed]], since: datetime) -> dict[int, Before]:
    """Return by rating the standing of these at a time; those of all pools are read at once."""
    values = {"since": since, "ratings": [rated.rating_id for of_pool in pools.values() for rated in of_pool]}
    connection = tx.connection()
    elo = {row[0]: row[1] for row in connection.execute(_last_changes(), values).all()}
    points = connection.execute(_last_points(), values).all()
    figures = {rating_id: figure(value, deviation) for rating_id, value, deviation in points}
    before = {}
    for pool, of_pool in pools.items():
        ranks = _ranks(tx, pool, since) if of_pool else {}
        for rated in of_pool:
            before[rated.rating_id] = Before(
                elo.get(rated.rating_id), figures.get(rated.rating_id), ranks.get(rated.version_id)
            )
    return before


_SINCE: Any = bindparam("since")
_THESE = among(Rating.id, bindparam("ratings", type_=Ids()))


@cache
def _last_changes() -> Select[Any]:
    """Select the value of ratings after their last change until a time; made once, as that takes long."""
    last = (
        select_columns(col(RatingChange.id))
        .where(col(RatingChange.rating_id) == Rating.id, col(RatingChange.created_at) <= _SINCE)
        .order_by(col(RatingChange.created_at).desc(), col(RatingChange.id).desc())
        .limit(1)
        .correlate(Rating)
        .scalar_subquery()
    )
    columns: tuple[Any, ...] = (RatingChange.rating_id, RatingChange.after)
    return select_columns(*columns).join(Rating, col(RatingChange.id) == last).where(_THESE)


@cache
def _last_points() -> Select[Any]:
    """Select by rating the last strength of its bot version in its pool until a time."""
    last = (
        select_columns(col(StrengthPoint.id))
        .where(
            col(StrengthPoint.version_id) == Rating.version_id,
            col(StrengthPoint.ruleset_id) == Rating.ruleset_id,
            col(StrengthPoint.table_size) == Rating.table_size,
            col(StrengthPoint.fitted_at) <= _SINCE,
        )
        .order_by(col(StrengthPoint.id).desc())
        .limit(1)
        .correlate(Rating)
        .scalar_subquery()
    )
    columns: tuple[Any, ...] = (Rating.id, above_present_anchor(), StrengthPoint.deviation)
    points = select_columns(*columns).select_from(StrengthPoint).join(Rating, col(StrengthPoint.id) == last)
    return points.where(_THESE)


def _ranks(tx: Transaction, pool: Pool, since: datetime) -> Mapping[int, int]:
    """Return the rank of each bot version in the last stored fit of a pool until then."""
    lines = tx.connection().execute(_last_fit(), {**pool._asdict(), "since": since}).scalar()
    return {} if lines is None else _ranks_of(lines)


@cache
def _last_fit() -> Select[Any]:
    fits = select_columns(col(StrengthFit.lines)).where(
        col(StrengthFit.ruleset_id) == bindparam("ruleset_id"),
        col(StrengthFit.table_size) == bindparam("table_size"),
        col(StrengthFit.fitted_at) <= _SINCE,
    )
    return fits.order_by(col(StrengthFit.matches).desc(), col(StrengthFit.made).desc()).limit(1)


@lru_cache(maxsize=4)  # leaderboards are asked for again and again, and a large fit takes long to read
def _ranks_of(lines: bytes) -> Mapping[int, int]:
    """Return the rank of each bot version in a stored fit."""
    strengths = [(strength, version_id) for version_id, strength, *_ in json.loads(zlib.decompress(lines))]
    falling = sorted(-strength for strength, _ in strengths)
    return {version_id: 1 + bisect_left(falling, -strength) for strength, version_id in strengths}


@dataclass(frozen=True, slots=True)
class LeaderboardQuery:
    """Which bots of which pools are wanted, and since when changes are shown; None stands for all."""

    ruleset: str | None = None
    """Name, ``name@version``, or the beginning of its hash."""
    table_size: int | None = None
    league: str | None = None
    """Only bots with a place in a season of this league, in the pools of that season."""
    season: int | None = None
    """The number of the season; None for the latest."""
    division: str | None = None
    """Only those in this division."""
    owner: str | None = None
    language: str | None = None
    active_since: datetime | None = None
    """Only those whose last rated match finished then, or later."""
    matches: int = 1
    """Only bots with at least this many rated matches."""
    provisional: bool | None = None
    """Only bots that are, or are not, provisional."""
    since: datetime | None = None
    """The time of ``Before``."""


def leaderboard(
    storage: Storage,
    query: LeaderboardQuery = LeaderboardQuery(),
    limit: int = 100,
    cursor: str | None = None,
    around: str | None = None,
) -> Leaderboard:
    """Return the best of each pool that was asked for, one pool after another.

    With ``cursor``, return what follows in a pool. With ``around``, which is ``owner/bot`` or a version of
    it, return the lines above and below it in each pool in which it is rated. Raise UnknownError, and
    SpecError for a cursor of another list.
    """
    with storage.read() as tx:
        among, scope = _filter_of(tx, query)
        pools = choose_pools(tx, query.ruleset, query.table_size, among)
        if around is not None:
            return _around(tx, query, pools, scope, limit, around)
        key = None
        if cursor is not None:
            key, pools = _place_of(query, cursor, pools)
        pages = [(pool, lines_after(tx, pool.pool, scope, key, limit + 1)) for pool in pools]
        lines = _page_lines(tx, [(pool, placed[:limit]) for pool, placed in pages], query.since)
        cut = tuple(_cut(query, pages, limit))
        return Leaderboard(tuple(lines), cut[0].next if cut and len(pages) == 1 else None, cut)


def _place_of(
    query: LeaderboardQuery, cursor: str, pools: Sequence[NamedPool]
) -> tuple[Key, list[NamedPool]]:
    """Return where a cursor continues, and its pool, if that is among these."""
    ruleset_id, size, *key = read_cursor(query, cursor, int, int, int, float, int)
    return Key._make(key), [pool for pool in pools if pool.pool == (ruleset_id, size)]


def _cut(
    query: LeaderboardQuery, pages: Sequence[tuple[NamedPool, Sequence[Placed]]], limit: int
) -> Iterator[CutPool]:
    for pool, placed in pages:
        if len(placed) > limit:
            cursor = make_cursor(query, (*pool.pool, *placed[limit - 1].key))
            yield CutPool(pool.ruleset, pool.table_size, cursor)


def _around(
    tx: Transaction, query: LeaderboardQuery, pools: Sequence[NamedPool], scope: Filter, limit: int, bot: str
) -> Leaderboard:
    """Return the lines around a bot: half of them above it, if there are enough."""
    newest = newest_rated(tx, [version.id for version in versions_called(tx, bot)])
    pages = []
    for pool in pools:
        if pool.pool not in newest:
            continue
        [own] = find_lines(tx, pool.pool, [newest[pool.pool]])
        above = lines_before(tx, pool.pool, scope, own.key, limit // 2)
        below = lines_after(tx, pool.pool, scope, own.key, limit - 1 - len(above))
        pages.append((pool, [*above, own, *below]))
    if not pages:
        raise UnknownError(f"{bot} is not rated in {'any' if len(pools) != 1 else 'this'} pool")
    return Leaderboard(tuple(_page_lines(tx, pages, query.since)), None)


def lines_of(tx: Transaction, pool: NamedPool, version_ids: Sequence[int]) -> dict[int, LeaderboardLine]:
    """Return the lines of the bot versions that are rated in a pool."""
    placed = find_lines(tx, pool.pool, version_ids)
    lines = _lines(tx, pool, placed, {})
    return {place.version_id: line for place, line in zip(placed, lines, strict=True)}


def _filter_of(tx: Transaction, query: LeaderboardQuery) -> tuple[list[Pool] | None, Filter]:
    """Return the pools from which bots are wanted, None for all, and which bots."""
    conditions: dict[str, object] = {}
    versions: set[int] | None = None
    among = None
    if query.league is not None:
        among, placed = placed_in(tx, query.league, query.season, query.division)
        versions = {*tx.exec(placed)}
    elif query.season is not None or query.division is not None:
        raise SpecError("league", "a season or a division is one of a league: say which")
    if query.owner is not None:
        own = versions_of_owner(tx, query.owner)
        versions = own if versions is None else versions & own
    if query.language is not None:
        conditions["language"] = query.language
    if query.active_since is not None:
        conditions["active_since"] = query.active_since
    if query.matches > 1:
        conditions["matches"] = query.matches
    return among, Filter(conditions, versions, query.provisional)


def _page_lines(
    tx: Transaction, pages: Sequence[tuple[NamedPool, Sequence[Placed]]], since: datetime | None
) -> Iterator[LeaderboardLine]:
    """Yield the lines of pages of pools, with where they stood at a time if one is given."""
    before = {} if since is None else earlier(tx, {pool.pool: placed for pool, placed in pages}, since)
    for pool, placed in pages:
        yield from _lines(tx, pool, placed, before)


_STORED = [name for name in Placed._fields if name in LeaderboardLine.__dataclass_fields__]
"""The columns that a line has as they are stored."""


def _lines(
    tx: Transaction, pool: NamedPool, placed: Sequence[Placed], before: Mapping[int, Before]
) -> Iterator[LeaderboardLine]:
    """Yield the lines of these bots of a pool."""
    counted = offsets(tx, pool.pool, placed)
    luck = _version_luck(tx, pool.pool, [entry.version_id for entry in placed])
    for entry in placed:
        yield LeaderboardLine(
            ruleset=pool.ruleset,
            table_size=pool.table_size,
            place=counted.place(entry),
            owner=entry.bot.partition("/")[0],
            provisional=entry.provisional,
            luck=luck.get(entry.version_id),
            before=before.get(entry.rating_id),
            **{name: getattr(entry, name) for name in _STORED},
        )


def _version_luck(tx: Transaction, pool: Pool, version_ids: Iterable[int]) -> dict[int, LuckLine]:
    """Return the luck of these bot versions in a pool, as far as it is known."""
    rows = tx.connection().execute(_luck_of_versions(), {**pool._asdict(), "versions": [*version_ids]})
    return {version_id: Luck(*counts).line() for version_id, *counts in rows}


@cache
def _luck_of_versions() -> Select[Any]:
    """Select the sums of versions in a pool; made once, because every page of a leaderboard uses it."""
    of_pool = (
        col(LuckTally.ruleset_id) == bindparam("ruleset_id"),
        col(LuckTally.table_size) == bindparam("table_size"),
    )
    columns = (getattr(LuckTally, column) for column in ("version_id", *LUCK.columns))
    these = among(LuckTally.version_id, bindparam("versions", type_=Ids()))
    return select_columns(*columns).where(*of_pool, these)

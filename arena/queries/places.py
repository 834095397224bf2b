"""The order of a pool: bots with a strength by group and rank, then the others by Elo.

Most bots of a pool have a strength, and an index has these in order, so a page reads little more than its
lines.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, ColumnElement, Float, Select, and_, bindparam, exists, or_, tuple_
from sqlalchemy import select as select_columns
from sqlmodel import col, func

from arena.core.cursors import LARGEST
from arena.core.elo import TWO_SIDED
from arena.queries.board import StrengthLine
from arena.results.strength.pools import Pool
from arena.results.strength.scale import ENOUGH, figures
from arena.store.database import SKEWED
from arena.store.models import Bot, BotVersion, Rating, Strength, StrengthFit
from arena.store.storage import Ids, Transaction, among

FITTED, UNFITTED = 0, 1

LANGUAGE: ColumnElement[Any] = func.coalesce(col(BotVersion.language), col(Bot.language))
"""The language of a version, or else that of its bot."""


def _is_written_in(language: Any) -> ColumnElement[bool]:
    """Return the condition that ``LANGUAGE`` is this one.

    It is written so that PostgreSQL can tell from its statistics how many bots meet it: if they are many, it
    reads a pool in its order.
    """
    own, of_bot = col(BotVersion.language), col(Bot.language)
    return or_(own == language, and_(own.is_(None), of_bot == language))


CONDITIONS: Mapping[str, ColumnElement[bool]] = {
    "language": _is_written_in(bindparam("language")),
    "active_since": col(Rating.last_played) >= bindparam("active_since"),
    "matches": col(Rating.matches) >= bindparam("matches"),
}
"""Conditions on bots, by the names of the values that they compare with."""


class Key(NamedTuple):
    """The place of a bot in the order of a pool; within a part, keys compare as places do."""

    part: int
    """FITTED or UNFITTED."""
    first: float
    """The group, or the rating."""
    second: int
    """The rank in the group, or the bot version's id."""


class Placed(NamedTuple):
    """A bot version in a pool, in order."""

    rating_id: int
    version_id: int
    rating: float
    matches: int
    deals: int
    last_played_at: datetime | None
    bot: str
    language: str | None
    strength: StrengthLine | None
    at: int
    """Place in its part, or group; ``Offsets`` counts what comes before that."""

    @property
    def provisional(self) -> bool:
        """Whether it has no strength yet, or one from fewer than ``ENOUGH`` deals."""
        return self.strength is None or self.strength.deals < ENOUGH

    @property
    def key(self) -> Key:
        if self.strength is not None:
            return Key(FITTED, float(self.strength.group), self.strength.rank)
        return Key(UNFITTED, self.rating, self.version_id)


@dataclass(frozen=True, slots=True)
class Filter:
    """Which bots of a pool are wanted."""

    conditions: Mapping[str, object] = field(default_factory=dict)
    """The values of those of ``CONDITIONS`` that they must meet."""
    among: Collection[int] | None = None
    """Only these bot versions; None for all."""
    provisional: bool | None = None
    """Only those whose strength is, or is not, provisional; None for both."""


@dataclass(frozen=True, slots=True)
class Offsets:
    """How many bots of a pool stand before some of its parts."""

    groups: dict[int, int]
    fitted: int

    def place(self, placed: Placed) -> int:
        """Return the place in the pool, from 1."""
        strength = placed.strength
        return placed.at + (self.fitted if strength is None else self.groups[strength.group])


def offsets(tx: Transaction, pool: Pool, lines: Collection[Placed]) -> Offsets:
    """Count the bots of a pool in the parts before those of some lines; none is before the first group."""
    last = max((line.strength.group for line in lines if line.strength is not None), default=1)
    below = LARGEST  # no group reaches it
    if all(line.strength is not None for line in lines):
        if last == 1:
            return Offsets({1: 0}, 0)
        below = last
    groups, before = {}, 0
    for group, bots in tx.connection().execute(_by_group(), {**_values(pool), "below": below}):
        groups[group], before = before, before + bots
    groups.setdefault(last, before)
    return Offsets(groups, before)


@cache
def _by_group() -> Select[Any]:
    group: Any = col(Strength.group_number)
    counted: Select[Any] = select_columns(group, func.count()).where(
        *_in_pool(Strength), group < bindparam("below")
    )
    return counted.group_by(group).order_by(group)


def lines_after(tx: Transaction, pool: Pool, scope: Filter, key: Key | None, limit: int) -> list[Placed]:
    """Return the wanted lines that follow ``key``, or the first ones."""
    placed: list[Placed] = []
    for part in (FITTED, UNFITTED):
        if key is None or key.part <= part:
            at = key if key is not None and key.part == part else None
            placed += _lines(tx, pool, part, scope, at, limit - len(placed))
    return placed


def lines_before(tx: Transaction, pool: Pool, scope: Filter, key: Key, limit: int) -> list[Placed]:
    """Return the wanted lines that come directly before ``key``, in order."""
    placed: list[Placed] = []
    for part in (UNFITTED, FITTED):
        if key.part >= part:
            at = key if key.part == part else None
            placed += _lines(tx, pool, part, scope, at, limit - len(placed), back=True)
    return placed[::-1]


def newest_rated(tx: Transaction, version_ids: Collection[int]) -> dict[Pool, int]:
    """Return by pool the newest of these bot versions that is rated there."""
    rows = tx.connection().execute(_newest_rated(), {"versions": version_ids}).all()
    return {Pool(ruleset_id, size): version_id for ruleset_id, size, version_id in rows}


@cache
def _newest_rated() -> Select[Any]:
    pool: tuple[Any, ...] = (Rating.ruleset_id, Rating.table_size)
    newest = select_columns(*pool, func.max(Rating.version_id)).group_by(*pool)
    versions = among(Rating.version_id, bindparam("versions", type_=Ids()))
    return newest.where(versions, col(Rating.matches) > 0)


def find_lines(tx: Transaction, pool: Pool, version_ids: Sequence[int]) -> list[Placed]:
    """Return the lines of the bot versions that are rated in the pool, in order."""
    return lines_after(tx, pool, Filter(among=version_ids), None, len(version_ids))


def _lines(
    tx: Transaction, pool: Pool, part: int, scope: Filter, key: Key | None, limit: int, back: bool = False
) -> list[Placed]:
    if limit < 1 or (part == UNFITTED and scope.provisional is False):
        return []
    parameters = {**_values(pool), **scope.conditions, "most": limit}
    if key is not None:
        parameters |= {"first": int(key.first) if part == FITTED else key.first, "second": key.second}
    if scope.among is not None:
        parameters["versions"] = scope.among
    provisional = scope.provisional if part == FITTED else None
    rows = _page(part, key is not None, back, scope.among is not None, provisional, (*scope.conditions,))
    return _placed(tx, pool, part, tx.connection().execute(rows, parameters).all())


def _values(pool: Pool) -> dict[str, object]:
    return {"ruleset": pool.ruleset_id, "size": pool.table_size}


_POOL = bindparam("ruleset", type_=BigInteger), bindparam("size", type_=BigInteger)


def _in_pool(table: type[Rating | Strength | StrengthFit]) -> tuple[ColumnElement[bool], ...]:
    ruleset, size = _POOL
    return col(table.ruleset_id) == ruleset, col(table.table_size) == size


_RATED: Mapping[str, Any] = {
    "rating_id": Rating.id,
    "version_id": Rating.version_id,
    "rating": Rating.value,
    "matches": Rating.matches,
    "deals": Rating.deals,
    "last_played_at": Rating.last_played,
    "bot": BotVersion.name,
    "language": LANGUAGE,
}
"""The columns of a rating, by the fields of ``Placed``."""
_DEVIATION = (
    select_columns(col(StrengthFit.deviation))
    .where(*_in_pool(StrengthFit))
    .order_by(col(StrengthFit.matches).desc(), col(StrengthFit.made).desc())
    .limit(1)
    .scalar_subquery()
)
"""The standard deviation from the latest fit of the pool."""
_SAME = ("ahead", "ahead_low", "ahead_high", "rank", "best", "worst", "tier", "parts_after")
"""The columns of a strength that are fields of ``StrengthLine``, too."""
_FITTED: tuple[Any, ...] = (
    *(Strength.value, Strength.error, Strength.above, Strength.above_error, Strength.anchored),
    *(getattr(Strength, name) for name in _SAME),
    *(Strength.group_number, col(Strength.deals).label("fitted")),
    func.coalesce(_DEVIATION, 0.0).label("deviation"),
)


def _placed(tx: Transaction, pool: Pool, part: int, rows: Sequence[Any]) -> list[Placed]:
    """Return the lines of rows of one part."""
    if part == FITTED:
        return [_line(row, _strength(row), row.rank) for row in rows]
    counted = _counted(tx, pool, [row.version_id for row in rows]) if rows else {}
    return [_line(row, None, counted[row.version_id]) for row in rows]


def _line(row: Any, strength: StrengthLine | None, at: int) -> Placed:
    return Placed(**{name: getattr(row, name) for name in _RATED}, strength=strength, at=at)


def _strength(row: Any) -> StrengthLine:
    value, low, high = figures(row.above, row.above_error, row.deviation)
    return StrengthLine(
        points=row.value,
        plus_minus=TWO_SIDED * row.error,
        figure=value,
        figure_low=low,
        figure_high=high,
        anchor="baselines" if row.anchored else "mean",
        group=row.group_number,
        deals=row.fitted,
        **{name: getattr(row, name) for name in _SAME},
    )


def _counted(tx: Transaction, pool: Pool, version_ids: Sequence[int]) -> dict[int, int]:
    """Return the places of bot versions among those without a strength."""
    version_id = col(Rating.version_id)
    at = func.row_number().over(order_by=(col(Rating.value).desc(), version_id)).label("at")
    counted = select_columns(version_id, at).where(*_rated(), ~_has_strength()).subquery()
    places = select_columns(*counted.c).where(among(counted.c.version_id, version_ids))
    return {row.version_id: row.at for row in tx.connection().execute(places, _values(pool))}


@cache
def _page(
    part: int, keyed: bool, back: bool, among_some: bool, provisional: bool | None, conditions: Sequence[str]
) -> Select[Any]:
    """Select the lines of a part, from one on or all; made once, because that takes longer than asking it."""
    rows = _fitted(back) if part == FITTED else _unfitted(back)
    if keyed:
        rows = rows.where(_fitted_beyond(back) if part == FITTED else _unfitted_beyond(back))
    if among_some:
        table = Strength if part == FITTED else Rating  # where an index leads to these few
        rows = rows.where(among(table.version_id, bindparam("versions", type_=Ids())))
    if provisional is not None:
        deals = col(Strength.deals)
        rows = rows.where(deals < ENOUGH if provisional else deals >= ENOUGH)
    rows = rows.where(*(CONDITIONS[name] for name in conditions))
    skewed = bool(conditions) or provisional is not None or (part == UNFITTED and not among_some)
    return rows.limit(bindparam("most")).execution_options(**{SKEWED: skewed})


def _fitted_beyond(back: bool) -> ColumnElement[bool]:
    """Return the condition that a strength comes after, or before, a place."""
    place = bindparam("first", type_=BigInteger), bindparam("second", type_=BigInteger)
    here, there = tuple_(*_ORDER), tuple_(*place)
    return here < there if back else here > there


def _unfitted_beyond(back: bool) -> ColumnElement[bool]:
    first: Any = bindparam("first", type_=Float)
    second = bindparam("second", type_=BigInteger)
    value, version_id = col(Rating.value), col(Rating.version_id)
    later = version_id < second if back else version_id > second
    return or_(value > first if back else value < first, and_(value == first, later))


_ORDER = (col(Strength.group_number), col(Strength.rank))


def _fitted(back: bool) -> Select[Any]:
    same = and_(col(Rating.version_id) == Strength.version_id, *_rated())
    rows = _with_names(_rating_lines(*_FITTED).select_from(Strength).join(Rating, same))
    return rows.where(*_in_pool(Strength)).order_by(*(_turned(column, back) for column in _ORDER))


def _unfitted(back: bool) -> Select[Any]:
    rows = _with_names(_rating_lines().select_from(Rating))
    order = (_turned(col(Rating.value), not back), _turned(col(Rating.version_id), back))
    return rows.where(*_rated(), ~_has_strength()).order_by(*order)


def _rating_lines(*columns: Any) -> Select[Any]:
    return select_columns(*(column.label(name) for name, column in _RATED.items()), *columns)


def _with_names(rows: Select[Any]) -> Select[Any]:
    named = rows.join(BotVersion, col(BotVersion.id) == Rating.version_id)
    return named.join(Bot, col(Bot.id) == BotVersion.bot_id)


def _has_strength() -> ColumnElement[bool]:
    return exists(col(Strength.id)).where(*_in_pool(Strength), col(Strength.version_id) == Rating.version_id)


def _turned(column: Any, back: bool) -> Any:
    return column.desc() if back else column


def _rated() -> tuple[ColumnElement[bool], ...]:
    return *_in_pool(Rating), col(Rating.matches) > 0

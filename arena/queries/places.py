"""The order of a pool: bots with a strength by group and rank, then the others by Elo.

Most bots of a pool have a strength, and an index has these in order, so a page reads little more than its
lines.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, exists, or_, tuple_
from sqlalchemy import select as select_columns
from sqlmodel import col, func, select

from arena.database import SKEWED
from arena.models import Bot, BotVersion, Owner, Rating, Strength, StrengthFit
from arena.queries.provisional import settled
from arena.storage import Transaction
from arena.strength.kept import Pool

FITTED, UNFITTED = 0, 1

LANGUAGE: ColumnElement[Any] = func.coalesce(col(BotVersion.language), col(Bot.language))
"""The language of a version, or else that of its bot."""


def is_written_in(language: str) -> ColumnElement[bool]:
    """Return the condition that ``LANGUAGE`` is this one.

    It is written so that PostgreSQL can tell from its statistics how many bots meet it: if they are many, it
    reads a pool in its order.
    """
    own, of_bot = col(BotVersion.language), col(Bot.language)
    return or_(own == language, and_(own.is_(None), of_bot == language))


class Key(NamedTuple):
    """The place of a bot in the order of a pool; within a part, keys compare as places do."""

    part: int
    """FITTED or UNFITTED."""
    first: float
    """The group, or the rating."""
    second: int
    """The rank in the group, or the bot version's id."""


class Rated(NamedTuple):
    """The columns that are read of a bot version's rating; the names are those of ``Rating``."""

    id: int
    version_id: int
    value: float
    matches: int
    deals: int
    last_played: datetime | None


class Fitted(NamedTuple):
    """The columns that are read of a bot version's strength; the names are those of ``Strength``."""

    value: float
    error: float
    above: float
    above_error: float
    anchored: bool
    ahead: float | None
    ahead_low: float | None
    ahead_high: float | None
    deals: int
    group_number: int
    rank: int
    best: int
    worst: int
    tier: int
    deviation: float
    """The standard deviation from the latest fit of the pool."""


class Placed(NamedTuple):
    """A bot version in a pool, in order."""

    rating: Rated
    version: str
    owner: str
    language: str | None
    strength: Fitted | None
    at: int
    """Place in its part, or group; ``Offsets`` counts what comes before that."""

    @property
    def key(self) -> Key:
        if self.strength is not None:
            return Key(FITTED, float(self.strength.group_number), self.strength.rank)
        return Key(UNFITTED, self.rating.value, self.rating.version_id)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which bots of a pool are wanted."""

    conditions: Sequence[ColumnElement[bool]] = ()
    """Conditions on Rating, BotVersion, Bot and Owner."""
    among: Sequence[Any] = ()
    """Selections of ids of bot versions: only those in all of these are wanted."""
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
        return placed.at + (self.fitted if strength is None else self.groups[strength.group_number])


def offsets(tx: Transaction, pool: Pool, lines: Collection[Placed]) -> Offsets:
    """Count the bots of a pool in the parts before those of some lines; none is before the first group."""
    last = max((one.strength.group_number for one in lines if one.strength is not None), default=0)
    by_group = select(Strength.group_number, func.count()).where(*_in_pool(Strength, pool))
    if all(one.strength is not None for one in lines):
        if last == 0:
            return Offsets({0: 0}, 0)
        by_group = by_group.where(Strength.group_number < last)
    counted = tx.exec(by_group.group_by(col(Strength.group_number)).order_by(col(Strength.group_number)))
    groups, before = {}, 0
    for group, bots in counted:
        groups[group], before = before, before + bots
    groups.setdefault(last, before)
    return Offsets(groups, before)


def lines_after(tx: Transaction, pool: Pool, wanted: Wanted, key: Key | None, limit: int) -> list[Placed]:
    """Return the wanted lines that follow ``key``, or the first ones."""
    found: list[Placed] = []
    for part in (FITTED, UNFITTED):
        if key is None or key.part <= part:
            at = key if key is not None and key.part == part else None
            found += _lines(tx, pool, part, wanted, at, limit - len(found))
    return found


def lines_before(tx: Transaction, pool: Pool, wanted: Wanted, key: Key, limit: int) -> list[Placed]:
    """Return the wanted lines that come directly before ``key``, in order."""
    found: list[Placed] = []
    for part in (UNFITTED, FITTED):
        if key.part >= part:
            at = key if key.part == part else None
            found += _lines(tx, pool, part, wanted, at, limit - len(found), back=True)
    return found[::-1]


def newest_rated(tx: Transaction, version_ids: Collection[int]) -> dict[Pool, int]:
    """Return by pool the newest of these bot versions that is rated there."""
    pool = (col(Rating.ruleset_id), col(Rating.table_size))
    newest = select_columns(*pool, func.max(Rating.version_id)).group_by(*pool)
    rated = newest.where(col(Rating.version_id).in_(version_ids), col(Rating.matches) > 0)
    return {Pool(*of_pool): version_id for *of_pool, version_id in tx.execute(rated)}


def find_lines(tx: Transaction, pool: Pool, version_ids: Sequence[int]) -> list[Placed]:
    """Return the lines of the bot versions that are rated in the pool, in order."""
    return lines_after(tx, pool, Wanted(among=[version_ids]), None, len(version_ids))


def _lines(
    tx: Transaction, pool: Pool, part: int, wanted: Wanted, key: Key | None, limit: int, back: bool = False
) -> list[Placed]:
    if limit < 1 or (part == UNFITTED and wanted.provisional is False):
        return []
    rows = (_fitted if part == FITTED else _unfitted)(pool, key, back)
    table = Strength if part == FITTED else Rating  # where an index leads to these few
    rows = rows.where(*(col(table.version_id).in_(versions) for versions in wanted.among))
    if part == FITTED and wanted.provisional is not None:
        rows = rows.where(settled() if not wanted.provisional else ~settled())
    named = (
        rows.join(BotVersion, col(BotVersion.id) == Rating.version_id)
        .join(Bot, col(Bot.id) == BotVersion.bot_id)
        .join(Owner, col(Owner.id) == Bot.owner_id)
    )
    named = named.execution_options(**{SKEWED: bool(wanted.conditions or wanted.among)})
    found = tx.execute(named.where(*wanted.conditions).limit(limit)).all()
    return [_placed(row) for row in found]


_RATED: tuple[Any, ...] = (
    *(Rating.id, Rating.version_id, Rating.value, Rating.matches, Rating.deals, Rating.last_played),
)
_NAMED: tuple[Any, ...] = (col(BotVersion.name), col(Owner.name), LANGUAGE)
_FITTED: tuple[Any, ...] = (
    *(Strength.value, Strength.error, Strength.above, Strength.above_error, Strength.anchored),
    *(Strength.ahead, Strength.ahead_low, Strength.ahead_high, Strength.deals, Strength.group_number),
    *(Strength.rank, Strength.best, Strength.worst, Strength.tier),
)
_AT = len(_RATED)
_WHOSE = _AT + len(_NAMED)
"""Where in a row the names begin (``_AT``), and where what comes after them begins."""


def _placed(row: Any) -> Placed:
    """Return the line of a row of ``_fitted``, or of ``_unfitted``, which is shorter."""
    rating, rest = Rated._make(row[:_AT]), row[_WHOSE:]
    version, owner, language = row[_AT:_WHOSE]
    if len(rest) == 1:
        return Placed(rating, version, owner, language, None, rest[0])
    strength = Fitted._make(rest)
    return Placed(rating, version, owner, language, strength, strength.rank)


def _fitted(pool: Pool, key: Key | None, back: bool) -> Select[Any]:
    order = (col(Strength.group_number), col(Strength.rank))
    same = and_(col(Rating.version_id) == Strength.version_id, *_rated(pool))
    fits = select(StrengthFit.deviation).where(
        StrengthFit.ruleset_id == pool.ruleset_id, StrengthFit.table_size == pool.table_size
    )
    latest = fits.order_by(col(StrengthFit.matches).desc()).limit(1).scalar_subquery()
    columns = (*_RATED, *_NAMED, *_FITTED, func.coalesce(latest, 0.0))
    rows = select_columns(*columns).select_from(Strength).join(Rating, same)
    if key is not None:
        here, there = tuple_(*order), tuple_(int(key.first), key.second)
        rows = rows.where(here < there if back else here > there)
    return rows.where(*_in_pool(Strength, pool)).order_by(*(_turned(column, back) for column in order))


def _unfitted(pool: Pool, key: Key | None, back: bool) -> Select[Any]:
    fitted = exists(col(Strength.id)).where(
        *_in_pool(Strength, pool), col(Strength.version_id) == Rating.version_id
    )
    value, version_id = col(Rating.value), col(Rating.version_id)
    at = func.row_number().over(order_by=(value.desc(), version_id)).label("at")
    counted = select(Rating.id, at).where(*_rated(pool), ~fitted).subquery()
    rows = select_columns(*_RATED, *_NAMED, counted.c.at).join(counted, counted.c.id == Rating.id)
    if key is not None:
        later = version_id < key.second if back else version_id > key.second
        beyond = value > key.first if back else value < key.first
        rows = rows.where(or_(beyond, and_(value == key.first, later)))
    return rows.order_by(_turned(counted.c.at, back))


def _turned(column: Any, back: bool) -> Any:
    return column.desc() if back else column


def _in_pool(table: type[Rating | Strength], pool: Pool) -> tuple[ColumnElement[bool], ...]:
    return col(table.ruleset_id) == pool.ruleset_id, col(table.table_size) == pool.table_size


def _rated(pool: Pool) -> tuple[ColumnElement[bool], ...]:
    return *_in_pool(Rating, pool), col(Rating.matches) > 0

"""The order of a pool: bots with a strength by group and rank, then the others by Elo.

Most of a pool has a strength, and an index has these in order, so a page reads little more than its lines.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, and_, exists, null, or_, tuple_
from sqlalchemy import select as select_columns
from sqlmodel import col, func, select

from arena.models import Bot, BotVersion, Owner, Rating, Strength
from arena.queries.provisional import settled
from arena.storage import Transaction
from arena.strength.kept import Pool

FITTED, UNFITTED = 0, 1

LANGUAGE: ColumnElement[Any] = func.coalesce(col(BotVersion.language), col(Bot.language))
"""What a version says that it is written in, else what is told of the bot."""


def is_written_in(language: str) -> ColumnElement[bool]:
    """Return the condition that ``LANGUAGE`` is this one.

    It is written as PostgreSQL can tell from its statistics how many bots that are: where they are many, it
    reads a pool in its order.
    """
    own, of_bot = col(BotVersion.language), col(Bot.language)
    return or_(own == language, and_(own.is_(None), of_bot == language))


class Key(NamedTuple):
    """Where a bot stands in the order of a pool; keys compare as places do within a part."""

    part: int
    """FITTED or UNFITTED."""
    first: float
    """The group, or the rating."""
    second: int
    """The rank in the group, or the bot version's id."""


class Placed(NamedTuple):
    """A bot version in a pool, in order."""

    rating: Rating
    version: str
    owner: str
    language: str | None
    strength: Strength | None
    at: int
    """Place in its part, or group; ``Offsets`` has what comes before that."""

    @property
    def key(self) -> Key:
        if self.strength is not None:
            return Key(FITTED, float(self.strength.group_number), self.strength.rank)
        return Key(UNFITTED, self.rating.value, self.rating.version_id)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which bots of a pool are wanted."""

    conditions: Sequence[ColumnElement[bool]] = ()
    """On Rating, BotVersion, Bot and Owner."""
    among: Sequence[Any] = ()
    """Selections of ids of bot versions: only those in all of these."""
    provisional: bool | None = None
    """Only those whose strength is, or is not, provisional; None: both."""


@dataclass(frozen=True, slots=True)
class Offsets:
    """How many bots of a pool stand before each of its parts."""

    groups: dict[int, int]
    fitted: int

    def place(self, placed: Placed) -> int:
        """Return the place in the pool, from 1."""
        strength = placed.strength
        return placed.at + (self.fitted if strength is None else self.groups[strength.group_number])


def offsets(tx: Transaction, pool: Pool) -> Offsets:
    """Count the bots in each part of a pool."""
    by_group = select(Strength.group_number, func.count()).where(*_in_pool(Strength, pool))
    counted = tx.exec(by_group.group_by(col(Strength.group_number)).order_by(col(Strength.group_number)))
    groups, before = {}, 0
    for group, bots in counted:
        groups[group], before = before, before + bots
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


def find_line(tx: Transaction, pool: Pool, version_id: int) -> Placed | None:
    """Return the line of a bot version; None if it is not rated in the pool."""
    return next(iter(find_lines(tx, pool, [version_id])), None)


def find_lines(tx: Transaction, pool: Pool, version_ids: Sequence[int]) -> list[Placed]:
    """Return the lines of those of these bot versions that are rated in the pool, in order."""
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
    return [Placed(*row) for row in tx.execute(named.where(*wanted.conditions).limit(limit))]


COLUMNS: tuple[Any, ...] = (Rating, col(BotVersion.name), col(Owner.name), LANGUAGE)


def _fitted(pool: Pool, key: Key | None, back: bool) -> Select[Any]:
    order = (col(Strength.group_number), col(Strength.rank))
    same = and_(col(Rating.version_id) == Strength.version_id, *_rated(pool))
    rows = select_columns(*COLUMNS, Strength, order[1]).select_from(Strength).join(Rating, same)
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
    rows = select_columns(*COLUMNS, null(), counted.c.at).join(counted, counted.c.id == Rating.id)
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

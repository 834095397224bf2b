"""Faults by bot."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, case, or_
from sqlalchemy import select as select_columns
from sqlmodel import col, func, select

from arena.core.cursors import make_cursor, read_cursor
from arena.queries.names import find_owner, rulesets_called
from arena.store.models import Bot, BotVersion, FaultTally
from arena.store.storage import Storage, Transaction
from referee.matches.kinds import FaultKind


@dataclass(frozen=True, slots=True)
class FaultQuery:
    """Which faults are wanted; None stands for all."""

    owner: str | None = None
    ruleset: str | None = None
    """Name, ``name@version``, or the beginning of its hash."""
    table_size: int | None = None
    kind: FaultKind | None = None


@dataclass(frozen=True, slots=True)
class FaultsLine:
    """How many faults a bot version committed, in rated matches or not."""

    bot: str
    """``owner/bot@version``."""
    faults: int
    """Faults of the kinds that were asked for."""
    illegal: int
    """This and what follows: by kind."""
    timeout: int
    malformed: int
    disconnect: int
    stall: int
    flood: int
    exception: int


@dataclass(frozen=True, slots=True)
class FaultsPage:
    """A page of bots with faults."""

    bots: tuple[FaultsLine, ...]
    """Those with most faults first."""
    next: str | None
    """Cursor of the next page; None if there is none."""


KINDS = (
    FaultKind.ILLEGAL,
    FaultKind.TIMEOUT,
    FaultKind.MALFORMED,
    FaultKind.DISCONNECT,
    FaultKind.STALL,
    FaultKind.FLOOD,
    FaultKind.EXCEPTION,
)
"""The kinds in the order of the fields of a line."""


def faults_by_bot(
    storage: Storage, query: FaultQuery = FaultQuery(), limit: int = 50, cursor: str | None = None
) -> FaultsPage:
    """Return the bot versions with faults, those with the most first.

    Raise UnknownError, and SpecError for a cursor of another list.
    """
    count = col(FaultTally.count)
    total = func.sum(count)
    by_kind = [func.sum(case((col(FaultTally.kind) == kind, count), else_=0)) for kind in KINDS]
    rows = select_columns(col(FaultTally.version_id), total, *by_kind).group_by(col(FaultTally.version_id))
    with storage.read() as tx:
        rows = rows.where(count > 0, *_conditions(tx, query))
        if cursor is not None:
            most, last = read_cursor(query, cursor, int, int)
            after = col(FaultTally.version_id) > last
            rows = rows.having(or_(total < most, and_(total == most, after)))
        rows = rows.order_by(total.desc(), col(FaultTally.version_id)).limit(limit + 1)
        numbers = [tuple(map(int, row)) for row in tx.execute(rows)]
        names = _names(tx, [row[0] for row in numbers])
    lines = tuple(FaultsLine(names[version_id], *counts) for version_id, *counts in numbers[:limit])
    last_key = (numbers[limit - 1][1], numbers[limit - 1][0]) if len(numbers) > limit else None
    return FaultsPage(lines, None if last_key is None else make_cursor(query, last_key))


def _conditions(tx: Transaction, query: FaultQuery) -> Iterator[Any]:
    if query.owner is not None:
        own = select_columns(col(BotVersion.id)).join(Bot, col(Bot.id) == BotVersion.bot_id)
        own = own.where(col(Bot.owner_id) == find_owner(tx, query.owner))
        yield col(FaultTally.version_id).in_(own)
    if query.ruleset is not None:
        yield col(FaultTally.ruleset_id).in_(rulesets_called(tx, query.ruleset))
    if query.table_size is not None:
        yield col(FaultTally.table_size) == query.table_size
    if query.kind is not None:
        yield col(FaultTally.kind) == query.kind


def _names(tx: Transaction, version_ids: list[int]) -> dict[int, str]:
    named = select(BotVersion.id, BotVersion.name).where(col(BotVersion.id).in_(version_ids))
    return dict(tx.exec(named).all())

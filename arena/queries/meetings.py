"""Who met whom, and who finished ahead, in rated deals that all played, or that one of the two forfeited."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import Any, NamedTuple

from sqlalchemy import Select, bindparam, literal_column, union_all
from sqlalchemy import select as select_columns
from sqlmodel import col, func, select

from arena.errors import SpecError
from arena.queries.names import choose_pools, versions_called_each
from arena.results.strength.pools import Pool
from arena.store.models import BotVersion, LeftMeeting, Meeting, StrengthSums
from arena.store.storage import Storage, Transaction


@dataclass(frozen=True, slots=True)
class Met:
    """The results of meetings, seen from one side."""

    matches: int
    """Matches with such deals."""
    deals: int
    """Rated deals in which both sat, and that all played to the end or one of the two forfeited."""
    ahead: int
    """Deals in which this side had more points."""
    behind: int
    """Deals in which the other side had more."""
    lead: int
    """Points of this side minus those of the other, over all deals."""

    def __add__(self, other: "Met") -> "Met":
        return Met(
            self.matches + other.matches,
            self.deals + other.deals,
            self.ahead + other.ahead,
            self.behind + other.behind,
            self.lead + other.lead,
        )


NOTHING = Met(0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class OpponentLine:
    """A bot version that was met."""

    bot: str
    """``owner/bot@version``."""
    met: Met


@dataclass(frozen=True, slots=True)
class CrossLine:
    """The results of two bots' meetings in a pool, seen from the first."""

    ruleset: str
    """Name and version, as ``hong-kong@1``."""
    table_size: int
    bot: str
    """As it was given."""
    opponent: str
    """As it was given."""
    met: Met
    """Seen from ``bot``."""


@dataclass(frozen=True, slots=True)
class Crosstable:
    """A crosstable of bots, each against each other one."""

    crosstable: list[CrossLine]
    """By pool."""


def crosstable(
    storage: Storage, bots: Sequence[str], ruleset: str | None = None, table_size: int | None = None
) -> list[CrossLine]:
    """Return the results of each of these bots against each other one by pool, in both directions.

    ``owner/bot`` is all its versions together. Pools in which none of them met are left out. Raise
    UnknownError, and SpecError if two of the bots share a version.
    """
    with storage.read() as tx:
        versions_of = versions_called_each(tx, bots)
        sides = {bot: [version.id for version in versions] for bot, versions in versions_of.items()}
        pools = choose_pools(tx, ruleset, table_size)
        met = _crossed(tx, [named.pool for named in pools], _sides(sides))
        pairs = [*permutations(sides, 2)]
        return [
            CrossLine(pool.ruleset, pool.table_size, one, other, of_pool.get((one, other), NOTHING))
            for pool in pools
            if (of_pool := met[pool.pool])
            for one, other in pairs
        ]


def _sides(sides: Mapping[str, Collection[int]]) -> dict[int, str]:
    """Return the side of each bot version. Raise SpecError if a version is on two sides."""
    by_version: dict[int, str] = {}
    for bot, versions in sides.items():
        for version_id in versions:
            if version_id in by_version:
                raise SpecError("bot", f"{by_version[version_id]} and {bot} have a version in common")
            by_version[version_id] = bot
    if len(sides) < 2:
        raise SpecError("bot", "at least two different bots are needed")
    return by_version


def _crossed(
    tx: Transaction, pools: Sequence[Pool], side_of: Mapping[int, str]
) -> dict[Pool, dict[tuple[str, str], Met]]:
    """Return by pool the results of each two of these sides, in both directions."""
    met: dict[Pool, dict[tuple[str, str], Met]] = {pool: {} for pool in pools}
    sums = {sums_id: met[pool] for sums_id, pool in pool_sums(tx).items() if pool in met}
    for row in find_meetings(tx, sums, side_of, side_of):
        of_pool, pair = sums[row.sums_id], (side_of[row.version_id], side_of[row.other_id])
        of_pool[pair] = of_pool.get(pair, NOTHING) + row.met
    return met


def pool_sums(tx: Transaction) -> dict[int, Pool]:
    """Return the pools of all sums, of plain deals and of duplicate ones, by the ids of these."""
    rows = tx.connection().execute(_pool_sums()).all()
    return {sums_id: Pool(ruleset_id, size) for sums_id, ruleset_id, size in rows}


@cache
def _pool_sums() -> Select[Any]:
    columns: tuple[Any, ...] = (StrengthSums.id, StrengthSums.ruleset_id, StrengthSums.table_size)
    return select_columns(*columns)


class Row(NamedTuple):
    """A stored meeting, or deals that one of the two forfeited, seen from the first."""

    sums_id: int
    version_id: int
    other_id: int
    matches: int
    deals: int
    ahead: int
    behind: int
    lead: int

    @property
    def met(self) -> Met:
        return Met(self.matches, self.deals, self.ahead, self.behind, self.lead)


def find_meetings(
    tx: Transaction, sums: Collection[int], version_ids: Collection[int], others: Collection[int]
) -> list[Row]:
    """Return the meetings of versions with others, seen from the versions."""
    parameters = {"sums": sums, "versions": version_ids, "others": others}
    return [Row(*row) for row in tx.connection().execute(_meetings(), parameters).all()]


@cache
def _meetings() -> Select[Any]:
    parameters: list[Any] = [bindparam(name, expanding=True) for name in ("sums", "versions", "others")]
    return meetings_of(*parameters)


def meetings_of(sums: Any, version_ids: Any, others: Any = None) -> Select[Any]:
    """Select meetings of versions, with some others if these are given, seen from the versions.

    The columns are sums, version, other, matches, deals, ahead, behind and lead.
    """
    ways = []
    for table in (Meeting, LeftMeeting):
        first, second, sums_id = col(table.version_id), col(table.other_id), col(table.sums_id)
        matches, deals, lead = col(table.matches), col(table.deals), col(table.lead)
        won, lost = col(table.ahead), col(table.behind)
        as_first: Any = select_columns(sums_id, first, second, matches, deals, won, lost, lead)
        as_second: Any = select_columns(sums_id, second, first, matches, deals, lost, won, -lead)
        for way, own, other in ((as_first, first, second), (as_second, second, first)):
            rows = way.where(sums_id.in_(sums), own.in_(version_ids), deals > 0)
            ways.append(rows if others is None else rows.where(other.in_(others)))
    met = union_all(*ways).subquery()
    return select_columns(*met.c)


def met_most(tx: Transaction, version_ids: Collection[int], limit: int) -> list[OpponentLine]:
    """Return the bot versions that these met in the most deals, over all pools."""
    parameters = {"sums": [*pool_sums(tx)], "versions": version_ids, "most": limit}
    counts = [tuple(map(int, row)) for row in tx.connection().execute(_met_most(), parameters)]
    named = select(BotVersion.id, BotVersion.name).where(col(BotVersion.id).in_([row[0] for row in counts]))
    names = dict(tx.exec(named).all())
    return [OpponentLine(names[other_id], Met(*rest)) for other_id, *rest in counts]


@cache
def _met_most() -> Select[Any]:
    """Select whom versions met in the most deals; made once, because every page of a bot uses it."""
    sums_of: Any = bindparam("sums", expanding=True)
    those: Any = bindparam("versions", expanding=True)
    met = meetings_of(sums_of, those).subquery()
    _, _, other, *counts = met.c
    sums = [func.sum(count).label(f"sum_{at}") for at, count in enumerate(counts)]
    most = select_columns(other.label("other"), *sums).group_by(other)
    return most.order_by(literal_column("sum_1").desc(), literal_column("other")).limit(bindparam("most"))

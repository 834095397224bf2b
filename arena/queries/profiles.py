"""Bot versions in pages, and a bot's profile."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam
from sqlalchemy import select as select_columns
from sqlmodel import col, func, select

from arena.bots.checks import CheckSummary, summaries
from arena.bots.versions import VersionInfo, select_infos
from arena.core.cursors import make_cursor, read_cursor
from arena.core.elo import TWO_SIDED
from arena.queries.board import LeaderboardLine
from arena.queries.leaderboards import lines_of
from arena.queries.matches import MatchLine, newest_of
from arena.queries.meetings import OpponentLine, met_most
from arena.queries.names import find_owner, rated_pools, versions_called
from arena.results.strength.pools import Pool
from arena.store.models import Bot, BotVersion, FaultTally, Owner, Rating, SeatTally, StoredRuleset
from arena.store.storage import Storage, Transaction


@dataclass(frozen=True, slots=True)
class VersionPage:
    """A page of bot versions."""

    bots: tuple[VersionInfo, ...]
    """The newest first."""
    next: str | None
    """Cursor of the next page; None if there is none."""


def find_bots(
    storage: Storage, owner: str | None = None, limit: int = 100, cursor: str | None = None
) -> VersionPage:
    """Return bot versions, all or those of an owner, the newest first.

    Raise UnknownError for an unknown owner, and SpecError for a cursor of another list.
    """
    newest = col(BotVersion.id).desc()
    rows = select_infos().add_columns(col(BotVersion.id)).order_by(newest).limit(limit + 1)
    with storage.read() as tx:
        if owner is not None:
            rows = rows.where(col(Owner.id) == find_owner(tx, owner))
        if cursor is not None:
            [last] = read_cursor((owner,), cursor, int)
            rows = rows.where(col(BotVersion.id) < last)
        page = tx.connection().execute(rows).all()
    bots = tuple(VersionInfo(*row[:-1]) for row in page[:limit])
    return VersionPage(bots, make_cursor((owner,), (page[limit - 1][-1],)) if len(page) > limit else None)


VERSIONS = 20
"""The number of newest versions that are listed separately."""

POOLS = 50
"""The most places in pools that are listed."""


@dataclass(frozen=True, slots=True)
class VersionLine:
    """A version of a bot."""

    bot: str
    """``owner/bot@version``."""
    language: str | None
    """The language stated at registration; None if none was."""
    created_at: datetime
    revoked_at: datetime | None
    """When its token was revoked; None if it was not."""
    check: CheckSummary | None
    """Its latest check; None if it was never checked."""


@dataclass(frozen=True, slots=True)
class SeatLine:
    """The results of a bot in one seat in a pool, in rated deals that all played to the end or it left."""

    ruleset: str
    """Name and version, as ``hong-kong@1``."""
    table_size: int
    seat: int
    """From 0."""
    deals: int
    points: int
    mean: float | None
    """Points per deal; None without deals."""
    plus_minus: float | None
    """Half the width of the 95 % interval around that; None for fewer than two deals."""
    first: float
    """Deals in which nobody had more points; one that n bots share counts 1/n."""
    faults: int
    """In all rated deals."""
    forfeits: int
    """Rated sessions that it forfeited there."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A bot, with all its versions or one of them."""

    bot: str
    """``owner/bot``."""
    owner: str
    language: str | None
    """The language of the bot; None if not stated."""
    link: str | None
    """Where there is more about it; None if not stated."""
    versions: tuple[VersionLine, ...]
    """The newest first, or the one that was asked for."""
    pools: tuple[LeaderboardLine, ...]
    """The places of these versions, the newest version first."""
    seats: tuple[SeatLine, ...]
    """Its results in each seat, in rated deals that all played to the end or that it left, by pool."""
    faults: Mapping[str, int]
    """How often it committed a fault of each kind, in rated matches or not, the most frequent first."""
    opponents: tuple[OpponentLine, ...]
    """The bots that it met most."""
    matches: tuple[MatchLine, ...]
    """The newest ones."""


def profile(storage: Storage, name: str, limit: int = 10) -> Profile:
    """Return the profile of ``owner/bot``, all versions together, or of one version.

    ``limit`` applies to opponents and to matches. Raise SpecError for a malformed name, UnknownError.
    """
    with storage.read() as tx:
        versions = versions_called(tx, name)[::-1]
        its = select(Bot, Owner.name).join(Owner, col(Owner.id) == Bot.owner_id)
        bot, owner = tx.exec(its.where(Bot.id == versions[0].bot_id)).one()
        version_ids = [version.id for version in versions]
        return Profile(
            bot=f"{owner}/{bot.name}",
            owner=owner,
            language=bot.language,
            link=bot.link,
            versions=tuple(_versions(tx, versions[:VERSIONS])),
            pools=tuple(_pools(tx, version_ids[:VERSIONS])),
            seats=tuple(_seats(tx, version_ids)),
            faults=faults_of(tx, version_ids),
            opponents=tuple(met_most(tx, version_ids, limit)),
            matches=newest_of(tx, version_ids, limit),
        )


def version_lines(storage: Storage, name: str) -> list[VersionLine]:
    """Return the newest versions of ``owner/bot``, the newest first. Raise SpecError, UnknownError."""
    with storage.read() as tx:
        return [*_versions(tx, versions_called(tx, name)[::-1][:VERSIONS])]


def newest_check(storage: Storage, name: str) -> CheckSummary | None:
    """Return the check of a bot's newest version, or of one version; None if it was never checked.

    Raise SpecError for a malformed name, UnknownError.
    """
    with storage.read() as tx:
        [version] = _versions(tx, versions_called(tx, name)[-1:])
    return version.check


def _versions(tx: Transaction, rows: Sequence[BotVersion]) -> Iterator[VersionLine]:
    checks = summaries(tx, [row.id for row in rows])
    for row in rows:
        yield VersionLine(row.name, row.language, row.created_at, row.revoked_at, checks.get(row.id))


def _pools(tx: Transaction, version_ids: Sequence[int]) -> Iterator[LeaderboardLine]:
    """Yield the places of these versions, the newest first."""
    rated = select(Rating.version_id, Rating.ruleset_id, Rating.table_size).where(
        col(Rating.version_id).in_(version_ids), Rating.matches > 0
    )
    newest = rated.order_by(col(Rating.version_id).desc(), col(Rating.ruleset_id), col(Rating.table_size))
    places = [(version_id, Pool(*pool)) for version_id, *pool in tx.exec(newest.limit(POOLS))]
    lines: dict[tuple[int, Pool], LeaderboardLine] = {}
    for named in rated_pools(tx):
        own = [version_id for version_id, pool in places if pool == named.pool]
        for version_id, line in lines_of(tx, named, own).items() if own else ():
            lines[version_id, named.pool] = line
    yield from (lines[place] for place in places)


def _seats(tx: Transaction, version_ids: Sequence[int]) -> Iterator[SeatLine]:
    rows = tx.connection().execute(_seat_sums(), {"versions": version_ids}).all()
    names = _rulesets(tx, {row[0] for row in rows})
    for ruleset_id, size, seat, deals, points, squares, first, faults, forfeits in rows:
        yield SeatLine(
            ruleset=names[ruleset_id],
            table_size=size,
            seat=seat,
            deals=int(deals),
            points=int(points),
            mean=points / deals if deals else None,
            plus_minus=_plus_minus(int(deals), int(points), int(squares)),
            first=float(first),
            faults=int(faults),
            forfeits=int(forfeits),
        )


THESE: Any = bindparam("versions", expanding=True)
"""Versions by their ids, in statements that are made once, because every page of a bot uses them."""


@cache
def _seat_sums() -> Select[Any]:
    place = (col(SeatTally.ruleset_id), col(SeatTally.table_size), col(SeatTally.seat))
    counts: tuple[Any, ...] = (
        SeatTally.deals,
        SeatTally.points,
        SeatTally.squares,
        SeatTally.first,
        SeatTally.faults,
        SeatTally.forfeits,
    )
    sums: Select[Any] = select_columns(*place, *(func.sum(count) for count in counts))
    return sums.where(col(SeatTally.version_id).in_(THESE)).group_by(*place).order_by(*place)


def _plus_minus(deals: int, points: int, squares: int) -> float | None:
    """Return half the width of the 95 % interval around the mean of these deals."""
    if deals < 2:
        return None
    variance = (squares - points**2 / deals) / (deals - 1)
    return TWO_SIDED * math.sqrt(max(variance, 0.0) / deals)


def _rulesets(tx: Transaction, ids: Collection[int]) -> dict[int, str]:
    named: Any = select(StoredRuleset.id, StoredRuleset.name, StoredRuleset.version)
    return {
        id: f"{name}@{version}" for id, name, version in tx.exec(named.where(col(StoredRuleset.id).in_(ids)))
    }


def faults_of(tx: Transaction, version_ids: Sequence[int]) -> dict[str, int]:
    """Return how often versions committed faults of each kind, the most frequent first."""
    rows = tx.connection().execute(_fault_sums(), {"versions": version_ids})
    return {kind.value: int(times) for kind, times in rows}


@cache
def _fault_sums() -> Select[Any]:
    kind: Any = col(FaultTally.kind)
    count: Any = func.sum(col(FaultTally.count))
    made = select_columns(kind, count).where(col(FaultTally.version_id).in_(THESE), col(FaultTally.count) > 0)
    return made.group_by(kind).order_by(count.desc(), kind)

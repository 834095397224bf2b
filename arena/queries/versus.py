"""Two bots, head to head: their results, and whether one is better, as far as is known."""

import math
import operator
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, reduce
from typing import Any, NamedTuple

from sqlalchemy import Select, bindparam
from sqlalchemy import select as select_columns
from sqlalchemy.orm import aliased
from sqlmodel import col, func

from arena.core.elo import TWO_SIDED
from arena.errors import SpecError, UnknownError
from arena.queries.board import LeaderboardLine, StrengthLine
from arena.queries.leaderboards import lines_of
from arena.queries.matches import MatchLine, match_lines, newest_between
from arena.queries.meetings import NOTHING, Met, Row, find_meetings, pool_sums
from arena.queries.names import NamedPool, rated_pools, versions_called
from arena.queries.places import newest_rated
from arena.results.strength.pools import Pool
from arena.store.models import Seat, Session, Strength, StrengthFit
from arena.store.storage import Ids, Storage, Transaction, among

FEWEST_SHARE = 0.02
"""A lead below this share of its uncertainty is too small to be settled."""


class VerdictKind(StrEnum):
    """What can be said of two bots."""

    APART = "apart"
    """The better one is better, in 95 of 100 cases."""
    OPEN = "open"
    """They cannot be told apart yet."""
    STRANGERS = "strangers"
    """They never met, not even indirectly."""
    UNKNOWN = "unknown"
    """One of them has no strength yet, or they are of different pools."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What can be said of two bots of a pool."""

    kind: VerdictKind
    better: LeaderboardLine
    """The one with more points per deal; the first one if that is not known."""
    worse: LeaderboardLine
    lead: float | None
    """How many more points per deal the better one makes; None if unknown."""
    plus_minus: float | None
    """Half the width of the 95 % interval around that."""
    more: int | None
    """Deals that each still has to play until such a lead is certain; None if none, or too many to say."""


def verdict(one: LeaderboardLine, other: LeaderboardLine, error: float | None = None) -> Verdict:
    """Return what can be said of two bots.

    ``error`` is the standard error of the difference of their strengths; None if the two are independent.
    """
    mine, its = one.strength, other.strength
    same_pool = (one.ruleset, one.table_size) == (other.ruleset, other.table_size)
    if mine is None or its is None or not same_pool:
        return Verdict(VerdictKind.UNKNOWN, one, other, None, None, None)
    if mine.group != its.group:
        return Verdict(VerdictKind.STRANGERS, one, other, None, None, None)
    if mine.points < its.points:
        one, other, mine, its = other, one, its, mine
    lead = lead_of(mine, its, None if error is None else TWO_SIDED * error)
    return Verdict(lead.kind, one, other, lead.points, lead.plus_minus, lead.more)


class Mean(NamedTuple):
    """Points a deal."""

    points: float
    plus_minus: float
    """Half the width of the 95 % interval around them."""
    deals: int


class Lead(NamedTuple):
    """How far the first is ahead of the second in points a deal; less than 0 if it is behind."""

    kind: VerdictKind
    """Whether that is certain."""
    points: float
    plus_minus: float
    more: int | None
    """As in ``Verdict``."""


def lead_of(mine: StrengthLine | Mean, its: StrengthLine | Mean, plus_minus: float | None = None) -> Lead:
    """Return how far the first is ahead of the second; without ``plus_minus``, the two are independent."""
    lead = mine.points - its.points
    if plus_minus is None:
        plus_minus = math.hypot(mine.plus_minus, its.plus_minus)
    if abs(lead) > plus_minus:
        return Lead(VerdictKind.APART, lead, plus_minus, None)
    return Lead(VerdictKind.OPEN, lead, plus_minus, _more(abs(lead), plus_minus, mine, its))


@dataclass(frozen=True, slots=True)
class VerdictShown:
    """A verdict with names, and in words."""

    kind: VerdictKind
    """``open``: they cannot be told apart. ``strangers``: they have never met, not even indirectly.
    ``unknown``: one has no strength yet."""
    better: str
    """``owner/bot@version``; the first of the two if it is not known which is better."""
    worse: str
    lead: float | None
    """Points a deal that the better one makes more; None if not known."""
    plus_minus: float | None
    """Half the width of the 95 % interval around that."""
    more: int | None
    """Deals that each still has to play until such a lead is certain; None if none, or too many to say."""
    sentence: str
    """The same in words."""


def verdict_shown(result: Verdict) -> VerdictShown:
    """Return a verdict in words."""
    better, worse = result.better.bot, result.worse.bot
    return VerdictShown(
        result.kind, better, worse, result.lead, result.plus_minus, result.more, sentence(result)
    )


def sentence(result: Verdict) -> str:
    """Return a verdict as a sentence, or two."""
    better, worse = result.better.bot, result.worse.bot
    lead = "" if result.lead is None else f"{result.lead:.2f} ± {result.plus_minus:.2f} points a deal"
    match result.kind:
        case VerdictKind.APART:
            return f"{better} is ahead of {worse}, by {lead}"
        case VerdictKind.OPEN:
            rest = "that is too small for more deals to settle it"
            if result.more is not None:
                rest = f"about {result.more:,} more deals of each would settle it, if that lead is real"
            return f"{better} and {worse} cannot be told apart: the difference is {lead}; {rest}"
        case VerdictKind.STRANGERS:
            return f"{better} and {worse} have never met, not even indirectly: they are not comparable"
        case VerdictKind.UNKNOWN:
            missing = better if result.better.strength is None else worse
            return f"nobody can say which is better: {missing} has no strength yet"


def _more(lead: float, plus_minus: float, mine: StrengthLine | Mean, its: StrengthLine | Mean) -> int | None:
    """Return how many more deals each has to play until ``plus_minus`` is the lead, to two digits.

    Squared errors are inversely proportional to deals: solve a / (m + x) + b / (n + x) = lead² for x.
    """
    if lead <= FEWEST_SHARE * plus_minus:
        return None
    m, n = mine.deals, its.deals
    share = (plus_minus / math.hypot(mine.plus_minus, its.plus_minus)) ** 2
    a, b = share * mine.plus_minus**2 * m, share * its.plus_minus**2 * n
    half = (m + n - (a + b) / (lead * lead)) / 2
    more = -half + math.sqrt(max(0.0, half * half - (m * n - (a * n + b * m) / (lead * lead))))
    digits: int = 10 ** max(0, math.floor(math.log10(max(more, 1.0))) - 1)
    return math.ceil(more / digits) * digits


MATCHES = 50
SESSIONS = 200
"""Results by seat are from at most this many of their newest sessions, in at most ``MATCHES`` matches."""


@dataclass(frozen=True, slots=True)
class PoolLine:
    """The results of the two in a pool."""

    ruleset: str
    """Name and version, as ``hong-kong@1``."""
    table_size: int
    met: Met
    verdict: VerdictShown | None
    """Which is better, by the strengths of their newest versions here; None if one of them is not rated."""


@dataclass(frozen=True, slots=True)
class VersionsLine:
    """The results of two of their versions in all pools."""

    bot: str
    opponent: str
    met: Met


@dataclass(frozen=True, slots=True)
class SeatLine:
    """The results of the first in a seat against the second, in their newest sessions."""

    seat: int
    """From 0."""
    deals: int
    ahead: int
    """Deals in which it had more points than the other."""
    behind: int
    """Deals in which it had fewer."""
    lead: int
    """Its points minus those of the other."""


@dataclass(frozen=True, slots=True)
class Versus:
    """Two bots head to head, seen from the first."""

    bot: str
    """As it was given."""
    opponent: str
    """As it was given."""
    met: Met
    """In all pools."""
    pools: tuple[PoolLine, ...]
    """The same by pool."""
    versions: tuple[VersionsLine, ...]
    """The same by version."""
    seats: tuple[SeatLine, ...]
    """By seat of the first, in their newest sessions, rated or not."""
    sessions: int
    """How many sessions, the newest ones, ``seats`` covers."""
    matches: tuple[MatchLine, ...]
    """The newest ones."""


def versus(storage: Storage, bot: str, opponent: str, limit: int = 10) -> Versus:
    """Return the results of two bots; ``owner/bot`` is all its versions. ``limit`` applies to matches.

    Meetings cover rated deals that all played to the end or one of the two forfeited, seats and matches all.
    Raise UnknownError, and SpecError if both have a version in common.
    """
    with storage.read() as tx:
        own = {version.id: version.name for version in versions_called(tx, bot)}
        others = {version.id: version.name for version in versions_called(tx, opponent)}
        if own.keys() & others.keys():
            raise SpecError("bot", f"{bot} and {opponent} have a version in common")
        sums = pool_sums(tx)
        met = find_meetings(tx, [*sums], [*own], [*others])
        newest = newest_between(tx, [*own], [*others], max(MATCHES, limit))
        sessions = _sessions(tx, [*own], [*others], newest[:MATCHES])
        return Versus(
            bot=bot,
            opponent=opponent,
            met=_total(met),
            pools=tuple(_pools(tx, sums, met, [*own], [*others])),
            versions=tuple(_versions(met, own, others)),
            seats=tuple(_seats(sessions)),
            sessions=len(sessions),
            matches=tuple(match_lines(tx, newest[:limit])),
        )


def _total(rows: Iterable[Row]) -> Met:
    return reduce(operator.add, (row.met for row in rows), NOTHING)


def _pools(
    tx: Transaction,
    pool_of: Mapping[int, Pool],
    rows: Sequence[Row],
    own: Sequence[int],
    others: Sequence[int],
) -> Iterator[PoolLine]:
    newest = [newest_rated(tx, ids) for ids in (own, others)] if rows else []
    for named in rated_pools(tx) if rows else ():
        of_it = [row for row in rows if pool_of[row.sums_id] == named.pool]
        if of_it:
            one, other = (rated.get(named.pool) for rated in newest)
            comparison = verdict_shown(_verdict(tx, named, one, other)) if one and other else None
            yield PoolLine(named.ruleset, named.table_size, _total(of_it), comparison)


def compared(storage: Storage, pool: NamedPool, bot: str, opponent: str) -> VerdictShown:
    """Return what can be said of two bots of a pool, the newest versions of them that are rated there.

    Raise UnknownError, and SpecError for an invalid name or the same bot twice.
    """
    with storage.read() as tx:
        versions = []
        for name in (bot, opponent):
            newest = newest_rated(tx, [version.id for version in versions_called(tx, name)])
            if pool.pool not in newest:
                raise UnknownError(f"{name} is not rated in this pool")
            versions.append(newest[pool.pool])
        if versions[0] == versions[1]:
            raise SpecError("opponent", f"{bot} is compared with itself")
        return verdict_shown(_verdict(tx, pool, *versions))


def _verdict(tx: Transaction, pool: NamedPool, one: int, other: int) -> Verdict:
    """Return what can be said of two bot versions that are rated in a pool."""
    lines = lines_of(tx, pool, [one, other])
    return verdict(lines[one], lines[other], _pair_error(tx, pool.pool, one, other))


def _pair_error(tx: Transaction, pool: Pool, one: int, other: int) -> float | None:
    """Return the standard error of the difference of two strengths of the latest fit; None if independent."""
    of_pool = (col(Strength.ruleset_id) == pool.ruleset_id, col(Strength.table_size) == pool.table_size)
    placed = select_columns(func.count(col(Strength.id))).where(*of_pool)
    later, earlier = (
        tx.execute(placed.where(col(Strength.version_id) < version)).scalar_one()
        for version in (max(one, other), min(one, other))
    )
    at = 1 + 4 * (later * (later - 1) // 2 + earlier)  # characters are counted from 1
    packed = select_columns(func.substr(col(StrengthFit.pair_errors), at, 4)).where(
        col(StrengthFit.ruleset_id) == pool.ruleset_id,
        col(StrengthFit.table_size) == pool.table_size,
        col(StrengthFit.pair_errors).is_not(None),
    )
    packed_error = tx.execute(packed).scalar()
    return struct.unpack("<f", packed_error)[0] if packed_error else None


def _versions(
    rows: Sequence[Row], own: Mapping[int, str], others: Mapping[int, str]
) -> Iterator[VersionsLine]:
    """Yield the results of each two versions, the newest first."""
    pairs = sorted({(row.version_id, row.other_id) for row in rows}, reverse=True)
    for version_id, other_id in pairs:
        of_them = (row for row in rows if (row.version_id, row.other_id) == (version_id, other_id))
        yield VersionsLine(own[version_id], others[other_id], _total(of_them))


class _Meeting(NamedTuple):
    """A session with the positions of the two."""

    seating: list[int]
    deal_points: list[list[int]]
    forfeited_from: Sequence[int]
    leaver: int | None
    position: int
    other: int


def _sessions(
    tx: Transaction, own: Collection[int], others: Collection[int], match_ids: Collection[int]
) -> list[_Meeting]:
    """Return the newest sessions of these matches."""
    parameters = {"matches": match_ids, "own": own, "others": others}
    return [_Meeting(*row) for row in tx.connection().execute(_newest_sessions(), parameters).all()]


@cache
def _newest_sessions() -> Select[Any]:
    one, other = aliased(Seat), aliased(Seat)
    columns: tuple[Any, ...] = (
        *(Session.seating, Session.deal_points),
        *(Session.forfeited_from, Session.leaver),
    )
    matches, own, others = (bindparam(name, type_=Ids()) for name in ("matches", "own", "others"))
    return (
        select_columns(*columns, col(one.position), col(other.position))
        .join(one, col(one.match_id) == Session.match_id)
        .join(other, col(other.match_id) == Session.match_id)
        .where(among(Session.match_id, matches), among(one.version_id, own), among(other.version_id, others))
        .order_by(col(Session.match_id).desc(), col(Session.number).desc())
        .limit(SESSIONS)
    )


def _seats(sessions: Sequence[_Meeting]) -> Iterator[SeatLine]:
    leads: dict[int, list[int]] = {}
    for session in sessions:
        seat, against = session.seating.index(session.position), session.seating.index(session.other)
        left = session.leaver is not None and session.leaver in (seat, against)
        deals = session.deal_points[: None if left else min(session.forfeited_from, default=None)]
        leads.setdefault(seat, []).extend(points[seat] - points[against] for points in deals)
    for seat, leads_there in sorted(leads.items()):
        ahead, behind = sum(lead > 0 for lead in leads_there), sum(lead < 0 for lead in leads_there)
        yield SeatLine(seat, len(leads_there), ahead, behind, sum(leads_there))

"""Two bots, head to head."""

import operator
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from typing import Any, NamedTuple

from sqlalchemy import Select, bindparam
from sqlalchemy import select as select_columns
from sqlalchemy.orm import aliased
from sqlmodel import col

from arena.errors import SpecError
from arena.queries.leaderboards import lines_of
from arena.queries.matches import MatchLine, match_lines, newest_between
from arena.queries.meetings import NOTHING, Met, Row, find_meetings, pool_sums
from arena.queries.names import rated_pools, versions_called
from arena.queries.places import newest_rated
from arena.queries.verdicts import VerdictShown, verdict, verdict_shown
from arena.results.strength.pools import Pool
from arena.store.models import Seat, Session
from arena.store.storage import Ids, Storage, Transaction, among

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
            two = [rated.get(named.pool) for rated in newest]
            lines = lines_of(tx, named, [id for id in two if id is not None])
            one, other = (lines.get(id or 0) for id in two)
            shown = verdict_shown(verdict(one, other)) if one and other else None
            yield PoolLine(named.ruleset, named.table_size, _total(of_it), shown)


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
    wanted = {"matches": match_ids, "own": own, "others": others}
    return [_Meeting(*row) for row in tx.connection().execute(_newest_sessions(), wanted).all()]


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

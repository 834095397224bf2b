"""Notable deals: from each session, the one that stands out most in some respect."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from itertools import groupby, islice
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import Select, and_, bindparam, exists, or_
from sqlalchemy import select as select_columns
from sqlmodel import col, func, select

from arena.core.cursors import Key, make_cursor, read_cursor
from arena.core.luck import UNIT
from arena.queries.names import find_tournament, rulesets_called, versions_called
from arena.results.strength.pools import Pool
from arena.store.database import SKEWED
from arena.store.models import (
    Entrant,
    Highlight,
    HighlightKind,
    Match,
    Round,
    Seat,
    Session,
    StoredRuleset,
    Tournament,
)
from arena.store.records import may_be_shown, names_of
from arena.store.storage import Ids, Storage, Transaction, among

AT_ONCE = 500
"""The most ids in a statement: for many more, PostgreSQL would rather read whole tables."""

OF_DAY = 2_000
"""Among how many of the last matches of a day its deal is chosen."""

FEW = 1_000
"""The deals of up to this many matches are always looked up without an index of their order."""


MADE = (HighlightKind.BEST_MADE, HighlightKind.WORST_MADE)
"""The kinds whose value is kept in parts of a point."""


@dataclass(frozen=True, slots=True)
class HighlightQuery:
    """Which deals are wanted; None stands for all."""

    kind: HighlightKind
    ruleset: str | None = None
    """Name, ``name@version``, or the beginning of its hash."""
    table_size: int | None = None
    bot: str | None = None
    """Who played it: ``owner/bot``, in any version, or one version."""
    tournament: str | None = None


@dataclass(frozen=True, slots=True)
class DealLine:
    """A notable deal; what it says about bots is by seat."""

    tournament: str
    round: int
    table: int
    session: int
    deal: int
    kind: HighlightKind
    value: int
    """What stands out: points, points, actions, bombs, and whole points made of the cards, or lost."""
    ruleset: str
    """Name and version, as ``hong-kong@1``."""
    table_size: int
    """Bots at a table."""
    finished_at: datetime
    """When its session was stored."""
    bots: tuple[str, ...]
    """By seat."""
    points: tuple[int, ...]
    """By seat."""


@dataclass(frozen=True, slots=True)
class DealPage:
    """A page of notable deals."""

    deals: tuple[DealLine, ...]
    """The most notable first."""
    next: str | None
    """Cursor of the next page; None if there is none."""


Place: TypeAlias = tuple[float, float]
"""The ascending order of deals: by the value, then by the session, which descends."""

BEFORE_ALL: Place = (-math.inf, -math.inf)


def find_deals(
    storage: Storage, query: HighlightQuery, limit: int = 20, cursor: str | None = None
) -> DealPage:
    """Return the deals that stand out most first, equal ones newest first; one of each session.

    Deals that others still have to play are left out, and those of test matches unless a bot or a tournament
    is named. Raise UnknownError, and SpecError for a cursor of another list.
    """
    with storage.read() as tx:
        after = None if cursor is None else read_cursor(query, cursor, int, int)
        scope = _filter_of(tx, query)
        pools = {
            pool: _few_matches(tx, pool, played, scope, limit + 1)
            for pool, played in _pools(tx, query, scope).items()
        }
        places = _merged(tx, query.kind, pools, scope, after, limit + 1)
        lines = tuple(_lines(tx, {query.kind: places[:limit]}))
        return DealPage(lines, make_cursor(query, places[limit - 1]) if len(places) > limit else None)


def notable_deals(storage: Storage, bot: str, each: int = 2) -> tuple[DealLine, ...]:
    """Return the deals of a bot that stand out most, ``each`` of each kind, no deal twice.

    Raise UnknownError, and SpecError for a malformed name.
    """
    with storage.read() as tx:
        scope = _Filter(None, [version.id for version in versions_called(tx, bot)]).looked_into(tx)
        query = HighlightQuery(HighlightKind.CLOSEST, bot=bot)
        pools = {
            pool: _few_matches(tx, pool, played, scope, each)
            for pool, played in _pools(tx, query, scope).items()
        }
        few = [match_id for ids in pools.values() for match_id in ids or ()]
        many = {pool: ids for pool, ids in pools.items() if ids is None}
        by_kind = _among(tx, [*HighlightKind], few)
        for kind, places in by_kind.items():
            by_kind[kind] = sorted(places + _merged(tx, kind, many, scope, None, each))[:each]
        lines = _lines(tx, by_kind)
        best: dict[tuple[object, ...], DealLine] = {}
        for line in lines:
            at = (line.tournament, line.round, line.table, line.session, line.deal)
            best.setdefault(at, line)
        return tuple(best.values())


def deal_of_day(storage: Storage, until: datetime) -> DealLine | None:
    """Return the most notable deal of the newest day on which rated matches finished before ``until``.

    Days are those of UTC, and the kinds take turns from day to day. None if there is no such deal among the
    last ``OF_DAY`` matches.
    """
    newest = select(Match.finished_at, Match.id).where(col(Match.finished_at) < until)
    with storage.read() as tx:
        rows = tx.exec(
            newest.order_by(col(Match.finished_at).desc(), col(Match.id).desc()).limit(OF_DAY)
        ).all()
        for day, of_day in groupby(((at.date(), id) for at, id in rows if at), key=lambda row: row[0]):
            match_ids = _public_matches(tx, _Filter(None, None), [id for _, id in of_day])
            by_kind = _among(tx, [*HighlightKind], match_ids)
            turn = day.toordinal() % len(HighlightKind)
            for kind in [*HighlightKind][turn:] + [*HighlightKind][:turn]:
                if by_kind[kind]:
                    return next(_lines(tx, {kind: [min(by_kind[kind])]}))
    return None


def _pools(tx: Transaction, query: HighlightQuery, scope: "_Filter") -> dict[Pool, int]:
    """Return the pools with their numbers of rated matches.

    Each ruleset has one pool, because it sets how many sit at a table.
    """
    rulesets = select(StoredRuleset.id, StoredRuleset.players, StoredRuleset.rated_matches)
    if query.ruleset is not None:
        rulesets = rulesets.where(col(StoredRuleset.id).in_(rulesets_called(tx, query.ruleset)))
    if query.table_size is not None:
        rulesets = rulesets.where(StoredRuleset.players == query.table_size)
    if query.tournament is not None:
        played = select(Tournament.ruleset_id).where(Tournament.name == query.tournament)
        rulesets = rulesets.where(col(StoredRuleset.id).in_(played))
    if scope.version_ids is not None:
        entered = select(Tournament.ruleset_id).join(Entrant, col(Entrant.tournament_id) == Tournament.id)
        entered = entered.where(col(Entrant.version_id).in_(scope.version_ids))
        rulesets = rulesets.where(col(StoredRuleset.id).in_(entered))
    return {Pool(id, players): matches for id, players, matches in tx.exec(rulesets)}


@dataclass(frozen=True, slots=True)
class _Filter:
    """The matches whose deals are wanted."""

    tournament_id: int | None
    version_ids: Sequence[int] | None
    """Bot versions, one of which sat at the table."""
    hides: bool = True
    """Whether there may be matches whose deals may not be shown; a few tournaments have them."""

    def looked_into(self, tx: Transaction) -> "_Filter":
        """Return the same, with ``hides`` looked up if that is quick."""
        if self.tournament_id is None and self.version_ids is None:
            return self
        hiding = select(Tournament.id).where(
            col(Tournament.duplicate).is_(True), col(Tournament.finished_at).is_(None), *self.tournaments()
        )
        return replace(self, hides=tx.exec(hiding.limit(1)).first() is not None)

    def among(self, rows: Select[Any]) -> Select[Any]:
        """Return those rows of highlights that are of these matches, with no more joins than that takes."""
        rows = rows.join(Session, col(Session.id) == Highlight.session_id)
        if self.hides or self.tournament_id is not None:
            rows = rows.join(Match, col(Match.id) == Session.match_id)
        if self.hides:
            rows = rows.join(Round, col(Round.id) == Match.round_id)
            rows = rows.join(Tournament, col(Tournament.id) == Match.tournament_id).where(may_be_shown())
        if self.tournament_id is None and self.version_ids is None:
            rows = rows.where(col(Tournament.test).is_(False))
        if self.tournament_id is not None:
            rows = rows.where(col(Match.tournament_id) == self.tournament_id)
        if self.version_ids is not None:
            sat = (col(Seat.match_id) == Session.match_id, col(Seat.version_id).in_(self.version_ids))
            rows = rows.where(exists(col(Seat.id)).where(*sat))
        return rows

    def tournaments(self) -> Iterator[Any]:
        """Yield the conditions on the tournaments of these matches."""
        if self.tournament_id is not None:
            yield col(Tournament.id) == self.tournament_id
        if self.version_ids is not None:
            of_them = col(Entrant.version_id).in_(self.version_ids)
            yield col(Tournament.id).in_(select_columns(col(Entrant.tournament_id)).where(of_them))

    def matches(self, pool: Pool) -> Select[Any] | None:
        """Select, by an index, the ids of these matches in a pool; None if they are all of the pool."""
        if self.version_ids is None:
            of_it = col(Match.tournament_id) == self.tournament_id
            return None if self.tournament_id is None else select_columns(col(Match.id)).where(of_it)
        entered = select_columns(col(Entrant.id)).join(
            Tournament, col(Tournament.id) == Entrant.tournament_id
        )
        under = (col(Tournament.ruleset_id) == pool.ruleset_id, col(Entrant.version_id).in_(self.version_ids))
        if self.tournament_id is not None:
            entered = entered.where(col(Tournament.id) == self.tournament_id)
        return select_columns(col(Seat.match_id)).where(col(Seat.entrant_id).in_(entered.where(*under)))


def _filter_of(tx: Transaction, query: HighlightQuery) -> _Filter:
    tournament = None if query.tournament is None else find_tournament(tx, query.tournament)
    versions = None if query.bot is None else [version.id for version in versions_called(tx, query.bot)]
    return _Filter(tournament, versions).looked_into(tx)


class _Way(NamedTuple):
    """How to find the deals of a kind in a pool."""

    conditions: tuple[Any, ...]
    """Conditions on highlights."""
    match_ids: Sequence[int] | None = None
    """Only the deals of these matches, in no order; None if an index has all deals in order."""


def _way(kind: HighlightKind, pool: Pool, match_ids: Sequence[int] | None) -> _Way:
    ruleset = (col(Highlight.ruleset_id) == pool.ruleset_id, col(Highlight.kind) == kind)
    return _Way((*ruleset, col(Highlight.table_size) == pool.table_size), match_ids)


def _few_matches(
    tx: Transaction, pool: Pool, played: int, scope: _Filter, limit: int
) -> Sequence[int] | None:
    """Return the matches of a pool whose deals are wanted; None for all, or for too many.

    If they are few, their deals are looked up and sorted; if they are many, going through all deals in order
    passes over hardly more than are shown. The cheaper way reads at most about the square root of all deals.
    """
    matches = scope.matches(pool)
    if matches is None:
        return None
    few = max(FEW, math.isqrt(limit * played))
    match_ids = tx.connection().execute(matches.limit(few + 1)).scalars().all()
    return None if len(match_ids) > few else _public_matches(tx, scope, match_ids)


def _public_matches(tx: Transaction, scope: _Filter, match_ids: Sequence[int]) -> Sequence[int]:
    """Return those of these matches whose deals may be shown."""
    if not scope.hides:
        return match_ids
    rows = (
        select(Match.id)
        .join(Round, col(Round.id) == Match.round_id)
        .join(Tournament, col(Tournament.id) == Match.tournament_id)
        .where(may_be_shown())
    )
    return [id for part in _parts(match_ids) for id in tx.exec(rows.where(among(Match.id, part)))]


def _parts(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield at most ``AT_ONCE`` ids at a time."""
    yield from (ids[at : at + AT_ONCE] for at in range(0, len(ids), AT_ONCE))


def _merged(
    tx: Transaction,
    kind: HighlightKind,
    pools: Mapping[Pool, Sequence[int] | None],
    scope: _Filter,
    after: Key | None,
    limit: int,
) -> list[Place]:
    """Return the first places of all pools together, in order.

    Pools are read in the order of their best places, so that few are even where there are very many.
    """
    whole = [pool for pool, match_ids in pools.items() if match_ids is None]
    firsts = dict.fromkeys(pools.keys() - {*whole}, BEFORE_ALL) | _first_places(tx, kind, whole, after)
    merged: list[Place] = []
    for pool, first in sorted(firsts.items(), key=lambda entry: entry[1]):
        if len(merged) == limit and merged[-1] < first:
            break
        places = _places(tx, kind, _way(kind, pool, pools[pool]), scope, after, limit)
        merged = sorted([*merged, *places])[:limit]
    return merged


def _first_places(
    tx: Transaction, kind: HighlightKind, pools: Sequence[Pool], after: Key | None
) -> dict[Pool, Place]:
    """Return the first place of each pool with deals from a value on, whether it may be shown or not."""
    if not pools:
        return {}
    closest = kind is HighlightKind.CLOSEST
    value, players = col(Highlight.value), StoredRuleset.players
    of_pool = [col(Highlight.ruleset_id) == StoredRuleset.id, col(Highlight.table_size) == players]
    of_kind = [*of_pool, col(Highlight.kind) == kind]
    reached = [] if after is None else [value >= after[0] if closest else value <= -after[0]]
    best = select(func.min(value) if closest else func.max(value)).where(*of_kind, *reached)
    best_value = best.correlate(StoredRuleset).scalar_subquery()
    newest = select(func.max(Highlight.session_id)).where(*of_kind, value == best_value)
    newest_session = newest.correlate(StoredRuleset).scalar_subquery()
    columns: tuple[Any, ...] = (StoredRuleset.id, players, best_value, newest_session)
    rows = select_columns(*columns).where(among(StoredRuleset.id, [pool.ruleset_id for pool in pools]))
    return {
        Pool(id, size): (value_there if closest else -value_there, -session)
        for id, size, value_there, session in tx.execute(rows)
        if value_there is not None
    }


def _places(
    tx: Transaction, kind: HighlightKind, way: _Way, scope: _Filter, after: Key | None, limit: int
) -> list[Place]:
    if way.match_ids is not None:
        places = sorted(_among(tx, [kind], way.match_ids)[kind])
        return [place for place in places if after is None or place > (*after,)][:limit]
    value, session_id = col(Highlight.value), col(Highlight.session_id)
    all_places: Any = select_columns(value, session_id).select_from(Highlight)
    rows = scope.among(all_places).execution_options(**{SKEWED: True})
    if kind is HighlightKind.CLOSEST:
        return [*islice(_rising(tx, way, rows.where(*way.conditions), after, limit), limit)]
    if after is not None:
        reached, session = -after[0], -after[1]
        rows = rows.where(or_(value < reached, and_(value == reached, session_id < session)))
    rows = rows.where(*way.conditions).order_by(value.desc(), session_id.desc()).limit(limit)
    return [(-value, -session) for value, session in tx.execute(rows)]


def _among(
    tx: Transaction, kinds: Sequence[HighlightKind], match_ids: Sequence[int]
) -> dict[HighlightKind, list[Place]]:
    """Return by kind the places of the deals of these matches, in any order."""
    by_kind: dict[HighlightKind, list[Place]] = {kind: [] for kind in kinds}
    for part in _parts(match_ids):
        rows = tx.connection().execute(_of_matches(), {"matches": part, "kinds": kinds}).all()
        for kind, value, session in rows:
            by_kind[kind].append((value if kind is HighlightKind.CLOSEST else -value, -session))
    return by_kind


_OF_KINDS = col(Highlight.kind).in_(bindparam("kinds", expanding=True))


@cache
def _of_matches() -> Select[Any]:
    columns: tuple[Any, ...] = (Highlight.kind, Highlight.value, Highlight.session_id)
    rows = select_columns(*columns).join(Session, col(Session.id) == Highlight.session_id)
    return rows.where(among(Session.match_id, bindparam("matches", type_=Ids())), _OF_KINDS)


def _rising(tx: Transaction, way: _Way, rows: Select[Any], after: Key | None, limit: int) -> Iterator[Place]:
    """Yield places with ascending values, one value at a time: in the index its sessions ascend too."""
    value, session_id = col(Highlight.value), col(Highlight.session_id)
    values = select(func.min(value)).where(*way.conditions)
    reached = tx.exec(values if after is None else values.where(value >= after[0])).one()
    while reached is not None:
        of_value = rows.where(value == reached).order_by(session_id.desc()).limit(limit)
        if after is not None and reached == after[0]:
            of_value = of_value.where(session_id < -after[1])
        yield from ((lowest, -session) for lowest, session in tx.execute(of_value))
        reached = tx.exec(values.where(value > reached)).one()


def _rows(tx: Transaction, by_kind: Mapping[HighlightKind, Sequence[Place]]) -> list[Any]:
    """Return the rows of deals for display, in the order of ``by_kind``."""
    places = [(-session, kind) for kind, of_kind in by_kind.items() for _, session in of_kind]
    these = {"sessions": {session for session, _ in places}, "kinds": [*by_kind]}
    rows = tx.connection().execute(_displayed(), these)
    by_place = {(row.session_id, row.kind): row for row in rows}
    return [by_place[place] for place in places]


@cache
def _displayed() -> Select[Any]:
    """Select what is displayed of deals; made once, because every page of deals uses it."""
    columns: tuple[Any, ...] = (
        *(Highlight.session_id, Highlight.kind, Highlight.deal, Highlight.value, Highlight.table_size),
        *(col(Session.number).label("session"), Session.seating, Session.deal_points, Session.finished_at),
        *(Session.match_id, Match.table_number, col(Round.number).label("round")),
        *(col(Tournament.name).label("tournament"), col(StoredRuleset.name).label("ruleset")),
        StoredRuleset.version,
    )
    return (
        select_columns(*columns)
        .select_from(Highlight)
        .join(Session, col(Session.id) == Highlight.session_id)
        .join(Match, col(Match.id) == Session.match_id)
        .join(Round, col(Round.id) == Match.round_id)
        .join(Tournament, col(Tournament.id) == Match.tournament_id)
        .join(StoredRuleset, col(StoredRuleset.id) == Highlight.ruleset_id)
        .where(among(Highlight.session_id, bindparam("sessions", type_=Ids())), _OF_KINDS)
    )


def _lines(tx: Transaction, by_kind: Mapping[HighlightKind, Sequence[Place]]) -> Iterator[DealLine]:
    rows = _rows(tx, by_kind)
    names = names_of(tx, {row.match_id for row in rows})
    for row in rows:
        yield DealLine(
            tournament=row.tournament,
            round=row.round,
            table=row.table_number,
            session=row.session,
            deal=row.deal,
            kind=row.kind,
            value=round(row.value / UNIT) if row.kind in MADE else row.value,
            ruleset=f"{row.ruleset}@{row.version}",
            table_size=row.table_size,
            finished_at=row.finished_at,
            bots=tuple(names[row.match_id][position] for position in row.seating),
            points=tuple(row.deal_points[row.deal - 1]),
        )

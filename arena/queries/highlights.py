"""Deals worth seeing: the one of each session that stands out most in some respect, of all sessions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import merge
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import Select, and_, exists, or_
from sqlalchemy import select as select_columns
from sqlmodel import col, select

from arena.matches.records import may_be_shown
from arena.models import (
    BotVersion,
    Highlight,
    HighlightKind,
    Match,
    Round,
    Seat,
    Session,
    StoredRuleset,
    Tournament,
)
from arena.queries.cursors import Key, make_cursor, read_cursor
from arena.queries.names import find_tournament, rulesets_called, versions_called
from arena.storage import Storage, Transaction
from arena.strength.kept import Pool


@dataclass(frozen=True, slots=True)
class Asked:
    """Which deals; None: all."""

    kind: HighlightKind
    ruleset: str | None = None
    """Name, ``name@version``, or the beginning of its hash."""
    table_size: int | None = None
    bot: str | None = None
    """Who played it: ``owner/bot``, in any version, or one version."""
    tournament: str | None = None


@dataclass(frozen=True, slots=True)
class DealLine:
    """A deal worth seeing; what is told of bots is by seat."""

    tournament: str
    round: int
    table: int
    session: int
    deal: int
    kind: HighlightKind
    value: int
    """How much it has of that: points, actions or bombs (``arena.tallies.highlights``)."""
    ruleset: str
    """Name and version, as ``hong-kong@1``."""
    table_size: int
    finished_at: datetime
    """When its session was stored."""
    names: tuple[str, ...]
    points: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DealPage:
    """A page of deals."""

    lines: tuple[DealLine, ...]
    next: str | None
    """Cursor of the next page; None: there is none."""


class _Found(NamedTuple):
    order: tuple[int, int]
    """Lists of these rise."""
    row: Any
    """As ``_joined`` selects it."""


def find_deals(storage: Storage, asked: Asked, limit: int = 20, cursor: str | None = None) -> DealPage:
    """Return the deals that stand out most first, and of those alike the newest; one of each session.

    Deals that others are still to play are left out. Raise UnknownError, and SpecError for a cursor of
    another list.
    """
    with storage.read() as tx:
        after = None if cursor is None else read_cursor(asked, cursor, int, int)
        conditions = [*_wanted(tx, asked)]
        pools = [_in_pool(asked.kind, pool) for pool in _pools(tx, asked)]
        found = list(islice(_merged(tx, asked.kind, pools, conditions, after, limit + 1), limit + 1))
        lines = tuple(_lines(tx, [one.row for one in found[:limit]]))
        return DealPage(lines, make_cursor(asked, found[limit - 1].order) if len(found) > limit else None)


def _pools(tx: Transaction, asked: Asked) -> list[Pool]:
    """Return the pools; each ruleset has one, as it tells how many sit at a table."""
    rulesets = select(StoredRuleset.id, StoredRuleset.players)
    if asked.ruleset is not None:
        rulesets = rulesets.where(col(StoredRuleset.id).in_(rulesets_called(tx, asked.ruleset)))
    if asked.table_size is not None:
        rulesets = rulesets.where(StoredRuleset.players == asked.table_size)
    return [Pool(*row) for row in tx.exec(rulesets)]


def _wanted(tx: Transaction, asked: Asked) -> Iterator[Any]:
    yield may_be_shown()
    if asked.tournament is not None:
        yield col(Match.tournament_id) == find_tournament(tx, asked.tournament)
    if asked.bot is not None:
        versions = [version.id for version in versions_called(tx, asked.bot)]
        there = (col(Seat.match_id) == Session.match_id, col(Seat.version_id).in_(versions))
        yield exists(col(Seat.id)).where(*there)


def _in_pool(kind: HighlightKind, pool: Pool) -> tuple[Any, ...]:
    return (
        col(Highlight.ruleset_id) == pool.ruleset_id,
        col(Highlight.table_size) == pool.table_size,
        col(Highlight.kind) == kind,
    )


def _merged(
    tx: Transaction,
    kind: HighlightKind,
    pools: list[tuple[Any, ...]],
    conditions: list[Any],
    after: Key | None,
    limit: int,
) -> Iterator[_Found]:
    """Yield what is found in each of the pools, together in order."""
    sign = 1 if kind is HighlightKind.CLOSEST else -1
    value, session_id = col(Highlight.value), col(Highlight.session_id)
    order = (value if sign > 0 else value.desc(), session_id.desc())
    beyond = []
    if after is not None:
        reached, session = sign * after[0], -after[1]
        more = value > reached if sign > 0 else value < reached
        beyond = [or_(more, and_(value == reached, session_id < session))]
    pages = []
    for pool in pools:
        rows = _joined().where(*pool, *conditions, *beyond).order_by(*order).limit(limit)
        pages.append([_Found((sign * row[0].value, -row[0].session_id), row) for row in tx.execute(rows)])
    yield from merge(*pages, key=lambda one: one.order)


def _joined() -> Select[Any]:
    columns: tuple[Any, ...] = (Highlight, Session, Match, Round.number, Tournament.name, StoredRuleset)
    return (
        select_columns(*columns)
        .select_from(Highlight)
        .join(Session, col(Session.id) == Highlight.session_id)
        .join(Match, col(Match.id) == Session.match_id)
        .join(Round, col(Round.id) == Match.round_id)
        .join(Tournament, col(Tournament.id) == Match.tournament_id)
        .join(StoredRuleset, col(StoredRuleset.id) == Highlight.ruleset_id)
    )


def _lines(tx: Transaction, rows: Sequence[Any]) -> Iterator[DealLine]:
    seated = select(Seat.match_id, BotVersion.name).join(BotVersion, col(BotVersion.id) == Seat.version_id)
    seated = seated.where(col(Seat.match_id).in_({match.id for _, _, match, *_ in rows}))
    names: dict[int, list[str]] = {}
    for match_id, name in tx.exec(seated.order_by(col(Seat.match_id), col(Seat.position))):
        names.setdefault(match_id, []).append(name)
    for highlight, session, match, round, tournament, ruleset in rows:
        yield DealLine(
            tournament=tournament,
            round=round,
            table=match.table_number,
            session=session.number,
            deal=highlight.deal,
            kind=highlight.kind,
            value=highlight.value,
            ruleset=ruleset.label,
            table_size=highlight.table_size,
            finished_at=session.finished_at,
            names=tuple(names[match.id][position] for position in session.seating),
            points=tuple(session.deal_points[highlight.deal - 1]),
        )

"""The deals that a bot has played, for its author."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from heapq import merge
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, and_, or_
from sqlalchemy import select as select_columns
from sqlmodel import col, select

from arena.errors import SpecError
from arena.store.models import (
    Entrant,
    Match,
    Round,
    Seat,
    Session,
    SessionRecords,
    StoredRuleset,
    Tournament,
)
from arena.store.records import may_be_shown, names_of, unpack_records
from arena.store.storage import Storage, Transaction
from referee.matches.journal import BotDeal, DealPage, DealQuery, Place, is_lost
from referee.reading.names import is_number
from referee.records.record import full_record

MOST_SESSIONS = 1_000
"""The most sessions that one call searches; if they have too few such deals, the next page continues."""


class _Played(NamedTuple):
    """A session that a version has played."""

    match_id: int
    id: int
    position: int
    """The version's position at the table."""
    version_id: int
    number: int
    seating: list[int]
    deal_points: list[list[int]]
    finished_at: datetime
    table: int
    round: int
    tournament: str
    ruleset_id: int

    @property
    def order(self) -> tuple[int, int, int]:
        """The key by which sessions are sorted, ascending."""
        return -self.match_id, -self.id, self.position

    @property
    def seat(self) -> int:
        """The version's seat."""
        return self.seating.index(self.position)

    @property
    def name(self) -> str:
        """The session's public name."""
        return f"{self.tournament}/{self.round}/{self.table}/{self.number}"


_COLUMNS: tuple[Any, ...] = (
    *(Seat.match_id, Session.id, Seat.position, Seat.version_id, Session.number, Session.seating),
    *(Session.deal_points, Session.finished_at, Match.table_number, Round.number, Tournament.name),
    Tournament.ruleset_id,
)


class _Wanted(NamedTuple):
    """Deals of a session that were asked for."""

    played: _Played
    numbers: list[int]
    """The last one first."""


def read_deals(storage: Storage, versions: Mapping[int, str], query: DealQuery) -> DealPage:
    """Return the deals of these versions that ``query`` asks for, the newest first. Raise SpecError.

    The newest are those that were paired last. A session's deals appear as soon as it is stored; in a
    duplicate tournament, once its round is closed.
    """
    if query.limit < 1:
        raise SpecError("limit", f"must be a whole number from 1, not {query.limit}")
    at_once = min(4 * query.limit if query.lost else query.limit, MOST_SESSIONS)
    with storage.read() as tx:
        played = _sessions(tx, versions, query, at_once)
        chosen = [*_first(played, query)]
        placed = [*islice(_deals(tx, chosen, versions), query.limit)]
    deals = [deal for _, deal in placed]
    if len(placed) == query.limit:
        return DealPage(deals, placed[-1][0])
    return DealPage(deals, _end(played[-1]) if len(played) == at_once else None)


def _end(played: _Played) -> Place:
    """Return the place of the first deal of a session."""
    return played.id, played.position, 1


def _sessions(tx: Transaction, versions: Mapping[int, str], query: DealQuery, at_once: int) -> list[_Played]:
    """Return sessions that the versions have played, the newest first."""
    conditions = (may_be_shown(), *_before(tx, query), *_of_session(query))
    rows = (
        select_columns(*_COLUMNS)
        .select_from(Seat)
        .join(Match, col(Match.id) == Seat.match_id)
        .join(Session, col(Session.match_id) == Match.id)
        .join(Round, col(Round.id) == Match.round_id)
        .join(Tournament, col(Tournament.id) == Match.tournament_id)
        .where(*conditions)
        .order_by(col(Seat.match_id).desc(), col(Session.id).desc(), col(Seat.position))
        .limit(at_once)
    )
    # An index leads to the seats of one version, or entrant, in order; those of several would be sorted.
    lists = [[_Played(*row) for row in tx.execute(rows.where(seat))] for seat in _seats(tx, versions, query)]
    return [*islice(merge(*lists, key=lambda session: session.order), at_once)]


def _seats(tx: Transaction, versions: Mapping[int, str], query: DealQuery) -> list[ColumnElement[bool]]:
    """Return conditions on the seats of each of the versions, or of their entries in the tournament."""
    if query.session is None:
        return [col(Seat.version_id) == version_id for version_id in versions]
    entered = select(Entrant.id).join(Tournament, col(Tournament.id) == Entrant.tournament_id)
    of_it = (Tournament.name == query.session.partition("/")[0], col(Entrant.version_id).in_(versions))
    return [col(Seat.entrant_id) == entrant_id for entrant_id in tx.exec(entered.where(*of_it))]


def _before(tx: Transaction, query: DealQuery) -> Iterator[ColumnElement[bool]]:
    """Yield the conditions that sessions come after the end of the previous page."""
    if query.before is None:
        return
    session, position, deal = query.before
    match_id = tx.exec(select(Session.match_id).where(Session.id == session)).first() or 0
    later = col(Seat.position) >= position if deal > 1 else col(Seat.position) > position
    same = or_(col(Session.id) < session, and_(col(Session.id) == session, later))
    yield col(Seat.match_id) <= match_id
    yield or_(col(Seat.match_id) < match_id, same)


def _of_session(query: DealQuery) -> Iterator[ColumnElement[bool]]:
    """Yield the conditions for the name of a session, or the beginning of one. Raise SpecError."""
    if query.session is None:
        return
    _, *numbers = query.session.rstrip("/").split("/")
    if len(numbers) > 3 or not all(map(is_number, numbers)):
        raise SpecError("session", f"{query.session!r} is not TOURNAMENT/ROUND/TABLE/SESSION, or a beginning")
    for column, number in zip((Round.number, Match.table_number, Session.number), numbers, strict=False):
        yield col(column) == int(number)


def _first(played: Sequence[_Played], query: DealQuery) -> Iterator[_Wanted]:
    """Yield the wanted deals of these sessions, until there are as many as were asked for."""
    count = 0
    for session in played:
        if count >= query.limit:
            return
        last = len(session.deal_points)
        if query.before is not None and query.before[:2] == (session.id, session.position):
            last = query.before[2] - 1
        numbers = [
            number
            for number in range(last, 0, -1)
            if not query.lost or is_lost(session.deal_points[number - 1], session.seat)
        ]
        if numbers:
            count += len(numbers)
            yield _Wanted(session, numbers)


def _deals(
    tx: Transaction, chosen: Sequence[_Wanted], versions: Mapping[int, str]
) -> Iterator[tuple[Place, BotDeal]]:
    """Yield deals with their places, in this order."""
    packed = select(SessionRecords.session_id, SessionRecords.records)
    packed = packed.where(col(SessionRecords.session_id).in_({session.id for session, _ in chosen}))
    records = dict(tx.exec(packed).all())
    names = names_of(tx, {session.match_id for session, _ in chosen})
    rulesets = select(StoredRuleset.id, StoredRuleset.content)
    rulesets = rulesets.where(col(StoredRuleset.id).in_({session.ruleset_id for session, _ in chosen}))
    contents = dict(tx.exec(rulesets).all())
    for session, numbers in chosen:
        lean = unpack_records(records[session.id])
        seats = [names[session.match_id][position] for position in session.seating]
        for number in numbers:
            record = full_record(
                lean[number - 1],
                ruleset=contents[session.ruleset_id],
                tournament=session.tournament,
                round=session.round,
                table=session.table,
                session=session.number,
                seats=seats,
            )
            deal = BotDeal(
                versions[session.version_id], session.name, session.seat, session.finished_at, record
            )
            yield (session.id, session.position, number), deal

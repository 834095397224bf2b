"""The deals that a bot has played, for its author."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from sqlalchemy import ColumnElement, and_, or_
from sqlalchemy import select as select_columns
from sqlmodel import col

from arena.actors import Actor
from arena.bots.versions import versions_for
from arena.errors import SpecError
from arena.matches.records import full_records, may_be_shown, names_and_points
from arena.models import WITHOUT_HEAD, Match, Round, Seat, Session, Tournament
from arena.storage import Storage, Transaction
from referee.matches.journal import BotDeal, DealPage, DealQuery, Place, is_lost

MOST_SESSIONS = 1_000
"""Sessions that one call looks through at most; where they have too few such deals, the next page goes on."""


class _Played(NamedTuple):
    """A session that a version has played."""

    session: Session
    match: Match
    round: int
    tournament: Tournament
    position: int
    """The version's position at the table."""
    version_id: int

    @property
    def seat(self) -> int:
        """The version's seat."""
        return self.session.seating.index(self.position)

    @property
    def name(self) -> str:
        """The session's public name."""
        return f"{self.tournament.name}/{self.round}/{self.match.table_number}/{self.session.number}"


def read_deals(storage: Storage, versions: Mapping[int, str], query: DealQuery) -> DealPage:
    """Return the deals of these versions that ``query`` asks for, the newest first. Raise SpecError.

    A session's deals are there as soon as it is stored; in a duplicate tournament, once its round is closed.
    """
    if query.limit < 1:
        raise SpecError("limit", f"must be a whole number from 1, not {query.limit}")
    found: list[BotDeal] = []
    at_once = min(4 * query.limit, MOST_SESSIONS)
    with storage.read() as tx:
        played = _sessions(tx, versions, query, at_once)
        for one in played:
            for number, deal in _deals(tx, one, versions[one.version_id], query):
                found.append(deal)
                if len(found) == query.limit:
                    return DealPage(found, (one.session.id, one.position, number))
        return DealPage(found, _end(played[-1]) if len(played) == at_once else None)


def newest_deals(storage: Storage, actor: Actor, query: DealQuery) -> list[BotDeal]:
    """Return all deals that ``query`` asks for, the newest first, for the bot's owner or an operator.

    Raise SpecError, UnknownError, NotAllowed.
    """
    versions = versions_for(storage, actor, query.bot)
    found: list[BotDeal] = []
    while len(found) < query.limit:
        page = read_deals(storage, versions, replace(query, limit=query.limit - len(found)))
        found += page.deals
        if page.before is None:
            break
        query = replace(query, before=page.before)
    return found


def _end(played: _Played) -> Place:
    """Return the place before which no deal of a session is."""
    return played.session.id, played.position, 1


def _sessions(tx: Transaction, versions: Mapping[int, str], query: DealQuery, at_once: int) -> list[_Played]:
    """Return sessions that the versions have played, the newest first."""
    columns = select_columns(
        Session, Match, col(Round.number), Tournament, col(Seat.position), col(Seat.version_id)
    )
    rows = (
        columns.join(Match, col(Match.id) == Session.match_id)
        .join(Round, col(Round.id) == Match.round_id)
        .join(Tournament, col(Tournament.id) == Match.tournament_id)
        .join(Seat, col(Seat.match_id) == Match.id)
        .where(col(Seat.version_id).in_(versions), may_be_shown(), *_wanted(query))
        .options(WITHOUT_HEAD)
        .order_by(col(Session.id).desc(), col(Seat.position))
        .limit(at_once)
    )
    return [_Played(*row) for row in tx.execute(rows)]


def _wanted(query: DealQuery) -> Iterator[ColumnElement[bool]]:
    """Yield the conditions on sessions that a query has. Raise SpecError."""
    if query.before is not None:
        session, position, deal = query.before
        later = col(Seat.position) >= position if deal > 1 else col(Seat.position) > position
        same = and_(col(Session.id) == session, later)
        yield or_(col(Session.id) < session, same)
    if query.session is None:
        return
    name, *numbers = query.session.rstrip("/").split("/")
    if len(numbers) > 3 or not all(number.isdecimal() and len(number) < 10 for number in numbers):
        raise SpecError("session", f"{query.session!r} is not TOURNAMENT/ROUND/TABLE/SESSION, or a beginning")
    yield col(Tournament.name) == name
    for column, number in zip((Round.number, Match.table_number, Session.number), numbers, strict=False):
        yield col(column) == int(number)


def _deals(tx: Transaction, one: _Played, bot: str, query: DealQuery) -> Iterator[tuple[int, BotDeal]]:
    """Yield the deals of a session that a query asks for, with their numbers, the last one first."""
    seat, last = one.seat, len(one.session.deal_points)
    if query.before is not None and query.before[:2] == (one.session.id, one.position):
        last = query.before[2] - 1
    wanted = [
        number
        for number in range(last, 0, -1)
        if not query.lost or is_lost(one.session.deal_points[number - 1], seat)
    ]
    if not wanted:
        return
    names, _ = names_and_points(tx, one.match)
    records = list(full_records(tx, one.tournament, one.round, one.match, one.session, names))
    for number in wanted:
        yield number, BotDeal(bot, one.name, seat, one.session.finished_at, records[number - 1])

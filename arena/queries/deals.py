"""The deals of a session, and one deal at all tables of a duplicate round, for anybody."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import select as select_columns
from sqlmodel import col, select

from arena.core.cursors import make_cursor, read_cursor
from arena.core.duplicate import PlayedSession, deal_scores
from arena.errors import StateError, UnknownError
from arena.queries.sessions import STILL_PLAYED, shown_deals
from arena.store.models import BotVersion, Match, Round, Seat, Session, Tournament
from arena.store.records import full_records, may_be_shown
from arena.store.storage import Storage, Transaction
from arena.tournaments.overview import find_tournament


@dataclass(frozen=True, slots=True)
class AtTable:
    """The deal at one table."""

    table: int
    bots: tuple[str, ...]
    """By seat."""
    points: tuple[int, ...]
    """By seat."""
    scores: tuple[float, ...]
    """By seat, what counts: its points beside the same seat at other tables (``arena.core.duplicate``)."""
    fouled: bool
    """Whether it cannot be compared: a bot forfeited it, or no other table has played these cards without
    forfeits."""
    attempt: int
    """Which attempt dealt it; tables with the same one have the same cards."""
    record: Mapping[str, Any] | None
    """The full deal record; None if it was not asked for."""


@dataclass(frozen=True, slots=True)
class SameDeal:
    """A deal that the tables of a round played."""

    tournament: str
    round: int
    session: int
    deal: int
    deals: int
    """The most deals that the session has at a table."""
    sessions: tuple[int, ...]
    """The numbers of the sessions of the round's matches."""
    tables: tuple[AtTable, ...]
    """In order; those of the page have their records."""
    next: str | None = None
    """Cursor of the next page of records; None if there is none."""


def same_deal(
    storage: Storage, tournament: str, round: int, number: int, deal: int, first: int = 1, most: int = 12
) -> SameDeal:
    """Return a deal at all tables, with the records of at most ``most`` of them, from table ``first`` on.

    Raise UnknownError; StateError while other tables still have to play it, and if each table has its own.
    """
    with storage.read() as tx:
        its = find_tournament(tx, tournament)
        if not its.duplicate:
            raise StateError(
                f"every table of {its.name} plays deals of its own: it is not a duplicate tournament"
            )
        round_id = _shown_round(tx, its, round)
        here = _sessions(tx, round_id, number)
        longest = max((len(row.played.points) for row in here), default=0)
        if not 1 <= deal <= longest:
            raise UnknownError(f"round {round} of {its.name} has no finished deal {number}/{deal}")
        names = _names(tx, round_id)
        tables = tuple(_tables(tx, its, round, here, names, deal, first, most))
        numbers = tuple(tx.exec(_numbers(round_id)))
    return SameDeal(its.name, round, number, deal, longest, numbers, tables)


def _shown_round(tx: Transaction, tournament: Tournament, number: int) -> int:
    """Return the id of a round whose deals may be shown. Raise UnknownError and StateError."""
    rounds = select(Round.id).where(Round.tournament_id == tournament.id, Round.number == number)
    if tx.exec(rounds).first() is None:
        raise UnknownError(f"no round {number} in tournament {tournament.name!r}")
    visible = rounds.join(Tournament, col(Tournament.id) == Round.tournament_id).where(may_be_shown())
    id = tx.exec(visible).first()
    if id is None:
        raise StateError(STILL_PLAYED)
    return id


class _Compared(NamedTuple):
    """A session of a round, as far as all tables are compared."""

    match_id: int
    session_id: int
    table: int
    played: PlayedSession


def _sessions(tx: Transaction, round_id: int, number: int) -> list[_Compared]:
    """Return the sessions of a round with this number, by table."""
    place = (Match.id, Session.id, Match.table_number)
    comparing = (Session.number, Session.seating, Session.deal_points, Session.deal_attempts)
    forfeits = (Session.forfeits, Session.forfeit, Session.forfeited_from)
    rows = (
        select_columns(*map(col, (*place, *comparing, *forfeits)))
        .select_from(Match)
        .join(Session, col(Session.match_id) == Match.id)
        .where(col(Match.round_id) == round_id, col(Session.number) == number)
        .order_by(col(Match.table_number))
    )
    result: Any = tx.connection().execute(rows)
    return [
        _Compared(match_id, session_id, table, PlayedSession(*played))
        for match_id, session_id, table, *played in result
    ]


def _numbers(round_id: int) -> Any:
    """Select the numbers of the sessions of a round's matches, in order."""
    numbers = select(Session.number).join(Match, col(Match.id) == Session.match_id)
    return numbers.where(Match.round_id == round_id).distinct().order_by(col(Session.number))


def _names(tx: Transaction, round_id: int) -> Mapping[int, Sequence[str]]:
    """Return the bots of a round by match and position."""
    seats = (
        select(Seat.match_id, BotVersion.name)
        .join(BotVersion, col(BotVersion.id) == Seat.version_id)
        .join(Match, col(Match.id) == Seat.match_id)
        .where(Match.round_id == round_id)
        .order_by(col(Seat.match_id), col(Seat.position))
    )
    names: dict[int, list[str]] = {}
    for match_id, name in tx.exec(seats):
        names.setdefault(match_id, []).append(name)
    return names


def _tables(
    tx: Transaction,
    tournament: Tournament,
    round: int,
    here: Sequence[_Compared],
    names_at: Mapping[int, Sequence[str]],
    deal: int,
    first: int,
    most: int,
) -> list[AtTable]:
    compared = deal_scores([[row.played] for row in here])
    tables = []
    records = 0
    for row, [scores] in zip(here, compared, strict=True):
        if len(scores) < deal:
            continue
        names = tuple(names_at[row.match_id])
        record = None
        if row.table >= first and records < most:
            records += 1
            match, session = tx.get_one(Match, row.match_id), tx.get_one(Session, row.session_id)
            record = list(full_records(tx, tournament, round, match, session, names))[deal - 1]
        played, score = row.played, scores[deal - 1]
        seats = tuple([names[position] for position in played.seating])
        attempt = played.attempts[deal - 1] if played.attempts else 1
        own = tuple(played.points[deal - 1])
        tables.append(AtTable(row.table, seats, own, score.by_seat, score.fouled, attempt, record))
    return tables


@dataclass(frozen=True, slots=True)
class SessionDeals:
    """Deals of a finished session."""

    deals: tuple[Mapping[str, Any], ...]
    """Full deal records, each of which can be replayed on its own."""
    next: str | None
    """Cursor of the next page; None if there is none."""


@dataclass(frozen=True, slots=True)
class DealInSession:
    """A deal of a finished session."""

    record: Mapping[str, Any]
    """The full deal record."""
    deals: int
    """How many deals its session has."""
    sessions: tuple[int, ...]
    """The numbers of the finished sessions of its match."""
    shared: bool
    """Whether other tables of the round play it too, in a duplicate tournament."""


def session_deals(
    storage: Storage,
    tournament: str,
    round: int,
    table: int,
    number: int,
    limit: int = 50,
    cursor: str | None = None,
) -> SessionDeals:
    """Return deals of a finished session for anybody, in order.

    Raise UnknownError; StateError while other tables still have to play these deals; SpecError for a cursor
    of another list.
    """
    question = (tournament, round, table, number)
    [after] = (0,) if cursor is None else read_cursor(question, cursor, int)
    records = shown_deals(storage, tournament, round, table, number)
    deals = tuple(records[max(after, 0) :][:limit])
    last = max(after, 0) + len(deals)
    return SessionDeals(deals, make_cursor(question, (last,)) if last < len(records) else None)


def one_deal(
    storage: Storage, tournament: str, round: int, table: int, number: int, deal: int
) -> Mapping[str, Any]:
    """Return a deal of a finished session for anybody. Raise the same errors as ``session_deals``."""
    return deal_in_session(storage, tournament, round, table, number, deal).record


def deal_in_session(
    storage: Storage, tournament: str, round: int, table: int, number: int, deal: int
) -> DealInSession:
    """Return a deal of a finished session for anybody, and how many there are. Raise the same errors."""
    records = shown_deals(storage, tournament, round, table, number)
    if not 1 <= deal <= len(records):
        raise UnknownError(f"no deal {deal} in session {number}: it has {len(records)}")
    with storage.read() as tx:
        its = find_tournament(tx, tournament)
        numbers = (
            select(Session.number)
            .join(Match, col(Match.id) == Session.match_id)
            .join(Round, col(Round.id) == Match.round_id)
            .where(Match.tournament_id == its.id, Round.number == round, Match.table_number == table)
            .order_by(col(Session.number))
        )
        return DealInSession(records[deal - 1], len(records), tuple(tx.exec(numbers)), its.duplicate)

"""Tournaments, newest first, and the tables of their rounds, played or not."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter

from sqlalchemy import select as select_columns
from sqlmodel import col, func, select

from arena.core.cursors import make_cursor, read_cursor
from arena.errors import UnknownError
from arena.queries.names import find_tournament, versions_called
from arena.queries.sessions import NOT_YET, Counts, count
from arena.store.models import (
    BotVersion,
    Entrant,
    Match,
    MatchState,
    Round,
    RoundState,
    Seat,
    Tournament,
    TournamentState,
)
from arena.store.records import may_be_shown
from arena.store.storage import Storage, Transaction
from arena.tournaments.overview import TournamentStatus, statuses_of


@dataclass(frozen=True, slots=True)
class TableLine(Counts):
    """A table; what it says about bots is by position."""

    table: int
    state: MatchState
    sessions: int
    """Sessions that are stored."""
    deals: int
    """Deals in these."""
    finished_at: datetime | None
    """When its last session was stored; None if not yet."""
    bots: tuple[str, ...]
    points: tuple[int, ...] | None
    """In the stored sessions, as they were played; None while others still have to play their deals, because
    points would tell which seat had good cards."""
    scores: tuple[float, ...] | None
    """What counts, as in lists of matches; None until it is known."""
    places: tuple[int, ...] | None
    """The place at the table, from 1; None if ``scores`` is."""
    faults: tuple[int, ...]
    """In the stored sessions."""


@dataclass(frozen=True, slots=True)
class RoundTables:
    """Some tables of a round."""

    round: int
    state: RoundState
    duplicate: bool
    """Whether all tables play the same cards, so that points count beside those at other tables."""
    count: int
    """How many tables it has."""
    byes: tuple[str, ...]
    """Bots that sit out."""
    tables: tuple[TableLine, ...]
    next: str | None = None
    """Cursor of the next page; None if there is none."""


def round_tables(
    storage: Storage, tournament: str, round: int, limit: int = 100, offset: int = 0
) -> RoundTables:
    """Return up to ``limit`` tables of a round after the first ``offset`` ones. Raise UnknownError."""
    with storage.read() as tx:
        tournament_id = find_tournament(tx, tournament)
        duplicate = tx.get_one(Tournament, tournament_id).duplicate
        row = tx.exec(
            select(Round).where(Round.tournament_id == tournament_id, Round.number == round)
        ).first()
        if row is None:
            paired = select(func.max(Round.number)).where(Round.tournament_id == tournament_id)
            raise UnknownError(
                f"no round {round} in {tournament}: {tx.exec(paired).one() or 0} paired so far"
            )
        matches = tx.exec(select(func.count(col(Match.id))).where(Match.round_id == row.id)).one()
        of_page = (
            Match.round_id == row.id,
            Match.table_number > offset,
            Match.table_number <= offset + limit,
        )
        visible = select(Round.id).join(Tournament, col(Tournament.id) == Round.tournament_id)
        visible = visible.where(Round.id == row.id, may_be_shown())
        lines = _lines(tx, of_page, duplicate, all_points=tx.exec(visible).first() is not None)
        byes = _byes(tx, tournament_id, row.byes)
        return RoundTables(row.number, row.state, duplicate, matches, byes, lines)


def _byes(tx: Transaction, tournament_id: int, numbers: Sequence[int]) -> tuple[str, ...]:
    named = (
        select(Entrant.number, BotVersion.name)
        .join(BotVersion, col(BotVersion.id) == Entrant.version_id)
        .where(Entrant.tournament_id == tournament_id, col(Entrant.number).in_(numbers))
    )
    names = dict(tx.exec(named).all()) if numbers else {}
    return tuple(names[number] for number in numbers)


def _lines(
    tx: Transaction, of_page: Sequence[bool], duplicate: bool, *, all_points: bool
) -> tuple[TableLine, ...]:
    """Return tables; without ``all_points``, only those that are done have points."""
    columns = (
        *(Match.table_number, Match.state, Match.sessions_done, Match.deals_done, Match.finished_at),
        *(BotVersion.name, Seat.points, Seat.score, Seat.place, Seat.faults),
    )
    rows = (
        select_columns(*columns)  # type: ignore[call-overload]
        .join(Seat, col(Seat.match_id) == Match.id)
        .join(BotVersion, col(BotVersion.id) == Seat.version_id)
        .where(*of_page)
        .order_by(col(Match.table_number), col(Seat.position))
    )
    lines = []
    for table, there in groupby(tx.execute(rows), key=attrgetter("table_number")):
        seats = [*there]
        match, points = seats[0], tuple(seat.points for seat in seats)
        done = match.state == MatchState.DONE
        scores, places = [seat.score for seat in seats], [seat.place for seat in seats]
        counted = count(points, scores, places, duplicate=duplicate) if done else NOT_YET
        lines.append(
            TableLine(
                *(table, match.state, match.sessions_done, match.deals_done, match.finished_at),
                tuple(seat.name for seat in seats),
                points if all_points or done else None,
                *counted,
                tuple(seat.faults for seat in seats),
            )
        )
    return tuple(lines)


@dataclass(frozen=True, slots=True)
class TournamentPage:
    """A page of tournaments."""

    tournaments: list[TournamentStatus]
    """The newest first."""
    next: str | None
    """Cursor of the next page; None if there is none."""


def list_tournaments(
    storage: Storage, state: TournamentState | None = None, limit: int = 100, cursor: str | None = None
) -> TournamentPage:
    """Return the status of tournaments, in one state or in all, without test matches.

    Raise SpecError for a cursor of another list.
    """
    question = ("tournaments", state)
    listed = select(Tournament).where(col(Tournament.test).is_(False))
    rows = listed.order_by(col(Tournament.id).desc())
    if state is not None:
        rows = rows.where(Tournament.state == state)
    if cursor is not None:
        [before] = read_cursor(question, cursor, int)
        rows = rows.where(col(Tournament.id) < before)
    with storage.read() as tx:
        page = tx.exec(rows.limit(limit + 1)).all()
        statuses = statuses_of(tx, page[:limit])
    more = make_cursor(question, (statuses[-1].id,)) if len(page) > limit else None
    return TournamentPage(statuses, more)


def last_finished(storage: Storage, limit: int) -> list[TournamentStatus]:
    """Return the status of the tournaments that finished last, the last first, without test matches."""
    rows = select(Tournament).where(
        Tournament.state == TournamentState.FINISHED, col(Tournament.test).is_(False)
    )
    with storage.read() as tx:
        newest = rows.order_by(col(Tournament.finished_at).desc(), col(Tournament.id).desc())
        return statuses_of(tx, tx.exec(newest.limit(limit)).all())


def ended_of(storage: Storage, bot: str, limit: int) -> list[TournamentStatus]:
    """Return the state of the tournaments of ``owner/bot`` that ended last, without test matches.

    Raise SpecError for a malformed name, UnknownError.
    """
    with storage.read() as tx:
        versions = [version.id for version in versions_called(tx, bot)]
        entered = select(Entrant.tournament_id).where(col(Entrant.version_id).in_(versions))
        rows = select(Tournament).where(col(Tournament.id).in_(entered), col(Tournament.test).is_(False))
        ended = rows.where(col(Tournament.finished_at).is_not(None))
        newest = ended.order_by(col(Tournament.finished_at).desc(), col(Tournament.id).desc())
        return statuses_of(tx, tx.exec(newest.limit(limit)).all())

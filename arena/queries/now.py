"""What is being played now in all tournaments, and what is about to start."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, islice, zip_longest
from typing import Any

from sqlalchemy import select as select_columns
from sqlmodel import col, select

from arena.store.models import (
    BotVersion,
    League,
    Match,
    MatchState,
    Round,
    Seat,
    Tournament,
    TournamentState,
)
from arena.store.records import may_be_shown
from arena.store.storage import Storage, Transaction, among
from arena.tournaments.overview import TournamentStatus, statuses_of

TOURNAMENTS = 20
"""The most tournaments of a state, and the most starts."""

LEASED = 500
"""Of how many matches in play those that are shown are chosen."""


@dataclass(frozen=True, slots=True)
class TableInPlay:
    """A table that is being played."""

    tournament: str
    round: int
    table: int
    bots: tuple[str, ...]
    """By position at the table."""
    points: tuple[int, ...] | None
    """In the stored sessions, as they were played; None while others still have to play their deals."""
    sessions_done: int
    """Sessions that are stored."""
    deals_done: int
    """Deals in these."""
    started_at: datetime | None
    """When a worker first had it."""


@dataclass(frozen=True, slots=True)
class Start:
    """What starts on schedule: a season of a league, or a tournament."""

    name: str
    """Of the league or the tournament."""
    season: int | None
    """None for a tournament."""
    at: datetime
    """When it is due."""
    problem: str | None
    """What keeps it from starting although it is due; None if nothing does."""


@dataclass(frozen=True, slots=True)
class Now:
    """What is being played, and what comes next."""

    running: tuple[TournamentStatus, ...]
    """Tournaments that are being played, the newest first."""
    tables: tuple[TableInPlay, ...]
    """Some of their tables that are being played, of all tournaments in turn."""
    waiting: tuple[TournamentStatus, ...]
    """Tournaments that have not started, the newest first."""
    starts: tuple[Start, ...]
    """Seasons of leagues, and tournaments, the next first."""


def on_now(storage: Storage, tables: int) -> Now:
    """Return what is being played now, with up to ``tables`` tables; test matches are left out."""
    with storage.read() as tx:
        running = _in_state(tx, TournamentState.RUNNING)
        waiting = _in_state(tx, TournamentState.CREATED)
        names = {tournament.id: tournament.tournament for tournament in running}
        return Now(
            running,
            tuple(_tables(tx, names, tables)),
            waiting,
            tuple(sorted(_starts(tx), key=lambda start: start.at)),
        )


def _in_state(tx: Transaction, state: TournamentState) -> tuple[TournamentStatus, ...]:
    rows = select(Tournament).where(Tournament.state == state, col(Tournament.test).is_(False))
    return tuple(statuses_of(tx, tx.exec(rows.order_by(col(Tournament.id).desc()).limit(TOURNAMENTS)).all()))


def _tables(tx: Transaction, names: Mapping[int, str], most: int) -> Iterator[TableInPlay]:
    columns: tuple[Any, ...] = (Match.id, Match.tournament_id, Match.table_number, Match.started_at)
    progress: tuple[Any, ...] = (Match.sessions_done, Match.deals_done, Round.number)
    leased = (
        select_columns(*columns, *progress)
        .join(Round, col(Round.id) == Match.round_id)
        .where(col(Match.lease_until).is_not(None), col(Match.state) == MatchState.RUNNING)
        .where(among(Match.tournament_id, names))
        .order_by(col(Match.id))
        .limit(LEASED)
    )
    by_tournament: dict[int, list[Any]] = {}
    for row in tx.execute(leased):
        by_tournament.setdefault(row.tournament_id, []).append(row)
    chosen: Sequence[Any] = [*islice(filter(None, chain(*zip_longest(*by_tournament.values()))), most)]
    seats, public = _seats(tx, [row.id for row in chosen]), _public_matches(tx, [row.id for row in chosen])
    for row in chosen:
        bots, points = zip(*seats[row.id], strict=True)
        yield TableInPlay(
            tournament=names[row.tournament_id],
            round=row.number,
            table=row.table_number,
            bots=bots,
            points=points if row.id in public else None,
            sessions_done=row.sessions_done,
            deals_done=row.deals_done,
            started_at=row.started_at,
        )


def _seats(tx: Transaction, match_ids: Sequence[int]) -> Mapping[int, list[tuple[str, int]]]:
    """Return, by match, the bots and their points by position at the table."""
    rows = (
        select(Seat.match_id, BotVersion.name, Seat.points)
        .join(BotVersion, col(BotVersion.id) == Seat.version_id)
        .where(among(Seat.match_id, match_ids))
        .order_by(col(Seat.match_id), col(Seat.position))
    )
    by_match: dict[int, list[tuple[str, int]]] = {}
    for match_id, name, points in tx.exec(rows):
        by_match.setdefault(match_id, []).append((name, points))
    return by_match


def _public_matches(tx: Transaction, match_ids: Sequence[int]) -> frozenset[int]:
    """Return those of these matches whose points may be shown while they are played."""
    rows = (
        select(Match.id)
        .join(Round, col(Round.id) == Match.round_id)
        .join(Tournament, col(Tournament.id) == Match.tournament_id)
        .where(among(Match.id, match_ids), may_be_shown())
    )
    return frozenset(tx.exec(rows))


def _starts(tx: Transaction) -> Iterator[Start]:
    due = select(League).where(col(League.next_at).is_not(None))
    for league in tx.exec(due.order_by(col(League.next_at), col(League.name)).limit(TOURNAMENTS)):
        assert league.next_at is not None
        yield Start(league.name, league.seasons + 1, league.next_at, league.problem)
    planned = (col(Tournament.state) == TournamentState.CREATED, col(Tournament.start_at).is_not(None))
    rows = select(Tournament.name, Tournament.start_at, Tournament.problem).where(*planned)
    for name, at, problem in tx.exec(rows.order_by(col(Tournament.start_at)).limit(TOURNAMENTS)):
        assert at is not None
        yield Start(name, None, at, problem)

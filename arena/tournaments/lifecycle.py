"""Starting, pausing, resuming and stopping tournaments; ``arena.play.rounds.planning`` cancels them."""

import logging
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import update
from sqlmodel import col, func, select

from arena.actors import Actor, Role
from arena.bots.checks import require_checks
from arena.bots.versions import WITHOUT_REPORT
from arena.core.specs import form_text, is_in_form
from arena.errors import ArenaError, SpecError, StateError, StorageError
from arena.people.audit import record
from arena.store.database import name_error
from arena.store.models import (
    Bot,
    BotVersion,
    Entrant,
    Match,
    MatchState,
    Tournament,
    TournamentState,
)
from arena.store.storage import Storage, Transaction, changed
from arena.tournaments.creation import check_count, require_ready
from arena.tournaments.events import lock_head, note
from arena.tournaments.overview import TournamentStatus, find_tournament, organised, status_of
from arena.tournaments.referees import Ask
from arena.tournaments.roster import require_able
from referee.errors import RefereeError

ARENA = Actor(Role.OPERATOR)
"""The arena itself, which starts tournaments when they are due."""

log = logging.getLogger("arena.tournaments")


def lock(storage: Storage, actor: Actor, name: str, now: datetime) -> TournamentStatus:
    """Close the entries of a tournament that has not started, and settle its head.

    Raise UnknownError, StateError, and SpecError for entrants that are too few or cannot play it.

    Its commitment is known from then on, so whoever noted it can tell whether anything was changed later.
    """
    with storage.write() as tx:
        tournament = organised(tx, actor, find_tournament, name, "lock")
        lock_open(tx, tournament, now)
        if tournament.commitment is not None:
            raise StateError(f"tournament {name} is locked already")
        require_entrants(tx, tournament)
        lock_head(tx, tournament, now)
        record(tx, actor, "tournament.lock", name, now, commitment=tournament.commitment)
        return status_of(tx, tournament)


def start(
    storage: Storage, actor: Actor, name: str, now: datetime, ask: Ask, beacon_value: str | None = None
) -> TournamentStatus:
    """Start a tournament, or continue one that failed.

    ``ask`` asks the referees which entrants cannot play it. ``beacon_value`` is the value of the tournament's
    beacon, published after the tournament was locked. Raise UnknownError, StateError, and SpecError for too
    few entrants, and for one that cannot play, or that has not passed a required check.
    """
    actor.require(Role.ORGANISER, f"start {name}")
    require_able(storage, name, now, ask)
    with storage.write() as tx:
        tournament = organised(tx, actor, find_tournament, name, "start")
        start_in(tx, tournament, now, beacon_value)
        record(tx, actor, "tournament.start", name, now)
        return status_of(tx, tournament)


def start_in(tx: Transaction, tournament: Tournament, now: datetime, beacon_value: str | None = None) -> None:
    """Start a tournament as part of a transaction. Raise the same errors."""
    first = tournament.state == TournamentState.CREATED
    if first:
        require_startable(tx, tournament)
    _check_beacon(tournament, beacon_value)
    if first:
        lock_head(tx, tournament, now)
        tournament.beacon_value = beacon_value
        tx.flush()
    if not _run(tx, tournament, (TournamentState.CREATED, TournamentState.FAILED), now):
        hint = "; resume it" if tournament.state == TournamentState.PAUSED else ""
        raise StateError(
            f"tournament {tournament.name} is {tournament.state.value}; it cannot be started{hint}"
        )
    note(tx, tournament, "started", now, **({"beacon_value": beacon_value} if beacon_value else {}))


def start_due(storage: Storage, now: datetime) -> None:
    """Start the tournaments that are to start by themselves by now.

    What keeps one from starting is noted in its row, and affects no other one.
    """
    due = (col(Tournament.state) == TournamentState.CREATED, col(Tournament.start_at) <= now)
    with storage.read() as tx:
        names = tx.exec(select(Tournament.name).where(*due).order_by(col(Tournament.start_at))).all()
    for name in names:
        try:
            with storage.write() as tx:
                tournament = find_tournament(tx, name)
                lock_open(tx, tournament, now)
                start_in(tx, tournament, now)
                record(tx, ARENA, "tournament.start", name, now)
        except StorageError:
            raise
        except (ArenaError, RefereeError) as error:
            _note_problem(storage, name, str(error))
        except Exception as error:
            log.exception("%s cannot start by itself", name)
            _note_problem(storage, name, name_error(error))


def _note_problem(storage: Storage, name: str, problem: str) -> None:
    new = (
        *(col(Tournament.name) == name, col(Tournament.state) == TournamentState.CREATED),
        col(Tournament.problem).is_distinct_from(problem),
    )
    with storage.write() as tx:
        if changed(tx, update(Tournament).where(*new).values(problem=problem)):
            log.warning("%s cannot start by itself: %s", name, problem)


def require_startable(tx: Transaction, tournament: Tournament) -> None:
    """Raise SpecError if a tournament cannot be started with those who have entered."""
    require_entrants(tx, tournament)
    if tournament.require_check:
        require_checks(_versions(tx, tournament))


def require_entrants(tx: Transaction, tournament: Tournament) -> None:
    """Raise SpecError if those who have entered a tournament that has not started cannot play it.

    Once it is locked, bots may have withdrawn; then only a table has to be left.
    """
    names = staying(tx, tournament)
    if tournament.commitment is None:
        require_ready(tournament, tournament.table_size, names)
    else:
        check_count(tournament.table_size, len(names))


def staying(tx: Transaction, tournament: Tournament) -> Sequence[str]:
    """Return the names of the entrants that have not withdrawn, in the order of seeding."""
    names = select(BotVersion.name).join(Entrant, col(Entrant.version_id) == BotVersion.id)
    stay = (Entrant.tournament_id == tournament.id, col(Entrant.withdrawn_after).is_(None))
    return tx.exec(names.where(*stay).order_by(col(Entrant.number))).all()


def count_staying(tx: Transaction, tournament: Tournament) -> int:
    """Return how many entrants have not withdrawn."""
    stay = (Entrant.tournament_id == tournament.id, col(Entrant.withdrawn_after).is_(None))
    return tx.exec(select(func.count()).select_from(Entrant).where(*stay)).one()


def staying_beside(tx: Transaction, tournament: Tournament, version: BotVersion) -> Sequence[str]:
    """Return the names of the entrants of a bot's owner that have not withdrawn, in the order of seeding.

    Only the owner's own bots are read, however many others there are.
    """
    owner_id = tx.exec(select(Bot.owner_id).where(Bot.id == version.bot_id)).one()
    names = (
        select(BotVersion.name)
        .join(Bot, col(Bot.id) == BotVersion.bot_id)
        .join(Entrant, col(Entrant.version_id) == BotVersion.id)
    )
    stay = (Entrant.tournament_id == tournament.id, col(Entrant.withdrawn_after).is_(None))
    return tx.exec(names.where(Bot.owner_id == owner_id, *stay).order_by(col(Entrant.number))).all()


def _check_beacon(tournament: Tournament, value: str | None) -> None:
    """Raise StateError if the value of a beacon is missing, comes too early, or is not wanted."""
    name, first = tournament.name, tournament.state == TournamentState.CREATED
    if value is not None and (tournament.beacon is None or not first):
        why = "its luck is drawn already" if tournament.beacon else "it was created without a beacon"
        raise StateError(f"tournament {name}: {why}; start it without a value")
    if tournament.beacon is None or not first:
        return
    if tournament.commitment is None:
        raise StateError(
            f"tournament {name} has a beacon: close its entries first, with: arena tournament lock {name}"
        )
    if value is None:
        raise StateError(
            f"tournament {name} waits for its beacon, {tournament.beacon}: "
            f"{form_text(tournament.beacon_form)}; give it with: arena tournament start {name} --beacon VALUE"
        )
    if not is_in_form(value, tournament.beacon_form):
        raise SpecError("beacon", f"its value must be {form_text(tournament.beacon_form)}")


def pause(storage: Storage, actor: Actor, name: str, now: datetime) -> TournamentStatus:
    """Pause a running tournament: open sessions finish, and no others start.

    Raise UnknownError, StateError.
    """
    with storage.write() as tx:
        tournament = organised(tx, actor, find_tournament, name, "pause")
        running = (col(Tournament.id) == tournament.id, col(Tournament.state) == TournamentState.RUNNING)
        values = {"state": TournamentState.PAUSED, "advanced_at": now}
        # Workers notice at the next sign of life; see arena.play.matches.playing.
        if not changed(tx, update(Tournament).where(*running).values(values)):
            raise StateError(
                f"tournament {name} is {tournament.state.value}; only a running one can be paused"
            )
        tx.refresh(tournament)
        note(tx, tournament, "paused", now)
        record(tx, actor, "tournament.pause", name, now)
        return status_of(tx, tournament)


def resume(storage: Storage, actor: Actor, name: str, now: datetime) -> TournamentStatus:
    """Continue a paused tournament. Raise UnknownError, StateError."""
    with storage.write() as tx:
        tournament = organised(tx, actor, find_tournament, name, "resume")
        if not _run(tx, tournament, (TournamentState.PAUSED,), now):
            raise StateError(
                f"tournament {name} is {tournament.state.value}; only a paused one can be resumed"
            )
        note(tx, tournament, "resumed", now)
        record(tx, actor, "tournament.resume", name, now)
        return status_of(tx, tournament)


def _run(tx: Transaction, tournament: Tournament, states: Sequence[TournamentState], now: datetime) -> bool:
    """Set a tournament running if it is in one of these states; return whether it was."""
    waits = (col(Tournament.id) == tournament.id, col(Tournament.state).in_(states))
    started_at = func.coalesce(Tournament.started_at, now)
    values = {"state": TournamentState.RUNNING, "problem": None, "started_at": started_at}
    if not changed(tx, update(Tournament).where(*waits).values(values)):
        return False
    refused = (col(Match.tournament_id) == tournament.id, col(Match.state) == MatchState.FAILED)
    changed(tx, update(Match).where(*refused).values(state=MatchState.WAITING, problem=None))
    tx.refresh(tournament)
    return True


def _versions(tx: Transaction, tournament: Tournament) -> Sequence[BotVersion]:
    entered = select(BotVersion).join(Entrant, col(Entrant.version_id) == BotVersion.id)
    of_it = entered.where(Entrant.tournament_id == tournament.id)
    return tx.exec(of_it.options(WITHOUT_REPORT).order_by(col(Entrant.number))).all()


def stop(storage: Storage, actor: Actor, name: str, now: datetime) -> TournamentStatus:
    """Let a tournament end once the rounds that are paired have been played: all of them count.

    Raise UnknownError, StateError.
    """
    with storage.write() as tx:
        tournament = organised(tx, actor, find_tournament, name, "stop")
        lock_open(tx, tournament, now)
        if tournament.state == TournamentState.CREATED:
            ways = "cancelled" if tournament.commitment else "cancelled or deleted"
            raise StateError(f"tournament {name} is not started; it can be {ways}")
        tournament.rounds = tournament.paired
        tx.flush()
        note(tx, tournament, "stopped", now, rounds=tournament.paired)
        record(tx, actor, "tournament.stop", name, now)
        return status_of(tx, tournament)


OPEN = (
    TournamentState.CREATED,
    TournamentState.RUNNING,
    TournamentState.PAUSED,
    TournamentState.FAILED,
)


def lock_open(tx: Transaction, tournament: Tournament, now: datetime) -> None:
    """Keep a tournament from moving on until the transaction ends. Raise StateError if it has ended."""
    is_open = (col(Tournament.id) == tournament.id, col(Tournament.state).in_(OPEN))
    if not changed(tx, update(Tournament).where(*is_open).values(advanced_at=now)):
        raise StateError(f"tournament {tournament.name} is {tournament.state.value} already")
    tx.refresh(tournament)

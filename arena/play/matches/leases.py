"""A match under a lease: claimed, renewed, given back, refused.

The lease is a conditional update: at any time at most one attempt has a match, and only that attempt can
store (``arena.play.matches.storing``). What an attempt has stored stays, and the next attempt asks the
referee only for the other sessions, with new cards after the finished deals.
"""

import logging
import secrets
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, bindparam, or_, update
from sqlmodel import col, func, select

from arena.core.formats import FORMATS
from arena.errors import DatabaseChanged, LeaseLost
from arena.play.matches.attempts import (
    drop_deals,
    kept_deals,
    lineage_changed,
    next_attempts,
    note_void,
    undo_attempts,
)
from arena.play.matches.spec import MATCH, match_spec, resumed, terms_of
from arena.results.strength.pools import Pool
from arena.store.models import (
    Match,
    MatchState,
    Session,
    Tournament,
    TournamentState,
)
from arena.store.storage import Storage, Transaction, changed
from arena.tournaments.events import lock_row, note
from referee.matches.match import (
    MatchSpec,
)

log = logging.getLogger("arena.play.matches")

RETRY_SECONDS = (1, 2, 4, 8, 15)
"""Waits after consecutive failed attempts; the last one applies to all further ones."""

LONGEST_WAIT = timedelta(seconds=max(RETRY_SECONDS))


NOW: Any = bindparam("now")
AHEAD: Any = bindparam("ahead")
TOO_LONG: Any = bindparam("too_long")
"""The parameters of ``DUE`` and ``LAPSED``, as ``due_at`` gives them."""

LAPSED: tuple[ColumnElement[bool], ...] = col(Match.lease_until) < NOW, col(Match.lease_until) > AHEAD
"""A due match that a worker has had meets one of these conditions. Each is a range of an index."""

DUE: tuple[ColumnElement[bool], ...] = (
    col(Match.state).in_([MatchState.WAITING, MatchState.RUNNING]),
    or_(col(Match.lease_until).is_(None), *LAPSED),
    or_(col(Match.not_before).is_(None), col(Match.not_before) <= NOW, col(Match.not_before) > TOO_LONG),
)
"""Conditions under which a match waits for a worker: nobody has it and it may be tried."""

MINE: tuple[ColumnElement[bool], ...] = (
    col(Match.id) == bindparam("match"),
    col(Match.state) == MatchState.RUNNING,
    col(Match.lease_owner) == bindparam("attempt"),
)
"""Conditions under which a match is an attempt's; the parameters are its id and the attempt's name."""

LOST = "the match was cancelled, or its lease expired and another worker has it"


@dataclass(frozen=True, slots=True)
class Claim:
    """A match that an attempt has."""

    match_id: int
    tournament_id: int
    round_id: int
    owner: str
    """The name of the attempt in the match's row."""
    route: int
    """Which referee to ask: a different one after each failure."""
    sessions: int
    """Sessions of the whole match."""
    in_batches: bool
    """Whether its tournament's format seats those who are free, in batches."""
    lease: timedelta
    """How long the attempt keeps it after each sign of life."""
    spec: MatchSpec
    """The sessions that are still to be played."""
    pool: Pool
    before: Mapping[int, Sequence[str]] = field(default_factory=dict)
    """Lean records of the deals that earlier attempts finished, by the session's number."""
    with_deals: set[int] = field(default_factory=set)
    """Sessions of which finished deals are, or may be, in the database."""


def claim(storage: Storage, match_id: int, now: datetime, lease: timedelta) -> Claim | None:
    """Take a match that is due, if nobody else has it.

    Raise DatabaseChanged, and begin nothing, if the database has another history than before.
    """
    owner = secrets.token_hex(8)
    free = {"match": match_id, "attempt": owner, "until": now + lease, **due_at(now, lease)}
    with storage.write() as tx:
        if lineage_changed(tx):
            raise DatabaseChanged("the database was restored or failed over")
        match, crashed = _take(tx, free)
        if match is None:
            return None
        terms = terms_of(tx, match.round_id)
        stored = _stored(tx, match_id) if match.sessions_done else set()
        missing = {number for number in range(1, terms.sessions + 1) if number not in stored}
        if crashed:
            note_void(tx, match, {number: match.attempts[number - 1] for number in missing}, now)
        stored_deals = kept_deals(tx, match_id) if match.attempts else {}  # earlier attempts' alone
        attempts = next_attempts(match.attempts, terms, missing)
        tx.connection().execute(BEGIN_ATTEMPTS, {"match": match_id, "next": attempts})
        spec = match_spec(tx, match, terms, attempts, missing)
    spec = resumed(spec, stored_deals)  # after the transaction, for which others wait
    lost = {
        number: len(deals.records)
        for number, deals in stored_deals.items()
        if len(deals.records) < deals.stored
    }
    claimed = Claim(
        match_id=match_id,
        tournament_id=match.tournament_id,
        round_id=match.round_id,
        owner=owner,
        route=match_id + match.failures,
        sessions=terms.sessions,
        in_batches=FORMATS[terms.format].in_batches,
        lease=lease,
        spec=spec,
        pool=Pool(terms.ruleset_id, terms.table_size),
        before={number: deals.records for number, deals in stored_deals.items()},
        with_deals=set(stored_deals),
    )
    return claimed if not lost or _drop_lost(storage, claimed, lost, now) else None


BEGIN_ATTEMPTS = update(Match).where(col(Match.id) == bindparam("match")).values(attempts=bindparam("next"))


def _take(tx: Transaction, free: Mapping[str, object]) -> tuple[Any, bool]:
    """Take a match that is due, if nobody else has it; return its row, and whether a worker had it before.

    The row is locked from here on, and what is read next includes all that others wrote who had locked it.
    """
    match = tx.connection().execute(_take_free(), {**free, "last_attempt": None}).first()
    if match is not None:
        return match, False
    crashed = tx.connection().execute(_select_crashed(), free).first()
    if crashed is None:
        return None, False
    # What is noted of the crash needs the tournament, which is locked before a match.
    lock_row(tx, crashed.tournament_id)
    last = {"last_attempt": crashed.lease_owner}
    return tx.connection().execute(_take_free(), {**free, **last}).first(), True


def _is_free() -> tuple[ColumnElement[bool], ...]:
    running = select(Tournament.id).where(Tournament.state == TournamentState.RUNNING)
    return (col(Match.id) == bindparam("match"), *DUE, col(Match.tournament_id).in_(running))


@cache
def _select_crashed() -> Any:
    had = col(Match.lease_owner).is_not(None)
    return select(Match.lease_owner, Match.tournament_id).where(*_is_free(), had)


@cache
def _take_free() -> Any:
    same = col(Match.lease_owner).is_not_distinct_from(bindparam("last_attempt"))
    values: dict[str, Any] = {
        "state": MatchState.RUNNING,
        "lease_owner": bindparam("attempt"),
        "lease_until": bindparam("until"),
        "handed_out_at": None,
        "not_before": None,
        "started_at": func.coalesce(Match.started_at, NOW),
    }
    return update(Match).where(*_is_free(), same).values(values).returning(*MATCH)


def _drop_lost(storage: Storage, claimed: Claim, lost: Mapping[int, int], now: datetime) -> bool:
    """Drop the stored deals that cannot be read; ``lost`` has the last readable one by session.

    Return whether the match is still this attempt's.
    """
    with suppress(LeaseLost), storage.write() as tx:
        drop_deals(tx, tx.get_one(Match, claimed.match_id), lost, now)
        update_claimed(tx, claimed)
        for session, readable in lost.items():
            where = f"{claimed.spec.match_id}/{session}: finished deals from {readable + 1} on"
            log.error("%s cannot be read, and are played again", where)
        return True
    return False


def due_at(now: datetime, lease: timedelta) -> dict[str, datetime]:
    """Return the parameters of ``DUE`` and ``LAPSED``.

    The times in a match's row come from clocks, which may have been wrong: a time further ahead than the
    longest wait, or than two whole leases, was written by such a clock, and counts as past.
    """
    return {"now": now, "ahead": now + 2 * lease, "too_long": now + LONGEST_WAIT}


def _stored(tx: Transaction, match_id: int) -> set[int]:
    return set(tx.exec(_select_stored(), params={"match": match_id}))


@cache
def _select_stored() -> Any:
    return select(Session.number).where(Session.match_id == bindparam("match"))


def renew(storage: Storage, claimed: Claim, now: datetime) -> None:
    """Keep the lease; raise LeaseLost if it is gone."""
    with storage.write() as tx:
        update_claimed(tx, claimed, lease_until=now + claimed.lease)


def hand_back(
    storage: Storage,
    claimed: Claim,
    now: datetime,
    problem: str | None = None,
    *,
    unbegun: Collection[int] = (),
) -> None:
    """Give the match back, to be tried at once, or after a wait if there was a ``problem``.

    ``unbegun`` are its sessions of which nobody was shown a card: the attempt at them does not count.
    """
    if problem:
        log.warning("%s: %s", claimed.spec.match_id, problem)
    with suppress(LeaseLost), storage.write() as tx:
        ended = {*_stored(tx, claimed.match_id), *unbegun}
        void = {
            session.number: session.attempt
            for session in claimed.spec.sessions
            if session.number not in ended
        }
        match = tx.get_one(Match, claimed.match_id)
        note_void(tx, match, void, now)
        update_claimed(tx, claimed, state=MatchState.WAITING, lease_owner=None, lease_until=None)
        tx.refresh(match)
        undo_attempts(match, unbegun)
        if problem:
            wait = RETRY_SECONDS[min(match.failures, len(RETRY_SECONDS) - 1)]
            match.problem, match.not_before = problem, now + timedelta(seconds=wait)
            match.failures += 1


def refuse(storage: Storage, claimed: Claim, now: datetime, problem: str) -> None:
    """Halt the tournament because a referee refused the match; it can be started again."""
    log.error("%s: refused: %s", claimed.spec.match_id, problem)
    where = f"round {claimed.spec.round} table {claimed.spec.table}"
    with suppress(LeaseLost), storage.write() as tx:
        tournament = tx.get_one(Tournament, tx.get_one(Match, claimed.match_id).tournament_id)
        running = (col(Tournament.id) == tournament.id, col(Tournament.state) == TournamentState.RUNNING)
        halt = {"state": TournamentState.FAILED, "problem": f"{where}: {problem}"}
        # The tournament before the match, as in a cancellation: otherwise the two could deadlock.
        if changed(tx, update(Tournament).where(*running).values(halt)):
            spec = claimed.spec
            note(tx, tournament, "refused", now, round=spec.round, table=spec.table, problem=problem)
        update_claimed(
            tx, claimed, state=MatchState.FAILED, problem=problem, lease_owner=None, lease_until=None
        )
        undo_attempts(
            tx.get_one(Match, claimed.match_id), [session.number for session in claimed.spec.sessions]
        )


def update_claimed(tx: Transaction, claimed: Claim, **values: object) -> None:
    """Update the match's row if it is this attempt's, which locks it; otherwise raise LeaseLost."""
    mine = update(Match).where(*MINE).values(values or {"lease_owner": claimed.owner})
    if not changed(tx, mine, {"match": claimed.match_id, "attempt": claimed.owner}):
        raise LeaseLost(LOST)

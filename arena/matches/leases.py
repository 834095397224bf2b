"""A match under a lease: claimed, renewed, given back, refused, and stored session by session.

The lease is a conditional update: at any time at most one attempt has a match, and only that attempt can
store. What an attempt has stored stays, and the next attempt asks the referee for the other sessions only,
with new cards after the deals that are finished."""

import json
import logging
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, bindparam, insert, or_, update
from sqlmodel import col, select

from arena.errors import LeaseLost
from arena.events import lock_row, note
from arena.matches.attempts import (
    Kept,
    begin_attempts,
    deal_attempts,
    drop_deals,
    forget_deals,
    keep_deals,
    kept_deals,
    note_void,
    undo_attempts,
)
from arena.matches.records import pack_records
from arena.matches.seating import seatings
from arena.models import (
    BotVersion,
    Entrant,
    EntrantState,
    Match,
    MatchState,
    Rating,
    Round,
    Seat,
    Session,
    SessionRecords,
    StoredRuleset,
    Tournament,
    TournamentState,
)
from arena.ratings.elo import START
from arena.storage import Storage, Transaction, changed
from arena.tallies.sessions import Pool, keep, tallies_of
from referee.deals.shuffle import luck, session_seed
from referee.matches.match import (
    DealsFinished,
    Limits,
    MatchBot,
    MatchSpec,
    Rated,
    SessionResult,
    SessionSpec,
)

log = logging.getLogger("arena.matches")

RETRY_SECONDS = (1, 2, 4, 8, 15)
"""Waits after failed attempts in a row; the last one stands for all further ones."""

LONGEST_WAIT = timedelta(seconds=max(RETRY_SECONDS))


ADD_TO_SEAT = (
    update(Seat)
    .where(col(Seat.match_id) == bindparam("match"), col(Seat.position) == bindparam("at"))
    .values(
        points=col(Seat.points) + bindparam("more_points"), faults=col(Seat.faults) + bindparam("more_faults")
    )
)
"""Adds to a seat what it made of a session."""

ADD_SESSION = insert(Session).returning(col(Session.id))

ADD_RECORDS = insert(SessionRecords)

LOST = "the match was cancelled, or its lease ran out and another worker has it"

FREE_SEATED = (
    update(Entrant)
    .where(
        col(Entrant.id).in_(select(Seat.entrant_id).where(Seat.match_id == bindparam("match"))),
        col(Entrant.state) == EntrantState.SEATED,
    )
    .values(state=EntrantState.FREE)
)
"""Frees those who sat at a match of a continuous tournament."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A match that an attempt has."""

    match_id: int
    owner: str
    """Names the attempt in the match's row."""
    route: int
    """Which referee to ask: another one after each failure."""
    sessions: int
    """Sessions of the whole match."""
    lease: timedelta
    """How long the attempt keeps it from each sign of life on."""
    spec: MatchSpec
    """The sessions that are still to be played."""
    pool: Pool
    before: Mapping[int, Sequence[str]] = field(default_factory=dict)
    """Lean records of the deals that earlier attempts finished, by the session's number."""
    kept: set[int] = field(default_factory=set)
    """Sessions of which finished deals are, or may be, in the database."""


def claim(storage: Storage, match_id: int, now: datetime, lease: timedelta) -> Claim | None:
    """Take a match that is due, if nobody else has it."""
    owner = secrets.token_hex(8)
    running = select(Tournament.id).where(Tournament.state == TournamentState.RUNNING)
    free = (
        col(Match.id) == match_id,
        *due(now, lease),
        col(Match.tournament_id).in_(running),
    )
    found = select(Match.lease_owner, Match.tournament_id).where(*free)
    values = {
        "state": MatchState.RUNNING,
        "lease_owner": owner,
        "lease_until": now + lease,
        "handed_out_at": None,
        "not_before": None,
    }
    with storage.write() as tx:
        last = tx.exec(found).first()
        if last is None:
            return None
        crashed, tournament_id = last
        if crashed is not None:  # what is noted of it below needs the tournament, which comes before a match
            lock_row(tx, tournament_id)
        same = col(Match.lease_owner).is_not_distinct_from(crashed)
        if not changed(tx, update(Match).where(*free, same).values(values)):
            return None
        match = tx.get_one(Match, match_id)
        match.started_at = match.started_at or now
        tournament = tx.get_one(Tournament, tournament_id)
        stored = _stored(tx, match_id)
        missing = {number for number in range(1, tournament.sessions + 1) if number not in stored}
        if crashed is not None:
            note_void(tx, match, {number: match.attempts[number - 1] for number in missing}, now)
        begin_attempts(match, tournament.sessions, missing)
        spec = _match_spec(tx, match, tournament, missing)
        kept = kept_deals(tx, match_id)
        route = match_id + match.failures
    spec = _resumed(spec, kept)  # after the transaction, for which others wait
    lost = {number: len(deals.records) for number, deals in kept.items() if len(deals.records) < deals.stored}
    before = {number: deals.records for number, deals in kept.items()}
    pool = Pool(tournament.ruleset_id, tournament.table_size)
    claimed = Claim(match_id, owner, route, tournament.sessions, lease, spec, pool, before, set(kept))
    return claimed if not lost or _drop_lost(storage, claimed, lost, now) else None


def _drop_lost(storage: Storage, claimed: Claim, lost: Mapping[int, int], now: datetime) -> bool:
    """Drop the kept deals that cannot be read: of each session those after so many.

    Return whether the match is still this attempt's.
    """
    with suppress(LeaseLost), storage.write() as tx:
        drop_deals(tx, tx.get_one(Match, claimed.match_id), lost, now)
        _update_claimed(tx, claimed)
        for session, readable in lost.items():
            where = f"{claimed.spec.match_id}/{session}: finished deals from {readable + 1} on"
            log.error("%s cannot be read, and are played again", where)
        return True
    return False


def _resumed(spec: MatchSpec, kept: Mapping[int, Kept]) -> MatchSpec:
    """Return a match whose sessions go on after the deals that are kept of them and can be read."""
    banked = spec.limits.bank_ms > 0
    sessions = [
        replace(session, after=kept[session.number].finished(spec.ruleset, banked=banked))
        if session.number in kept
        else session
        for session in spec.sessions
    ]
    return replace(spec, sessions=tuple(sessions))


def due(now: datetime, lease: timedelta) -> tuple[ColumnElement[bool], ...]:
    """Return conditions under which a match waits for a worker: nobody has it and it may be tried.

    Times of both kinds come from clocks, which may have been wrong: one further ahead than the
    longest wait, or than two whole leases, was written by such a clock, and counts as past.
    """
    free, tried = col(Match.lease_until), col(Match.not_before)
    return (
        col(Match.state).in_([MatchState.WAITING, MatchState.RUNNING]),
        or_(free.is_(None), free < now, free > now + 2 * lease),
        or_(tried.is_(None), tried <= now, tried > now + LONGEST_WAIT),
    )


def _match_spec(tx: Transaction, match: Match, tournament: Tournament, missing: Collection[int]) -> MatchSpec:
    number = tx.get_one(Round, match.round_id).number
    other_tables = select(Match.id).where(Match.round_id == match.round_id, Match.id != match.id).limit(1)
    seed = luck(bytes.fromhex(tournament.seed), tournament.beacon_value)
    table = None if tournament.duplicate else match.table_number  # None: all tables play the same deals
    seats = seatings(tournament.table_size, tournament.sessions, duplicate=tournament.duplicate)
    ruleset = tx.get_one(StoredRuleset, tournament.ruleset_id)
    return MatchSpec(
        match_id=f"{tournament.name}/{number}/{match.table_number}",
        tournament=tournament.name,
        round=number,
        table=match.table_number,
        ruleset=ruleset.content,
        bots=tuple(_bots(tx, match, tournament)),
        sessions=tuple(
            SessionSpec(
                session,
                seating,
                session_seed(seed, number, table, session),
                match.attempts[session - 1],
            )
            for session, seating in enumerate(seats, start=1)
            if session in missing
        ),
        deals=tournament.deals or 0,
        commitment=tournament.commitment or "",  # there is one as soon as there are matches
        limits=Limits(
            decision_ms=tournament.decision_ms,
            join_ms=tournament.join_seconds * 1000,
            faults=tournament.faults,
            on_forfeit=tournament.on_forfeit,
            bank_ms=tournament.bank_ms,
            increment_ms=tournament.increment_ms,
            credit_ms=tournament.credit_ms,
            ask_forced=tournament.ask_forced,
            match_ms=tournament.match_seconds * 1000,
            min_sessions=tournament.min_sessions,
        ),
        shared_deals=tournament.duplicate and tx.exec(other_tables).first() is not None,
        pool=f"{ruleset.label}, tables of {tournament.table_size}" if tournament.rated else "",
    )


def _bots(tx: Transaction, match: Match, tournament: Tournament) -> Iterator[MatchBot]:
    """Yield the bots of a match by position, with their ratings if it is rated."""
    in_pool = (
        col(Rating.version_id) == BotVersion.id,
        col(Rating.ruleset_id) == tournament.ruleset_id,
        col(Rating.table_size) == tournament.table_size,
    )
    found = (
        select(BotVersion.id, BotVersion.name, Rating)
        .join(Seat, col(Seat.version_id) == BotVersion.id)
        .outerjoin(Rating, and_(*in_pool))
        .where(Seat.match_id == match.id)
        .order_by(col(Seat.position))
    )
    for version_id, name, joined in tx.exec(found):
        rating: Rating | None = joined
        rated = Rated(round(START), 0) if rating is None else Rated(round(rating.value), rating.matches)
        yield MatchBot(version_id, name, rated if tournament.rated else None)


def store_session(storage: Storage, claimed: Claim, result: SessionResult, now: datetime) -> None:
    """Store a finished session, whole and once; the last one of a match also ends the match.

    Raise LeaseLost, and store nothing, if the match is no longer this attempt's.
    """
    [seating] = [session.seating for session in claimed.spec.sessions if session.number == result.number]
    # Before the transaction, which others wait for.
    records = [*claimed.before.get(result.number, ()), *result.records]
    packed = pack_records(records)
    deals = [json.loads(record) for record in records]
    row = _session_row(claimed, seating, result, deals, now)
    bots = [claimed.spec.bots[position].version_id for position in seating]
    found = tallies_of(claimed.pool, claimed.spec.ruleset, deals, bots)
    seats = [
        {"at": position, "more_points": points, "more_faults": faults}
        for position, points, faults in zip(seating, result.points, result.faults, strict=True)
    ]
    with storage.write() as tx:
        sessions_done = _count_session(tx, claimed, len(deals), now)
        if result.number in claimed.kept:
            forget_deals(tx, claimed.match_id, result.number)
        session_id = tx.connection().execute(ADD_SESSION, row).scalar_one()
        tx.connection().execute(ADD_RECORDS, {"session_id": session_id, "records": packed})
        keep(tx, session_id, found)
        tx.connection().execute(ADD_TO_SEAT, [seat | {"match": claimed.match_id} for seat in seats])
        if sessions_done == claimed.sessions:
            done = {"state": MatchState.DONE, "finished_at": now, "lease_owner": None, "lease_until": None}
            changed(tx, update(Match).where(col(Match.id) == claimed.match_id).values(done))
            tx.connection().execute(FREE_SEATED, {"match": claimed.match_id})


def _count_session(tx: Transaction, claimed: Claim, deals: int, now: datetime) -> int:
    """Count one more session with so many deals, and keep the lease; return how many are stored then.

    Raise LeaseLost.
    """
    counted = {
        "sessions_done": Match.sessions_done + 1,
        "deals_done": Match.deals_done + deals,
        "failures": 0,
        "problem": None,
        "lease_until": now + claimed.lease,
    }
    one_more = update(Match).where(*_is_mine(claimed)).values(counted).returning(col(Match.sessions_done))
    sessions_done = tx.connection().execute(one_more).scalar()
    if sessions_done is None:
        raise LeaseLost(LOST)
    return sessions_done


def _session_row(
    claimed: Claim,
    seating: tuple[int, ...],
    result: SessionResult,
    deals: Sequence[Mapping[str, Any]],
    now: datetime,
) -> dict[str, Any]:
    return {
        "match_id": claimed.match_id,
        "number": result.number,
        "seating": list(seating),
        "points": list(result.points),
        "faults": list(result.faults),
        "forfeit": result.forfeit,
        "forfeits": list(result.forfeits),
        "forfeited_from": next(
            (at for at, deal in enumerate(deals) if "forfeit" in deal or "played_for" in deal), None
        ),
        "deal_points": [deal["points"] for deal in deals],
        "deal_attempts": deal_attempts(deals),
        "signed": None if result.signed is None else result.signed._asdict(),
        "finished_at": now,
    }


def _stored(tx: Transaction, match_id: int) -> set[int]:
    return set(tx.exec(select(Session.number).where(Session.match_id == match_id)))


def is_stored(storage: Storage, claimed: Claim, number: int) -> bool:
    """Return whether a session is stored."""
    stored = select(Session.id).where(Session.match_id == claimed.match_id, Session.number == number)
    with storage.read() as tx:
        return tx.exec(stored).first() is not None


def store_deals(storage: Storage, claimed: Claim, finished: Sequence[DealsFinished], now: datetime) -> None:
    """Store finished deals of open sessions, and keep the lease.

    Raise LeaseLost, and store nothing, if the match is no longer this attempt's.
    """
    claimed.kept.update(deals.number for deals in finished)
    with storage.write() as tx:
        _update_claimed(tx, claimed, lease_until=now + claimed.lease)
        keep_deals(tx, claimed.match_id, finished)


def renew(storage: Storage, claimed: Claim, now: datetime) -> None:
    """Keep the lease; raise LeaseLost if it is gone."""
    with storage.write() as tx:
        _update_claimed(tx, claimed, lease_until=now + claimed.lease)


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
        void = {one.number: one.attempt for one in claimed.spec.sessions if one.number not in ended}
        match = tx.get_one(Match, claimed.match_id)
        note_void(tx, match, void, now)
        _update_claimed(tx, claimed, state=MatchState.WAITING, lease_owner=None, lease_until=None)
        tx.refresh(match)
        undo_attempts(match, unbegun)
        if problem:
            wait = RETRY_SECONDS[min(match.failures, len(RETRY_SECONDS) - 1)]
            match.problem, match.not_before = problem, now + timedelta(seconds=wait)
            match.failures += 1


def refuse(storage: Storage, claimed: Claim, now: datetime, problem: str) -> None:
    """Halt the tournament because a referee does not take the match; it can be started again."""
    log.error("%s: refused: %s", claimed.spec.match_id, problem)
    where = f"round {claimed.spec.round} table {claimed.spec.table}"
    with suppress(LeaseLost), storage.write() as tx:
        tournament = tx.get_one(Tournament, tx.get_one(Match, claimed.match_id).tournament_id)
        running = (col(Tournament.id) == tournament.id, col(Tournament.state) == TournamentState.RUNNING)
        halt = {"state": TournamentState.FAILED, "problem": f"{where}: {problem}"}
        # The tournament before the match, as in a cancellation: else the two could wait for each other.
        if changed(tx, update(Tournament).where(*running).values(halt)):
            spec = claimed.spec
            note(tx, tournament, "refused", now, round=spec.round, table=spec.table, problem=problem)
        _update_claimed(
            tx, claimed, state=MatchState.FAILED, problem=problem, lease_owner=None, lease_until=None
        )
        undo_attempts(
            tx.get_one(Match, claimed.match_id), [session.number for session in claimed.spec.sessions]
        )


def _update_claimed(tx: Transaction, claimed: Claim, **values: object) -> None:
    """Update the match's row if it is this attempt's, and so keep everyone else off it; else LeaseLost."""
    mine = update(Match).where(*_is_mine(claimed))
    if not changed(tx, mine.values(values or {"lease_owner": claimed.owner})):
        raise LeaseLost(LOST)


def _is_mine(claimed: Claim) -> tuple[ColumnElement[bool], ...]:
    """Return conditions under which a match is this attempt's."""
    return (
        col(Match.id) == claimed.match_id,
        col(Match.state) == MatchState.RUNNING,
        col(Match.lease_owner) == claimed.owner,
    )

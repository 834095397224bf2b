"""Storing results: each session whole and exactly once, and before that its finished deals."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import DateTime, bindparam, case, insert, update
from sqlmodel import col, select

from arena.core.duplicate import forfeited_from, leaver_of
from arena.errors import LeaseLost
from arena.play.matches.attempts import deal_attempts, forget_deals, keep_deals
from arena.play.matches.leases import LOST, MINE, Claim, update_claimed
from arena.results.sessions import keep, tallies_of
from arena.store.models import Entrant, EntrantState, Match, MatchState, Seat, Session, SessionRecords
from arena.store.records import pack_records
from arena.store.storage import Storage, Transaction
from arena.webhooks.hooks import emit
from referee.matches.match import DealsFinished, SessionResult

ADD_TO_SEAT = (
    update(Seat)
    .where(col(Seat.match_id) == bindparam("match"), col(Seat.position) == bindparam("at"))
    .values(
        points=col(Seat.points) + bindparam("more_points"), faults=col(Seat.faults) + bindparam("more_faults")
    )
)
"""Adds the points and faults of a session to a seat."""

ADD_SESSION = insert(Session).returning(col(Session.id))

ADD_RECORDS = insert(SessionRecords)

IS_LAST = col(Match.sessions_done) + 1 == bindparam("sessions")

COUNT_SESSION = (
    update(Match)
    .where(*MINE)
    .values(
        sessions_done=Match.sessions_done + 1,
        deals_done=col(Match.deals_done) + bindparam("more_deals"),
        failures=0,
        problem=None,
        state=case((IS_LAST, MatchState.DONE), else_=MatchState.RUNNING),
        finished_at=case((IS_LAST, bindparam("now", type_=DateTime()))),
        lease_owner=case((~IS_LAST, bindparam("attempt"))),
        lease_until=case((~IS_LAST, bindparam("until"))),
    )
    .returning(col(Match.state))
)
"""Counts a session of a match, and keeps the lease; the last session ends the match."""

FREE_SEATED = (
    update(Entrant)
    .where(
        col(Entrant.id).in_(select(Seat.entrant_id).where(Seat.match_id == bindparam("match"))),
        col(Entrant.state) == EntrantState.SEATED,
    )
    .values(state=EntrantState.FREE)
)
"""Frees those who sat at a match of a continuous tournament."""


def store_session(storage: Storage, claimed: Claim, result: SessionResult, now: datetime) -> None:
    """Store a finished session, whole and exactly once; the last one of a match also ends the match.

    Raise LeaseLost, and store nothing, if the match is no longer this attempt's.
    """
    [seating] = [session.seating for session in claimed.spec.sessions if session.number == result.number]
    # Before the transaction, which others wait for.
    records = [*claimed.before.get(result.number, ()), *result.records]
    packed = pack_records(records)
    deals = [json.loads(record) for record in records]
    row = _session_row(claimed, seating, result, deals, now)
    bots = [claimed.spec.bots[position].version_id for position in seating]
    tallies = tallies_of(claimed.pool, claimed.spec.ruleset, deals, bots)
    seats = [
        {"at": position, "more_points": points, "more_faults": faults}
        for position, points, faults in zip(seating, result.points, result.faults, strict=True)
    ]
    with storage.write() as tx:
        done = _count_session(tx, claimed, len(deals), now)
        if result.number in claimed.with_deals:
            forget_deals(tx, claimed.match_id, result.number)
        session_id = tx.connection().execute(ADD_SESSION, row).scalar_one()
        tx.connection().execute(ADD_RECORDS, {"session_id": session_id, "records": packed})
        keep(tx, session_id, tallies)
        tx.connection().execute(ADD_TO_SEAT, [seat | {"match": claimed.match_id} for seat in seats])
        if result.forfeits:
            _tell_forfeits(tx, claimed, seating, result, now)
        if done and claimed.in_batches:
            tx.connection().execute(FREE_SEATED, {"match": claimed.match_id})


def _tell_forfeits(
    tx: Transaction, claimed: Claim, seating: tuple[int, ...], result: SessionResult, now: datetime
) -> None:
    """Notify the organiser which bots forfeited a session."""
    spec = claimed.spec
    bots = [{"bot": spec.bots[seating[seat]].name, "faults": result.faults[seat]} for seat in result.forfeits]
    place = {"round": spec.round, "table": spec.table, "session": result.number}
    emit(tx, claimed.tournament_id, "session.forfeited", now, **place, forfeits=bots)


def _count_session(tx: Transaction, claimed: Claim, deals: int, now: datetime) -> bool:
    """Count one more session with ``deals`` deals, and keep the lease; return whether the match is done.

    Raise LeaseLost.
    """
    which = {"match": claimed.match_id, "attempt": claimed.owner, "sessions": claimed.sessions}
    more = {"more_deals": deals, "now": now, "until": now + claimed.lease}
    state = tx.connection().execute(COUNT_SESSION, which | more).scalar()
    if state is None:
        raise LeaseLost(LOST)
    return bool(state == MatchState.DONE)


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
        "forfeited_from": forfeited_from(result.forfeits, deals),
        "leaver": leaver_of(deals),
        "deal_points": [deal["points"] for deal in deals],
        "deal_attempts": deal_attempts(deals),
        "signed": None if result.signed is None else result.signed._asdict(),
        "finished_at": now,
    }


def is_stored(storage: Storage, claimed: Claim, number: int) -> bool:
    """Return whether a session is stored."""
    stored = select(Session.id).where(Session.match_id == claimed.match_id, Session.number == number)
    with storage.read() as tx:
        return tx.exec(stored).first() is not None


def store_deals(storage: Storage, claimed: Claim, finished: Sequence[DealsFinished], now: datetime) -> None:
    """Store finished deals of open sessions, and keep the lease.

    Raise LeaseLost, and store nothing, if the match is no longer this attempt's.
    """
    claimed.with_deals.update(deals.number for deals in finished)
    with storage.write() as tx:
        update_claimed(tx, claimed, lease_until=now + claimed.lease)
        keep_deals(tx, claimed.match_id, finished)

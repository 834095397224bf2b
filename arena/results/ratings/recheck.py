"""Computing again what cards were worth, in all sessions: an operator asks for it, and workers do it.

The rows of ``ReferenceCheck`` are the queue. Workers take the sessions of the oldest in the order of their
ids, some at a time, and correct what is wrong; at the end, what follows from it.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import select as select_columns
from sqlalchemy import update
from sqlmodel import col, select

from arena.actors import Actor, Role
from arena.results.luck.recount import fix_betas
from arena.results.luck.references import AT_ONCE, SECONDS, GoesOn, Known, matches_wait
from arena.results.ratings.rebuild import mend
from arena.store.models import (
    Match,
    ReferenceCheck,
    Session,
    SessionRecords,
    SessionReference,
    StoredRuleset,
)
from arena.store.storage import Storage, Transaction, changed, put_rows

WORKER = Actor(Role.OPERATOR)
"""Corrects on behalf of the operator who asked."""

OPEN = col(ReferenceCheck.ended_at).is_(None)


def ask_for_check(storage: Storage, actor: Actor, now: datetime) -> None:
    """Ask the workers to compute again what cards were worth, unless they do. Raise NotAllowed."""
    actor.require(Role.OPERATOR, "compute again what cards were worth")
    with storage.write() as tx:
        if tx.exec(select(ReferenceCheck.id).where(OPEN)).first() is None:
            tx.add(ReferenceCheck(asked_at=now))


def recheck_due(
    storage: Storage,
    now: Callable[[], datetime],
    clock: Callable[[], float],
    *,
    seconds: float = SECONDS,
    stopping: Callable[[], bool] = lambda: False,
) -> None:
    """Do what was asked for, as long as ``weigh_due`` would go on."""
    ends, worths = clock() + seconds, Known(storage)

    def goes_on() -> bool:
        return not stopping() and clock() < ends and not matches_wait(storage, now())

    while goes_on():
        with storage.read() as tx:
            check = tx.exec(select(ReferenceCheck).where(OPEN).order_by(col(ReferenceCheck.id))).first()
            sessions = [] if check is None else _sessions(tx, check.last_session_id)
        if check is None:
            return
        if sessions:
            _compute(storage, check, sessions, worths, goes_on)
        else:
            _end(storage, check, now())


def _sessions(tx: Transaction, after: int) -> Sequence[Any]:
    """Return the next sessions with a row: id, ruleset's id and content, records, and what is stored."""
    columns: tuple[Any, ...] = (
        *(SessionReference.session_id, StoredRuleset.id, StoredRuleset.content, SessionRecords.records),
        *(SessionReference.reference, SessionReference.chances, SessionReference.worth),
    )
    rows = (
        select_columns(*columns)
        .select_from(SessionReference)
        .join(SessionRecords, col(SessionRecords.session_id) == SessionReference.session_id)
        .join(Session, col(Session.id) == SessionReference.session_id)
        .join(Match, col(Match.id) == Session.match_id)
        .join(StoredRuleset, col(StoredRuleset.id) == Match.ruleset_id)
        .where(col(SessionReference.session_id) > after)
        .order_by(col(SessionReference.session_id))
        .limit(AT_ONCE)
    )
    return tx.execute(rows).all()


def _compute(
    storage: Storage, check: ReferenceCheck, sessions: Sequence[Any], worths: Known, goes_on: GoesOn
) -> None:
    """Compute some sessions again, and correct those that are wrong."""
    last, count, deals, wrong = check.last_session_id, 0, 0, []
    for id, ruleset_id, content, records, *stored in sessions:
        row = worths.row_of(id, ruleset_id, content, records, goes_on)
        if row is not None:
            last, count, deals = id, count + 1, deals + len(stored[-1])
            if [row["reference"], row["chances"], row["worth"]] != stored:
                wrong.append(row)
        if row is None or not goes_on():
            break
    ours = (col(ReferenceCheck.id) == check.id, col(ReferenceCheck.last_session_id) == check.last_session_id)
    values = {
        "last_session_id": last,
        "sessions": ReferenceCheck.sessions + count,
        "deals": ReferenceCheck.deals + deals,
        "wrong": ReferenceCheck.wrong + len(wrong),
    }
    with storage.write() as tx:
        if count and changed(tx, update(ReferenceCheck).where(*ours).values(values)) and wrong:
            put_rows(tx, SessionReference, wrong)


def _end(storage: Storage, check: ReferenceCheck, now: datetime) -> None:
    """Correct what follows from the sessions."""
    with storage.read() as tx:
        rulesets = tx.exec(select(StoredRuleset.id).order_by(col(StoredRuleset.id))).all()
    betas = sum(fix_betas(storage, ruleset_id) for ruleset_id in rulesets)
    values: dict[str, Any] = {"betas": betas, "ended_at": now}
    if betas or check.wrong:
        rebuilt = mend(storage, WORKER, now)
        values |= {"mended": rebuilt.mended, "problem": rebuilt.problem}
    with storage.write() as tx:
        changed(tx, update(ReferenceCheck).where(col(ReferenceCheck.id) == check.id, OPEN).values(values))

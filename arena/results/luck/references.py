"""Computing what cards were worth: the rounds that have ended are the queue, and workers take the oldest.

A session's row follows from its records alone, so that it does not matter who computes it, or how often.
"""

import json
import logging
import random
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import or_
from sqlalchemy import select as select_columns
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import col, select

from arena.core.chances import count_chances
from arena.core.luck import beginning
from arena.results.luck.taking import take_in
from arena.store.models import (
    UNWEIGHED,
    Match,
    MatchState,
    Round,
    Session,
    SessionRecords,
    SessionReference,
    StoredRuleset,
    Tournament,
    TournamentState,
)
from arena.store.records import unpack_records
from arena.store.storage import Storage, Transaction
from referee.reference.values import REFERENCE, record_values
from referee.rules.rulebook import rules_of

SECONDS = 3.0
"""How long a worker computes at a time, between two beats."""

STORED_AFTER = 0.5
"""The most seconds of work that are lost if a worker is killed, or those of one session."""

AT_ONCE = 64
"""Sessions that are read at a time."""

log = logging.getLogger("arena.results.luck")


class Recorded(NamedTuple):
    """A session with its records."""

    id: int
    records: bytes
    """As they are stored."""


def weigh_due(
    storage: Storage,
    now: Callable[[], datetime],
    clock: Callable[[], float],
    *,
    seconds: float = SECONDS,
    stopping: Callable[[], bool] = lambda: False,
) -> None:
    """Compute what cards were worth in the rounds that have ended, the oldest first, and take these in.

    It ends after ``seconds`` by the clock, and as soon as a match waits for a worker.
    """
    ends, known = clock() + seconds, Known()

    def goes_on() -> bool:
        return not stopping() and clock() < ends

    while goes_on() and not matches_wait(storage, now()):
        with storage.read() as tx:
            first = select(Round.id, Tournament.test, StoredRuleset.content)
            rounds = first.join(Tournament, col(Tournament.id) == Round.tournament_id)
            rounds = rounds.join(StoredRuleset, col(StoredRuleset.id) == Tournament.ruleset_id)
            oldest = select(Round.id).where(UNWEIGHED).order_by(col(Round.id)).limit(1)
            found = tx.exec(rounds.where(Round.id == oldest.scalar_subquery())).first()
            if found is None:
                return
            round_id, test, content = found
            sessions = [] if test else _without(tx, round_id)
        if not sessions:
            take_in(storage, round_id)
            continue
        random.shuffle(sessions)  # so that two workers seldom compute the same
        while sessions and goes_on():
            rows: list[dict[str, object]] = []
            until = clock() + STORED_AFTER
            while sessions and (not rows or clock() < until):
                one = sessions.pop()
                rows.append(known.row_of(one.id, content, one.records))
            _keep(storage, rows)


class Known:
    """What the cards of deals were worth; the tables of a duplicate round have many deals in common."""

    def __init__(self) -> None:
        self._worth = lru_cache(maxsize=1024)(_worth)

    def row_of(self, session_id: int, ruleset: Mapping[str, object], packed: bytes) -> dict[str, object]:
        """Return a row of ``SessionReference`` by the names of its columns, from a session's records."""
        text = json.dumps(ruleset)
        worth, chances = [], []
        try:
            records = unpack_records(packed)
            worth = [[*self._worth(text, json.dumps(beginning(record)))] for record in records]
            chances = count_chances(ruleset, records)
        except Exception as error:  # whatever somebody who changed the database by hand has left there
            log.warning("what the cards of session %d were worth cannot be computed: %r", session_id, error)
        return {
            "session_id": session_id,
            "reference": REFERENCE.name,
            "worth": worth,
            "chances": [*map(list, chances)],
        }


def _worth(ruleset: str, record: str) -> tuple[int, ...]:
    return record_values(rules_of(json.loads(ruleset)), json.loads(record))


def _without(tx: Transaction, round_id: int) -> list[Recorded]:
    """Return some sessions of a round without a row; the same ones of all tables first, which share deals."""
    columns: tuple[Any, ...] = (Session.id, SessionRecords.records)
    rows = (
        select_columns(*columns)
        .select_from(Match)
        .join(Session, col(Session.match_id) == Match.id)
        .outerjoin(SessionRecords, col(SessionRecords.session_id) == Session.id)
        .outerjoin(SessionReference, col(SessionReference.session_id) == Session.id)
        .where(col(Match.round_id) == round_id, col(SessionReference.session_id).is_(None))
        .order_by(col(Session.number), col(Session.id))
        .limit(AT_ONCE)
    )
    return [Recorded(*row) for row in tx.execute(rows)]


def _keep(storage: Storage, rows: Sequence[Mapping[str, object]]) -> None:
    """Store rows, but those that another worker has stored meanwhile."""
    with storage.write() as tx:
        on_postgres = tx.connection().dialect.name == "postgresql"
        new = postgresql.insert(SessionReference) if on_postgres else sqlite.insert(SessionReference)
        tx.connection().execute(new.on_conflict_do_nothing(), rows)


def matches_wait(storage: Storage, now: datetime) -> bool:
    """Return whether a match that could be played waits for a worker to take it."""
    waits = (
        select(Match.id)
        .join(Tournament, col(Tournament.id) == Match.tournament_id)
        .where(Tournament.state == TournamentState.RUNNING, Match.state == MatchState.WAITING)
        .where(col(Match.handed_out_at).is_not(None), col(Match.problem).is_(None))
        .where(or_(col(Match.not_before).is_(None), col(Match.not_before) <= now))
    )
    with storage.read() as tx:
        return tx.exec(waits.limit(1)).first() is not None

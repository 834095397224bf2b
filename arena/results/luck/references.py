"""Computing what cards were worth: the rounds that have ended are the queue, and workers take turns at them.

A session's row follows from its records alone, so that it does not matter who computes it, or how often.
"""

import json
import logging
import os
import random
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache, partial
from hashlib import sha256
from typing import Any, NamedTuple

from sqlalchemy import or_
from sqlalchemy import select as select_columns
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import SQLModel, col, select

from arena.core.chances import count_chances
from arena.core.luck import beginning
from arena.results.luck.taking import take_in
from arena.store.models import (
    UNWEIGHED,
    Match,
    MatchState,
    PlacePiece,
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
from referee.deals.session import Setup
from referee.reference.values import (
    PIECES,
    REFERENCE,
    has_reference,
    place_of,
    place_piece,
    record_values,
)
from referee.rules.rulebook import rules_of

SECONDS = 3.0
"""How long a worker computes at a time, between two beats."""

STORED_AFTER = 0.5
"""How long a worker computes for a round before it takes another one, in seconds: it then stores the sessions
and the pieces of places that are done. It stops between any two deals or pieces."""

AT_ONCE = 64
"""Sessions that are read, and tournaments that are served, at a time."""

MOST_BEGUN = 256
"""Of how many sessions a process remembers the deals that it has computed before their last one."""

GoesOn = Callable[[], bool]

log = logging.getLogger("arena.results.luck")


class Recorded(NamedTuple):
    """A session with its records."""

    id: int
    records: bytes
    """As they are stored."""


class Waiting(NamedTuple):
    """A round that has ended and waits for what its cards were worth."""

    id: int
    test: bool
    ruleset_id: int
    content: Mapping[str, object]
    """The ruleset."""


def weigh_due(
    storage: Storage,
    now: Callable[[], datetime],
    clock: Callable[[], float],
    *,
    seconds: float = SECONDS,
    stopping: Callable[[], bool] = lambda: False,
) -> None:
    """Compute what cards were worth in the rounds that have ended, and take these in.

    Tournaments take turns, in a random order, each with its oldest round: a costly one delays no other. It
    ends after ``seconds`` by the clock, and as soon as a match waits for a worker.
    """
    ends, worths = clock() + seconds, Known(storage)

    def goes_on() -> bool:
        return not stopping() and clock() < ends and not matches_wait(storage, now())

    while goes_on():
        rounds = _waiting(storage)
        if not rounds:
            return
        for round in rounds:
            if not goes_on():
                return
            until = clock() + STORED_AFTER
            _weigh(storage, round, worths, partial(_is_before, until, clock, stopping))


def _is_before(until: float, clock: Callable[[], float], stopping: Callable[[], bool]) -> bool:
    return not stopping() and clock() < until


def _waiting(storage: Storage) -> list[Waiting]:
    """Return the oldest waiting rounds of some tournaments, in a random order."""
    columns: tuple[Any, ...] = (Round.id, Tournament.test, Tournament.ruleset_id, StoredRuleset.content)
    rounds = (
        select_columns(*columns)
        .select_from(Round)
        .join(Tournament, col(Tournament.id) == Round.tournament_id)
        .join(StoredRuleset, col(StoredRuleset.id) == Tournament.ruleset_id)
    )
    with storage.read() as tx:
        ended = select(Round.tournament_id, Round.id).where(UNWEIGHED).order_by(col(Round.id).desc())
        oldest = [*dict(tx.exec(ended).all()).values()]
        some = random.sample(oldest, min(AT_ONCE, len(oldest)))
        waiting = [Waiting(*row) for row in tx.execute(rounds.where(col(Round.id).in_(some)))]
    return random.sample(waiting, len(waiting))


def _weigh(storage: Storage, round: Waiting, worths: "Known", goes_on: GoesOn) -> None:
    """Compute some sessions of a round as long as that ``goes_on``, or take it in if none is left."""
    with storage.read() as tx:
        sessions = [] if round.test else _without(tx, round.id)
    if not sessions:
        take_in(storage, round.id)
        return
    rows = []
    for session in sorted(sessions, key=lambda session: hash((_ORDER, session.id))):
        row = worths.row_of(session.id, round.ruleset_id, round.content, session.records, goes_on)
        rows += [] if row is None else [row]
        if row is None or not goes_on():
            break
    if rows:
        _keep(storage, SessionReference, rows)


_ORDER = os.getpid()
"""Each process has an order of its own, so that two workers seldom compute the same, and goes on with the
session that it has begun."""

_begun: dict[bytes, list[list[int]]] = {}
"""What the cards of a session's first deals were worth, as long as others are left, by the digest of ruleset
and records."""


class PlacesMissing(Exception):
    """Raised if it is not computed yet what places are worth in a setup."""

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self.setup = setup


class Known:
    """What the cards of deals were worth; the tables of a duplicate round have many deals in common."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._places: dict[tuple[int, Setup], tuple[int, ...]] = {}
        self._worth = lru_cache(maxsize=1024)(self._worth_of)

    def row_of(
        self,
        session_id: int,
        ruleset_id: int,
        ruleset: Mapping[str, object],
        packed: bytes,
        goes_on: GoesOn,
    ) -> dict[str, object] | None:
        """Return a row of ``SessionReference`` by the names of its columns, from a session's records.

        Return None if it does not go on: it continues there with the next call. At least one deal, or one
        piece of what places are worth, is computed.
        """
        text = json.dumps(ruleset)
        chances: Sequence[Sequence[int]] = []
        key = sha256(text.encode() + packed).digest()
        worth = _begun.pop(key, [])
        try:
            records = unpack_records(packed)
            for record in records[len(worth) :] if has_reference(rules_of(json.loads(text))) else ():
                worth.append([*self._worth(ruleset_id, text, json.dumps(beginning(record)))])
                if len(worth) < len(records) and not goes_on():
                    _remember(key, worth)
                    return None
            chances = count_chances(ruleset, records)
        except PlacesMissing as missing:
            _remember(key, worth)
            self._compute(ruleset_id, text, missing.setup, goes_on)
            return None
        except Exception as error:  # whatever somebody who changed the database by hand has left there
            log.warning("what the cards of session %d were worth cannot be computed: %r", session_id, error)
            worth = []
        return {
            "session_id": session_id,
            "reference": REFERENCE.name,
            "worth": worth,
            "chances": [*map(list, chances)],
        }

    def _worth_of(self, ruleset_id: int, ruleset: str, record: str) -> tuple[int, ...]:
        """Raise PlacesMissing."""
        rules = rules_of(json.loads(ruleset))
        return record_values(rules, json.loads(record), lambda _, setup: self._place(ruleset_id, setup))

    def _place(self, ruleset_id: int, setup: Setup) -> tuple[int, ...]:
        """Return what places are worth. Raise PlacesMissing."""
        if (ruleset_id, setup) not in self._places:
            pieces = self._pieces(ruleset_id, setup)
            if len(pieces) < PIECES:
                raise PlacesMissing(setup)
            self._places[ruleset_id, setup] = place_of(pieces.values())
        return self._places[ruleset_id, setup]

    def _pieces(self, ruleset_id: int, setup: Setup) -> dict[int, list[int]]:
        """Return the pieces that are stored, by number."""
        its = {"ruleset_id": ruleset_id, "reference": REFERENCE.name, "setup": _setup_text(setup)}
        with self._storage.read() as tx:
            return {row.piece: row.totals for row in tx.exec(select(PlacePiece).filter_by(**its))}

    def _compute(self, ruleset_id: int, ruleset: str, setup: Setup, goes_on: GoesOn) -> None:
        """Compute and store pieces of what places are worth: one, and more as long as it ``goes_on``."""
        missing = [*set(range(PIECES)) - self._pieces(ruleset_id, setup).keys()]
        random.shuffle(missing)  # so that two workers seldom compute the same
        its = {"ruleset_id": ruleset_id, "reference": REFERENCE.name, "setup": _setup_text(setup)}
        for piece in missing:
            totals = place_piece(rules_of(json.loads(ruleset)), setup, piece)
            _keep(self._storage, PlacePiece, [{**its, "piece": piece, "totals": totals}])
            if not goes_on():
                return


def _remember(key: bytes, worth: list[list[int]]) -> None:
    _begun[key] = worth
    while len(_begun) > MOST_BEGUN:
        _begun.pop(next(iter(_begun)), None)


def _setup_text(setup: Setup) -> str:
    leader = "-" if setup.leader is None else setup.leader
    return f"{setup.step}/{leader}/{'-' if setup.exchange is None else '-'.join(map(str, setup.exchange))}"


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


def _keep(storage: Storage, table: type[SQLModel], rows: Sequence[Mapping[str, object]]) -> None:
    """Store rows, but those that another worker has stored meanwhile."""
    with storage.write() as tx:
        on_postgres = tx.connection().dialect.name == "postgresql"
        new = postgresql.insert(table) if on_postgres else sqlite.insert(table)
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

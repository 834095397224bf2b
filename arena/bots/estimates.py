"""What decisions of a deal cost, by sage's estimate: asked for on a page, computed by a worker, and kept.

The rows are the queue: whoever asks adds one, and workers take the oldest that waits.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import delete, update
from sqlmodel import col, func, select

from arena.actors import Actor, Role
from arena.errors import SpecError, StateError, UnknownError
from arena.store.models import Account, DealEstimate, Match, Round, Session, Tournament
from arena.store.records import full_records, may_be_shown, names_and_points
from arena.store.storage import Storage, Transaction, changed, hold_row
from referee.errors import RefereeError

SECONDS = 8.0
"""How long a worker thinks about a seat's decisions in a deal, of processor time that matches need, too."""

MOST_WAITING = 50
"""How many may wait at most, of all accounts together; of each account only one."""

KEPT = 5_000
"""How many are kept: the latest."""

log = logging.getLogger("arena.bots.estimates")


class Place(NamedTuple):
    """A deal."""

    tournament: str
    round: int
    table: int
    session: int
    deal: int


@dataclass(frozen=True, slots=True)
class Costly:
    """A decision of which sage is sure that another one would have been better."""

    turn: int
    """The number of the action in its deal, from 1."""
    played: str
    """``-`` for a pass."""
    better: str
    cost: float
    """How many more points ``better`` scores in sage's playouts."""
    plus_minus: float
    """In 95 of 100 cases endless playouts would be within this range."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the decisions of a seat cost in a deal."""

    seat: int
    waits: bool
    """Whether no worker has computed it yet."""
    decisions: int
    """How many had a choice and could be judged."""
    worlds: int
    """In how many worlds each was played out at least; 0 if there are none."""
    costly: Sequence[Costly]
    """Those of which sage is sure, the costliest first."""
    problem: str | None
    """Why there is none; None if there is no problem."""


@dataclass(frozen=True, slots=True)
class Estimates:
    """What decisions of a deal cost."""

    estimates: Sequence[Estimate]
    """Those that somebody asked for, by seat."""


def ask_for_estimate(storage: Storage, actor: Actor, place: Place, seat: int, now: datetime) -> None:
    """Ask the workers what the decisions of a seat cost; nothing happens if somebody has asked already.

    Raise NotAllowed, SpecError for a wrong seat, UnknownError, StateError if the deal is still played
    elsewhere, or too many such questions wait.
    """
    actor.require(Role.AUTHOR, "ask what decisions cost")
    if actor.account_id is None:
        raise StateError("only accounts can ask: sign in with one")
    with storage.write() as tx:
        hold_row(tx, Account, actor.account_id)
        session = _session(tx, place)
        if seat not in range(len(session.seating)):
            raise SpecError("seat", f"must be from 0 to {len(session.seating) - 1}, not {seat}")
        same = (DealEstimate.session_id == session.id, DealEstimate.deal == place.deal)
        if tx.exec(select(DealEstimate.id).where(*same, DealEstimate.seat == seat)).first() is not None:
            return
        waiting = tx.exec(select(DealEstimate.asked_by).where(col(DealEstimate.ended_at).is_(None))).all()
        if actor.account_id in waiting:
            raise StateError("an estimate that you asked for is not ready yet: ask again after that")
        if len(waiting) >= MOST_WAITING:
            raise StateError(f"{len(waiting)} estimates wait for the workers: ask again later")
        tx.add(
            DealEstimate(
                session_id=session.id, deal=place.deal, seat=seat, asked_by=actor.account_id, asked_at=now
            )
        )
        tx.flush()
        last: int = tx.exec(select(func.max(DealEstimate.id))).one()
        changed(tx, delete(DealEstimate).where(col(DealEstimate.id) <= last - KEPT))


def estimates_of(storage: Storage, place: Place) -> list[Estimate]:
    """Return the estimates of a deal that anybody asked for, by seat. Raise UnknownError, StateError."""
    with storage.read() as tx:
        session = _session(tx, place)
        its = (DealEstimate.session_id == session.id, DealEstimate.deal == place.deal)
        rows = tx.exec(select(DealEstimate).where(*its).order_by(col(DealEstimate.seat)))
        return [_estimate(row) for row in rows]


def _estimate(row: DealEstimate) -> Estimate:
    decisions: list[dict[str, Any]] = row.decisions
    costly = [
        Costly(
            decision["turn"], decision["played"], decision["better"], decision["cost"], decision["plus_minus"]
        )
        for decision in decisions
        if decision["better"] != decision["played"] and decision["cost"] > decision["plus_minus"]
    ]
    worlds = min((decision["worlds"] for decision in decisions), default=0)
    return Estimate(row.seat, row.ended_at is None, len(decisions), worlds, costly, row.problem)


def _session(tx: Transaction, place: Place) -> Session:
    """Return a finished session whose deals may be shown. Raise UnknownError, StateError."""
    row = tx.exec(
        select(Session, Round.id)
        .join(Match, col(Match.id) == Session.match_id)
        .join(Round, col(Round.id) == Match.round_id)
        .join(Tournament, col(Tournament.id) == Match.tournament_id)
        .where(Tournament.name == place.tournament, Round.number == place.round)
        .where(Match.table_number == place.table, Session.number == place.session)
    ).first()
    if row is None or not 1 <= place.deal <= len(row[0].deal_points):
        raise UnknownError(f"no such deal: {'/'.join(map(str, place))}")
    session, round_id = row
    rounds = select(Round.id).join(Tournament, col(Tournament.id) == Round.tournament_id)
    if tx.exec(rounds.where(Round.id == round_id, may_be_shown())).first() is None:
        raise StateError("other tables still have to play this deal")
    return session


def estimate_due(
    storage: Storage,
    now: Callable[[], datetime],
    clock: Callable[[], float],
    *,
    seconds: float = SECONDS,
    stopping: Callable[[], bool] = lambda: False,
) -> None:
    """Compute the estimates that wait, the oldest first, in ``seconds`` by the clock each.

    An estimate that two workers compute is stored once.
    """
    while not stopping() and (waiting := _waiting(storage)) is not None:
        id, record, seat = waiting
        decisions: list[dict[str, object]] = []
        problem = None
        try:
            decisions = _decisions(record, seat, seconds, clock)
        except RefereeError as error:
            problem = str(error)
        except Exception:
            log.exception("a deal cannot be estimated")
            problem = "sage cannot follow this deal"
        with storage.write() as tx:
            its = (col(DealEstimate.id) == id, col(DealEstimate.ended_at).is_(None))
            values = {"decisions": decisions, "problem": problem, "ended_at": now()}
            changed(tx, update(DealEstimate).where(*its).values(values))


def _waiting(storage: Storage) -> tuple[int, dict[str, Any], int] | None:
    """Return the oldest estimate that waits, with the record of its deal and the seat."""
    with storage.read() as tx:
        first = select(DealEstimate).where(col(DealEstimate.ended_at).is_(None))
        row = tx.exec(first.order_by(col(DealEstimate.id)).limit(1)).first()
        if row is None:
            return None
        session = tx.get_one(Session, row.session_id)
        match = tx.get_one(Match, session.match_id)
        tournament = tx.get_one(Tournament, match.tournament_id)
        round = tx.get_one(Round, match.round_id)
        names, _ = names_and_points(tx, match)
        records = [*full_records(tx, tournament, round.number, match, session, names)]
        return row.id, records[row.deal - 1], row.seat


def _decisions(
    record: dict[str, Any], seat: int, seconds: float, clock: Callable[[], float]
) -> list[dict[str, object]]:
    from referee.local.rewind import (
        Replayed,
        priced,  # sage, which most workers need late if at all
    )

    decisions = priced(Replayed(record, seat), seconds, clock, lambda _done, _of: None)
    return [asdict(decision) for decision in decisions]

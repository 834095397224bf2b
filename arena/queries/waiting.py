"""Matches that wait for a worker, or are being played by one: the arena's work."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func
from sqlmodel import col, select

from arena.actors import Actor, Role
from arena.store.models import Match, MatchState, Round, Tournament, TournamentState
from arena.store.storage import Storage


@dataclass(frozen=True, slots=True)
class WorkLine:
    """A match that is not done yet."""

    tournament: str
    round: int
    table: int
    state: MatchState
    """``waiting`` for a worker, or ``running``."""
    handed_out_at: datetime | None
    """When a worker was last asked to play it; None if not since one had it."""
    lease_until: datetime | None
    """When the worker that plays it loses it, unless it shows signs of life."""
    failures: int
    """Consecutive failed attempts."""
    problem: str | None
    """Why the last one failed."""


@dataclass(frozen=True, slots=True)
class Work:
    """The work for which running tournaments wait."""

    waiting: int
    """Matches that wait for a worker."""
    running: int
    """Matches that are being played."""
    matches: tuple[WorkLine, ...]
    """The ones that have waited longest."""


OPEN = (MatchState.WAITING, MatchState.RUNNING)


def work(storage: Storage, actor: Actor, limit: int = 100) -> Work:
    """Return what the workers have to do. Raise NotAllowed."""
    actor.require(Role.OPERATOR, "see what the workers do")
    running = (col(Tournament.state) == TournamentState.RUNNING, col(Match.state).in_(OPEN))
    columns = (
        *(Tournament.name, Round.number, Match.table_number, Match.state, Match.handed_out_at),
        *(Match.lease_until, Match.failures, Match.problem),
    )
    # An index leads to a tournament's open matches; by way of its rounds, all of these would be searched.
    joined = select(*columns).join(Match, col(Match.tournament_id) == Tournament.id)  # type: ignore[call-overload]
    oldest = joined.join(Round, col(Round.id) == Match.round_id).where(*running).order_by(Match.id)
    counted = select(Match.state, func.count()).join(Tournament, col(Tournament.id) == Match.tournament_id)
    with storage.read() as tx:
        found = tuple(WorkLine(*row) for row in tx.exec(oldest.limit(limit)))
        counts = dict(tx.exec(counted.where(*running).group_by(Match.state)).all())
    return Work(counts.get(MatchState.WAITING, 0), counts.get(MatchState.RUNNING, 0), found)

"""What operators see: who changed what, and the matches that wait for a worker or are being played."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, func
from sqlmodel import col, or_, select

from arena.actors import Actor, Role
from arena.core.cursors import make_cursor, read_cursor
from arena.people.audit import Change, change_of
from arena.store.models import STUCK, AuditEntry, Match, MatchState, Round, Tournament, TournamentState
from arena.store.storage import Storage
from arena.store.suggestions import unknown


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
class Stuck:
    """A running tournament that cannot be advanced: nothing more is played in it."""

    tournament: str
    problem: str
    """The error; the workers' logs say where it happened."""


@dataclass(frozen=True, slots=True)
class Work:
    """The work for which running tournaments wait."""

    waiting: int
    """Matches that wait for a worker."""
    running: int
    """Matches that are being played."""
    matches: tuple[WorkLine, ...]
    """The ones that have waited longest."""
    stuck: tuple[Stuck, ...]
    """The tournaments that cannot be advanced."""


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
        lines = tuple(WorkLine(*row) for row in tx.exec(oldest.limit(limit)))
        counts = dict(tx.exec(counted.where(*running).group_by(Match.state)).all())
        stuck = tx.exec(select(Tournament.name, Tournament.problem).where(*STUCK).order_by(Tournament.name))
        halted = tuple(Stuck(*row) for row in stuck)
    return Work(counts.get(MatchState.WAITING, 0), counts.get(MatchState.RUNNING, 0), lines, halted)


@dataclass(frozen=True, slots=True)
class ChangeQuery:
    """Which changes are wanted."""

    subject: str | None = None
    """Only those of the tournament, league, bot, account or token of this name."""
    account: str | None = None
    """Only those that this account made."""


@dataclass(frozen=True, slots=True)
class ChangePage:
    """A page of changes of the arena."""

    entries: tuple[Change, ...]
    """The latest first."""
    next: str | None
    """Cursor of the next page; None if there is none."""


def changes(
    storage: Storage, actor: Actor, query: ChangeQuery, limit: int = 100, cursor: str | None = None
) -> ChangePage:
    """Return a page of changes; ``owner/bot`` includes all versions of the bot.

    Raise NotAllowed, SpecError; UnknownError if there are no changes of the subject.
    """
    actor.require(Role.OPERATOR, "see who changed what")
    entries = select(AuditEntry).order_by(col(AuditEntry.id).desc()).limit(limit + 1)
    if query.subject is not None:
        entries = entries.where(_is_about(query.subject))
    if query.account is not None:
        entries = entries.where(AuditEntry.account == query.account)
    if cursor is not None:
        [before] = read_cursor(query, cursor, int)
        entries = entries.where(col(AuditEntry.id) < before)
    with storage.read() as tx:
        rows = tx.exec(entries).all()
        if query.subject is not None and not rows and cursor is None:
            raise unknown(tx, "change of", query.subject, col(AuditEntry.subject))
    page = rows[:limit]
    following = make_cursor(query, (page[-1].id,)) if len(rows) > limit else None
    return ChangePage(tuple(map(change_of, page)), following)


def _is_about(subject: str) -> ColumnElement[bool]:
    of_it = col(AuditEntry.subject) == subject
    versions = col(AuditEntry.subject).startswith(f"{subject}@", autoescape=True)
    return or_(of_it, versions) if "/" in subject else of_it

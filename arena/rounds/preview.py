"""What a tournament would be like, before it is created: how long, how sensible, and its first tables."""

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

from arena.actors import Actor, Role
from arena.formats import FORMATS, Course, Setup
from arena.rounds.course import course_of, setup_of
from arena.specs import TournamentSpec
from arena.storage import Storage
from arena.tournaments.creation import create_in
from arena.tournaments.doubts import doubts_of
from arena.tournaments.entrants import list_entrants
from arena.tournaments.head import lock_head
from arena.tournaments.overview import status_of


@dataclass(frozen=True, slots=True)
class Preview:
    """A tournament as it would be."""

    tournament: str
    ruleset: str
    """Name and version, as ``hong-kong@1``."""
    table_size: int
    entrants: int
    """Number of entrants."""
    rounds: int | None
    """Rounds in all; None: as many as it takes, or until it is stopped."""
    matches: int
    """Matches in all, as far as that can be told."""
    sessions: int
    """Sessions in all, as far as that can be told."""
    warnings: list[str]
    """What makes no sense about it."""
    tables: list[list[str]]
    """The first round, if lots fell as they did for this preview; empty where tables are seated as bots
    become free."""
    byes: list[str]
    """Who would sit out in it."""


class _Undo(Exception):
    """Raised to end a transaction without a trace."""


def preview(storage: Storage, actor: Actor, spec: TournamentSpec, now: datetime) -> Preview:
    """Return what a tournament would be like, and store nothing. Raise what ``create`` raises."""
    actor.require(Role.ORGANISER, "preview tournaments")
    course, setup = Course((), ()), Setup(0)
    with suppress(_Undo), storage.write() as tx:
        tournament = create_in(tx, spec, now)
        lock_head(tx, tournament, now)
        entrants, status = list_entrants(tx, tournament), status_of(tx, tournament)
        warnings, setup = doubts_of(tx, tournament), setup_of(tournament)
        # Nothing has been played, and the transaction is over when the first round is paired.
        course = replace(course_of(tx, tournament, entrants), outcomes=tuple)
        raise _Undo
    format, names = FORMATS[spec.format], {one.number: one.name for one in entrants}
    first = None if format.in_batches else next(iter(format.next(setup, course)), None)
    return Preview(
        tournament=spec.name,
        ruleset=status.ruleset,
        table_size=status.table_size,
        entrants=status.entrants,
        rounds=format.total(setup, len(entrants)),
        matches=status.sessions_total // status.sessions,
        sessions=status.sessions_total,
        warnings=warnings,
        tables=[[names[who] for who in table] for table in first.tables] if first else [],
        byes=[names[who] for who in first.byes] if first else [],
    )

"""Questionable settings of a tournament that can be played: warnings when it is created and started."""

from collections.abc import Iterator, Sequence
from math import factorial

from sqlmodel import func, select

from arena.core.formats import FORMATS
from arena.core.specs import Plan, TournamentFields, TournamentSpec
from arena.errors import SpecError
from arena.store.models import EntryRequest, EntryState, Tournament, TournamentState
from arena.store.storage import Storage, Transaction
from arena.tournaments.creation import require_ready
from arena.tournaments.lifecycle import staying
from arena.tournaments.overview import find_tournament


def list_warnings(storage: Storage, name: str) -> list[str]:
    """Return a line for each thing that makes little sense about a tournament and its current entrants.

    Raise UnknownError.
    """
    with storage.read() as tx:
        return warnings_of(tx, find_tournament(tx, name))


def warnings_of(tx: Transaction, tournament: Tournament) -> list[str]:
    """Return the same for a tournament as part of a transaction."""
    bots, size = staying(tx, tournament), tournament.table_size
    lines = not_ready(tournament, size, bots) if tournament.state == TournamentState.CREATED else []
    return [*lines, *warnings_about(tournament, size, len(bots)), *_of_requests(tx, tournament)]


def not_ready(planned: Tournament | TournamentSpec, size: int, bots: Sequence[str]) -> list[str]:
    """Return what keeps a tournament of these bots, in the order of seeding, from being started."""
    try:
        require_ready(planned, size, bots)
    except SpecError as error:
        return [str(problem) for problem in error.problems]
    return []


def warnings_about(planned: Tournament | TournamentSpec, size: int, entrants: int) -> list[str]:
    """Return what makes little sense about a tournament of so many entrants at tables of ``size``."""
    return [*plan_warnings(planned.format, planned, size, entrants), *_of_limits(planned)]


def plan_warnings(format: str, plan: Plan, size: int, entrants: int) -> Iterator[str]:
    """Yield what makes little sense about a plan for this number of entrants at tables of ``size``."""
    tables = entrants // size
    if plan.rounds is not None and tables and not FORMATS[format].in_batches:
        different = different_rounds(entrants, size)
        if 0 < different < plan.rounds:
            ways = f"in {different} way{'' if different == 1 else 's'} only"
            yield f"{entrants} bots fill tables of {size} {ways}: the {plan.rounds} rounds repeat them"
    if plan.sessions == 1 and plan.deals == 1 and not plan.duplicate:
        yield "a match is a single deal: who wins it is mostly luck (see sessions, deals, duplicate)"
    if plan.duplicate and tables == 1:
        yield f"duplicate compares tables, and {entrants} bots fill only one table of {size}"


def _of_limits(tournament: TournamentFields) -> Iterator[str]:
    if tournament.min_sessions > tournament.sessions:
        only = "one session" if tournament.sessions == 1 else f"{tournament.sessions} sessions"
        yield f"min_sessions is {tournament.min_sessions}, but a match has only {only}"


def _of_requests(tx: Transaction, tournament: Tournament) -> Iterator[str]:
    its = (EntryRequest.tournament_id == tournament.id, EntryRequest.state == EntryState.ASKED)
    waiting = tx.exec(select(func.count()).select_from(EntryRequest).where(*its)).one()
    if waiting:
        who = (
            f"{waiting} bots that have asked to enter have"
            if waiting > 1
            else "a bot has asked to enter and has"
        )
        yield f"{who} no answer: arena tournament entries {tournament.name}"


def different_rounds(entrants: int, size: int) -> int:
    """Return in how many ways bots can fill as many tables of ``size`` as possible; the rest sit out."""
    tables = entrants // size
    out = entrants - tables * size
    seated = factorial(entrants) // factorial(out)
    return int(seated // (factorial(size) ** tables * factorial(tables)))

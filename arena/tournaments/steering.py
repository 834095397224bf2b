"""What can be done about a tournament now, for pages that offer nothing that would be refused."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from arena.actors import Actor, Role
from arena.errors import SpecError, StateError
from arena.store.models import Tournament, TournamentState
from arena.store.storage import Storage
from arena.tournaments.changing import is_changeable
from arena.tournaments.entry import lets_leave, takes_entries
from arena.tournaments.lifecycle import require_entrants, require_startable
from arena.tournaments.overview import ENDED, find_tournament
from arena.tournaments.referees import Ask
from arena.tournaments.roster import require_able

Do = Literal["lock", "start", "pause", "resume", "stop", "confirm", "cancel"]


@dataclass(frozen=True, slots=True)
class Possible:
    """What can be done about a tournament now."""

    steps: tuple[Do, ...]
    """What its organiser can do; the others would be refused, or change nothing."""
    hindered: str | None
    """Why it cannot be started, or its entries closed; None if nothing hinders that, or it has started."""
    enter: bool
    """Whether bots can still enter, or come back."""
    withdraw: bool
    """Whether bots can still withdraw."""
    change: bool
    """Whether its organiser can still change it, or delete it."""


def steers(storage: Storage, actor: Actor, name: str) -> bool:
    """Return whether a tournament is the actor's to steer. Raise UnknownError."""
    with storage.read() as tx:
        return actor.organises(find_tournament(tx, name).organiser_id)


def require_own(storage: Storage, actor: Actor, name: str, what: str) -> None:
    """Raise NotAllowed unless the actor organises a tournament, and UnknownError if there is none."""
    actor.require(Role.ORGANISER, what)
    with storage.read() as tx:
        actor.require_organiser(find_tournament(tx, name).organiser_id, what)


def possible(storage: Storage, name: str, now: datetime, ask: Ask) -> Possible:
    """Return what can be done about a tournament. ``ask`` asks the referees. Raise UnknownError."""
    few = hindered = None
    with storage.read() as tx:
        tournament = find_tournament(tx, name)
        if _waits(tournament):
            few = _refusal(lambda: require_entrants(tx, tournament))
            hindered = few or _refusal(lambda: require_startable(tx, tournament))
    if hindered is None and (_waits(tournament) or tournament.state == TournamentState.FAILED):
        hindered = _refusal(lambda: require_able(storage, name, now, ask))
    steps = tuple(_steps(tournament, lock=few is None, start=hindered is None))
    return Possible(
        steps, hindered, takes_entries(tournament), lets_leave(tournament), is_changeable(tournament)
    )


def _waits(tournament: Tournament) -> bool:
    return tournament.state == TournamentState.CREATED


def _refusal(check: Callable[[], None]) -> str | None:
    """Return why a check refuses; None if it does not."""
    try:
        check()
    except (SpecError, StateError) as error:
        return str(error)
    return None


def _steps(tournament: Tournament, *, lock: bool, start: bool) -> Iterator[Do]:
    state = tournament.state
    if state in ENDED:
        if tournament.confirm and tournament.confirmed_at is None and tournament.commitment is not None:
            yield "confirm"
        return
    if _waits(tournament) and tournament.commitment is None and lock:
        yield "lock"
    sealed = tournament.beacon is None or tournament.commitment is not None
    if start and (state == TournamentState.FAILED or (_waits(tournament) and sealed)):
        yield "start"
    if state == TournamentState.RUNNING:
        yield "pause"
    if state == TournamentState.PAUSED:
        yield "resume"
    if not _waits(tournament) and tournament.paired != tournament.rounds:
        yield "stop"
    yield "cancel"

"""What can be done about a tournament now, for pages that offer nothing that would be refused."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple

from arena.actors import Actor, Role
from arena.errors import SpecError, StateError
from arena.store.models import Tournament, TournamentState
from arena.store.storage import Storage
from arena.tournaments.admission import list_entries
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


class Offered(NamedTuple):
    """What a tournament's page offers its reader."""

    desk: bool = False
    """Whether the tournament is the reader's to steer."""
    entry: bool = False
    """Whether the reader may enter bots, or ask to."""


def offered(storage: Storage, actor: Actor, name: str) -> Offered:
    """Return what the page of a tournament offers the actor. Raise UnknownError."""
    if actor.role is Role.ANONYMOUS:
        return Offered()
    with storage.read() as tx:
        tournament = find_tournament(tx, name)
        own = actor.organises(tournament.organiser_id)
        takes = takes_entries(tournament)
    if own or not takes or not actor.owners or tournament.entries != "invited":
        return Offered(own, takes and bool(actor.owners))
    return Offered(own, bool(list_entries(storage, actor, find_tournament, name).invitations))


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
    return Possible(steps, hindered, takes_entries(tournament), lets_leave(tournament))


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

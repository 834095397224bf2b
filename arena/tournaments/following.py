"""What followers of tournaments are sent: their states, and their chains of events."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlmodel import col, func, select

from arena.store.models import Tournament, TournamentEvent, TournamentHead
from arena.store.storage import Storage
from arena.tournaments.events import events_of
from arena.tournaments.overview import TournamentStatus, find_tournament, statuses_of

MOST_EVENTS = 500
"""How many events are read at once."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A tournament at one moment."""

    status: TournamentStatus
    last: int
    """Number of its latest event; 0 if there is none."""
    events: Sequence[Mapping[str, Any]]
    """The events after the one that was known; only the first of them if there are many."""


@dataclass(frozen=True, slots=True)
class HeadShown:
    """What a tournament was committed to, and what has happened to it since."""

    tournament: str
    commitment: str | None
    """Digest of the head; None if it is not locked yet."""
    head: dict[str, Any] | None
    """All that was settled before the first round; None if it is not locked yet."""
    events: list[dict[str, Any]]
    """The chain of events in order; the first covers the commitment, and each other one its predecessor."""


def head(storage: Storage, name: str) -> HeadShown:
    """Return the head of a tournament, and its events. Raise UnknownError."""
    with storage.read() as tx:
        tournament = find_tournament(tx, name)
        events = events_of(tx, tournament)
        locked = tx.get(TournamentHead, tournament.id)
        return HeadShown(tournament.name, tournament.commitment, locked.head if locked else None, events)


def look(storage: Storage, known: Mapping[str, int | None]) -> list[Seen]:
    """Return how tournaments stand, and their events after the numbers in ``known``, or none for None.

    Raise UnknownError for a single name that no tournament has.
    """
    with storage.read() as tx:
        if len(known) == 1:
            found: Sequence[Tournament] = [find_tournament(tx, next(iter(known)))]
        else:
            found = tx.exec(select(Tournament).where(col(Tournament.name).in_(known))).all()
        of_them = col(TournamentEvent.tournament_id).in_([one.id for one in found])
        number = func.max(TournamentEvent.number)
        lasts = dict(
            tx.exec(
                select(TournamentEvent.tournament_id, number)
                .where(of_them)
                .group_by(col(TournamentEvent.tournament_id))
            ).all()
        )
        seen = []
        for tournament, status in zip(found, statuses_of(tx, found), strict=True):
            after, last = known[tournament.name], lasts.get(tournament.id, 0)
            new = () if after is None or last <= after else events_of(tx, tournament, after, MOST_EVENTS)
            seen.append(Seen(status, last, new))
        return seen


def list_events(storage: Storage, name: str, after: int) -> list[dict[str, Any]]:
    """Return the events of a tournament after a number; only the first of them if there are many."""
    with storage.read() as tx:
        return events_of(tx, find_tournament(tx, name), after, MOST_EVENTS)

"""Continuous tournaments: who is free, and the batches of tables at which they are seated.

The cost of a batch does not depend on how many have entered: each entrant's row says whether it is free, and
only those who are free, and their latest tables, are read.
"""

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TypeGuard

from sqlalchemy import update
from sqlmodel import col, func, select

from arena.core.elo import START
from arena.core.formats import FORMATS, Course, Rated
from arena.play.rounds.course import setup_of
from arena.play.rounds.planning import Entered, lock_running, plan_round
from arena.play.rounds.recent import recent_tables
from arena.store.models import (
    Bot,
    BotVersion,
    Entrant,
    EntrantState,
    Match,
    Rating,
    RoundState,
    Seat,
    Tournament,
    TournamentState,
)
from arena.store.storage import Storage, Transaction, changed

log = logging.getLogger("arena.advance")

Connected = Callable[[Sequence[int]], Collection[int]]
"""Returns those of these bot versions that a referee could seat now."""


def everyone(version_ids: Sequence[int]) -> Collection[int]:
    """Return all of them, for when nobody can say who is connected."""
    return version_ids


@dataclass(frozen=True, slots=True)
class FreeEntrant:
    """An entrant that sits at no table and has not withdrawn."""

    number: int
    entrant_id: int
    version_id: int
    owner_id: int
    state: EntrantState


def free_entrants(tx: Transaction, tournament: Tournament, *, away: bool) -> list[FreeEntrant]:
    """Return the free entrants by number, with ``away`` also those who were not connected."""
    states = [EntrantState.FREE, EntrantState.AWAY] if away else [EntrantState.FREE]
    rows = (
        select(Entrant, Bot.owner_id)
        .join(BotVersion, col(BotVersion.id) == Entrant.version_id)
        .join(Bot, col(Bot.id) == BotVersion.bot_id)
        .where(Entrant.tournament_id == tournament.id, col(Entrant.state).in_(states))
        .where(col(Entrant.withdrawn_after).is_(None))
    )
    found = [
        FreeEntrant(entrant.number, entrant.id, entrant.version_id, owner_id, entrant.state)
        for entrant, owner_id in tx.exec(rows)
    ]
    # Not in the database, which would go through the numbers of all entrants to sort them.
    return sorted(found, key=lambda one: one.number)


def others_play(tx: Transaction, tournament: Tournament) -> bool:
    """Return whether any entrant sits at a table that is being played."""
    seated = (Entrant.tournament_id == tournament.id, Entrant.state == EntrantState.SEATED)
    return tx.exec(select(Entrant.id).where(*seated).limit(1)).first() is not None


def pair_batch(
    storage: Storage, tournament_id: int, now: datetime, connected: Connected, *, away: bool = True
) -> bool:
    """Seat those who are free in a continuous tournament, if there are enough, in a round that opens at once.

    With ``away``, ask also about those who were not connected the last time.
    """
    with storage.read() as tx:
        tournament = tx.get(Tournament, tournament_id)
        if not _goes_on(tournament):
            return False
        free = free_entrants(tx, tournament, away=away)
        least = FORMATS[tournament.format].least_free(setup_of(tournament), others_play(tx, tournament))
    if len(free) < least:
        return False
    here = set(connected([one.version_id for one in free]))
    present = [one for one in free if one.version_id in here]
    batch = _Batch(storage, tournament, present, now) if len(present) >= least else None
    with storage.write() as tx:
        locked = lock_running(tx, tournament_id, now, col(Tournament.paired) == tournament.paired)
        if locked is None or not _goes_on(locked):
            return False
        _note_states(tx, free, here)
        return batch is not None and batch.open(tx, locked)


class _Batch:
    """Tables of those who are present, paired outside the transaction in which they open."""

    def __init__(
        self, storage: Storage, tournament: Tournament, present: Sequence[FreeEntrant], now: datetime
    ) -> None:
        self._present = present
        self._now = now
        with storage.read() as tx:
            self._entrants = _count_entrants(tx, tournament)
            self._rated = _ratings(tx, tournament, present)
            numbers = {one.entrant_id: one.number for one in present}
            course = Course(
                entrants=range(1, self._entrants + 1),
                present=[one.number for one in present],
                paired=tournament.paired,
                owners={one.number: one.owner_id for one in present},
                ratings=lambda: self._rated,
                recent=partial(recent_tables, tx, tournament, self._entrants, numbers),
            )
            pairings = FORMATS[tournament.format].next(setup_of(tournament), course)
        self._pairing = pairings[0] if pairings else None
        """None with too few owners; others will become free, or enter."""

    def open(self, tx: Transaction, tournament: Tournament) -> bool:
        """Open the batch, unless somebody came or left since it was paired; return whether it is open."""
        if self._pairing is None or not self._is_right(tx, tournament):
            return False
        tournament.paired += 1
        entered = {one.number: Entered(one.entrant_id, one.version_id) for one in self._present}
        round = plan_round(tx, tournament, tournament.paired, self._pairing, entered, self._now)
        round.free = [
            {"entrant": number, "rating": self._rated[number].value, "weight": self._rated[number].weight}
            for number in entered
        ]
        round.state, round.started_at = RoundState.OPEN, self._now
        tx.flush()
        seats = select(Seat.entrant_id).join(Match, col(Match.id) == Seat.match_id)
        seated = update(Entrant).where(col(Entrant.id).in_(seats.where(Match.round_id == round.id)))
        changed(tx, seated.values(state=EntrantState.SEATED))
        opened = (tournament.name, round.number, len(self._pairing.tables))
        log.info("%s: batch %d opened, %d tables", *opened, extra={"tournament": tournament.name})
        return True

    def _is_right(self, tx: Transaction, tournament: Tournament) -> bool:
        """Return whether those present are still there, and nobody has entered."""
        staying = (
            select(func.count())
            .select_from(Entrant)
            .where(
                col(Entrant.id).in_([one.entrant_id for one in self._present]),
                col(Entrant.withdrawn_after).is_(None),
            )
        )
        there = tx.exec(staying).one()
        return there == len(self._present) and _count_entrants(tx, tournament) == self._entrants


def _note_states(tx: Transaction, free: Sequence[FreeEntrant], here: Collection[int]) -> None:
    """Note which of the free entrants are connected now, where that has changed."""
    for state, among in ((EntrantState.AWAY, False), (EntrantState.FREE, True)):
        ids = [one.entrant_id for one in free if (one.version_id in here) == among and one.state != state]
        if ids:
            still_free = (col(Entrant.id).in_(ids), col(Entrant.state) != EntrantState.SEATED)
            changed(tx, update(Entrant).where(*still_free).values(state=state))


def _goes_on(tournament: Tournament | None) -> TypeGuard[Tournament]:
    """Return whether this is a continuous tournament that runs and has batches left."""
    return (
        tournament is not None
        and FORMATS[tournament.format].in_batches
        and tournament.state == TournamentState.RUNNING
        and tournament.paired != tournament.rounds
    )


def _count_entrants(tx: Transaction, tournament: Tournament) -> int:
    """Return how many have entered; they are numbered from 1, and none is ever removed."""
    last = select(func.max(Entrant.number)).where(Entrant.tournament_id == tournament.id)
    return tx.exec(last).one() or 0


def _ratings(tx: Transaction, tournament: Tournament, present: Sequence[FreeEntrant]) -> dict[int, Rated]:
    """Return by number the ratings of these entrants in the tournament's pool."""
    rows = select(Rating.version_id, Rating.value, Rating.weight).where(
        Rating.ruleset_id == tournament.ruleset_id,
        Rating.table_size == tournament.table_size,
        col(Rating.version_id).in_([one.version_id for one in present]),
    )
    rated = {version_id: Rated(value, weight) for version_id, value, weight in tx.exec(rows)}
    return {one.number: rated.get(one.version_id, Rated(START, 0)) for one in present}

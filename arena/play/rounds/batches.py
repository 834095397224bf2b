"""Continuous tournaments: who is free, and the batches of tables at which they are seated.

The cost of a batch does not depend on how many have entered: each entrant's row says whether it is free, and
only those who are free, and their latest tables, are read.
"""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import groupby
from typing import TypeGuard

from sqlalchemy import update
from sqlalchemy.orm import aliased
from sqlmodel import col, func, select

from arena.core.elo import START
from arena.core.formats import FORMATS, Rated, Situation
from arena.core.pairing import RECENT, Recent
from arena.play.rounds.planning import Entered, lock_running, plan_round, setup_of, tables_paired
from arena.store.models import (
    Bot,
    BotVersion,
    Entrant,
    EntrantState,
    Match,
    Rating,
    Round,
    RoundState,
    Seat,
    Tournament,
    TournamentState,
)
from arena.store.storage import Storage, Transaction, among, changed


def recent_tables(
    tx: Transaction, tournament: Tournament, entrants: int, present: Mapping[int, int]
) -> Recent:
    """Return the recent past of those present, given as numbers by entrants' ids.

    It is what ``arena.core.pairing.Batches`` returns from all tables; here those at which one of them
    are read. A tournament's matches have ascending ids in the order of rounds and tables.
    """
    first = _first_match(tx, tournament, tournament.paired - entrants + 1)
    latest = _match_at(tx, tournament, tables_paired(tx, tournament.id, tournament.paired) - entrants)
    return Recent(_seats_since(tx, present, latest), _tables_since(tx, present, first))


def _first_match(tx: Transaction, tournament: Tournament, number: int) -> int:
    """Return the id of the first match of a round; 0 for a round before the first."""
    of_it = (Round.tournament_id == tournament.id, Round.number == number)
    first = select(Match.id).join(Round, col(Round.id) == Match.round_id).where(*of_it)
    return tx.exec(first.where(Match.table_number == 1)).first() or 0


def _match_at(tx: Transaction, tournament: Tournament, tables: int) -> int:
    """Return the id of the match with ``tables`` tables before it; 0 if the number is not positive."""
    if tables <= 0:
        return 0
    rounds = (
        select(Round.id, Round.tables_before)
        .where(Round.tournament_id == tournament.id, col(Round.tables_before) <= tables)
        .order_by(col(Round.tables_before).desc())
    )
    round_id, before = tx.exec(rounds.limit(1)).one()
    place = (Match.round_id == round_id, Match.table_number == tables - before + 1)
    return tx.exec(select(Match.id).where(*place)).one()


def _seats_since(tx: Transaction, present: Mapping[int, int], first: int) -> dict[int, int]:
    """Return how often each of those present sat at a match with this or a higher id."""
    seats = select(Seat.entrant_id, func.count()).where(
        col(Seat.entrant_id).in_(present), col(Seat.match_id) >= first
    )
    return {present[id_]: count for id_, count in tx.exec(seats.group_by(col(Seat.entrant_id)))}


def _tables_since(tx: Transaction, present: Mapping[int, int], first: int) -> list[Sequence[int]]:
    """Return the tables of those present, from a match on, that are among the latest of somebody there."""
    mine, there, later = aliased(Seat), aliased(Seat), aliased(Seat)
    as_many_later = (
        select(later.id)
        .where(later.entrant_id == there.entrant_id, col(later.match_id) > mine.match_id)
        .order_by(col(later.match_id))
        .limit(1)
        .offset(RECENT - 1)
        .correlate(mine, there)
        .scalar_subquery()
    )
    somebodys = select(there.id).where(there.match_id == mine.match_id, as_many_later.is_(None))
    # Seen as a value, not as a join: for that PostgreSQL would read all seats there ever were.
    one_there = somebodys.correlate(mine).limit(1).scalar_subquery()
    recent = select(mine.match_id).where(
        col(mine.entrant_id).in_(present), col(mine.match_id) >= first, one_there.is_not(None)
    )
    seats = (
        select(Seat.match_id, Entrant.number)
        .join(Entrant, col(Entrant.id) == Seat.entrant_id)
        .where(among(Seat.match_id, {*tx.exec(recent)}))
        .order_by(col(Seat.match_id), col(Seat.position))
    )
    tables = groupby(tx.exec(seats), key=lambda row: row[0])
    return [tuple(number for _, number in rows) for _, rows in tables]


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
    free = [
        FreeEntrant(entrant.number, entrant.id, entrant.version_id, owner_id, entrant.state)
        for entrant, owner_id in tx.exec(rows)
    ]
    # Not in the database, which would go through the numbers of all entrants to sort them.
    return sorted(free, key=lambda entrant: entrant.number)


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
    here = set(connected([entrant.version_id for entrant in free]))
    present = [entrant for entrant in free if entrant.version_id in here]
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
            numbers = {entrant.entrant_id: entrant.number for entrant in present}
            situation = Situation(
                entrants=range(1, self._entrants + 1),
                present=[entrant.number for entrant in present],
                paired=tournament.paired,
                owners={entrant.number: entrant.owner_id for entrant in present},
                ratings=lambda: self._rated,
                recent=partial(recent_tables, tx, tournament, self._entrants, numbers),
            )
            pairings = FORMATS[tournament.format].next(setup_of(tournament), situation)
        self._pairing = pairings[0] if pairings else None
        """None with too few owners; others will become free, or enter."""

    def open(self, tx: Transaction, tournament: Tournament) -> bool:
        """Open the batch, unless somebody came or left since it was paired; return whether it is open."""
        if self._pairing is None or not self._is_right(tx, tournament):
            return False
        tournament.paired += 1
        entered = {
            entrant.number: Entered(entrant.entrant_id, entrant.version_id) for entrant in self._present
        }
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
                col(Entrant.id).in_([entrant.entrant_id for entrant in self._present]),
                col(Entrant.withdrawn_after).is_(None),
            )
        )
        there = tx.exec(staying).one()
        return there == len(self._present) and _count_entrants(tx, tournament) == self._entrants


def _note_states(tx: Transaction, free: Sequence[FreeEntrant], here: Collection[int]) -> None:
    """Note which of the free entrants are connected now, where that has changed."""
    for state, is_here in ((EntrantState.AWAY, False), (EntrantState.FREE, True)):
        ids = [
            entrant.entrant_id
            for entrant in free
            if (entrant.version_id in here) == is_here and entrant.state != state
        ]
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
        col(Rating.version_id).in_([entrant.version_id for entrant in present]),
    )
    rated = {version_id: Rated(value, weight) for version_id, value, weight in tx.exec(rows)}
    return {entrant.number: rated.get(entrant.version_id, Rated(START, 0)) for entrant in present}

"""Counting luck again: all that follows from the rows that say what cards were worth."""

from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from sqlmodel import col, select

from arena.core.luck import Slope
from arena.results.ledgers import CHANCES, ENTRANT_LUCK, LUCK, SLOPES, Part
from arena.results.luck.taking import Taken, weighed_sessions
from arena.results.ratings.apply import lock_pools
from arena.store.models import (
    Entrant,
    EntrantChances,
    EntrantLuck,
    Round,
    StoredRuleset,
    Tournament,
)
from arena.store.storage import Storage, Transaction


@dataclass(slots=True)
class Recount:
    """The luck under one ruleset, counted again as far as rounds have been taken in."""

    ruleset_id: int
    taken: Taken = field(default_factory=Taken)
    rounds: set[int] = field(default_factory=set)
    """Those that were counted."""
    problem: str | None = None
    """The first round with another beta than follows from the rounds before; None if there is none."""


def catch_up(tx: Transaction, recount: Recount) -> None:
    """Count the rounds that were taken in after those already counted."""
    for _, together in groupby(_weighed(tx, recount), key=lambda round: round.weighed_after):
        before: dict[int, tuple[int, int]] = {}
        """By table size, what rounds that were taken in after as many deals should have."""
        for round in together:
            tournament = tx.get_one(Tournament, round.tournament_id)
            size = tournament.table_size
            slope = recount.taken.slopes.get(size, Slope())
            right = before.setdefault(size, (slope.beta(), slope.deals))
            if (round.beta, round.weighed_after) != right and recount.problem is None:
                recount.problem = f"{tournament.name}, round {round.number}: its beta is wrong"
            for table, sessions in weighed_sessions(tx, tournament, round):
                for session in sessions:
                    recount.taken.add(tournament, round.beta or 0, table, session)
            recount.rounds.add(round.id)
            tx.expunge_all()


def _weighed(tx: Transaction, recount: Recount) -> list[Round]:
    """Return the rounds that were taken in and not yet counted, in order."""
    rounds = (
        select(Round)
        .join(Tournament, col(Tournament.id) == Round.tournament_id)
        .where(Tournament.ruleset_id == recount.ruleset_id, col(Round.beta).is_not(None))
        .order_by(col(Round.weighed_after), col(Round.id))
    )
    return [round for round in tx.exec(rounds) if round.id not in recount.rounds]


def parts_of(tx: Transaction, recount: Recount) -> list[Part[Any]]:
    """Return what is stored of the luck under a ruleset, beside what it should be."""
    label = tx.get_one(StoredRuleset, recount.ruleset_id).label
    problem = f"{label}: the sums of what was expected from the cards are wrong"
    chances = f"{label}: the counts of chances to beat plays are wrong"
    common, taken = {"ruleset_id": recount.ruleset_id}, recount.taken
    entered = select(Entrant.id).join(Tournament, col(Tournament.id) == Entrant.tournament_id)
    ids = entered.where(Tournament.ruleset_id == recount.ruleset_id)
    sizes = [
        Part(LUCK, versions, problem, common | {"table_size": size})
        for size, versions in sorted(taken.luck.items())
    ]
    return [
        Part(SLOPES, taken.slopes, problem, common),
        *sizes,
        Part(ENTRANT_LUCK, taken.entrants, problem, which=col(EntrantLuck.entrant_id).in_(ids)),
        Part(CHANCES, taken.chances, chances, which=col(EntrantChances.entrant_id).in_(ids)),
    ]


def fix_betas(storage: Storage, ruleset_id: int) -> int:
    """Let beta of all rounds under a ruleset follow from those before, in the order in which they came.

    Return how many were wrong.
    """
    fixed = 0
    with storage.write() as tx:
        lock_pools(tx, ruleset_id, matches=0)
        taken, recount = Taken(), Recount(ruleset_id)
        for round in _weighed(tx, recount):
            tournament = tx.get_one(Tournament, round.tournament_id)
            slope = taken.slopes.get(tournament.table_size, Slope())
            right = slope.beta(), slope.deals
            fixed += right != (round.beta, round.weighed_after)
            round.beta, round.weighed_after = right
            for table, sessions in weighed_sessions(tx, tournament, round):
                for session in sessions:
                    taken.add(tournament, right[0], table, session)
    return fixed

"""Swiss tables: those of like standing together, no owner twice at a table, no meeting repeated.

A round is searched by seeded simulated annealing over the assignment to tables, because a greedy choice
leaves the last tables with repeats that an earlier one could have spared.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from random import Random

from arena.pairing.chance import below, generator, shuffled
from arena.pairing.values import History, Pairing, Tables

SWAPS, SWAPS_EACH = 15_000, 40
"""Swaps tried in a round: so many, and so many more for each entrant."""

REACH = 12
"""A table exchanges entrants with tables at most this many places away in the standing."""

COLD = 0.5
"""Largest worsening taken at the end; gaps differ by 2 at least."""


class Costs:
    """What it costs that two sit together: same owner, then repeated meetings, then the gap between them.

    Entrants are numbered by standing. The gap of two is the square of the difference of their places. A
    repeated meeting weighs more than any gaps that sparing it can open, the third meeting of two twice as
    much, and so on; two of one owner at a table weigh a thousand repeats.
    """

    def __init__(self, standing: Sequence[int], size: int, history: History, *, gaps: bool) -> None:
        places = {entrant: place for place, entrant in enumerate(standing)}
        self.gap = 1 if gaps else 0
        self.repeat = (8 * max(size, min(len(standing) // 2, size * REACH))) ** 2
        self.same_owner = 1000 * self.repeat
        first_of: dict[int, int] = {}
        self.owner = [
            first_of.setdefault(history.owners[entrant], place) if entrant in history.owners else place
            for entrant, place in places.items()
        ]
        self.met: list[Counter[int]] = [Counter() for _ in standing]
        for table in history.tables:
            for one, two in combinations([places[entrant] for entrant in table if entrant in places], 2):
                self.met[one][two] += 1
                self.met[two][one] += 1

    def beside(self, one: int, others: Sequence[int]) -> int:
        """The cost of place ``one`` sitting with ``others``."""
        met, owner, repeat, gap = self.met[one], self.owner, self.repeat, self.gap
        cost = 0
        for other in others:
            cost += gap * (one - other) ** 2
            if other in met:
                cost += repeat * met[other]
            if owner[other] == owner[one]:
                cost += self.same_owner
        return cost

    def table(self, table: Sequence[int]) -> int:
        """The cost of a whole table."""
        return sum(self.beside(one, table[:index]) for index, one in enumerate(table))


def swiss(standing: Sequence[int], size: int, history: History, round: int, seed: bytes) -> Pairing:
    """The tables of a Swiss round.

    ``standing`` is all entrants, best first (before the first round: the seeding); ``round`` counts from 1.
    In the first round nobody has a score yet, and the tables are drawn by lot. Who does not fit at a table
    sits out: the lowest of those who have sat out least often.
    """
    rng = generator(seed, f"swiss/{round}")
    byes = sitting_out(standing, history.byes, len(standing) % size)
    playing = [entrant for entrant in standing if entrant not in byes]
    gaps = round > 1
    order = playing if gaps else shuffled(playing, rng)
    tables = seat(len(order), size, Costs(order, size, history, gaps=gaps), rng)
    named = (tuple(order[place] for place in shuffled(table, rng)) for table in tables)
    return Pairing(tuple(named), byes)


def sitting_out(standing: Sequence[int], byes: Sequence[int], count: int) -> tuple[int, ...]:
    """Who gets a bye: of those with the fewest so far, the lowest in the standing."""
    so_far = Counter(byes)
    lowest_first = sorted(range(len(standing)), key=lambda place: (so_far[standing[place]], -place))
    return tuple(standing[place] for place in lowest_first[:count])


def seat(places: int, size: int, costs: Costs, rng: Random) -> Tables:
    """Tables of the places 0 … places - 1, searched for the least cost; the best of the standing first."""
    tables = [list(range(at, at + size)) for at in range(0, places, size)]
    swaps = SWAPS + SWAPS_EACH * places
    limit = float(costs.repeat)
    cooling = (COLD / limit) ** (1 / swaps)
    if len(tables) > 1 and sum(map(costs.table, tables)) > 0:
        for _ in range(swaps):
            limit *= cooling
            _try_swap(tables, costs, limit, rng)
    return sorted(([*sorted(table)] for table in tables), key=sum)


def _try_swap(tables: Tables, costs: Costs, limit: float, rng: Random) -> None:
    """Exchange two places between two tables near each other, unless that costs too much."""
    here = below(rng, len(tables))
    first, last = max(0, here - REACH), min(len(tables) - 1, here + REACH)
    there = first + below(rng, last - first)
    one, two = tables[here], tables[there if there < here else there + 1]
    i, j = below(rng, len(one)), below(rng, len(two))
    p, q = one[i], two[j]
    beside_p, beside_q = one[:i] + one[i + 1 :], two[:j] + two[j + 1 :]
    change = (
        costs.beside(q, beside_p)
        + costs.beside(p, beside_q)
        - costs.beside(p, beside_p)
        - costs.beside(q, beside_q)
    )
    if change <= 0 or change < limit * rng.random():
        one[i], two[j] = q, p

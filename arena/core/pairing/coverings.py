"""Schedules in which every pair meets at least once, in as few rounds as a search finds.

They are covering designs whose tables form rounds; none has fewer rounds than Schönheim's bound (Pacific
Journal of Mathematics 14, 1964). Equal schedules that meet it are taken as they are; all others are searched
by simulated annealing for rounds that leave no pair apart (Nurmela and Östergård, 1993), if possible under a
symmetry (``meetings`` says what a turn is).
"""

from functools import cache
from itertools import islice
from random import Random

from arena.core.pairing.designs import LARGE, Schedule, constructed, turns
from arena.core.pairing.meetings import Classes, base_rounds
from arena.core.pairing.values import Tables, generator

SWAPS = 60_000
"""Swaps that a search for one number of rounds tries under one turn."""

ORDERS = 4
"""Turns tried for each number of rounds."""

HOT, COLD = 1.5, 0.5
"""The largest increase accepted at the start and at the end, in pairs left apart, for a turn of order 1."""


@cache
def covering(points: int, size: int) -> Schedule:
    """Return rounds in which every pair of points meets at least once, at tables of ``size``.

    They are as few as the search finds; everyone sits out equally often, give or take one.
    """
    equal, rounds = constructed(points, size), least_rounds(points, size)
    if equal is not None and len(equal) == rounds:
        return equal
    while True:
        for order in orders(points, size, rounds):
            if rounds_found := searched(points, size, rounds, order):
                return rounds_found
        rounds += 1 + rounds // LARGE


def least_rounds(points: int, size: int) -> int:
    """Return a lower bound on the rounds in which all pairs can meet: Schönheim's tables, in full rounds."""
    each = -(-(points - 1) // (size - 1))
    tables = -(-points * each // size)
    return -(-tables // (points // size))


def orders(points: int, size: int, rounds: int) -> list[int]:
    """Return the orders of turns to try for this many rounds, the greatest (easiest to search) first."""
    stays = (0,) if points % size else (0, 1)
    return list(islice((n for n in range(rounds, 0, -1) if rounds % n == 0 and points % n in stays), ORDERS))


def searched(points: int, size: int, rounds: int, order: int) -> Schedule | None:
    """Return ``rounds`` rounds, the turns of searched base rounds; None if the search leaves a pair apart."""
    rng = generator(b"", f"covering of {points} points, tables of {size}, {rounds} rounds, turns of {order}")
    classes = Classes(points, order)
    bases = base_rounds(classes, size, rounds // order, rng)
    return turns(bases, classes) if _settle(bases, _Apart(classes, bases), rng) else None


class _Apart:
    """How often the classes of pairs meet, and how many pairs are left that never do."""

    def __init__(self, classes: Classes, rounds: list[Tables]) -> None:
        self.order = classes.order
        self.of = classes.of
        self.pairs = [classes.order // weight for weight in classes.weight]
        """The number of pairs of each class."""
        self.met = [0] * len(self.pairs)
        for table in (table for tables in rounds for table in tables[:-1]):
            for at, point in enumerate(table):
                for other in table[:at]:
                    self.met[self.of[point][other]] += 1
        self.left = sum(pairs for pairs, met in zip(self.pairs, self.met, strict=True) if not met)

    def replace(self, table: list[int], at: int, new: int) -> None:
        """Seat ``new`` at a place of the table, instead of who sits there."""
        of_old, of_new = self.of[table[at]], self.of[new]
        met, pairs = self.met, self.pairs
        for place, other in enumerate(table):
            if place != at:
                parted, joined = of_old[other], of_new[other]
                met[parted] -= 1
                if not met[parted]:
                    self.left += pairs[parted]
                if not met[joined]:
                    self.left -= pairs[joined]
                met[joined] += 1
        table[at] = new


def _settle(rounds: list[Tables], apart: _Apart, rng: Random) -> bool:
    """Swap points between tables, in place, until no pair is left apart; return whether that was reached.

    Byes, the last list of each round, stay as they are, so that they stay even.
    """
    limit, cooling = HOT * apart.order, (COLD / HOT) ** (1 / SWAPS)
    for _ in range(SWAPS):
        if not apart.left:
            return True
        limit *= cooling
        _try(rounds, apart, limit, rng)
    return not apart.left


def _try(rounds: list[Tables], apart: _Apart, limit: float, rng: Random) -> None:
    """Draw a swap, and undo it if it leaves too many more pairs apart."""
    random = rng.random
    tables = rounds[int(random() * len(rounds))]
    one, two = (tables[int(random() * (len(tables) - 1))] for _ in range(2))
    if one is two:
        return
    i, j = int(random() * len(one)), int(random() * len(two))
    before, p, q = apart.left, one[i], two[j]
    apart.replace(one, i, q)
    apart.replace(two, j, p)
    change = apart.left - before
    if change > 0 and change > limit * random():
        apart.replace(one, i, p)
        apart.replace(two, j, q)

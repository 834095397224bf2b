"""Who has which position at a table, so that over the rounds positions and neighbours even out.

The seatings of a match are made of positions (``arena.core.seating``), so positions that are
even over the rounds make seats even, whatever the number of sessions.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations, permutations
from random import Random

from arena.core.pairing.chance import shuffled

ALL_ORDERS = 4
"""Up to this table size all orders are compared; above it, two are exchanged until that no longer helps."""


class Positions:
    """How often each entrant has had each position, and has come directly after each other one."""

    def __init__(self, tables: Iterable[Sequence[int]] = ()) -> None:
        self._had: Counter[tuple[int, int]] = Counter()
        self._followed: Counter[tuple[int, int]] = Counter()
        for table in tables:
            self.add(table)

    def add(self, table: Sequence[int]) -> None:
        """Count a table that was played in this order."""
        for position, entrant in enumerate(table):
            self._had[entrant, position] += 1
            self._followed[table[position - 1], entrant] += 1

    def cost(self, table: Sequence[int]) -> tuple[int, int]:
        """Return the cost of this order: positions had before, then neighbours had before."""
        had, followed = self._had, self._followed
        return (
            sum([had[key] for key in zip(table, range(len(table)), strict=True) if key in had]),
            sum([followed[key] for key in zip((table[-1], *table), table, strict=False) if key in followed]),
        )

    def order(self, table: Sequence[int], rng: Random) -> tuple[int, ...]:
        """Return the table in the order with the lowest cost, drawn by lot among equals."""
        drawn = shuffled(table, rng)
        if not self._had:
            return tuple(drawn)
        if len(drawn) <= ALL_ORDERS:
            return min(permutations(drawn), key=self.cost)
        return self._descend(drawn)

    def _descend(self, table: list[int]) -> tuple[int, ...]:
        cost = self.cost(table)
        while cost > (0, 0):
            best, i, j = min(
                (self.cost(_exchanged(table, i, j)), i, j) for i, j in combinations(range(len(table)), 2)
            )
            if best >= cost:
                break
            table, cost = _exchanged(table, i, j), best
        return tuple(table)


def _exchanged(table: list[int], i: int, j: int) -> list[int]:
    changed = list(table)
    changed[i], changed[j] = changed[j], changed[i]
    return changed

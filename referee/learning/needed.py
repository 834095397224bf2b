"""About how many plays it takes to go out, from how many cards of each rank a hand has.

A group of equal cards is one play (or as few as the kinds of the ruleset allow); if the ruleset has these
kinds, a triple takes a pair along and four of a kind a single card; and one straight, run of cards or dragon
may be taken out first. That many plays always suffice, unless suits turn the straight into another kind;
flushes, two pairs, other runs and second straights may need fewer.
"""

import numpy as np
from numpy.typing import NDArray

from referee.rules.plays import Rules
from referee.ruleset.runs import run_order

Counts = NDArray[np.int8]
"""A row for each hand: how many cards it has of each rank."""


class Needed:
    """Counts plays under one ruleset, for many hands at once."""

    def __init__(self, rules: Rules) -> None:
        ruleset = rules.ruleset
        kinds: set[str] = set(ruleset.plays)
        costs = _costs(kinds, 4 * ruleset.decks)
        self._packed = np.array([_packed(count, cost) for count, cost in enumerate(costs)], np.int64)
        self._full_house = costs[3] + costs[2] - 1 if "full_house" in kinds else 0
        self._quads = costs[4] if "quads" in kinds else 0
        levels = list(ruleset.straights) if "straight" in kinds else []
        if "run" in kinds:
            levels += [level for order in run_order(ruleset, "run").values() for level in order]
        sequences = [sequence.split() for level in levels for sequence in level]
        if "dragon" in kinds:
            sequences.append([*ruleset.ranks])
        self._windows = np.zeros((len(sequences), len(rules.rank_masks)), np.int8)
        for row, sequence in enumerate(sequences):
            self._windows[row, [ruleset.ranks.index(rank) for rank in sequence]] = 1
        # A sequence is there if the held ranks, as bits, contain it.
        self._bits = 1 << np.arange(len(rules.rank_masks), dtype=np.int32)
        self._window_bits = self._windows @ self._bits

    def count(self, counts: Counts) -> NDArray[np.int64]:
        """Return about how many plays each hand takes."""
        needed = self._groups(counts)
        held = (counts > 0) @ self._bits
        hands, windows = ((held[:, None] & self._window_bits) == self._window_bits).nonzero()
        if len(hands):
            np.minimum.at(needed, hands, 1 + self._groups(counts[hands] - self._windows[windows]))
        return needed

    def _groups(self, counts: Counts) -> NDArray[np.int64]:
        """Return the same without straights."""
        packed = np.add.reduce(self._packed[counts], axis=1)
        needed: NDArray[np.int64] = packed & _MASK
        if self._full_house:
            needed -= self._full_house * np.minimum(packed >> 3 * _BITS & _MASK, packed >> 2 * _BITS & _MASK)
        if self._quads:
            needed -= self._quads * np.minimum(packed >> 4 * _BITS & _MASK, packed >> _BITS & _MASK)
        return needed


_BITS = 8
_MASK = (1 << _BITS) - 1


def _packed(count: int, cost: int) -> int:
    """Return what ``count`` cards of a rank add to the plays and to the groups of one to four cards."""
    return cost + ((1 << _BITS * count) if 1 <= count <= 4 else 0)


def _costs(kinds: set[str], most: int) -> list[int]:
    """Return, by number of equal cards, the fewest plays that they take on their own."""
    whole = {1}
    whole |= {2} if "pair" in kinds else set()
    whole |= {3} if "triple" in kinds else set()
    whole |= {4} if "bare_quads" in kinds else set()
    whole |= {5} if "quads" in kinds else set()
    costs = [0]
    for cards in range(1, most + 1):
        costs.append(1 + min(costs[cards - size] for size in whole if size <= cards))
    return costs + [costs[-1]] * max(5 - len(costs), 0)

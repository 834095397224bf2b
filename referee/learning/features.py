"""Features of plays and hands that do not depend on the position, each in one table."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from referee.rules.plays import Rules
from referee.ruleset.axes.dealing import most_cards
from referee.ruleset.axes.kinds import KINDS
from referee.ruleset.axes.sequences import run_order

Floats = NDArray[np.float32]

PLAY_KINDS = (*KINDS, "royal_flush")
"""The kinds of plays, in the order of their features."""

FIXED = (*PLAY_KINDS, "length", "place", "highest", "lowest", "tops", "bomb")
"""Names of the features that are the same in every position."""

PLAY_FIELDS = (*FIXED, "pass", "boss", "out", "left", "needed")
"""Names of all features of a play; the encoder fills in those after ``pass``."""

_FIRST_SIZE = 1 << 10
_MOST = 1 << 17


class PlayTable:
    """The features of plays by code, computed when a play is first met."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._most_cards = most_cards(rules.ruleset)
        self._rows: dict[int, int] = {}
        self.features: Floats = np.zeros((_FIRST_SIZE, len(PLAY_FIELDS)), np.float32)
        """By row, the features in the order of ``PLAY_FIELDS``; row 0 is a pass."""
        self.ranks = np.zeros((_FIRST_SIZE, len(rules.rank_masks)), np.int8)
        """By row, how many cards the play has of each rank."""
        self.kinds: list[str] = []
        """By row, the kind; empty for a pass."""
        self._forget()

    def rows(self, codes: Iterable[int]) -> list[int]:
        """Return the rows of these codes, 0 for a pass; they are valid until the next call."""
        rows = self._rows
        if len(rows) > _MOST:
            self._forget()
        try:
            return [rows[code] for code in codes]
        except KeyError:
            return [rows[code] if code in rows else self._add(code) for code in codes]

    def _forget(self) -> None:
        self._rows.clear()
        self._rows[0] = 0
        self.kinds[:] = [""]
        self.features[0, len(FIXED)] = 1

    def _add(self, code: int) -> int:
        row = self._rows[code] = len(self._rows)
        if row == len(self.features):
            self.features = np.concatenate([self.features, np.zeros_like(self.features)])
            self.ranks = np.concatenate([self.ranks, np.zeros_like(self.ranks)])
        rules = self._rules
        mask = code & rules.full
        kind = rules.kind(code)
        counts = [(mask & rank).bit_count() for rank in rules.rank_masks]
        held = [rank for rank, count in enumerate(counts) if count]
        top = len(counts) - 1
        features = self.features[row]
        features[:] = 0
        features[PLAY_KINDS.index(kind)] = 1
        features[len(PLAY_KINDS) : len(FIXED)] = (
            mask.bit_count() / self._most_cards,
            rules.place(code),
            held[-1] / top,
            held[0] / top,
            (mask & rules.tops).bit_count() / max(rules.tops.bit_count(), 1),
            rules.is_bomb(code),
        )
        self.ranks[row] = counts
        self.kinds.append(kind)
        return row


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

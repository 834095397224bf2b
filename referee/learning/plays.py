"""Features of plays that do not depend on the position, such as kind, length and rank, in one table."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from referee.rules.plays import Rules
from referee.ruleset.fields import KINDS
from referee.ruleset.limits import most_cards

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
        known = self._rows
        if len(known) > _MOST:
            self._forget()
        try:
            return [known[code] for code in codes]
        except KeyError:
            return [known[code] if code in known else self._add(code) for code in codes]

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

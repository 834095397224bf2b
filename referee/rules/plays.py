"""Compiled rules: every question about combinations, answered from play codes.

A play code is a combination as an int: (group << strength bits | strength) << width | mask. Plays of
one group are compared by strength; the bombs are the last group, above all others; 0 is not a play.
So the plays of a hand are a sorted list of codes, what beats a play is a slice of it (and the slice
of bombs), and a play is still held if ``code & gone == 0`` for the bits that left the hand.
"""

from bisect import bisect, bisect_left
from collections.abc import Callable
from functools import lru_cache

from referee.rules.classify import Classifier
from referee.rules.listing import Lister
from referee.rules.pack import Pack
from referee.rules.strength import Strength
from referee.ruleset import Ruleset

MOST_CODES = 1 << 17
"""How many plays are remembered: all those of one pack; of two, all but runs of pairs and seven cards."""


class Codes(dict[int, int]):
    """Play codes by mask, computed on first use; what is not a combination is not kept."""

    def __init__(self, classify: Callable[[int], int]) -> None:
        super().__init__()
        self._classify = classify

    def __missing__(self, mask: int) -> int:
        code = self._classify(mask)
        if code:
            if len(self) >= MOST_CODES:
                self.clear()
            self[mask] = code
        return code


class Rules(Pack):
    """The combinations of a ruleset: what they are, which beats which, and which a hand holds."""

    def __init__(self, ruleset: Ruleset) -> None:
        super().__init__(ruleset.ranks, ruleset.decks)
        self.ruleset = ruleset
        strength = Strength(ruleset, self.width)
        self._codes = Codes(Classifier(self, strength).code)
        self.code: Callable[[int], int] = self._codes.__getitem__
        """Return the play code of a mask's cards; 0 if they are not a combination."""
        self.group_full = (1 << self.width + strength.bits) - 1
        self.first_bomb = strength.first_bomb
        self.kind, self.place, self.end_of_kind = strength.kind, strength.place, strength.end_of_kind
        lister = Lister(ruleset, self, strength, self._codes)
        self.list_plays, self.list_short = lister.plays, lister.short_plays

    def is_bomb(self, code: int) -> bool:
        """Return whether the play beats any play of another kind and size."""
        return code >= self.first_bomb

    def beats(self, code: int, other: int) -> bool:
        """Return whether the first play beats the second on the table."""
        # Above it, and in its group, or a bomb: these are the last group, so none is below another play.
        return code > other | self.full and (code <= other | self.group_full or code >= self.first_bomb)

    def following(self, plays: list[int], to_beat: int) -> list[int]:
        """Return those of ``plays`` (ascending) that beat the play ``to_beat``, ascending."""
        low = bisect(plays, to_beat | self.full)
        high = bisect(plays, to_beat | self.group_full, low)
        if high < len(plays) and plays[-1] >= self.first_bomb:
            return plays[low:high] + plays[bisect_left(plays, self.first_bomb, high) :]
        return plays[low:high]

    def beaten(self, plays: list[int], code: int) -> list[int]:
        """Return those of ``plays`` (ascending) that the play ``code`` beats, ascending."""
        high = bisect_left(plays, code & ~self.full)
        if self.is_bomb(code):
            return plays[:high]
        return plays[bisect_left(plays, code & ~self.group_full) : high]

    def bombs_on(self, plays: list[int], to_beat: int) -> list[int]:
        """Return the bombs among ``plays`` (ascending) that beat the play ``to_beat``, ascending."""
        return plays[max(bisect(plays, to_beat | self.full), bisect_left(plays, self.first_bomb)) :]


@lru_cache(maxsize=32)
def compile_ruleset(ruleset: Ruleset) -> Rules:
    """Return the rules of a ruleset, compiled once in a process."""
    return Rules(ruleset)

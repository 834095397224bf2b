"""How a seat goes on in playouts: at its next turns by what the same choice came to in earlier playouts.

Turns are the same if the seat sees the same: its hand, the play to beat, and how many cards all hold. So it
chooses by what it can know there, not by the hidden hands of one world.
"""

from collections.abc import Sequence
from math import log, sqrt

from referee.sage.manners import Scored
from referee.sage.policy import Chance

TURNS = 3
"""Turns of a playout at which it chooses; from then on it makes the play that its score prefers."""
FIRST = 4
"""Times that it does what its score prefers before it tries anything else."""
CURIOUS = 0.3
"""How much it tries what was rarely tried, in standard deviations of what playouts come to."""
_COUNTED = 64
"""Playouts from one look at their deviation to the next."""


class _Choice:
    """The actions of one turn, and what they came to."""

    __slots__ = ("codes", "sums", "tries", "visits")

    def __init__(self, codes: Sequence[int]) -> None:
        self.codes = codes
        self.visits = 0
        self.tries = [0] * len(codes)
        self.sums = [0] * len(codes)

    def pick(self, curious: float) -> int:
        """Return the index of the action to try: one that did well, or was tried too rarely (UCB)."""
        if self.visits < FIRST:
            return 0
        bonus, best, most = curious * sqrt(log(self.visits + 1)), 0, float("-inf")
        for index, tries in enumerate(self.tries):
            if not tries:
                return index
            worth = self.sums[index] / tries + bonus / sqrt(tries)
            if worth > most:
                best, most = index, worth
        return best


class Tree:
    """A seat's turns in the playouts of one decision."""

    def __init__(self, scored: Scored, full: int) -> None:
        """Take what prefers actions where little is known yet, and the mask of all cards."""
        self._scored, self._full = scored, full
        self._choices: dict[tuple[int, ...], _Choice] = {}
        self._path: list[tuple[_Choice, int]] = []
        self._count = self._sum = self._squares = 0
        self._curious = 0.0

    def lead(self, units: list[int], hands: Sequence[int], seat: int, following: int, chance: Chance) -> int:
        """Return the code of a lead."""
        return self._choose(hands, seat, 0)

    def follow(self, units: list[int], hands: Sequence[int], seat: int, to_beat: int, chance: Chance) -> int:
        """Return the code of a play that beats ``to_beat``, or 0 for a pass."""
        return self._choose(hands, seat, to_beat | self._full)

    def learn(self, worth: int) -> None:
        """Note what the playout came to, and be ready for the next one."""
        for choice, index in self._path:
            choice.visits += 1
            choice.tries[index] += 1
            choice.sums[index] += worth
        self._path.clear()
        self._count += 1
        self._sum += worth
        self._squares += worth * worth
        if self._count % _COUNTED == 0:
            mean = self._sum / self._count
            self._curious = CURIOUS * sqrt(max(0.0, self._squares / self._count - mean * mean))

    def _choose(self, hands: Sequence[int], seat: int, to_beat: int) -> int:
        codes = self._scored.best[hands[seat], to_beat]
        if len(codes) == 1 or len(self._path) == TURNS:
            return codes[0]
        key = (hands[seat], to_beat, *[hand.bit_count() for hand in hands])
        choice = self._choices.get(key)
        if choice is None:
            choice = self._choices[key] = _Choice(codes)
        index = choice.pick(self._curious)
        self._path.append((choice, index))
        return choice.codes[index]

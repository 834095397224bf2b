"""How else seats may play in playouts than by the quick policy: thriftily, or as sage itself does.

Which of them a seat follows is not known. What it has done tells, see ``inference``.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from referee.memo import Memo
from referee.rules.plays import Rules
from referee.sage.plans import Planner
from referee.sage.policy import Chance

NEARLY_OUT = 2
"""A seat with so few cards left has a thrifty one play its highest cards."""
MOST_KNOWN = 1 << 13
BEST = 3
"""Actions that are tried where playouts choose among several."""


class Manner(Protocol):
    """Chooses for a seat in a playout, and takes what it chose out of the seat's units."""

    def lead(self, units: list[int], hands: Sequence[int], seat: int, following: int, chance: Chance) -> int:
        """Return the code of a lead; ``following`` is the hand of the next seat."""
        ...

    def follow(self, units: list[int], hands: Sequence[int], seat: int, to_beat: int, chance: Chance) -> int:
        """Return the code of a play that beats ``to_beat``, or 0 for a pass."""
        ...


class Thrifty:
    """Never takes a unit apart: leads the largest, follows with the weakest, and passes where none beats.

    When somebody is nearly out it plays the highest cards that it can.
    """

    def __init__(self, planner: Planner) -> None:
        self._rules, self._plan = planner.rules, planner.plan
        self._full, self._group_full = planner.rules.full, planner.rules.group_full

    def lead(self, units: list[int], hands: Sequence[int], seat: int, following: int, chance: Chance) -> int:
        """Return the code of a lead."""
        code = self.wants_to_lead(units, is_nearly_out(hands, seat))
        units.remove(code)
        return code

    def follow(self, units: list[int], hands: Sequence[int], seat: int, to_beat: int, chance: Chance) -> int:
        """Return the code of a play that beats ``to_beat``, or 0 for a pass."""
        code = self.wants_to_follow(units, to_beat, is_nearly_out(hands, seat))
        if code in units:
            units.remove(code)
        elif code:
            card = code & self._full
            unit = next(unit for unit in units if unit & card)
            units.remove(unit)
            units += self._plan[unit & self._full ^ card]
            units.sort()
        return code

    def wants_to_lead(self, units: Sequence[int], hurries: bool) -> int:
        """Return the code that it leads from these units."""
        full, most, best = self._full, 0, 0
        for code in units:  # ascending
            size = (code & full).bit_count()
            if size > most or (hurries and size == most):
                most, best = size, code
        return best

    def wants_to_follow(self, units: Sequence[int], to_beat: int, hurries: bool) -> int:
        """Return the code that it plays on ``to_beat``, 0 for a pass."""
        full = self._full
        mask = to_beat & full
        if hurries and not mask & mask - 1:
            card = 1 << max([unit & full for unit in units]).bit_length() - 1
            code = self._rules.code(card)
            return code if self._rules.beats(code, to_beat) else 0
        low, high, best = to_beat | full, to_beat | self._group_full, 0
        for code in units:
            if low < code <= high:
                best = code
                if not hurries:
                    break
        return best


class Scored:
    """Makes the play that sage's score prefers, whatever the units, and passes only if it must."""

    def __init__(self, rules: Rules, score: Callable[[int, int], float]) -> None:
        """Take the score of an action, by hand and code: less is better."""
        self._rules, self._score, self._full = rules, score, rules.full
        self._plays: Memo[int, list[int]] = Memo(rules.list_plays, MOST_KNOWN)
        self.best: Memo[tuple[int, int], list[int]] = Memo(self._best, MOST_KNOWN)
        """By a hand and the play to beat (with all cards), 0 for a lead: the best actions, the best first."""

    def lead(self, units: list[int], hands: Sequence[int], seat: int, following: int, chance: Chance) -> int:
        """Return the code of a lead."""
        return self.best[hands[seat], 0][0]

    def follow(self, units: list[int], hands: Sequence[int], seat: int, to_beat: int, chance: Chance) -> int:
        """Return the code of a play that beats ``to_beat``, or 0 for a pass."""
        return self.best[hands[seat], to_beat | self._full][0]

    def _best(self, pair: tuple[int, int]) -> list[int]:
        hand, to_beat = pair
        codes = self._plays[hand]
        if to_beat:
            codes = [*self._rules.following(codes, to_beat), 0]
        return sorted(codes, key=lambda code: self._score(hand, code))[:BEST]


def is_nearly_out(hands: Sequence[int], seat: int) -> bool:
    """Return whether another seat than this has only a few cards left."""
    counts = [hand.bit_count() for other, hand in enumerate(hands) if hand and other != seat]
    return min(counts) <= NEARLY_OUT

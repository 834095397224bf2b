"""How seats play in playouts: by a quick policy with some randomness, thriftily, or as sage itself does."""

from bisect import bisect, bisect_left
from collections.abc import Callable, Sequence
from typing import Protocol

from referee.helpers.unseen import stronger_singles
from referee.memo import Memo
from referee.rules.plays import Rules
from referee.sage.plans import Planner

BREAKS = 0.5
"""How often a seat breaks up a unit to beat a single card."""
FEW = 3
"""A seat with so few cards left makes the others spend what they keep back."""

Chance = Callable[[], float]
"""Return a random number from 0 to 1."""


class Policy:
    """Chooses among a hand's units, and removes its choice from them."""

    def __init__(self, planner: Planner) -> None:
        rules = planner.rules
        self._planner, self._rules = planner, rules
        self._full, self._group_full, self._first_bomb = rules.full, rules.group_full, rules.first_bomb
        self._hold, self._weight, self._height = planner.hold, planner.lead, planner.height
        self._stronger = stronger_singles(rules)
        self._limited = rules.limited is not None

    def lead(self, units: list[int], hands: Sequence[int], seat: int, following: int, chance: Chance) -> int:
        """Return the code of a lead; ``following`` is the hand of the next seat."""
        count = len(units)
        if count == 1:
            return units.pop()
        code = 0
        if following.bit_count() == 1:
            full = self._full
            several = [unit for unit in units if (unit & full).bit_count() > 1]
            code = several[0] if several else units[-1]
        elif count == 2:
            height = self._height
            code = max(units, key=height.__getitem__)
        else:
            weights, most = self._weight, -1.0
            for unit in units:
                weight = weights[unit] * chance()
                if weight > most:
                    most, code = weight, unit
        units.remove(code)
        return code

    def follow(self, units: list[int], hands: Sequence[int], seat: int, to_beat: int, chance: Chance) -> int:
        """Return the code of a play that beats ``to_beat``, or 0 for a pass."""
        place = bisect(units, to_beat | self._full)
        count = len(units)
        if place < count:
            code = units[place]
            if code > to_beat | self._group_full:
                code = 0
                if units[-1] >= self._first_bomb:
                    place = bisect_left(units, self._first_bomb, place)
                    code = units[place]
            if code:
                if count > 2 and (back := self._hold[code]) and chance() < back and _is_calm(hands, seat):
                    return 0
                del units[place]
                return code
        if self._limited and (code := self._bomb(units, to_beat)):
            return code
        stronger = self._stronger.get(to_beat, 0) & hands[seat]
        if stronger and chance() < BREAKS:
            return self._break(units, stronger & -stronger)
        return 0

    def _bomb(self, units: list[int], to_beat: int) -> int:
        """Take a bomb that beats only some plays, this one among them, and return its code, or 0."""
        code = next(iter(self._rules.following(units, to_beat)), 0)
        if code:
            units.remove(code)
        return code

    def _break(self, units: list[int], card: int) -> int:
        """Take a single card out of the unit that it is in, and return the card's code."""
        rules = self._rules
        unit = next(unit for unit in units if unit & card)
        units.remove(unit)
        units += self._planner.plan[rules.remove(unit & self._full, card)]
        units.sort()
        return rules.code(card)


def _is_calm(hands: Sequence[int], seat: int) -> bool:
    """Return whether all other seats that hold cards have more than a few."""
    return all(hand.bit_count() > FEW or not hand for other, hand in enumerate(hands) if other != seat)


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

"""A quick policy for playouts, which chooses among the units of a hand with some randomness."""

from bisect import bisect, bisect_left
from collections.abc import Callable, Sequence

from referee.helpers.unseen import stronger_singles
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

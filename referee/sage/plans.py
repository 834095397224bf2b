"""How a seat would play out a hand: a quick plan for the many hands of sampled worlds."""

from functools import lru_cache
from math import exp

from referee.memo import Memo
from referee.rules.plays import Rules
from referee.ruleset.axes.sequences import MANY

Plan = tuple[int, ...]
"""A hand split into plays: their codes, ascending; each card belongs to one of them."""

MOST_PLANS = 1 << 16


class Planner:
    """Plans for hands of one ruleset, and what its plays are worth to a policy."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._height = height_of(rules)
        self._rank_bits = rules.rank_masks
        self._folds = {1: (), 2: (4,), 3: (4, 4), 4: (4, 8)}[rules.decks]
        self._lowest = sum(1 << rank * 4 * rules.decks for rank in range(len(rules.rank_masks)))
        # Plays of more cards may be of several ranks.
        self._small = 2 if "run" in rules.ruleset.plays and rules.ruleset.run_from == 3 else 3
        self.plan: Memo[int, Plan] = Memo(self._plan, MOST_PLANS)
        """The plan for a hand, by its mask."""
        self._alike: Memo[int, Plan] = Memo(self._of_rank)
        """The plan for cards of one rank, by their mask."""
        self.hold: Memo[int, float] = Memo(self._hold)
        """By code: how likely a seat is to keep this play back if it may."""
        self.lead: Memo[int, float] = Memo(self._lead)
        """By code: the weight of this play when leading."""
        self.height: Memo[int, float] = Memo(self._height)

    def cost(self, code: int) -> float:
        """Return what a play costs in a decomposition: high plays win tricks, and so cost less than 1."""
        return 1.0 - 0.6 * self.height[code] ** 2

    def ranks(self, hand: int) -> int:
        """Return how many different ranks are in a hand."""
        hand |= hand >> 1
        hand |= hand >> 2
        for shift in self._folds:
            hand |= hand >> shift
        return (hand & self._lowest).bit_count()

    def _plan(self, hand: int) -> Plan:
        rules, full, alike = self.rules, self.rules.full, self._alike
        units: list[int] = []
        if hand.bit_count() > self._small:
            large = [code for code in rules.list_plays(hand) if (code & full).bit_count() > self._small]
            while large:
                now, best, least = self.ranks(hand), 0, 99
                for code in large:
                    left = self.ranks(
                        hand ^ code & full if rules.decks == 1 else rules.remove(hand, code & full)
                    )
                    if left < least:
                        best, least = code, left
                if least + 1 >= now:
                    break
                units.append(best)
                hand = rules.remove(hand, best & full)
                large = [code for code in large if not code & full & ~hand]
        for mask in self._rank_bits:
            held = hand & mask
            if held:
                units += alike[held]
        units.sort()
        return tuple(units)

    def _of_rank(self, held: int) -> Plan:
        """Return the cards of one rank as plays, the largest first."""
        rules = self.rules
        units: list[int] = []
        while held:
            for count in (3, 2, 1):
                some = [code for mask in rules.choose(held, count) if (code := rules.code(mask))]
                if some:
                    units.append(min(some))
                    held = rules.remove(held, min(some) & rules.full)
                    break
        return tuple(units)

    def _hold(self, code: int) -> float:
        if self.rules.is_bomb(code):
            return 0.6
        mask = code & self.rules.full
        if mask.bit_count() < 4 and mask & self.rules.tops:
            return 0.35
        return 0.0

    def _lead(self, code: int) -> float:
        size = (code & self.rules.full).bit_count()
        return exp(0.35 * (size - 1) + 1.5 * (1 - self.height[code]))


def height_of(rules: Rules):  # type: ignore[no-untyped-def]
    """Return a function that says how high a play is among plays of its size, from 0 to 1."""
    order = rules.ruleset.five_card_order
    top = (1 << rules.width) - 1
    cards = rules.width - 1

    def height(code: int) -> float:
        if code >= rules.first_bomb:
            return 1.0
        mask = code & top
        high = (mask.bit_length() - 1) / cards
        kind = rules.kind(code)
        if kind in MANY:  # its highest card need not be one that decides
            high = rules.place(code)
        if kind not in order or not rules.ruleset.kinds_compete:
            return high
        return (order.index(kind) + high) / len(order)

    return height


@lru_cache(maxsize=64)
def planner_of(rules: Rules) -> Planner:
    """Return the planner of the rules, which is cached."""
    return Planner(rules)

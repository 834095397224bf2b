"""Slow and obvious scoring by penalty points, with which the fast code is compared.

Written from the rules alone; it shares nothing with the code under test except the ruleset's fields.
"""

from collections.abc import Sequence
from itertools import combinations

from referee.ruleset import Honour, Ruleset
from tests.referee.slow_rules import Cards, SlowRules

SETTLES = ("penalty", "pairwise", "winner_collects", "better_collect", "winner_scores", "fixed")


class SlowScoring:
    """The points of deals that somebody won, under one ruleset without bonuses."""

    def __init__(self, ruleset: Ruleset) -> None:
        self.ruleset = ruleset
        self.rules = SlowRules(ruleset)
        self.two = ruleset.ranks[-1]

    def points(
        self,
        hands: Sequence[Cards],
        winner: int,
        leader: int,
        final: Cards,
        at_once: bool,
        whole: Sequence[int],
    ) -> tuple[int, ...]:
        """Return the points by seat; ``hands`` are what counts, ``whole`` the seats that played nothing."""
        own = self._own(hands, winner, leader, final, at_once, whole)
        if self.ruleset.partners == "opposite":
            return (own[0] + own[2], own[1] + own[3]) * 2
        return own

    def _own(
        self,
        hands: Sequence[Cards],
        winner: int,
        leader: int,
        final: Cards,
        at_once: bool,
        whole: Sequence[int],
    ) -> tuple[int, ...]:
        """Return the points by seat, before partners share them."""
        costs = [
            self.cost(hand, seat == leader, final, seat in whole) if hand else 0
            for seat, hand in enumerate(hands)
        ]
        if at_once and self.ruleset.instant_win_penalty is not None:
            costs = [self.ruleset.instant_win_penalty] * len(hands)
        costs[winner] = 0
        match self.ruleset.settle:
            case "penalty":
                return tuple(-cost for cost in costs)
            case "pairwise":
                return tuple(sum(other - cost for other in costs) for cost in costs)
            case "winner_collects":
                return tuple(-cost if seat != winner else sum(costs) for seat, cost in enumerate(costs))
            case "better_collect":
                paid = [sum(cost for other in costs if other < cost) for cost in costs]
                got = [sum(other for other in costs if other > cost) for cost in costs]
                return tuple(more - less for more, less in zip(got, paid, strict=True))
            case "winner_scores":
                return tuple(sum(costs) if seat == winner else 0 for seat in range(len(hands)))
        assert self.ruleset.settle == "fixed"
        return tuple(self.last(1, final) if seat == winner else 0 for seat in range(len(hands)))

    def cost(self, hand: Cards, led: bool, final: Cards, whole: bool) -> int:
        """Return the penalty points of a hand that is not empty."""
        ruleset = self.ruleset
        ranks = [rank for rank, _ in hand]
        cost = sum(ruleset.card_points[ruleset.rank_names.index(rank)] for rank in ranks)
        brackets = [
            bracket
            for bracket in ruleset.multipliers
            if (whole if bracket.start == "all" else bracket.start <= len(hand))
        ]
        if brackets and (led or ruleset.multiplier_for == "all"):
            cost = (brackets[-1].points or 0) if brackets[-1].times is None else cost * brackets[-1].times
        if ruleset.double_per_two_left:
            cost *= 2 ** ranks.count(self.two)
        cost = self.raised(cost, [entry for entry in ruleset.honours_left if self.holds(entry, hand)])
        return self.last(cost, final)

    def last(self, cost: int, final: Cards) -> int:
        """Return what the last play makes of penalty points, or of a fixed point."""
        twos = [rank for rank, _ in final].count(self.two)
        if self.ruleset.final_twos == "double_each":
            cost *= 2**twos
        elif self.ruleset.final_twos == "double_if_all" and twos and twos == len(final):
            cost *= 2
        return self.raised(cost, [entry for entry in self.ruleset.final_honours if self.ends(entry, final)])

    def raised(self, cost: int, honours: Sequence[Honour]) -> int:
        for entry in honours:
            cost *= entry.times or 1
        return cost + sum(entry.points or 0 for entry in honours)

    def holds(self, entry: Honour, hand: Cards) -> bool:
        match entry.honour:
            case "quads":
                ranks = [rank for rank, _ in hand]
                return any(ranks.count(rank) >= 4 for rank in ranks)
            case "straight_flush":
                return any(self.is_straight_flush(five) for five in combinations(hand, 5))
        return self.has(entry, hand)

    def ends(self, entry: Honour, final: Cards) -> bool:
        if not final:
            return False
        if entry.honour == "quads":
            return self.rules.kind(final) in ("quads", "bare_quads")
        if entry.honour == "straight_flush":
            flushes = ("straight_flush", "royal_flush", "straight_flush_plus_two")
            return self.rules.kind(final) in flushes
        return self.has(entry, final)

    def has(self, entry: Honour, cards: Cards) -> bool:
        top = self.rules.one_pack()[-1]
        return top in cards if entry.honour == "top_card" else any(rank == self.two for rank, _ in cards)

    def is_straight_flush(self, five: Cards) -> bool:
        ranks = frozenset(rank for rank, _ in five)
        royal = "royal_flush" in self.rules.played and ranks == self.rules.royal_ranks
        return len({suit for _, suit in five}) == 1 and (royal or ranks in self.rules.levels)

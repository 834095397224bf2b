"""Sorting and grouping a hand, and splitting it into plays: the fewest, or those of the least cost.

Every card belongs to exactly one play. The search covers the lowest remaining card with each play that
begins with it, and remembers the cost of the cards that then remain. As these are parts of one hand, what was
found for a hand also serves for what is left of it later in the deal.
"""

from collections.abc import Callable
from typing import NamedTuple

from referee.deals.dealing import landmarks
from referee.rules.plays import Rules

__all__ = ["Decomposer", "Decomposition", "by_kind", "by_rank", "by_suit", "decompose", "sort_hand"]


def sort_hand(rules: Rules, hand: int) -> list[int]:
    """Return the cards of ``hand`` as masks, lowest first in the ruleset's order of ranks and suits."""
    rising = [card for card in landmarks(rules).rising if card & hand]
    if rules.decks == 1:
        return rising
    every = (1 << rules.decks) - 1
    return [card for card in rising for _ in range((hand & card * every).bit_count())]


def by_rank(rules: Rules, hand: int) -> dict[str, int]:
    """Return the ranks held, lowest first, and the cards of each as a mask; jokers are the rank "joker"."""
    masks = zip(rules.ruleset.rank_names, rules.rank_masks, strict=True)
    return {rank: hand & mask for rank, mask in masks if hand & mask}


def by_suit(rules: Rules, hand: int) -> dict[str, int]:
    """Return the suits held, lowest first, and the cards of each as a mask."""
    masks = dict(zip("DCHS", rules.suit_masks, strict=True))
    return {suit: hand & masks[suit] for suit in rules.ruleset.suits if hand & masks[suit]}


def by_kind(rules: Rules, hand: int) -> dict[str, list[int]]:
    """Return the plays in ``hand``, by kind: codes, weakest first."""
    kinds: dict[str, list[int]] = {}
    for code in rules.list_plays(hand):
        kinds.setdefault(rules.kind(code), []).append(code)
    return kinds


MOST_NODES = 4_000
"""How many parts of a hand are looked at before the search becomes greedy."""


class Decomposition(NamedTuple):
    """A hand split into plays."""

    plays: tuple[int, ...]
    """The codes of the plays, ascending."""
    cost: float
    """The sum of the plays' costs: their number, unless another cost was given."""
    exact: bool
    """Whether no decomposition costs less; if not, the search was cut off, and this is merely a good one."""


class Decomposer:
    """Splits a hand into plays, and also what is left of it later."""

    def __init__(
        self, rules: Rules, hand: int, cost: Callable[[int], float] | None = None, nodes: int = MOST_NODES
    ) -> None:
        """Prepare for ``hand`` and its parts; ``cost`` prices a play by its code (default: 1 each).

        ``nodes`` bounds the search of every call.
        """
        self._rules, self._nodes = rules, nodes
        self._price = cost or _equally
        plays: dict[int, list[tuple[float, int, int]]] = {}
        for code in rules.list_plays(hand):
            mask = code & rules.full
            price = self._price(code)
            plays.setdefault(mask & -mask, []).append((price, mask, code))
        for some in plays.values():
            some.sort(key=lambda play: (play[0] / play[1].bit_count(), play[2]))
        self._plays = plays
        """By the lowest card: price, mask and code of each play, the cheapest per card first."""
        self._covers: dict[int, tuple[float, int]] = {0: (0.0, 0)}
        """By the mask of a part: its cost, and the code of the play that covers its lowest card."""
        self._left = 0

    def best(self, hand: int) -> Decomposition:
        """Return the decomposition of a part of the hand."""
        self._left = self._nodes
        cost, code = self._search(hand)
        exact = self._left > 0
        plays, part = [], hand
        while part:
            plays.append(code)
            part = self._rules.remove(part, code & self._rules.full)
            _, code = self._covers.get(part) or self._greedy(part)
        if not exact:
            cost = sum(map(self._price, plays))
        return Decomposition(tuple(sorted(plays)), cost, exact)

    def cost(self, hand: int) -> float:
        """Return what a part of the hand costs."""
        cover = self._covers.get(hand)
        return cover[0] if cover is not None else self.best(hand).cost

    def _search(self, part: int) -> tuple[float, int]:
        cover = self._covers.get(part)
        if cover is not None:
            return cover
        self._left -= 1
        if self._left <= 0:
            return self._greedy(part)
        one_pack, remove = self._rules.decks == 1, self._rules.remove
        least, first = float("inf"), 0
        for price, mask, code in self._plays[part & -part]:
            if not mask & ~part:
                cost = price + self._search(part ^ mask if one_pack else remove(part, mask))[0]
                if cost < least:
                    least, first = cost, code
        if self._left > 0:
            self._covers[part] = least, first
        return least, first

    def _greedy(self, part: int) -> tuple[float, int]:
        """Return the cost of always taking the play that is cheapest per card, and the first such play."""
        total, first = 0.0, 0
        while part:
            price, mask, code = next(play for play in self._plays[part & -part] if not play[1] & ~part)
            total, first = total + price, first or code
            part = self._rules.remove(part, mask)
        return total, first


def _equally(code: int) -> float:
    return 1.0


def decompose(rules: Rules, hand: int, nodes: int = MOST_NODES) -> Decomposition:
    """Split ``hand`` into the fewest plays, or the fewest found by looking at ``nodes`` parts of it."""
    return Decomposer(rules, hand, nodes=nodes).best(hand)

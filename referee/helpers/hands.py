"""A hand sorted and grouped: the first things a bot wants to know about its cards."""

from referee.deals.dealing import landmarks
from referee.rules.plays import Rules

__all__ = ["by_kind", "by_rank", "by_suit", "sort_hand"]


def sort_hand(rules: Rules, hand: int) -> list[int]:
    """Return the cards of ``hand`` as masks, lowest first in the ruleset's order of ranks and suits."""
    rising = [card for card in landmarks(rules).rising if card & hand]
    if rules.decks == 1:
        return rising
    return [card for card in rising for _ in range((hand & (card | card << 1)).bit_count())]


def by_rank(rules: Rules, hand: int) -> dict[str, int]:
    """Return the ranks held, lowest first, and the cards of each as a mask."""
    masks = zip(rules.ruleset.ranks, rules.rank_masks, strict=True)
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

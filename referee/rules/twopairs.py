"""Listing two pairs with a fifth card: few of one hand, a hundred thousand of a whole pack."""

from collections.abc import Iterator

from referee.memo import Memo
from referee.rules.pack import Pack
from referee.rules.strength import Strength
from referee.rules.tables import RANKS


class TwoPairs:
    """Lists two pairs with a fifth card of a third rank.

    With several packs, two pairs and a card of one suit may be a flush as well. Where ``flushes`` are played,
    those are listed with the other plays in suit, whichever of the two they are.
    """

    def __init__(self, pack: Pack, strength: Strength, flushes: bool) -> None:
        self._pack, self._strength = pack, strength
        self._ranks = list(enumerate(pack.rank_masks))
        self._suits = pack.suit_masks if flushes and pack.decks > 1 else ()
        self._pairs = Memo[int, list[int]](lambda held: pack.choose(held, 2))
        self._heads = Memo(self._head)

    def plays(self, hand: int, ranks: int) -> list[int]:
        """Return the codes of all in a hand, in no particular order; ``ranks`` as ``Matching`` has them."""
        if not ranks >> RANKS & (ranks >> RANKS) - 1:
            return []  # fewer than two pairs
        return [head + cards for head, rest in self._each(hand) for cards in rest]

    def tally(self, hand: int) -> list[tuple[int, int]]:
        """Return one of those that differ in the fifth card and the suits of the lower pair, and how many."""
        return [(head + rest[0], len(rest)) for head, rest in self._each(hand) if rest]

    def _each(self, hand: int) -> Iterator[tuple[int, list[int]]]:
        """Yield codes with the higher pair alone, and the masks of what may go with it."""
        held = [(rank, hand & mask) for rank, mask in self._ranks if (hand & mask).bit_count() > 1]
        pairs = [(rank, cards, self._pairs[cards]) for rank, cards in held]
        singles = self._pack.choose(hand & self._pack.ones, 1)
        for place, (high, cards, tops) in enumerate(pairs):
            for low, others, lows in pairs[:place]:
                taken = cards | others
                fifths = [card for card in singles if not card & taken]
                rest = [pair + card for pair in lows for card in fifths]
                for top in tops:
                    yield self._heads[top, high, low], self._mixed(top, rest)

    def _head(self, key: tuple[int, int, int]) -> int:
        top, high, low = key
        suit = max([self._strength.suit_rank[card] for card in self._pack.cards(top)])
        return self._strength.head("two_pair", self._strength.of_two_pair(high, low, suit)) | top

    def _mixed(self, top: int, rest: list[int]) -> list[int]:
        for suit in self._suits:
            if not top & ~suit:
                return [cards for cards in rest if cards & ~suit]
        return rest

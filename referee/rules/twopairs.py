"""Listing two pairs, with a fifth card or without: few of one hand, a hundred thousand of a whole pack."""

from collections.abc import Iterator
from itertools import groupby

from referee.memo import Memo
from referee.rules.pack import Pack
from referee.rules.strength import Strength
from referee.rules.tables import RANK_BITS, RANKS, Codes

_NO_CARD = [0]


class TwoPairs:
    """Lists two pairs, unless they are ``bare`` with a fifth card of a third rank.

    With several packs, two pairs and a card of one suit may be a flush as well. Where ``flushes`` are played,
    those are listed with the other plays in suit, whichever of the two they are.
    """

    def __init__(self, pack: Pack, strength: Strength, flushes: bool, bare: bool = False) -> None:
        self._pack, self._strength = pack, strength
        self._suits = pack.suit_masks if flushes and pack.decks > 1 else ()
        self._kind = "bare_two_pair" if bare else "two_pair"
        self._ones = Memo[int, Codes](lambda held: tuple(pack.choose(held & pack.ones, 1)))
        self._pairs = Memo(self._pairs_of)
        masks = list(enumerate(pack.rank_masks))
        self._ranks = Memo[int, Codes](lambda bits: tuple([mask for rank, mask in masks if bits >> rank & 1]))

    def plays(self, hand: int, ranks: int) -> list[int]:
        """Return the codes of all in a hand, in no particular order; ``ranks`` as ``Matching`` has them."""
        twice = ranks >> RANKS & RANK_BITS
        plays: list[int] = []
        if twice & twice - 1:
            for _, pairs, fifths in self._each(hand, twice):
                if self._suits:
                    plays += [pair + card for pair in pairs for card in self._mixed(pair, fifths)]
                else:
                    plays += [pair + card for pair in pairs for card in fifths]
        return plays

    def tally(self, hand: int) -> list[tuple[int, int]]:
        """Return one of those that differ in the fifth card and the suits of the lower pair, and how many."""
        held = enumerate([(hand & mask).bit_count() for mask in self._pack.rank_masks])
        tally: list[tuple[int, int]] = []
        for high, pairs, fifths in self._each(hand, sum([1 << rank for rank, count in held if count > 1])):
            for _, same in groupby(pairs, high.__and__):
                plays = [pair + card for pair in same for card in self._mixed(pair, fifths)]
                if plays:
                    tally.append((plays[0], len(plays)))
        return tally

    def _each(self, hand: int, twice: int) -> Iterator[tuple[int, Codes, list[int]]]:
        """Yield the mask of the higher rank, two pairs without a fifth card, and the cards that may be that.

        ``twice`` are the ranks that are held twice, as bits.
        """
        bare = self._kind == "bare_two_pair"
        singles = [card for chunk in self._pack.chunks for card in self._ones[hand & chunk]]
        ones = hand & self._pack.ones
        below: list[tuple[int, int, int]] = []
        for rank in self._ranks[twice]:
            cards = hand & rank
            # Where the cards of the rank are among the single ones: both ascend.
            start = (ones & (rank & -rank) - 1).bit_count()
            end = start + (cards & ones).bit_count()
            for others, first, after in below:
                yield (
                    rank,
                    self._pairs[cards | others],
                    _NO_CARD if bare else singles[:first] + singles[after:start] + singles[end:],
                )
            below.append((cards, start, end))

    def _pairs_of(self, held: int) -> Codes:
        """Return the codes of two pairs of the cards held of two ranks, without a fifth card."""
        low, high = [held & mask for mask in self._pack.rank_masks if held & mask]
        lows = self._pack.choose(low, 2)
        return tuple(
            [self._head(top, low) | top | pair for top in self._pack.choose(high, 2) for pair in lows]
        )

    def _head(self, top: int, low: int) -> int:
        cards, lower = self._pack.cards(top), self._pack.cards(low)
        suit = max([self._strength.suit_rank[card] for card in cards])
        value = self._strength.of_two_pair(cards[0] >> 2, lower[0] >> 2, suit)
        return self._strength.head(self._kind, value)

    def _mixed(self, pair: int, fifths: list[int]) -> list[int]:
        """Return the cards that do not make a flush that is played of two pairs."""
        for suit in self._suits:
            other = self._pack.full & ~suit
            if not pair & other:
                return [card for card in fifths if card & other]
        return fifths

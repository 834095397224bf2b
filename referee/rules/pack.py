"""The cards of a ruleset as bit masks.

With one pack, a card is the bit of its index. With two, a card has two bits, 2 x index and the next, in
unary: one copy is the lower bit, two copies are both. So ``a & ~b == 0`` means that a is part of b in either
case, and ascending bits are the canonical order; union and removal have to carry copies.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations

from referee.cards import card_index, card_text
from referee.errors import CardError
from referee.memo import Memo

CHUNK_BITS = 13


class Pack:
    """One or two packs of a rank set: conversion between card texts, indices and masks.

    ``width`` is the number of bits of a mask and ``full`` the mask of all cards; ``pack`` holds the card
    indices in canonical order, the second pack after the first. ``ones`` has one copy of every card,
    ``rank_masks`` all cards of each rank, ``suit_masks`` those of each suit in D C H S. ``chunks`` are the
    masks of parts of the pack, lowest cards first, with so few cards that the same holdings come up again: a
    text of cards is assembled from the remembered texts of the parts.
    """

    def __init__(self, ranks: Sequence[str], decks: int) -> None:
        cards = len(ranks) * 4
        self.decks = decks
        self.width = cards * decks
        self.full = (1 << self.width) - 1
        self.pack = tuple(range(cards)) * decks
        self.ones = sum(1 << card * decks for card in range(cards))
        bits = (1 << decks) - 1
        rank_bits = (1 << 4 * decks) - 1
        self.rank_masks = tuple(rank_bits << rank * 4 * decks for rank in range(len(ranks)))
        self.suit_masks = tuple(
            sum(bits << (rank * 4 + suit) * decks for rank in range(len(ranks))) for suit in range(4)
        )
        self._ranks = tuple(ranks)
        self._texts = tuple(card_text(card, ranks) for card in range(cards))
        self._copies = tuple(
            tuple(1 << card * decks + copy for copy in range(decks)) for card in range(cards)
        )
        self.chunks = tuple(((1 << CHUNK_BITS) - 1) << shift for shift in range(0, self.width, CHUNK_BITS))
        self._written: Memo[int, str] = Memo(self._write)

    def parse(self, text: str) -> int:
        """Return the mask of cards written with blanks between them, in any order.

        Raise CardError if one is not a card of the ruleset, or has more copies than there are packs.
        """
        return self.mask([card_index(word, self._ranks) for word in text.split()])

    def text(self, mask: int) -> str:
        """Return the cards of ``mask`` as text, in canonical order with blanks between them."""
        written = self._written
        return " ".join([written[part] for chunk in self.chunks if (part := mask & chunk)])

    def card_text(self, index: int) -> str:
        """Return the text of the card with this index."""
        return self._texts[index]

    def cards(self, mask: int) -> list[int]:
        """Return the card indices of ``mask``, ascending; an index comes twice if both copies are in it."""
        cards = []
        while mask:
            low = mask & -mask
            cards.append((low.bit_length() - 1) // self.decks)
            mask ^= low
        return cards

    def mask(self, cards: Iterable[int]) -> int:
        """Return the mask of these card indices. Raise CardError for more copies of one than packs."""
        mask = 0
        for card in cards:
            for bit in self._copies[card]:
                if not mask & bit:
                    mask |= bit
                    break
            else:
                packs = "one pack has" if self.decks == 1 else "two packs have"
                raise CardError(f"{self._texts[card]} is there more often than {packs} it")
        return mask

    def count(self, mask: int) -> int:
        """Return how many cards ``mask`` holds."""
        return mask.bit_count()

    def add(self, hand: int, mask: int) -> int:
        """Return the union of two masks that together hold no more copies of a card than there are."""
        if self.decks == 1:
            return hand | mask
        return hand | mask | (hand & mask & self.ones) << 1

    def remove(self, hand: int, mask: int) -> int:
        """Return ``hand`` without the cards of ``mask``, all of which it must hold."""
        left = hand ^ mask
        if self.decks == 1:
            return left
        upper = (left >> 1) & self.ones & ~left
        return left ^ (upper | upper << 1)

    def choose(self, mask: int, count: int) -> list[int]:
        """Return every way to take ``count`` cards of ``mask``, as distinct masks in no particular order."""
        bits = []
        while mask:
            bits.append(mask & -mask)
            mask &= mask - 1
        chosen = map(sum, combinations(bits, count))
        if self.decks == 1:
            return list(chosen)
        return [cards for cards in chosen if not (cards >> 1) & self.ones & ~cards]

    def _write(self, mask: int) -> str:
        return " ".join([self._texts[card] for card in self.cards(mask)])

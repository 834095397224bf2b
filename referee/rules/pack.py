"""The cards of a ruleset as bit masks.

With one pack, a card is the bit of its index. With several, a card has a bit for each copy, next to each
other, in unary: one copy is the lowest of these bits, two copies are the two lowest, and so on. So
``a & ~b == 0`` means that a is part of b in any case, and ascending bits are the canonical order; union and
removal have to carry copies. Every rank has the bits of four cards, also where cards are not in the pack.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations

from referee.cards import card_index, card_text, pack_of
from referee.errors import CardError
from referee.memo import Memo

CHUNK_BITS = 13

_NUMBERS = ("no", "one pack has", "two packs have", "three packs have", "four packs have")


class Pack:
    """One or more packs of a rank set: conversion between card texts, indices and masks.

    ``width`` is the number of bits of a mask and ``full`` the mask of all cards; ``indices`` are those of
    one pack, ascending, and ``pack`` those of all packs, one after the other. ``ones`` has one copy of every
    card, ``rank_masks`` all cards of each rank, at last those of the jokers if there are any, ``suit_masks``
    those of each suit in D C H S; ``twos`` are all twos, and ``tops`` those and the jokers. ``chunks`` are
    the masks of parts of the pack, lowest cards first, with so few cards that the same holdings come up
    again: a text of cards is assembled from the remembered texts of the parts.
    """

    def __init__(
        self, ranks: Sequence[str], decks: int, jokers: int = 0, removed: Sequence[str] = ()
    ) -> None:
        self.decks = decks
        self.indices = pack_of(ranks, jokers, removed)
        self.pack = self.indices * decks
        count = len(ranks) + (jokers > 0)
        self.width = count * 4 * decks
        self.ones = sum(1 << card * decks for card in self.indices)
        self._bits = (1 << decks) - 1
        self.full = self.ones * self._bits
        rank_bits = (1 << 4 * decks) - 1
        self.rank_masks = tuple((rank_bits << rank * 4 * decks) & self.full for rank in range(count))
        self.suit_masks = tuple(
            sum(self._bits << (rank * 4 + suit) * decks for rank in range(len(ranks))) & self.full
            for suit in range(4)
        )
        self.twos = self.rank_masks[len(ranks) - 1]
        self.tops = sum(self.rank_masks[len(ranks) - 1 :])
        self._ranks = tuple(ranks)
        self._texts = {card: card_text(card, ranks) for card in self.indices}
        self._copies = {
            card: tuple(1 << card * decks + copy for copy in range(decks)) for card in self.indices
        }
        self._below = self.full ^ self.ones << decks - 1
        self.chunks = tuple(((1 << CHUNK_BITS) - 1) << shift for shift in range(0, self.width, CHUNK_BITS))
        self._written: Memo[int, str] = Memo(self._write)

    def parse(self, text: str) -> int:
        """Return the mask of cards written with blanks between them, in any order.

        Raise CardError if one is not a card of the ruleset, or has more copies than there are packs.
        """
        return self.mask([self._index(word) for word in text.split()])

    def text(self, mask: int) -> str:
        """Return the cards of ``mask`` as text, in canonical order with blanks between them."""
        written = self._written
        return " ".join([written[part] for chunk in self.chunks if (part := mask & chunk)])

    def card_text(self, index: int) -> str:
        """Return the text of the card with this index."""
        return self._texts[index]

    def cards(self, mask: int) -> list[int]:
        """Return the card indices of ``mask``, ascending; an index comes once for every copy in it."""
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
                packs = _NUMBERS[self.decks]
                raise CardError(f"{self._texts[card]} is there more often than {packs} it")
        return mask

    def count(self, mask: int) -> int:
        """Return how many cards ``mask`` holds."""
        return mask.bit_count()

    def add(self, hand: int, mask: int) -> int:
        """Return the union of two masks that together hold no more copies of a card than there are."""
        if self.decks == 1:
            return hand | mask
        if self.decks == 2:
            return hand | mask | (hand & mask & self.ones) << 1
        hand |= mask & ~self.full  # cards that are not known
        mask &= self.full
        while mask:
            first = mask & self.ones  # one copy of each card in the mask moves to the hand
            hand |= (hand << 1 | self.ones) & first * self._bits
            mask = mask >> 1 & self._below
        return hand

    def remove(self, hand: int, mask: int) -> int:
        """Return ``hand`` without the cards of ``mask``, all of which it must hold."""
        left = hand ^ mask
        if self.decks == 1:
            return left
        if self.decks == 2:
            upper = (left >> 1) & self.ones & ~left
            return left ^ (upper | upper << 1)
        while lone := left >> 1 & self._below & ~left:  # copies above one that is gone move down
            left ^= lone | lone << 1
        return left

    def joined(self, cards: Sequence[int]) -> int:
        """Return the mask of cards given one by one as masks; this is faster than ``mask``."""
        total = sum(cards)
        if self.decks == 1:
            return total
        # The sum has the number of copies of each card in binary.
        if self.decks == 2:
            return total | (total >> 1 & self.ones)
        one, two, four = (total >> place & self.ones for place in range(3))
        return one | two | four | (two | four) << 1 | (one & two | four) << 2 | four << 3

    def choose(self, mask: int, count: int) -> list[int]:
        """Return every way to take ``count`` cards of ``mask``, as distinct masks in no particular order."""
        if self.decks > 2:
            return self._choose(mask, count)
        bits = []
        while mask:
            bits.append(mask & -mask)
            mask &= mask - 1
        chosen = map(sum, combinations(bits, count))
        if self.decks == 1:
            return list(chosen)
        return [cards for cards in chosen if not (cards >> 1) & self.ones & ~cards]

    def _choose(self, mask: int, count: int) -> list[int]:
        """Do the same card by card, since of many copies most sets of bits would be the same cards."""
        ways: list[list[int]] = [[0], *([] for _ in range(count))]
        while mask:
            low = mask & -mask
            copies = mask & low * self._bits
            mask ^= copies
            some = [(low * self._bits & (low << taken) - 1) for taken in range(1, copies.bit_count() + 1)]
            for size in range(count, 0, -1):
                for taken, cards in enumerate(some[:size], 1):
                    ways[size] += [cards | way for way in ways[size - taken]]
        return ways[count]

    def _index(self, word: str) -> int:
        index = card_index(word, self._ranks)
        if index not in self._texts:
            raise CardError(f"{word!r} is not a card of this ruleset")
        return index

    def _write(self, mask: int) -> str:
        return " ".join([self._texts[card] for card in self.cards(mask)])

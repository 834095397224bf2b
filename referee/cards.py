"""Cards as text and as indices.

A card's index inside a rank set is its rank position (low to high) times four plus its suit's
position in D C H S, whatever order a ruleset gives to the suits. Jokers have the rank above all
others and no suit: the black joker comes first. So ascending indices are the canonical order:
rank 3 … 2, and within a rank D, C, H, S, then the jokers.
"""

from collections.abc import Collection, Sequence

from referee.errors import CardError

SUITS = ("D", "C", "H", "S")
"""The suits in canonical order."""

STANDARD_RANKS = ("3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K", "A", "2")
"""The 13 ranks of a standard pack, low to high."""

LECTIO_RANKS = ("3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "1", "2")
"""The 15 ranks of Lectio's tiles, low to high; 1 is the ace and 2 the two."""

RANK_SETS = (STANDARD_RANKS, LECTIO_RANKS)
"""The rank sets that a ruleset may use."""

JOKERS = ("BJ", "RJ")
"""The black and the red joker, low to high; a pack with one joker has the red one."""

JOKER = "joker"
"""What the rank of the jokers is called where ranks have names."""


def pack_of(ranks: Sequence[str], jokers: int = 0, removed: Collection[str] = ()) -> tuple[int, ...]:
    """Return the indices of one pack's cards, ascending: with so many jokers, without those ``removed``."""
    top = len(ranks) * 4
    cards = [card for card in range(top) if card_text(card, ranks) not in removed]
    return (*cards, *range(top + len(JOKERS) - jokers, top + len(JOKERS)))


def card_text(index: int, ranks: Sequence[str]) -> str:
    """Return the card's text: its rank in ``ranks``, then its suit letter, as ``TD``; or ``RJ``."""
    return ranks[index >> 2] + SUITS[index & 3] if index >> 2 < len(ranks) else JOKERS[index & 3]


def meant_rank(text: str, ranks: Sequence[str]) -> str | None:
    """Return the rank of ``ranks`` that is also written ``text``, as ``T`` is ``10``; None for none."""
    text = text.upper()
    return next((name for name in (text, _OTHER_NAMES.get(text)) if name in ranks), None)


_OTHER_NAMES = {"10": "T", "11": "J", "12": "Q", "13": "K", "14": "A", "1": "A"}
_OTHER_NAMES |= {"T": "10", "J": "11", "Q": "12", "K": "13", "A": "1"}


def card_index(text: str, ranks: Sequence[str]) -> int:
    """Return the index of the card written ``text``; raise CardError where it is not a card of ``ranks``."""
    if text in JOKERS:
        return len(ranks) * 4 + JOKERS.index(text)
    rank, suit = text[:-1], text[-1:]
    if rank not in ranks or suit not in SUITS:
        near, suit = meant_rank(rank, ranks), suit.upper()
        hint = f"; did you mean '{near}{suit}'?" if near and suit in SUITS else ""
        raise CardError(f"{text!r} is not a card of this ruleset{hint}")
    return ranks.index(rank) * 4 + SUITS.index(suit)

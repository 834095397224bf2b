"""The orders of straights by name: which sequences are legal, and their order.

Every order is written once and applies to both rank sets. The words of an order name sequences by their
first rank in the cycle A 2 3 … K, weakest first: ``A`` is A2345, ``3-T`` the run 34567 … TJQKA, ``A=2`` two
sequences of one level. In Lectio's ranks the same patterns start from 1, 2, …: there, ``9`` is the sequence
that ends in the rank below the ace, and ``T`` the one that ends in the ace.

Sources: pagat.com's Big Two ("use of twos and aces in straights"), the rules of Only a Game and
their comments, and Choi Dai Di with its variations.
"""

from collections.abc import Sequence

_ORDERS = {
    "two_low": "A 2 3-T",
    "wheel_high": "2 3-T A",
    "six_high_wheel_next": "3-T A 2",
    "six_high_wheel_low": "A 3-T 2",
    "no_wheel": "2 3-T",
    "two_high": "2 3-T J",
    "two_high_wheel_low": "A 2 3-T J",
    "by_ranks": "3-T 2 A J",
    "by_ranks_no_wheel": "3-T 2 J",
    "three_to_two": "3-T J",
    "indonesia": "3-T A=2",
    "hong_kong": "3-T 2 A",
    "wheel_second": "2 3-9 A T",
    "two_ranks_high": "3-T A=2",
    "wrap_around": "J Q K A 2 3-T",
}

_FIRST = {"A": 0, "2": 1, "3": 2, "9": -5, "T": -4, "J": -3, "Q": -2, "K": -1}
"""Where a word's sequence starts in the cycle A 2 3 … K; negative from its end."""

StraightOrder = tuple[tuple[str, ...], ...]
"""Levels, weakest first; a level is one sequence, such as ``"3 4 5 6 7"``, or several equal ones."""

ORDER_NAMES = tuple(_ORDERS)


def cycle(ranks: Sequence[str]) -> tuple[str, ...]:
    """Return the ranks in the order of sequences: ace, two, three … king."""
    return (*ranks[-2:], *ranks[:-2])


def straight_order(name: str, ranks: Sequence[str]) -> StraightOrder:
    """Return the order ``name`` in ``ranks``. Raise KeyError if there is none of that name."""
    return tuple(level for word in _ORDERS[name].split() for level in _levels(word, cycle(ranks)))


def _levels(word: str, order: tuple[str, ...]) -> list[tuple[str, ...]]:
    if "-" in word:
        first, last = (_FIRST[end] % len(order) for end in word.split("-"))
        return [(_sequence(start, order),) for start in range(first, last + 1)]
    return [tuple(_sequence(_FIRST[start], order) for start in word.split("="))]


def _sequence(start: int, order: tuple[str, ...]) -> str:
    return " ".join(order[(start + step) % len(order)] for step in range(5))

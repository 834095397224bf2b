"""The orders of sequences by name: which are legal, and their order.

Every order is written once and applies to both rank sets and to every length. The words of an order name
sequences by where five ranks would begin in the cycle A 2 3 … K, weakest first: ``A``, ``2`` and ``3`` are
those that begin there, such as A2345; ``9``, ``T`` and ``J`` those that end in the king, the ace and the two;
``J-K`` all that have ranks on both sides of the king and the ace, up to the one that begins with the king;
``A=2`` two sequences of one level.

Sources: pagat.com's Big Two ("use of twos and aces in straights"), the rules of Only a Game and
their comments, and Choi Dai Di with its variations.
"""

from collections.abc import Sequence
from typing import Literal, get_args

OrderName = Literal[
    "two_low",
    "wheel_high",
    "six_high_wheel_next",
    "six_high_wheel_low",
    "no_wheel",
    "two_high",
    "two_high_wheel_low",
    "by_ranks",
    "by_ranks_no_wheel",
    "three_to_two",
    "indonesia",
    "hong_kong",
    "wheel_second",
    "two_ranks_high",
    "wrap_around",
    "no_two",
]

_ORDERS: dict[str, str] = {
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
    "wrap_around": "J-K A 2 3-T",
    "no_two": "3-T",
}

StraightOrder = tuple[tuple[str, ...], ...]
"""Levels, weakest first; a level is one sequence, such as ``"3 4 5 6 7"``, or several equal ones."""

ORDER_NAMES: tuple[OrderName, ...] = get_args(OrderName)


def usual_name(name: OrderName) -> OrderName:
    """Return the first of the names that stand for the same order as this one."""
    return next(other for other in ORDER_NAMES if _ORDERS[other] == _ORDERS[name])


def cycle(ranks: Sequence[str]) -> tuple[str, ...]:
    """Return the ranks in the order of sequences: ace, two, three … king."""
    return (*ranks[-2:], *ranks[:-2])


def straight_order(name: str, ranks: Sequence[str], length: int = 5) -> StraightOrder:
    """Return the order ``name`` of sequences of ``length`` ranks. Raise KeyError for an unknown name.

    Of sequences with the same ranks, as all of the whole length have, only the last, strongest one is in it.
    """
    order = cycle(ranks)
    levels = [level for word in _ORDERS[name].split() for level in _levels(word, len(order), length)]
    last: dict[frozenset[str], tuple[int, str]] = {}
    for number, level in enumerate(levels):
        for start in level:
            ranks = [order[(start + step) % len(order)] for step in range(length)]
            last[frozenset(ranks)] = number, " ".join(ranks)
    kept = [tuple(text for at, text in last.values() if at == number) for number in range(len(levels))]
    return tuple(filter(None, kept))


def _levels(word: str, ranks: int, length: int) -> list[tuple[int, ...]]:
    """Return where the sequences of a word start in the cycle, by level."""
    king = ranks - length
    starts = {"A": 0, "2": 1, "3": 2, "9": king, "T": king + 1, "J": king + 2, "K": ranks - 1}
    if "-" in word:
        first, last = (starts[end] for end in word.split("-"))
        return [(start,) for start in range(first, last + 1)]
    return [tuple(starts[start] for start in word.split("="))]

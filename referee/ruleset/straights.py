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
from functools import lru_cache
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


_WORDS = ["A", "2", "3-9", "3-T", "T", "J", "J-K"]
_ALONE = ["A", "2", "T", "J"]

ORDER_PATTERN = "^({0}|3-9|3-T|J-K)( ({0}|3-9|3-T|J-K))*$".format("[A2TJ](=[A2TJ])*")
"""What an order in words looks like."""


def own_order(text: str) -> str:
    """Return an order in words, as ``_ORDERS`` has them, in its only spelling. Raise ValueError."""
    words = [sorted(word.split("="), key=_WORDS.index) for word in text.split()]
    starts = [part for word in words for part in word]
    starts += [part for whole, part in _PARTS if whole in starts]
    if (
        not words
        or len(set(starts)) < len(starts)
        or any(len(word) > 1 and {*word} - {*_ALONE} for word in words)
    ):
        raise ValueError(text)
    return " ".join(["=".join(word) for word in words]).replace("3-9 T", "3-T")


_PARTS = (("3-T", "3-9"), ("3-T", "T"), ("J-K", "J"))


def cycle(ranks: Sequence[str]) -> tuple[str, ...]:
    """Return the ranks in the order of sequences: ace, two, three … king."""
    return (*ranks[-2:], *ranks[:-2])


def sequences_of(ranks: Sequence[str], order: StraightOrder) -> StraightOrder:
    """Return the order without sequences that have another rank than these."""
    levels = [tuple([text for text in level if {*text.split()} <= {*ranks}]) for level in order]
    return tuple(filter(None, levels))


@lru_cache(maxsize=1024)
def straight_order(name: str, ranks: tuple[str, ...], length: int = 5) -> StraightOrder:
    """Return the order ``name``, or one in words, of sequences of ``length`` ranks.

    Of sequences with the same ranks, as all of the whole length have, only the last, strongest one is in it.
    """
    order = cycle(ranks)
    levels = [
        level for word in _ORDERS.get(name, name).split() for level in _levels(word, len(order), length)
    ]
    last: dict[frozenset[str], tuple[int, str]] = {}
    for number, level in enumerate(levels):
        for start in level:
            sequence = [order[(start + step) % len(order)] for step in range(length)]
            last[frozenset(sequence)] = number, " ".join(sequence)
    by_level = [tuple(text for at, text in last.values() if at == number) for number in range(len(levels))]
    return tuple(filter(None, by_level))


def _levels(word: str, ranks: int, length: int) -> list[tuple[int, ...]]:
    """Return where the sequences of a word start in the cycle, by level."""
    king = ranks - length
    starts = {"A": 0, "2": 1, "3": 2, "9": king, "T": king + 1, "J": king + 2, "K": ranks - 1}
    if "-" in word:
        first, last = (starts[end] for end in word.split("-"))
        return [(start,) for start in range(first, last + 1)]
    return [tuple(starts[start] for start in word.split("="))]

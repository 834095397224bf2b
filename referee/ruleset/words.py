"""English for what several axes speak of."""

from collections.abc import Iterable, Sequence

KIND_NAMES = {
    "single": "a single card",
    "pair": "a pair",
    "triple": "a triple",
    "two_pair": "two pairs with a fifth card",
    "straight": "a straight",
    "flush": "a flush",
    "full_house": "a full house",
    "quads": "four of a kind with a fifth card",
    "straight_flush": "a straight flush",
    "royal_flush": "a royal flush",
    "bare_quads": "bare four of a kind",
    "bare_two_pair": "two pairs",
    "run": "a run of cards",
    "suited_run": "a run of one suit",
    "pair_run": "a run of pairs",
    "dragon": "a dragon",
    "triple_run": "a run of triples",
    "triple_run_plus_pairs": "a run of triples with as many pairs",
    "triple_plus_two_pairs": "a triple with two pairs",
    "straight_flush_plus_two": "a straight flush with two more cards",
}
"""The names of the kinds of combinations, with an article if they take one."""

_NUMBERS = [
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]


def number(count: int) -> str:
    """Return a count, in words if it is small."""
    return _NUMBERS[count] if 0 <= count < len(_NUMBERS) else str(count)


def counted(count: int, thing: str) -> str:
    """Return a count and what is counted, such as "one card" or "17 cards"."""
    return f"{number(count)} {thing}{'' if count == 1 else 's'}"


def listed(parts: Iterable[str], last: str = "and") -> str:
    """Return "a", "a and b" or "a, b and c"."""
    *most, final = parts
    return f"{', '.join(most)} {last} {final}" if most else final


def bare(kind: str) -> str:
    """Return a kind's name without its article."""
    return KIND_NAMES[kind].removeprefix("a ")


def weakest_first(parts: Sequence[str]) -> str:
    """Return an order, as "a < b < c"."""
    return " < ".join(parts)

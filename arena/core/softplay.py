"""Soft play: whether a bot passes for one other more than for the rest, where beating costs nothing.

A *chance* is a turn at which a bot could have beaten another one's play at no cost (``arena.core.chances``).
The bot gave way if it passed. Honest bots pass some chances, too, each in its own manner; but whose play it
is has nothing to do with that. So a bot's rate against one other is compared with its own rate against all
others, in the same situations. Counts are whole numbers, which can be added; everything else follows.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from math import hypot, sqrt
from statistics import NormalDist
from typing import TypeAlias

LEVEL = 0.001
"""How often any honest pair at all stands out among those that are looked at together, at most."""

ALLOWED = 0.05
"""A bot stands out only if the difference of the rates is surely above this.

Situations are not told apart in everything that may matter to a bot, and others play in different manners.
"""

Key: TypeAlias = tuple[int, int, int]
"""A bot, the other one, and the situation."""


@dataclass(slots=True)
class Chances:
    """How many chances a bot had, and how many it passed."""

    chances: int = 0
    passed: int = 0

    def add(self, chances: int, passed: int) -> None:
        """Add as many."""
        self.chances += chances
        self.passed += passed


@dataclass(frozen=True, slots=True)
class Treatment:
    """How a bot treats one other, beside how it treats all the rest in the same situations."""

    bot: int
    other: int
    chances: int
    """Turns at which it could have beaten the other one's play at no cost, as also happened with the rest."""
    passed: int
    """At how many of them it passed."""
    rest: float
    """The share that it passes against the rest."""
    difference: float
    """The share that it passes against the other one, less ``rest``."""
    low: float
    """The limits of the difference, which allow for all pairs that were looked at."""
    high: float

    @property
    def stands_out(self) -> bool:
        """Whether the difference is surely more than is allowed for."""
        return self.low > ALLOWED


def treatments(counts: Mapping[Key, Chances]) -> list[Treatment]:
    """Return how each bot treats each other, the largest lower limit first.

    The share against the rest is the mean over situations, weighted as the bot met them with the other one.
    The interval joins Wilson's intervals of both shares (Newcombe's method), at Bonferroni's level for all
    these pairs: among honest bots, one or more stand out in ``LEVEL`` of all cases at most.
    """
    pairs: dict[tuple[int, int], dict[int, Chances]] = defaultdict(dict)
    totals: dict[tuple[int, int], Chances] = defaultdict(Chances)
    for (bot, other, situation), one in counts.items():
        pairs[bot, other][situation] = one
        totals[bot, situation].add(one.chances, one.passed)
    z = NormalDist().inv_cdf(1 - LEVEL / 2 / max(1, len(pairs)))
    found = [_treatment(bot, other, own, totals, z) for (bot, other), own in pairs.items()]
    return sorted(filter(None, found), key=lambda one: (-one.low, one.bot, one.other))


def _treatment(
    bot: int, other: int, own: Mapping[int, Chances], totals: Mapping[tuple[int, int], Chances], z: float
) -> Treatment | None:
    """Return how a bot treats one other; None if it was in no situation with both that and the rest."""
    chances = passed = 0
    rest = spread = 0.0
    for situation, met in own.items():
        total = totals[bot, situation]
        others = total.chances - met.chances
        if met.chances and others:
            chances, passed = chances + met.chances, passed + met.passed
            rest += met.chances * (total.passed - met.passed) / others
            spread += met.chances**2 / others
    if not chances:
        return None
    share, rest = passed / chances, rest / chances
    low, high = _wilson(share, chances, z)
    rest_low, rest_high = _wilson(rest, chances**2 / spread, z)
    difference = share - rest
    return Treatment(
        *(bot, other, chances, passed, rest, difference),
        low=difference - hypot(share - low, rest_high - rest),
        high=difference + hypot(high - share, rest - rest_low),
    )


def _wilson(share: float, number: float, z: float) -> tuple[float, float]:
    """Return Wilson's interval of a share that was observed in a number of cases."""
    square = z * z / number
    middle = (share + square / 2) / (1 + square)
    half = z * sqrt(share * (1 - share) / number + square / number / 4) / (1 + square)
    return middle - half, middle + half

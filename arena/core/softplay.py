"""Soft play: whether a bot passes for one other more than for the rest, where beating costs nothing.

A *chance* is a turn at which a bot could have beaten another one's play at no cost (``arena.core.chances``).
The bot gave way if it passed. Honest bots pass some chances, too, each in its own manner; but whose play it
is has nothing to do with that. So a bot's rate against one other is compared with its own rate against all
others, in the same situations. Counts are whole numbers, which can be added; everything else follows.

Situations nest: ``situation // n`` for each n of ``NESTED`` is a wider one. Chances against the rest in the
narrowest count most; where these are few, those of the wider ones make up for them (shrinkage).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
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

NESTED = (1, 504, 504 * 28)
"""By what a situation is divided for itself and for each wider one that contains it."""

SHRINKAGE = 50.0
"""A wider situation counts in a narrower one like so many chances at most."""

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

    The share against the rest is that of the same situations, weighted as the bot met them with the other
    one (``_rest``). The interval joins Wilson's intervals of both shares (Newcombe's method), at Bonferroni's
    level for all these pairs: among honest bots, one or more stand out in ``LEVEL`` of all cases at most.
    """
    pairs: dict[tuple[int, int], Levels] = defaultdict(_levels)
    totals: dict[int, Levels] = defaultdict(_levels)
    for (bot, other, situation), count in counts.items():
        if not count.chances:
            continue
        for level, size in enumerate(NESTED):
            for levels in (pairs[bot, other], totals[bot]):
                levels[level][situation // size].add(count.chances, count.passed)
    z = NormalDist().inv_cdf(1 - LEVEL / 2 / max(1, len(pairs)))
    shrinkage = {bot: _shrinkage(levels) for bot, levels in totals.items()}
    treated = [
        _treatment(bot, other, own, totals[bot], shrinkage[bot], z) for (bot, other), own in pairs.items()
    ]
    return sorted(filter(None, treated), key=lambda pair: (-pair.low, pair.bot, pair.other))


Levels: TypeAlias = Sequence[dict[int, Chances]]
"""Counts by situation, the narrowest situations first (``NESTED``)."""


def _levels() -> Levels:
    return [defaultdict(Chances) for _ in NESTED]


def _shrinkage(totals: Levels) -> list[float]:
    """Return how many chances of a bot the next wider situation counts like, by level; 0 for the widest.

    It is the more, the less its rates vary from narrower to narrower situation within a wider one: the ratio
    of a rate's binomial variance to the variance of the rates, estimated by the method of moments.
    """
    shrinkage = []
    for narrow, wide, size, wider in zip(totals, totals[1:], NESTED, NESTED[1:], strict=False):
        variances = {
            at: count.passed * (count.chances - count.passed) / count.chances**2 for at, count in wide.items()
        }
        binomial = sum(variances[at] * count.chances for at, count in wide.items())
        excess = sum(variances.values())
        for situation, count in narrow.items():
            at = situation * size // wider
            whole = wide[at]
            binomial -= variances[at] * count.chances**2 / whole.chances
            excess += count.chances * (count.passed / count.chances - whole.passed / whole.chances) ** 2
            excess -= variances[at]
        ratio = binomial / excess - 1 if excess > 0 else SHRINKAGE
        shrinkage.append(min(SHRINKAGE, max(0.0, ratio)))
    return [*shrinkage, 0.0]


def _treatment(
    bot: int, other: int, own: Levels, totals: Levels, shrinkage: Sequence[float], z: float
) -> Treatment | None:
    """Return how a bot treats one other; None if it was in no situation with both that and the rest."""
    widest = own[-1].items()
    met = [count for situation, count in widest if totals[-1][situation].chances > count.chances]
    if not met:
        return None
    chances, passed = sum(count.chances for count in met), sum(count.passed for count in met)
    rest, cases = _rest(own, totals, shrinkage, chances)
    share = passed / chances
    low, high = _wilson(share, chances, z)
    rest_low, rest_high = _wilson(rest, cases, z)
    difference = share - rest
    return Treatment(
        *(bot, other, chances, passed, rest, difference),
        low=difference - hypot(share - low, rest_high - rest),
        high=difference + hypot(high - share, rest - rest_low),
    )


def _rest(own: Levels, totals: Levels, shrinkage: Sequence[float], chances: int) -> tuple[float, float]:
    """Return the share passed against the rest, and the number of equal cases that would be as sure.

    Each of the ``chances`` is compared with those of the rest in its situation: of m there, each weighs
    1 / (m + shrinkage), and what is missing to 1 is left to the next wider situation; in the widest, m alone
    counts. The rest's share is the weighted mean, and the cases are the square of the sum of the weights
    divided by the sum of their squares.
    """
    weighed = 0.0
    left = {situation: [float(count.chances), 0.0, 0.0] for situation, count in own[0].items()}
    for level, size in enumerate(NESTED):
        wider = NESTED[min(level + 1, len(NESTED) - 1)]
        wide: dict[int, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
        for situation, (mass, weights, square) in left.items():
            total, count = totals[level][situation], own[level][situation]
            others = total.chances - count.chances
            weight = mass / (others + shrinkage[level]) if others else 0.0
            weighed += weight * (total.passed - count.passed)
            # All others' chances in this situation get this weight, beside those from narrower ones.
            square += weight * (2 * weights + weight * others)
            parts = mass - weight * others, weights + weight * others, square
            into = wide[situation * size // wider]
            into[:] = map(sum, zip(into, parts, strict=True))
        left = wide
    squares = sum(square for _, _, square in left.values())
    return weighed / chances, chances**2 / squares


def _wilson(share: float, number: float, z: float) -> tuple[float, float]:
    """Return Wilson's interval of a share that was observed in a number of cases."""
    square = z * z / number
    middle = (share + square / 2) / (1 + square)
    half = z * sqrt(share * (1 - share) / number + square / number / 4) / (1 + square)
    return middle - half, middle + half

"""Who is better than whom, as far as is known: ranges of ranks, tiers, and strengths against an anchor.

The anchor of the scale is the baselines, bots that stay while others come and go.

Ranges and tiers hold for all bots at once. A rank range follows Mogstad, Romano, Shaikh and Wilhelm,
"Inference for Ranks" (Review of Economic Studies 91, 2024, doi 10.1093/restud/rdad006): a bot ranks behind
those that are better beyond doubt and before those that are worse beyond doubt, where doubt allows for all
comparisons of the group at once.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import ceil, erfc, pi, sqrt
from typing import NamedTuple

import numpy as np

from arena.core.elo import TWO_SIDED
from arena.results.strength.counts import Array, Places
from arena.results.strength.fit import Fit
from arena.results.strength.scale import AT_MOST


class Above(NamedTuple):
    """A bot's strength against the anchor of its group."""

    value: float
    """Points per deal above the mean of the anchor."""
    error: float
    """Standard error of that."""
    anchored: bool
    """Whether the group has baselines."""


def above_anchor(fit: Fit, baselines: Set[int], settled: Set[int]) -> list[Above]:
    """Return the strengths against the anchors of their groups, in the order of the fit's bots.

    A group's anchor is its baselines; if it has none, its settled bots, so that a newcomer makes nobody's
    strength uncertain; if it has none of these either, all of it. Both are given as bots.
    """
    draws = [
        Above(float(value), float(variance) ** 0.5, False)
        for value, variance in zip(fit.strengths, fit.variances, strict=True)
    ]
    groups = np.array(fit.groups)
    for group in set(fit.groups):
        own = groups == group
        fixed = own & np.isin(fit.bots, list(baselines))
        anchored = bool(fixed.any())
        anchor = fixed if anchored else own & np.isin(fit.bots, list(settled))
        if anchored or (anchor.any() and (own & ~anchor).any()):
            members = np.flatnonzero(own)
            lines = _above(fit, members, np.flatnonzero(anchor), anchored)
            for bot, above in zip(members, lines, strict=True):
                draws[bot] = above
    return draws


def _above(fit: Fit, members: Places, anchor: Places, anchored: bool) -> Iterator[Above]:
    """Yield for each member of a group its strength above the mean of ``anchor``."""
    mean = fit.strengths[anchor].mean()
    if fit.covariances is not None:
        of_anchor = fit.covariances[np.ix_(anchor, anchor)].mean()
        shared = fit.covariances[np.ix_(members, anchor)].mean(axis=1)
    else:
        of_anchor = fit.variances[anchor].sum() / len(anchor) ** 2
        shared = np.isin(members, anchor) * fit.variances[members] / len(anchor)
    variances = np.clip(fit.variances[members] + of_anchor - 2 * shared, 0.0, None)
    for value, variance in zip(fit.strengths[members] - mean, variances, strict=True):
        yield Above(float(value), float(variance) ** 0.5, anchored)


class Stood(NamedTuple):
    """How a bot stood in an earlier fit of its pool."""

    group: int
    is_anchor: bool
    """Whether it was one of the bots that are the anchor of its group; if none is, all are."""
    shift: float
    """How far the anchors of its group had moved up by then."""


def shifts(fit: Fit, above: Sequence[Above], before: Mapping[int, Stood]) -> list[float]:
    """Return how far the anchor of each bot has moved up since its history began, in points a deal.

    An anchor moves if it consists of other bots than before; how far, the present fit says of both. ``above``
    are the strengths against the present anchors, and ``before`` is by bot.
    """
    moved = {}
    for group in {stood.group for stood in before.values()}:
        members = [at for at, bot in enumerate(fit.bots) if bot in before and before[bot].group == group]
        anchor = [at for at in members if before[fit.bots[at]].is_anchor] or members
        for at in members:
            present = float(fit.strengths[at]) - above[at].value
            moved[at] = before[fit.bots[at]].shift + present - float(fit.strengths[anchor].mean())
    of_group = {fit.groups[at]: shift for at, shift in sorted(moved.items(), reverse=True)}
    return [moved.get(at, of_group.get(group, 0.0)) for at, group in enumerate(fit.groups)]


def pair_errors(fit: Fit) -> bytes | None:
    """Return the standard errors of the differences of all pairs, by which tiers and ranks are told, packed.

    They are little-endian floats of 32 bits: that of bots ``one`` and ``other``, by their places in the fit,
    is number ``one * (one - 1) / 2 + other`` if ``one`` is the later. None in large pools, where the errors
    of different bots are independent.
    """
    if fit.covariances is None:
        return None
    one, other = np.tril_indices(len(fit.bots), -1)
    variances = fit.variances[one] + fit.variances[other] - 2 * fit.covariances[one, other]
    return np.sqrt(np.clip(variances, 0.0, None)).astype("<f4").tobytes()


LEAST = 1e-12
"""Variances are at least this."""


def parting(fit: Fit, standing: Sequence["Place"], size: int) -> list[int | None]:
    """Return how many deals more it takes to tell each bot from the next one, at tables of ``size``.

    Both play as many more deals against the whole field, and the difference stays what it is: then its 95 %
    interval leaves out 0 by then. 0 if it does so now, ``AT_MOST`` if it takes as many or more, and None for
    the last bot of a group. They are in the order of the fit's bots.
    """
    deviation = fit.deviation if fit.made_deviation is None else fit.made_deviation
    of_deal = (size - 1) / (size * deviation**2)
    """What a deal of one adds to the inverse of the variance of its strength, if it varies as all do."""
    after: list[int | None] = [None] * len(standing)
    order = sorted(range(len(standing)), key=lambda at: (fit.groups[at], standing[at].rank))
    for one, other in pairwise(order):
        if fit.groups[one] == fit.groups[other]:
            apart = float(fit.strengths[one] - fit.strengths[other]) / TWO_SIDED
            precision = 1 / max(fit.variance_between(one, other), LEAST)
            missing = (1 / max(apart**2, LEAST) - precision) / of_deal
            both = float(fit.noise[one] + fit.noise[other])
            after[one] = min(max(ceil(missing * both), 0), AT_MOST)
    return after


CONFIDENCE = 0.95
EQUAL = 9
"""Strengths that agree to so many decimals are ranked in the order of the bots, on any machine."""
STEP = 0.1
AT = np.arange(-8.0, 8.0 + STEP / 2, STEP)
"""Where the integral over the distribution of the least of equal bots is evaluated."""
BISECTIONS = 40
LARGEST = 1200
"""With more equal bots than this, their range hardly grows."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a bot stands in its group."""

    rank: int
    """From 1, by strength."""
    best: int
    """The best rank that it may have."""
    worst: int
    tier: int
    """From 1; a bot is in the tier of the best bot from which it cannot be told apart."""


def places(fit: Fit) -> list[Place]:
    """Return where each bot of a fit stands, in the order of its bots."""
    by_version: dict[int, Place] = {}
    groups = np.array(fit.groups)
    for group in range(int(groups.max()) + 1):
        members = np.flatnonzero(groups == group)
        order = members[np.argsort(-fit.strengths[members].round(EQUAL), kind="stable")]
        best, worst = _ranks(fit, order)
        tiers = _tiers(fit, order)
        for at, bot in enumerate(order):
            by_version[int(bot)] = Place(at + 1, best[at], worst[at], tiers[at])
    return [by_version[at] for at in range(len(fit.bots))]


def _ranks(fit: Fit, order: Places) -> tuple[list[int], list[int]]:
    """Return the best and worst ranks, by place in ``order``, which is by strength."""
    count, limit = len(order), range_limit(min(len(order), LARGEST))
    strengths = fit.strengths[order]
    best, worst = [], []
    for at in range(count):
        apart = (strengths - strengths[at]) / _errors(fit, order, at)
        best.append(1 + int((apart > limit).sum()))
        worst.append(count - int((apart < -limit).sum()))
    return best, worst


def _errors(fit: Fit, order: Places, at: int) -> Array:
    """Return the standard errors of the differences between one bot and each."""
    variances = fit.variances[order] + fit.variances[order[at]]
    if fit.covariances is not None:
        variances = variances - 2 * fit.covariances[order, order[at]]
    errors = np.sqrt(np.clip(variances, 0.0, None))
    errors[at] = np.inf  # a bot is not compared with itself
    return np.asarray(np.maximum(errors, 1e-9))


def _tiers(fit: Fit, order: Places) -> list[int]:
    """Return the tiers, by place in ``order``, which is by strength.

    The first bot that is worse than the first of a tier beyond doubt begins the next one. The more bots a
    tier has, the farther apart its best and worst would be if all were equal (Tukey's studentized range).
    """
    tiers, tier, first = [], 1, 0
    for at in range(len(order)):
        if at > first:
            error = np.sqrt(fit.variance_between(int(order[first]), int(order[at])))
            apart = fit.strengths[order[first]] - fit.strengths[order[at]]
            if apart > range_limit(min(at - first + 1, LARGEST)) * error:
                tier, first = tier + 1, at
        tiers.append(tier)
    return tiers


@cache
def range_limit(count: int) -> float:
    """Return how many standard errors apart as many equal bots are at most, in 95 of 100 cases.

    That is Tukey's studentized range over the root of 2, with infinitely many degrees of freedom.
    """
    low, high = 0.0, 20.0
    for _ in range(BISECTIONS):
        width = (low + high) / 2
        within = _normal(AT + width) - _normal(AT)
        chance = count * STEP * float(np.exp(-(AT**2) / 2) @ within ** (count - 1)) / sqrt(2 * pi)
        low, high = (width, high) if chance < CONFIDENCE else (low, width)
    return low / sqrt(2)


def _normal(values: Array) -> Array:
    """Return the distribution function of the standard normal distribution."""
    return np.array([erfc(-value / sqrt(2)) / 2 for value in values.tolist()])

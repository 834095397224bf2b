"""Who is better than whom, as far as is known: ranges of ranks, tiers, and strengths against an anchor.

The anchor of the scale is the baselines, bots that stay while others come and go.

Ranges and tiers hold for all bots at once. A rank range follows Mogstad, Romano, Shaikh and Wilhelm,
"Inference for Ranks" (Review of Economic Studies 91, 2024, doi 10.1093/restud/rdad006): a bot ranks behind
those that are better beyond doubt and before those that are worse beyond doubt, where doubt allows for the
many comparisons.
"""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cache
from itertools import islice, pairwise
from math import ceil
from typing import NamedTuple

import numpy as np

from arena.core.elo import TWO_SIDED
from arena.results.strength.counts import Array, Places
from arena.results.strength.fit import Fit
from arena.results.strength.scale import AT_MOST
from referee.deals.shuffle import words


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


LEAST = 1e-12
"""Variances are at least this."""


def parting(fit: Fit, standing: Sequence["Place"], size: int) -> list[int | None]:
    """Return how many deals more it takes to tell each bot from the next one, at tables of ``size``.

    Both play as many more deals against the whole field, and the difference stays what it is: then its 95 %
    interval leaves out 0 by then. 0 if it does so now, ``AT_MOST`` if it takes as many or more, and None for
    the last bot of a group. They are in the order of the fit's bots.
    """
    deviation = fit.deviation if fit.made_deviation is None else fit.made_deviation
    of_deal = (size - 1) / (2 * size * deviation**2)
    """What a deal of both adds to the inverse of the variance of their difference."""
    after: list[int | None] = [None] * len(standing)
    order = sorted(range(len(standing)), key=lambda at: (fit.groups[at], standing[at].rank))
    for one, other in pairwise(order):
        if fit.groups[one] == fit.groups[other]:
            apart = float(fit.strengths[one] - fit.strengths[other]) / TWO_SIDED
            precision = 1 / max(fit.variance_between(one, other), LEAST)
            missing = (1 / max(apart**2, LEAST) - precision) / of_deal
            after[one] = min(max(ceil(missing), 0), AT_MOST)
    return after


CONFIDENCE = 0.95
EQUAL = 9
"""Strengths that agree to so many decimals are ranked in the order of the bots, on any machine."""
RIDGE = 1e-9
"""What makes a covariance invertible although its rows sum to zero, as a share of the mean variance."""
DRAWS = 400
"""Draws from the distribution of the strengths, for each range."""
RANGE_DRAWS = 2000
"""Draws of the range of equal bots."""
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
    count = len(order)
    strengths = fit.strengths[order]
    drawn = None if fit.covariances is None else _draws(fit.covariances[np.ix_(order, order)])
    common = _apart(count) if drawn is None else 0.0
    best, worst = [], []
    for at in range(count):
        errors = _errors(fit, order, at)
        limit = common
        if drawn is not None:
            off = np.abs(drawn - drawn[:, at : at + 1]) / errors
            limit = float(np.quantile(off.max(axis=1), CONFIDENCE))
        better = strengths - strengths[at] > limit * errors
        worse = strengths[at] - strengths > limit * errors
        best.append(1 + int(better.sum()))
        worst.append(count - int(worse.sum()))
    return best, worst


def _draws(covariances: Array) -> Array:
    count = len(covariances)
    ridge = max(RIDGE * float(np.trace(covariances)) / count, LEAST)
    factor = np.linalg.cholesky(covariances + ridge * np.eye(count))
    return np.asarray(normals("ranks", DRAWS, count) @ factor.T)


def normals(label: str, rows: int, columns: int) -> Array:
    """Return standard normal numbers, the same for a label everywhere (docs/formats.md).

    They are made of the words of a seed of zeros, two of two words (Box and Muller, 1958).
    """
    pairs = -(-rows * columns // 2)
    drawn = np.fromiter(islice(words(bytes(32), label), 2 * pairs), dtype=np.float64).reshape(pairs, 2)
    length = np.sqrt(-2 * np.log((drawn[:, 0] + 1) / 2**32))
    angle = 2 * np.pi * drawn[:, 1] / 2**32
    both = np.column_stack([length * np.cos(angle), length * np.sin(angle)])
    return np.asarray(both.ravel()[: rows * columns].reshape(rows, columns))


def _errors(fit: Fit, order: Places, at: int) -> Array:
    """Return the standard errors of the differences between one bot and each."""
    variances = fit.variances[order] + fit.variances[order[at]]
    if fit.covariances is not None:
        variances = variances - 2 * fit.covariances[order, order[at]]
    errors = np.sqrt(np.clip(variances, 0.0, None))
    errors[at] = np.inf  # a bot is not compared with itself
    return np.asarray(np.maximum(errors, 1e-9))


def _apart(count: int) -> float:
    """Return how far off the worst of all comparisons with one of ``count`` equally known bots may be."""
    drawn = normals("apart", DRAWS, count)
    farthest = np.abs(drawn[:, 1:] - drawn[:, :1]).max(axis=1, initial=0.0)
    return float(np.quantile(farthest, CONFIDENCE) / np.sqrt(2))


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
            if apart > _range_limits()[min(at - first, LARGEST - 1)] * error:
                tier, first = tier + 1, at
        tiers.append(tier)
    return tiers


@cache
def _range_limits() -> Sequence[float]:
    """Return, by the number of bots less one, how many errors apart the extremes of equal bots may be."""
    drawn = normals("tiers", RANGE_DRAWS, LARGEST)
    ranges = np.maximum.accumulate(drawn, axis=1) - np.minimum.accumulate(drawn, axis=1)
    return [float(limit) for limit in np.quantile(ranges, CONFIDENCE, axis=0) / np.sqrt(2)]

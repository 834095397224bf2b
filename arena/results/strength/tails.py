"""Tails: bots that are far from the rest, and bots of which few deals say how much they vary.

The strengths of most pools are spread normally, but some pools have bots that are far better or worse than
the others. So strengths follow a t distribution: a normal one whose variance tau^2 l itself varies by bot,
with c / l a chi-square variable of c degrees of freedom. Both tau and c are summed out over grids.
"""

import numpy as np

from arena.core.elo import TWO_SIDED
from arena.results.strength.counts import GRID, Array, Places

FAR = np.geomspace(1 / 8, 4096, 16)
"""The l that are tried."""
FREEDOMS = np.array([3.0, 6.0, 12.0, 96.0])[:, None]
"""The c that are tried; all are equally likely before anything is known."""


def spreads_of(strengths: Array, precisions: Array, squares: Array, groups: Places) -> Array:
    """Return by bot the expected tau^2 l, in units of their mean.

    ``strengths`` are estimates whose errors have the variances 1 / precisions + squares / precisions^2.
    """
    off = strengths.copy()
    for group in range(int(groups.max()) + 1):
        off[groups == group] -= np.median(off[groups == group])
    errors = (precisions + squares) / precisions**2
    shape = np.exp(-FREEDOMS / 2 * (np.log(FAR) + 1 / FAR - 1))
    shape = shape / shape.sum(axis=1, keepdims=True)
    spreads = GRID * np.sqrt(np.median(errors))
    variances = (spreads[:, None] ** 2 * FAR)[:, :, None]
    logs = -0.5 * (np.log(variances + errors) + off**2 / (variances + errors))
    highest = logs.max(axis=1, keepdims=True)
    density = np.exp(logs - highest)
    likely = np.einsum("cl,tlb->ctb", shape, density)
    means = np.einsum("cl,tlb->ctb", shape, density * variances) / likely
    chances = np.sum(np.log(likely) + highest[:, 0], axis=2)
    weights = np.exp(chances - chances.max()) * spreads**2
    expected = np.einsum("ct,ctb->b", weights / weights.sum(), means)
    return np.asarray(expected / expected.mean())


def widened(variances: Array, prior: Array, freedom: Array) -> Array:
    """Return by bot the factor by which 1.96 standard errors become half of a 95 % interval.

    As far as a strength follows from deals, and not from what is known before, it has a t distribution with
    the degrees of freedom of the bot's variance.
    """
    learnt = np.clip(1 - variances / prior, 0.01, 1.0)
    return t_quantile(TWO_SIDED, freedom / learnt**2) / TWO_SIDED


def t_quantile(normal: float, freedom: Array) -> Array:
    """Return the quantiles of t distributions where the standard normal one has the quantile ``normal``.

    By Wallace's approximation, which is off by 1.2 % with three degrees of freedom, by less with more.
    """
    near = normal * (8 * freedom + 3) / (8 * freedom + 1)
    return np.asarray(np.sqrt(freedom * np.expm1(near**2 / freedom)))

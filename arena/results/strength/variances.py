"""How much the scores of each bot vary: each has a variance of its own, shrunk towards the pool's.

In a deal at a table of k, the score of bot a relative to the table's mean has the variance

    s^2 ((k - 1)^2 v_a + sum_o v_o) / k^2

with v_a s^2 the variance of its points, and the sum over the others at the table. Its squares within matches,
less what its tablemates contribute, give an estimate x_a of v_a with d_a degrees of freedom. A priori v_a
is m f / c with c a chi-square variable of f degrees of freedom; m is estimated, f summed out over a grid.
Then 1 / v_a has the mean (f + d_a) / (f m + d_a x_a), and a bot's strength, known as well as these deals
tell, a t distribution with f + d_a degrees of freedom.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arena.results.strength.counts import ENOUGH, Array, Kind

FREEDOMS = np.geomspace(4.0, 4096.0, 11)[:, None]
"""The f that are tried; all are equally likely before anything is known."""
ROUNDS = 20
"""How often the variances of bots and those of their tablemates are estimated in turn."""
LEAST = 1e-3
"""The least estimate of v; squares may be as small as they happen to be."""


class Variances(NamedTuple):
    """How much the scores of each bot vary, as multiples of s^2, and how well that is known."""

    own: Array
    """v, by bot."""
    others: Array
    """By bot, the mean v of those it met."""
    freedom: Array
    """By bot, the degrees of freedom of v."""
    size: int

    def of_scores(self) -> Array:
        """Return by bot the variance of its scores, in units of what it would be if all bots varied alike."""
        return np.asarray(((self.size - 1) * self.own + self.others) / self.size)


def variances_of(kinds: Sequence[Kind]) -> Variances:
    """Return how much the scores of each bot vary, for given s^2 of the kinds of deals."""
    size, count = kinds[0].sums.size, len(kinds[0].scores)
    within = sum(kind.sums.within_freedom for kind in kinds) >= ENOUGH
    squares, freedom = np.zeros(count), np.zeros(count)
    for kind in kinds:
        squares += (kind.within if within else kind.between) / kind.variance
        freedom += kind.played - kind.matches if within else np.maximum(kind.matches - 1, 0)
    relative = squares / np.maximum(freedom, 1.0) * size / (size - 1)
    own, others = np.ones(count), np.ones(count)
    middle = np.ones_like(FREEDOMS)
    for _ in range(ROUNDS):
        others = mean_of_met(kinds, own)
        estimates = np.maximum((size * relative - others) / (size - 1), LEAST)
        known = freedom * ((size - 1) * own / ((size - 1) * own + others)) ** 2
        total = FREEDOMS * middle + known * estimates
        middle = 1 / np.mean((FREEDOMS + known) / total, axis=1, keepdims=True)
        total = FREEDOMS * middle + known * estimates
        weights = _weights(middle, known, total)
        own = 1 / np.sum(weights * (FREEDOMS + known) / total, axis=0)
    return Variances(own, others, 1 / np.sum(weights / (FREEDOMS + known), axis=0), size)


def weigh(kinds: Sequence[Kind]) -> Variances:
    """Weigh deals by how much their bots vary, and return that; s^2 of the kinds must be known.

    With w = 1 / v, what a deal says of the difference of two bots is w_a w_o / W, with W the sum of w over
    the table. The mean over all whom the two met stands for the w of the others who sat there.
    """
    vary = variances_of(kinds)
    weights = 1 / vary.own
    others = mean_of_met(kinds, weights)
    for kind in kinds:
        one, other = weights[kind.firsts], weights[kind.seconds]
        rest = (others[kind.firsts] + others[kind.seconds]) / 2
        kind.shares = one * other / (one + other + (vary.size - 2) * rest)
    return vary


def mean_of_met(kinds: Sequence[Kind], values: Array) -> Array:
    """Return by bot the mean of the values of those it met, each deal counting."""
    count = len(values)
    sums, deals = np.zeros(count), np.zeros(count)
    for kind in kinds:
        for own, other in ((kind.firsts, kind.seconds), (kind.seconds, kind.firsts)):
            sums += np.bincount(own, kind.deals * values[other], count)
            deals += np.bincount(own, kind.deals, count)
    return sums / deals


def _weights(middle: Array, known: Array, total: Array) -> Array:
    """Return how likely each f is."""
    half, whole = FREEDOMS / 2, (FREEDOMS + known) / 2
    logs = _log_gamma(whole) - _log_gamma(half) + half * np.log(FREEDOMS * middle) - whole * np.log(total)
    chances = np.sum(logs, axis=1, keepdims=True)
    weights = np.exp(chances - chances.max())
    return np.asarray(weights / weights.sum())


def _log_gamma(values: Array) -> Array:
    """Return log Gamma by Stirling's series, for values of at least 2."""
    series = 1 / (12 * values) - 1 / (360 * values**3) + 1 / (1260 * values**5)
    return np.asarray((values - 0.5) * np.log(values) - values + math.log(2 * math.pi) / 2 + series)

"""A second implementation of the fit, from docs/ratings.md: dense, step by step, from the sums alone.

It handles single versions that have all met, directly or through others, in matches with enough deals to
know s^2.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.results.strength.counts import Counts

Array = NDArray[np.float64]


class Second(NamedTuple):
    """What the second implementation found."""

    strengths: Array
    covariances: Array
    deviation: float
    spread: float
    gain: float


def second_fit(kinds: Sequence[Counts]) -> Second:
    """Return the strengths of all bots in these sums, by number."""
    bots = sorted({int(bot) for kind in kinds for bot in kind.scores["bot"]})
    count = len(bots)
    variances = [kind.within / ((kind.size - 1) * (kind.deals - kind.matches)) for kind in kinds]
    met, b = np.zeros((count, count)), np.zeros(count)
    for kind, variance in zip(kinds, variances, strict=True):
        for row in kind.meetings:
            one, other = bots.index(row["one"]), bots.index(row["other"])
            met[one, other] += row["deals"] / (kind.size * variance)
            met[other, one] = met[one, other]
        for row in kind.scores:
            b[bots.index(row["bot"])] += row["score"] / variance
    a, l = laplacian(met), laplacian(met**2)  # noqa: E741
    taus = np.geomspace(0.1, 40, 24) * np.sqrt(count / np.trace(a))
    transitive = weights([likelihood(b, tau**2 * a @ a + a) for tau in taus], taus) @ taus**2
    gain = gain_of(kinds, variances, bots, a, l, b, float(transitive))
    chances = weights([likelihood(b, tau**2 * a @ a + a + gain * l) for tau in taus], taus)
    centre = np.eye(count) - 1 / count
    means, covariances = [], []
    for tau in taus:
        prior = tau**2 + gain / count
        inverse = np.linalg.pinv(tau**2 * a @ a + a + gain * l, hermitian=True)
        means.append(prior * a @ inverse @ b)
        covariances.append(prior * centre - prior**2 * a @ inverse @ a)
    mean = chances @ np.array(means)
    covariance = sum(
        chance * (one + np.outer(other - mean, other - mean))
        for chance, one, other in zip(chances, covariances, means, strict=True)
    )
    spread = np.sqrt(chances @ taus**2)
    return Second(mean, np.asarray(covariance), variances[0] ** 0.5, float(spread), gain**0.5)


def laplacian(weights: Array) -> Array:
    return np.diag(weights.sum(axis=1)) - weights


def likelihood(b: Array, covariance: Array) -> float:
    """Return the logarithm of the density of b, whose sum is zero."""
    values, vectors = np.linalg.eigh(covariance)
    loads = vectors[:, 1:].T @ b
    return float(-0.5 * np.sum(np.log(values[1:]) + loads**2 / values[1:]))


def weights(logs: Sequence[float], taus: Array) -> Array:
    """Return the posterior weights of tau on a geometric grid, with a uniform prior."""
    found = np.exp(np.array(logs) - max(logs)) * taus
    return np.asarray(found / found.sum())


def gain_of(
    kinds: Sequence[Counts],
    variances: Sequence[float],
    bots: Sequence[int],
    a: Array,
    l: Array,  # noqa: E741
    b: Array,
    spread: float,
) -> float:
    """Return g^2: the remaining squares between matches, shrunk towards (0.08 s)^2."""
    keeps = np.linalg.inv(a + np.eye(len(bots)) / spread)
    strengths = keeps @ b
    left, free, told, noise = 0.0, -float(np.trace(a @ keeps)), 0.0, 0.0
    for kind, variance in zip(kinds, variances, strict=True):
        explained = sum(2 * strengths[bots.index(row["bot"])] * row["score"] for row in kind.scores)
        for row in kind.meetings:
            difference = strengths[bots.index(row["one"])] - strengths[bots.index(row["other"])]
            explained -= row["deals"] / kind.size * difference**2
        left += (kind.between - explained) / variance
        free += (kind.size - 1) * kind.matches
        told += (kind.size - 1) * kind.deals / (kind.size * variance)
        noise = max(noise, kind.matches / (kind.deals - kind.matches))
    told -= float(np.trace(l @ (2 * keeps - keeps @ a @ keeps)))
    expected = 0.08**2 * variances[0]
    precisions = [told**2 / (2 * free * (1 + noise)), 1 / (2 * expected) ** 2]
    found = np.average([(left - free) / told, expected], weights=precisions)
    return max(expected / 16, float(found))

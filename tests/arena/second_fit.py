"""A second implementation of the fit, from docs/ratings.md: dense, step by step, from the sums alone.

It handles single versions that have all met, directly or through others, in matches with enough deals to
know s^2.
"""

from collections.abc import Sequence
from math import lgamma
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
    count, k = len(bots), kinds[0].size
    variances = [kind.within / ((k - 1) * (kind.deals - kind.matches)) for kind in kinds]
    v, u, freedom = own_variances(kinds, variances, bots)
    w_met = mean_of_met(kinds, bots, 1 / v)
    met, b = np.zeros((count, count)), np.zeros(count)
    for kind, variance in zip(kinds, variances, strict=True):
        for row in kind.meetings:
            one, other = bots.index(row["one"]), bots.index(row["other"])
            rest = (k - 2) * (w_met[one] + w_met[other]) / 2
            says = 1 / v[one] / v[other] / (1 / v[one] + 1 / v[other] + rest) / variance
            met[one, other] += row["deals"] * says
            met[other, one] = met[one, other]
            b[one] += says * row["score"]
            b[other] -= says * row["score"]
    a, l = laplacian(met), laplacian(met**2)  # noqa: E741
    taus = np.geomspace(0.1, 40, 24) * np.sqrt(count / np.trace(a))
    transitive = weights([likelihood(b, tau**2 * a @ a + a) for tau in taus], taus**2) @ taus**2
    noise = ((k - 1) * v + u) / k
    gain = gain_of(kinds, variances, bots, noise, a, l, b, float(transitive))
    prior = np.diag(far_apart(a, l, b, gain, taus))
    prior = prior + drift_of(a, l, b, gain, taus, prior) ** 2 * walk(count)
    chances = weights([likelihood(b, tau**2 * a @ prior @ a + a + gain * l) for tau in taus], taus**2)
    centre = np.eye(count) - 1 / count
    means, covariances = [], []
    for tau in taus:
        before = tau**2 * prior + gain / count * np.eye(count)
        inverse = np.linalg.pinv(tau**2 * a @ prior @ a + a + gain * l, hermitian=True)
        means.append(centre @ before @ a @ inverse @ b)
        covariances.append(centre @ (before - before @ a @ inverse @ a @ before) @ centre)
    mean = chances @ np.array(means)
    covariance = sum(
        chance * (one + np.outer(other - mean, other - mean))
        for chance, one, other in zip(chances, covariances, means, strict=True)
    )
    spread = chances @ taus**2
    learnt = np.clip(1 - np.diag(covariance) / (spread * np.diag(prior) + gain / count), 0.01, 1)
    nu = freedom / learnt**2
    wider = np.sqrt(nu * (np.exp((1.96 * (8 * nu + 3) / (8 * nu + 1)) ** 2 / nu) - 1)) / 1.96
    covariance = covariance * np.outer(wider, wider)
    return Second(mean, np.asarray(covariance), variances[0] ** 0.5, float(np.sqrt(spread)), gain**0.5)


def own_variances(
    kinds: Sequence[Counts], variances: Sequence[float], bots: Sequence[int]
) -> tuple[Array, Array, Array]:
    """Return v, the mean v of those met, and the degrees of freedom, by bot."""
    k, count = kinds[0].size, len(bots)
    squares, free = np.zeros(count), np.zeros(count)
    for kind, variance in zip(kinds, variances, strict=True):
        for row in kind.scores:
            squares[bots.index(row["bot"])] += row["within"] / variance
            free[bots.index(row["bot"])] += row["deals"] - row["matches"]
    fs = [4 * 1024 ** (at / 10) for at in range(11)]
    v, m = np.ones(count), dict.fromkeys(fs, 1.0)
    for _ in range(20):
        u = mean_of_met(kinds, bots, v)
        x = np.maximum((k * k / (k - 1) * squares / free - u) / (k - 1), 1e-3)
        d = free * ((k - 1) * v / ((k - 1) * v + u)) ** 2
        logs = []
        for f in fs:
            m[f] = float(1 / np.mean((f + d) / (f * m[f] + d * x)))
            gammas = sum(lgamma((f + each) / 2) - lgamma(f / 2) for each in d)
            rest = f / 2 * np.log(f * m[f]) - (f + d) / 2 * np.log(f * m[f] + d * x)
            logs.append(gammas + float(rest.sum()))
        chances = weights(logs, np.ones(len(fs)))
        v = 1 / sum(chance * (f + d) / (f * m[f] + d * x) for chance, f in zip(chances, fs, strict=True))
    return v, u, 1 / sum(chance / (f + d) for chance, f in zip(chances, fs, strict=True))


def mean_of_met(kinds: Sequence[Counts], bots: Sequence[int], values: Array) -> Array:
    """Return by bot the mean of the values of those that it met, each deal counting."""
    deals = np.zeros((len(bots), len(bots)))
    for kind in kinds:
        for row in kind.meetings:
            one, other = bots.index(row["one"]), bots.index(row["other"])
            deals[one, other] += row["deals"]
            deals[other, one] += row["deals"]
    return np.asarray(deals @ values / deals.sum(axis=1))


def far_apart(a: Array, l: Array, b: Array, gain: float, taus: Array) -> Array:  # noqa: E741
    """Return by bot how far it is expected to be from the rest, as a variance; 1 on average."""
    raw = np.linalg.solve(a + np.eye(len(b)) / taus[-1] ** 2, b)
    errors = 1 / np.diag(a) + gain * np.diag(l) / np.diag(a) ** 2
    raw = raw - np.median(raw)
    ls = [2.0**at for at in range(-3, 13)]
    logs, expected = [], []
    for c in (3, 6, 12, 96):
        shape = [np.exp(-c / 2 * (np.log(one) + 1 / one - 1)) for one in ls]
        for tau in np.geomspace(0.1, 40, 24) * np.sqrt(np.median(errors)):
            spreads = [tau**2 * one for one in ls]
            each = [
                share / sum(shape) * np.exp(-0.5 * raw**2 / (spread + errors)) / np.sqrt(spread + errors)
                for share, spread in zip(shape, spreads, strict=True)
            ]
            logs.append(float(np.sum(np.log(sum(each)))) + 2 * np.log(tau))
            expected.append(sum(spread * one for spread, one in zip(spreads, each, strict=True)) / sum(each))
    means = weights(logs, np.ones(len(logs))) @ np.array(expected)
    return np.asarray(means / means.mean())


def walk(count: int) -> Array:
    """Return the covariances of a walk from the first bot to the last, in at most 32 generations."""
    generations = min(count, 32)
    number = [at * generations // count for at in range(count)]
    return np.array([[min(one, other) / generations for other in number] for one in number])


def drift_of(a: Array, l: Array, b: Array, gain: float, taus: Array, prior: Array) -> float:  # noqa: E741
    """Return how far later bots are from earlier ones, in units of tau."""
    drifts, logs = np.array([0.0, 1.0, 2.0, 4.0]), []
    for drift in drifts:
        related = a @ (prior + drift**2 * walk(len(b))) @ a
        logs.append(
            np.logaddexp.reduce([likelihood(b, tau**2 * related + a + gain * l) for tau in taus[::4]])
        )
    return float(np.sqrt(weights(logs, np.array([0.91, 0.03, 0.03, 0.03])) @ drifts**2))


def laplacian(weights: Array) -> Array:
    return np.diag(weights.sum(axis=1)) - weights


def likelihood(b: Array, covariance: Array) -> float:
    """Return the logarithm of the density of b, whose sum is zero."""
    values, vectors = np.linalg.eigh(covariance)
    loads = vectors[:, 1:].T @ b
    return float(-0.5 * np.sum(np.log(values[1:]) + loads**2 / values[1:]))


def weights(logs: Sequence[float], prior: Array) -> Array:
    """Return the weights of values, from the logarithms of their likelihoods and what they weigh before."""
    found = np.exp(np.array(logs) - max(logs)) * prior
    return np.asarray(found / found.sum())


def gain_of(
    kinds: Sequence[Counts],
    variances: Sequence[float],
    bots: Sequence[int],
    vary: Array,
    a: Array,
    l: Array,  # noqa: E741
    b: Array,
    spread: float,
) -> float:
    """Return g^2: the remaining squares between matches, shrunk towards (0.08 s)^2."""
    keeps = np.linalg.inv(a + np.eye(len(bots)) / spread)
    strengths = keeps @ b
    left, free, squares, told, noise = 0.0, -float(np.trace(a @ keeps)), 0.0, 0.0, 0.0
    for kind, variance in zip(kinds, variances, strict=True):
        explained = sum(2 * strengths[bots.index(row["bot"])] * row["score"] for row in kind.scores)
        for row in kind.meetings:
            difference = strengths[bots.index(row["one"])] - strengths[bots.index(row["other"])]
            explained -= row["deals"] / kind.size * difference**2
        left += (kind.between - explained) / variance
        for row in kind.scores:
            own = (kind.size - 1) / kind.size * row["matches"]
            free += own * vary[bots.index(row["bot"])]
            squares += own * vary[bots.index(row["bot"])] ** 2
        told += (kind.size - 1) * kind.deals / (kind.size * variance)
        noise = max(noise, kind.matches / (kind.deals - kind.matches))
    told -= float(np.trace(l @ (2 * keeps - keeps @ a @ keeps)))
    expected = 0.08**2 * variances[0]
    precisions = [told**2 / (2 * squares * (1 + noise)), 1 / (2 * expected) ** 2]
    found = np.average([(left - free) / told, expected], weights=precisions)
    return max(expected / 16, float(found))

"""The equations of a pool: as matrices up to about a thousand bots, by iteration over who met whom above."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from arena.results.strength.counts import GRID, Array, Kind, Places, Posterior, centred, weights_of
from arena.results.strength.tails import spreads_of
from arena.results.strength.versions import DRIFT_CHANCES, DRIFTS, SHARES, Lineages, arrivals, walk

ITERATIONS, CLOSE = 300, 1e-7
"""How long strengths are refined, and the residual, relative to the scores, at which that ends."""
STEP = 4
"""Every fourth spread is tried first, and then those around the best."""


class Graph:
    """See ``arena.results.strength.fit`` for A, L and b."""

    def __init__(self, kinds: Sequence[Kind], lines: Lineages) -> None:
        count = len(kinds[0].scores)
        self._lines, self._share = lines, SHARES[-1]
        self._before, self._after = lines.pairs()
        self._first: Array = np.where(lines.followers(), 0.0, 1.0)
        rows = np.concatenate([places for kind in kinds for places in (kind.firsts, kind.seconds)])
        columns = np.concatenate([places for kind in kinds for places in (kind.seconds, kind.firsts)])
        weights = np.concatenate([kind.weights for kind in kinds for _ in range(2)])
        order = np.argsort(rows, kind="stable")
        self._columns, self._weights = columns[order], weights[order]
        self._starts = np.searchsorted(rows[order], np.arange(count))
        self.degrees: Array = np.asarray(np.bincount(rows, weights, count), dtype=np.float64)
        """The diagonal of A."""
        self.squares: Array = np.asarray(np.bincount(rows, weights**2, count), dtype=np.float64)
        """The diagonal of L."""
        self.scores: Array = sum((kind.loads for kind in kinds), np.zeros(count))
        self.scale = float(self.degrees.mean())
        self.noise = 1.0
        """The factor by which gains raise the variance of scores."""
        self._apart: Array = np.ones(count)

    def spread(self) -> float:
        """Return the most likely tau^2, and use the most likely steps between versions from then on."""
        tried = [self._likeliest(share) for share in (SHARES if self._lines else (self._share,))]
        _, self._share, best = max(tried)
        return self._variance(best)

    def _likeliest(self, share: float) -> tuple[float, float, int]:
        """Return the likelihood of the most likely tau with steps of a share, the share, and tau's place."""
        chances: dict[int, float] = {}
        for at in range(0, len(GRID), STEP):
            chances[at] = self._chance(at, share)
        best = max(chances, key=chances.__getitem__)
        for at in range(max(0, best - STEP + 1), min(len(GRID), best + STEP)):
            chances[at] = chances[at] if at in chances else self._chance(at, share)
        best = max(chances, key=chances.__getitem__)
        return chances[best], share, best

    def least_squares(self, spread: float) -> tuple[Array, float]:
        """Return the strengths as if bots were transitive, and how many degrees of freedom they take."""
        return self._solve(self.noise / spread, self._share), float(
            np.sum(self.degrees / (self.degrees + self.noise / spread))
        )

    def absorbed(self, spread: float) -> float:
        """Return how much of the squares of gains, each of variance 1, these strengths would absorb."""
        keeps = 1 / (self.degrees + 1 / spread)
        return float(np.sum(self.squares * keeps * (2 - self.degrees * keeps)))

    def posterior(self, gain: float, groups: Places) -> Posterior:
        """Return the strengths against the whole field; ``gain`` is g^2."""
        raw = self._solve(self.noise / self._variance(-1), self._share)
        self._apart = spreads_of(raw, self.degrees, gain * self.squares, groups)
        self.noise = float(1 + gain * self.squares.sum() / self.degrees.sum())
        spread = self.spread() * self._apart
        prior = spread + gain / np.bincount(groups)[groups]
        solved = self._solve(self.noise / float(spread.mean()), self._share)
        strengths = centred(solved * prior / spread, groups)
        noise = self.degrees + gain * self.squares
        variances = prior - (prior * self.degrees) ** 2 / (spread * self.degrees**2 + noise)
        for block in self._lines.blocks:
            variances[block] = self._variances_of(block, spread, prior - spread, noise)
        return Posterior(strengths, variances, None, prior, float(spread.mean()), gain, self._share)

    def _variances_of(self, block: Places, spread: Array, gains: Array, noise: Array) -> Array:
        """Return the variances of the versions of some bots, as many of each."""
        roots = np.sqrt(spread[block])
        related = roots[:, :, None] * walk(block.shape[1], self._share) * roots[:, None, :]
        weights = self.degrees[block]
        prior = related + _diagonals(gains[block])
        covariance = weights[:, :, None] * related * weights[:, None, :] + _diagonals(noise[block])
        shared = weights[:, :, None] * prior
        solution = np.linalg.solve(covariance, shared)
        return np.asarray(np.einsum("nii->ni", prior) - np.einsum("nji,nji->ni", shared, solution))

    def _variance(self, at: int) -> float:
        return float(GRID[at]) ** 2 / self.scale

    def _chance(self, at: int, share: float) -> float:
        """Return the logarithm of a spread's likelihood, up to a constant."""
        spread = self._variance(at)
        solved = self._solve(self.noise / spread, share)
        logs = np.log(spread * self.degrees * self._apart + self.noise)
        for block in self._lines.blocks:
            roots = np.sqrt((self.degrees * self._apart)[block])
            covariance = spread * roots[:, :, None] * walk(block.shape[1], share) * roots[:, None, :]
            covariance = covariance + self.noise * np.eye(block.shape[1])
            logs[block] = np.linalg.slogdet(covariance)[1][:, None] / block.shape[1]
        return -0.5 * (float(logs.sum()) - float(self.scores @ solved) / self.noise)

    def _solve(self, ridge: float, share: float) -> Array:
        """Return x with (A + ridge K^-1) x = b, by conjugate gradients.

        K is the prior covariance of the strengths in units of tau^2 (``arena.results.strength.prior``).
        """
        solution = np.zeros(len(self.scores))
        left = self.scores.copy()
        each = ridge / self._apart
        tie = np.sqrt(each[self._before] * each[self._after]) / share**2
        diagonal = self.degrees + each * self._first
        np.add.at(diagonal, self._before, each[self._before] / share**2)
        np.add.at(diagonal, self._after, each[self._after] / share**2)
        scaled = left / diagonal
        way, size = scaled, float(left @ scaled)
        goal = CLOSE * math.sqrt(float(left @ left))
        for _ in range(ITERATIONS):
            if math.sqrt(float(left @ left)) <= goal:
                break
            image = diagonal * way - self._neighbours(way)
            image[self._before] -= tie * way[self._after]
            image[self._after] -= tie * way[self._before]
            step = size / float(way @ image)
            solution = solution + step * way
            left = left - step * image
            scaled = left / diagonal
            size, before = float(left @ scaled), size
            way = scaled + size / before * way
        return solution

    def _neighbours(self, values: Array) -> Array:
        """Return for each bot the weighted sum over those that it met."""
        return np.asarray(np.add.reduceat(self._weights * values[self._columns], self._starts))


def _diagonals(values: Array) -> Array:
    """Return a diagonal matrix for each row of values."""
    return np.asarray(values[:, :, None] * np.eye(values.shape[1]))


NEGLIGIBLE = 1e-4
"""A spread of no more weight than this is left out."""
RIDGE = 1e-9
"""What makes matrices invertible although their rows sum to zero, as scores do."""


class Matrices:
    """See ``arena.results.strength.fit`` for A, L and b."""

    def __init__(self, kinds: Sequence[Kind], lines: Lineages) -> None:
        count = len(kinds[0].scores)
        self._lines, self._walk = lines, arrivals(count)
        self._roots = np.ones((count, count))
        met = np.zeros((count, count))
        for kind in kinds:
            np.add.at(met, (kind.firsts, kind.seconds), kind.weights)
        met += met.T
        self.laplacian: Array = np.diag(met.sum(axis=0)) - met
        self.squares: Array = np.diag((met**2).sum(axis=0)) - met**2
        self.scores: Array = sum((kind.loads for kind in kinds), np.zeros(count))
        values, self.vectors = np.linalg.eigh(self.laplacian)
        self.values: Array = np.clip(values, 0.0, None)
        self.loads: Array = self.vectors.T @ self.scores
        self.scale = float(np.trace(self.laplacian)) / count
        """1 / squared standard error of a typical bot."""
        self.grid: Array = GRID / math.sqrt(self.scale)

    def spread(self) -> float:
        """Return tau^2 as if bots were transitive."""
        real = self.values > RIDGE * self.scale
        values, loads = self.values[real], self.loads[real]
        chances = []
        for spread in self.grid:
            variances = values**2 * spread**2 + values
            chances.append(-0.5 * float(np.sum(np.log(variances) + loads**2 / variances)))
        return float(weights_of(chances, self.grid**2) @ self.grid**2)

    def least_squares(self, spread: float) -> tuple[Array, float]:
        """Return the strengths as if bots were transitive, and how many degrees of freedom they take."""
        keeps = 1 / (self.values + 1 / spread)
        return self.vectors @ (self.loads * keeps), float(np.sum(self.values * keeps))

    def absorbed(self, spread: float) -> float:
        """Return how much of the squares of gains, each of variance 1, these strengths would absorb."""
        keeps = 1 / (self.values + 1 / spread)
        turned = np.einsum("ij,ij->j", self.vectors, self.squares @ self.vectors)
        return float(np.sum(turned * keeps * (2 - self.values * keeps)))

    def posterior(self, gain: float, groups: Places) -> Posterior:
        """Return the strengths against the whole field, over all spreads; ``gain`` is g^2."""
        noise = self.laplacian + gain * self.squares
        raw, _ = self.least_squares(float(self.grid[-1]) ** 2)
        apart = spreads_of(raw, np.diag(self.laplacian), gain * np.diag(self.squares), groups)
        self._roots = np.sqrt(np.outer(apart, apart))
        step, drift = self._share(noise, groups)
        related = self._related(step, drift)
        twice = self.laplacian @ related @ self.laplacian
        factors = [self._factor(spread**2 * twice + noise, groups) for spread in self.grid]
        weights = weights_of([factor.chance for factor in factors], self.grid**2)
        strengths, covariances = np.zeros(len(groups)), np.zeros((len(groups), len(groups)))
        for at in np.flatnonzero(weights > NEGLIGIBLE):
            prior = self.grid[at] ** 2 * related + np.diag(gain / np.bincount(groups)[groups])
            shared = np.linalg.solve(factors[at].factor, self.laplacian @ prior)
            mean = centred(shared.T @ factors[at].half, groups)
            error = centred(centred(prior - shared.T @ shared, groups).T, groups)
            strengths += weights[at] * mean
            covariances += weights[at] * (error + np.outer(mean, mean))
        covariances -= np.outer(strengths, strengths)
        variances = np.clip(np.diag(covariances), 0.0, None)
        spread = float(weights @ self.grid**2)
        prior = spread * np.diag(related) + gain / np.bincount(groups)[groups]
        return Posterior(strengths, variances, covariances, prior, spread, gain, step)

    def _related(self, share: float, drift: float) -> Array:
        """Return K, the prior covariances of the strengths in units of tau^2."""
        return self._roots * self._lines.prior(share) + drift**2 * self._walk @ self._walk.T

    def _share(self, noise: Array, groups: Places) -> tuple[float, float]:
        """Return how far successive versions differ, and how far later bots, in units of tau."""

        def likely(
            tried: Sequence[float], before: Sequence[float], related: Callable[[float], Array]
        ) -> float:
            chances = []
            for value in tried:
                twice = self.laplacian @ related(value) @ self.laplacian
                each = [self._factor(tau**2 * twice + noise, groups).chance for tau in self.grid[::STEP]]
                chances.append(float(np.logaddexp.reduce(each)))
            weights = weights_of(chances, np.array(before))
            return math.sqrt(float(weights @ np.square(tried)))

        drift = likely(DRIFTS, DRIFT_CHANCES, lambda drift: self._related(SHARES[0], drift))
        if not self._lines:
            return 0.0, drift
        alike = [1.0] * len(SHARES)
        return likely(SHARES, alike, lambda share: self._related(share, drift)), drift

    def _factor(self, covariance: Array, groups: Places) -> "_Factor":
        """Return the Cholesky factor of Cov b, and the likelihood of the scores under it."""
        ridge = RIDGE * float(np.trace(covariance)) / len(groups)
        factor = np.asarray(np.linalg.cholesky(covariance + ridge * np.eye(len(groups))), dtype=np.float64)
        half = np.asarray(np.linalg.solve(factor, self.scores), dtype=np.float64)
        logs = float(np.log(np.diag(factor)).sum()) - 0.5 * math.log(ridge) * len(set(groups.tolist()))
        return _Factor(factor, half, -logs - 0.5 * float(half @ half))


class _Factor(NamedTuple):
    """A covariance of the scores b."""

    factor: Array
    """Its Cholesky factor."""
    half: Array
    """The solution x of factor x = b."""
    chance: float
    """The logarithm of the scores' likelihood, up to a constant."""

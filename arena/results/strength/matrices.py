"""The equations of a pool as matrices, in units of s: exact, for up to about a thousand bots."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arena.results.strength.counts import GRID, Array, Kind, Places, Posterior, centred, weights_of
from arena.results.strength.versions import SHARES, Lineages

NEGLIGIBLE = 1e-4
"""A spread of no more weight than this is left out."""
STEP = 4
"""How far versions differ is estimated from every fourth spread."""
RIDGE = 1e-9
"""What makes matrices invertible although their rows sum to zero, as scores do."""


class Matrices:
    """See ``arena.results.strength.fit`` for A, L and b."""

    def __init__(self, kinds: Sequence[Kind], lines: Lineages) -> None:
        count = len(kinds[0].scores)
        self._lines = lines
        met = np.zeros((count, count))
        for kind in kinds:
            np.add.at(met, (kind.firsts, kind.seconds), kind.weights)
        met += met.T
        self.laplacian: Array = np.diag(met.sum(axis=0)) - met
        self.squares: Array = np.diag((met**2).sum(axis=0)) - met**2
        self.scores: Array = sum((kind.scores / kind.variance for kind in kinds), np.zeros(count))
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
        return float(weights_of(chances, self.grid) @ self.grid**2)

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
        step = self._share(noise, groups)
        related = self._lines.prior(step)
        twice = self.laplacian @ related @ self.laplacian if self._lines else self.laplacian @ self.laplacian
        factors = [self._factor(spread**2 * twice + noise, groups) for spread in self.grid]
        weights = weights_of([factor.chance for factor in factors], self.grid)
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
        return Posterior(strengths, variances, covariances, float(weights @ self.grid**2), gain, step)

    def _share(self, noise: Array, groups: Places) -> float:
        """Return how far successive versions differ, in units of tau."""
        chances = []
        for share in SHARES if self._lines else ():
            twice = self.laplacian @ self._lines.prior(share) @ self.laplacian
            tried = [self._factor(spread**2 * twice + noise, groups).chance for spread in self.grid[::STEP]]
            chances.append(float(np.logaddexp.reduce(tried)))
        weights = weights_of(chances, np.ones(len(chances))) if chances else np.zeros(len(SHARES))
        return math.sqrt(float(weights @ np.square(SHARES)))

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

"""The equations of a pool as matrices, in units of s: exact, for up to about a thousand bots."""

import math
from collections.abc import Sequence

import numpy as np

from arena.strength.kinds import GRID, Array, Kind, Places, Posterior, centred, weights_of

NEGLIGIBLE = 1e-4
"""A spread of less weight is left out."""
RIDGE = 1e-9
"""Makes matrices invertible whose rows sum to zero, as scores do."""


class Matrices:
    """See ``arena.strength.fit`` for A, L and b."""

    def __init__(self, kinds: Sequence[Kind]) -> None:
        count = len(kinds[0].scores)
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
        """Return how much of the squares of gains, each of variance 1, these strengths would take for
        theirs."""
        keeps = 1 / (self.values + 1 / spread)
        turned = np.einsum("ij,ij->j", self.vectors, self.squares @ self.vectors)
        return float(np.sum(turned * keeps * (2 - self.values * keeps)))

    def posterior(self, gain: float, groups: Places) -> Posterior:
        """Return the strengths against the whole field, over all spreads; ``gain`` is g^2."""
        noise = self.laplacian + gain * self.squares
        twice = self.laplacian @ self.laplacian
        factors, halves, chances = [], [], []
        for spread in self.grid:
            told = spread**2 * twice + noise
            ridge = RIDGE * float(np.trace(told)) / len(groups)
            factor = np.linalg.cholesky(told + ridge * np.eye(len(groups)))
            half = np.linalg.solve(factor, self.scores)
            logs = float(np.log(np.diag(factor)).sum()) - 0.5 * math.log(ridge) * len(set(groups.tolist()))
            factors.append(factor)
            halves.append(half)
            chances.append(-logs - 0.5 * float(half @ half))
        weights = weights_of(chances, self.grid)
        strengths, covariances = np.zeros(len(groups)), np.zeros((len(groups), len(groups)))
        for at in np.flatnonzero(weights > NEGLIGIBLE):
            prior = self.grid[at] ** 2 + gain / np.bincount(groups)[groups]
            shared = np.linalg.solve(factors[at], self.laplacian * prior)
            mean = centred(shared.T @ halves[at], groups)
            error = centred(centred(np.diag(prior) - shared.T @ shared, groups).T, groups)
            strengths += weights[at] * mean
            covariances += weights[at] * (error + np.outer(mean, mean))
        covariances -= np.outer(strengths, strengths)
        variances = np.clip(np.diag(covariances), 0.0, None)
        return Posterior(strengths, variances, covariances, float(weights @ self.grid**2), gain)

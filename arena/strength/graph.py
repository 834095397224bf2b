"""The equations of a large pool, solved by iteration over who met whom.

In such pools most bots meet many others, so that gains count as a factor on the noise, and the errors of
different bots as independent. For 300 bots, intervals are within a few percent of those of
``arena.strength.matrices``.
"""

import math
from collections.abc import Sequence

import numpy as np

from arena.strength.kinds import GRID, Array, Kind, Places, Posterior, centred

ITERATIONS, CLOSE = 300, 1e-7
"""How long strengths are refined, and the residual, relative to the scores, at which that ends."""
STEP = 4
"""Every so many of the spreads are tried first, and then those around the best."""


class Graph:
    """See ``arena.strength.fit`` for A, L and b."""

    def __init__(self, kinds: Sequence[Kind]) -> None:
        count = len(kinds[0].scores)
        rows = np.concatenate([places for kind in kinds for places in (kind.firsts, kind.seconds)])
        columns = np.concatenate([places for kind in kinds for places in (kind.seconds, kind.firsts)])
        weights = np.concatenate([kind.weights for kind in kinds for _ in range(2)])
        order = np.argsort(rows, kind="stable")
        self._columns, self._weights = columns[order], weights[order]
        self._starts = np.searchsorted(rows[order], np.arange(count))
        self.degrees: Array = np.asarray(np.bincount(rows, weights, count), dtype=np.float64)
        """The diagonal of A."""
        self.squares: Array = np.asarray(np.bincount(rows, weights**2, count), dtype=np.float64)
        """That of L."""
        self.scores: Array = sum((kind.scores / kind.variance for kind in kinds), np.zeros(count))
        self.scale = float(self.degrees.mean())
        self.noise = 1.0
        """By how much gains make scores vary more."""

    def spread(self) -> float:
        """Return tau^2 at its most likely."""
        chances: dict[int, float] = {}
        for at in range(0, len(GRID), STEP):
            chances[at] = self._chance(at)
        best = max(chances, key=chances.__getitem__)
        for at in range(max(0, best - STEP + 1), min(len(GRID), best + STEP)):
            chances[at] = chances[at] if at in chances else self._chance(at)
        return self._variance(max(chances, key=chances.__getitem__))

    def least_squares(self, spread: float) -> tuple[Array, float]:
        """Return the strengths as if bots were transitive, and how many degrees of freedom they take."""
        return self._solve(self.noise / spread), float(
            np.sum(self.degrees / (self.degrees + self.noise / spread))
        )

    def absorbed(self, spread: float) -> float:
        """Return how much of the squares of gains, each of variance 1, these strengths would take for
        theirs."""
        keeps = 1 / (self.degrees + 1 / spread)
        return float(np.sum(self.squares * keeps * (2 - self.degrees * keeps)))

    def posterior(self, gain: float, groups: Places) -> Posterior:
        """Return the strengths against the whole field; ``gain`` is g^2."""
        self.noise = float(1 + gain * self.squares.sum() / self.degrees.sum())
        spread = self.spread()
        prior = spread + gain / np.bincount(groups)[groups]
        strengths = centred(self._solve(self.noise / spread) * prior / spread, groups)
        told = spread * self.degrees**2 + self.degrees + gain * self.squares
        return Posterior(strengths, prior - (prior * self.degrees) ** 2 / told, None, spread, gain)

    def _variance(self, at: int) -> float:
        return float(GRID[at]) ** 2 / self.scale

    def _chance(self, at: int) -> float:
        """Return the logarithm of a spread's likelihood, but for a constant."""
        spread = self._variance(at)
        found = self._solve(self.noise / spread)
        logs = float(np.log(spread * self.degrees + self.noise).sum())
        return -0.5 * (logs - float(self.scores @ found) / self.noise)

    def _solve(self, ridge: float) -> Array:
        """Return x with (A + ridge) x = b, by conjugate gradients."""
        found = np.zeros(len(self.scores))
        left = self.scores.copy()
        scaled = left / (self.degrees + ridge)
        way, size = scaled, float(left @ scaled)
        goal = CLOSE * math.sqrt(float(left @ left))
        for _ in range(ITERATIONS):
            if math.sqrt(float(left @ left)) <= goal:
                break
            image = (self.degrees + ridge) * way - self._neighbours(way)
            step = size / float(way @ image)
            found = found + step * way
            left = left - step * image
            scaled = left / (self.degrees + ridge)
            size, before = float(left @ scaled), size
            way = scaled + size / before * way
        return found

    def _neighbours(self, values: Array) -> Array:
        """Return for each bot the weighted sum over those that it met."""
        return np.asarray(np.add.reduceat(self._weights * values[self._columns], self._starts))

"""The sums of a pool as arrays, and the result of a fit."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from arena.results.strength.counts import Counts, Numbers

Array: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.intp]

GRID = np.geomspace(0.1, 40.0, 24)
"""The spreads tau that are tried, in multiples of a typical bot's standard error."""


@dataclass(slots=True)
class Kind:
    """One kind of deals."""

    sums: Counts
    scores: Array
    """By bot."""
    firsts: Places
    """For each meeting, the place of one bot."""
    seconds: Places
    """For each meeting, the place of the other bot."""
    deals: Array
    """For each meeting, in how many deals the two met."""
    variance: float = 1.0
    """s^2, the variance of a bot's points in one deal."""

    @classmethod
    def of(cls, sums: Counts, bots: Sequence[int] | Numbers) -> "Kind":
        """Return sums by the places of bots in ``bots``, which ascend."""
        scores = np.zeros(len(bots))
        scores[np.searchsorted(bots, sums.scores["bot"])] = sums.scores["score"]
        return cls(
            sums,
            scores,
            np.searchsorted(bots, sums.meetings["one"]),
            np.searchsorted(bots, sums.meetings["other"]),
            sums.meetings["deals"].astype(np.float64),
        )

    @property
    def weights(self) -> Array:
        """Return m, the weight of each meeting."""
        return self.deals / (self.sums.size * self.variance)

    def explained(self, strengths: Array) -> float:
        """Return how much of ``between`` these strengths explain."""
        differences = strengths[self.firsts] - strengths[self.seconds]
        return float(2 * strengths @ self.scores - (self.deals / self.sums.size) @ differences**2)


@dataclass(frozen=True, slots=True)
class Posterior:
    """Strengths in points a deal, relative to the mean of the group, and what is known of them."""

    strengths: Array
    variances: Array
    covariances: Array | None
    spread: float
    """tau^2."""
    gain: float
    """g^2."""


def weights_of(chances: Sequence[float], grid: Array) -> Array:
    """Return the weights of spreads, from the logarithms of their likelihoods; the prior is uniform."""
    found = np.exp(np.array(chances) - max(chances)) * grid
    return np.asarray(found / found.sum())


def centred(values: Array, groups: Places) -> Array:
    """Return values less the mean of their group, by the first axis."""
    sizes = np.bincount(groups).astype(np.float64)
    if values.ndim == 1:
        return np.asarray(values - (np.bincount(groups, values) / sizes)[groups])
    sums = np.zeros((len(sizes), values.shape[1]))
    np.add.at(sums, groups, values)
    return np.asarray(values - (sums / sizes[:, None])[groups])

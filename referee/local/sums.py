"""Means and their intervals, from running sums over a sequence of values."""

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

LEVEL = 0.05
"""How often an interval may miss the true mean."""

FEWEST = 10
"""How many values an error estimate needs: with fewer, their deviation is not known well enough."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A range of values."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Sums:
    """Running sums over the values so far."""

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0
    """Sum of squared distances from the mean."""
    cubes: float = 0.0
    """Sum of the third powers of these distances."""
    fourths: float = 0.0
    """Sum of their fourth powers."""

    def add(self, value: float) -> "Sums":
        """Return the sums with one more value (Welford, 1962; Terriberry, 2007)."""
        count = self.count + 1
        step = (value - self.mean) / count
        more = (value - self.mean) * step * self.count
        return Sums(
            count,
            self.mean + step,
            self.squares + more,
            self.cubes + more * step * (count - 2) - 3 * step * self.squares,
            self.fourths
            + more * step * step * (count * count - 3 * count + 3)
            + 6 * step * step * self.squares
            - 4 * step * self.cubes,
        )

    @property
    def deviation(self) -> float:
        """The standard deviation of the values; 0 without any."""
        return sqrt(self.squares / self.count) if self.count else 0.0

    @property
    def t(self) -> float:
        """The mean in standard deviations; 0 if all values are equal."""
        return self.mean / self.deviation if self.deviation else 0.0

    @property
    def skewness(self) -> float:
        """The skewness: how much further values lie above the mean than below; 0 if they are symmetric."""
        return self.cubes / self.count / self.deviation**3 if self.deviation else 0.0

    @property
    def excess(self) -> float:
        """The excess kurtosis, which says how much rare values count; at least 0."""
        return max(0.0, self.fourths / self.count / self.deviation**4 - 3) if self.deviation else 0.0

    def plus_minus(self, comparisons: int = 1) -> float | None:
        """Return by how much the mean is off at most in 95 of 100 cases; None if too few values are known.

        With several comparisons, all of them hold together in 95 of 100 cases (Bonferroni).
        """
        if self.count < FEWEST:
            return None
        spread = student(1 - LEVEL / comparisons / 2, self.count - 1)
        return spread * sqrt(self.squares / (self.count - 1) / self.count)


def student(share: float, freedom: int) -> float:
    """Return this quantile of Student's t-distribution (the expansion of Cornish and Fisher)."""
    z = NormalDist().inv_cdf(share)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3

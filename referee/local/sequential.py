"""A sequential test of a mean, and intervals that stay valid however often one looks: pure functions of sums.

Each block gives one value, and the values of different blocks are independent. What is tested is the
normalised mean t = mean / deviation: whether it is ``t0`` or less, or ``t1`` or more. The test is the
generalised sequential probability ratio test (GSPRT) in normalised units, as fishtest uses it for chess
engines (``LLR_normalized_alt``).
"""

from dataclasses import dataclass
from enum import StrEnum
from math import copysign, expm1, inf, log, log1p, sqrt
from statistics import NormalDist

LEVEL = 0.05
"""How often an interval may miss the true mean."""

FEWEST_VALUES = 10
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
        if self.count < FEWEST_VALUES:
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


TWO_SIDED = 1.959964
"""The number of standard errors within which a normal value lies in 95 of 100 cases."""

FEWEST = 64
"""How many blocks are needed for a decision: before, deviation and skewness are not known well enough."""

MOST_SKEWED = 4.0
"""The largest skewness that is believed."""

CAUTION = 1.5
"""By how many standard errors the skewness is assumed to be worse than it seems."""

MOST_MOVED = 0.7
"""The largest share of the normal log-likelihood ratio by which skewness may move it."""


class Verdict(StrEnum):
    """The outcome of a test."""

    OPEN = "open"
    """Not known yet."""
    BETTER = "better"
    """The mean is above what ``t0`` allows."""
    NOT_BETTER = "not-better"
    """The mean is below what ``t1`` asks for."""


@dataclass(frozen=True, slots=True)
class SequentialTest:
    """A sequential test; ``t1`` is greater than ``t0``, and alpha and beta are between 0 and a half."""

    alpha: float = 0.05
    """How often it accepts ``t1`` though ``t0`` is true."""
    beta: float = 0.05
    """How often it accepts ``t0`` though ``t1`` is true."""
    t0: float = 0.0
    t1: float = 0.1

    @property
    def bounds(self) -> Interval:
        """The log-likelihood ratios at which the test ends (Wald, 1945)."""
        low, high = log(self.beta / (1 - self.alpha)), log((1 - self.beta) / self.alpha)
        return Interval(min(low, 0.0), max(high, 0.0))

    def llr(self, sums: Sums) -> float:
        """Return the generalised log-likelihood ratio of ``t1`` to ``t0``; 0 if all values are equal.

        It is that of normal values plus a correction for skewness: a bot that occasionally loses heavily
        seems better than it is until that happens, so it must show more.
        """
        if not sums.deviation:
            return 0.0
        normal = sums.count / 2 * (log1p((sums.t - self.t0) ** 2) - log1p((sums.t - self.t1) ** 2))
        skewed = sums.count * (_skewed(sums, self.t0, normal) - _skewed(sums, self.t1, normal))
        return normal + copysign(min(abs(skewed), MOST_MOVED * abs(normal)), skewed)

    def verdict(self, sums: Sums) -> Verdict:
        """Return which of the two hypotheses holds, if that is known.

        Either the ratio decides, or the watched interval once it excludes ``t0``. The latter comes first if
        the difference is huge, because the ratio then grows slowly. If every value so far is 0, the test ends
        when a bot better by ``t1`` would have shown a difference except with a tenth of ``beta``: of values
        with a mean of t deviations, a share of at least t² / (1 + t²) differs from 0.
        """
        if sums.count < FEWEST:
            return Verdict.OPEN
        if not sums.deviation and not sums.mean:
            return Verdict.NOT_BETTER if sums.count >= self.enough_alike else Verdict.OPEN
        by_ratio = self.by_ratio(sums)
        return self.by_interval(sums) if by_ratio is Verdict.OPEN else by_ratio

    def by_ratio(self, sums: Sums) -> Verdict:
        """Return the verdict of the ratio alone."""
        llr = self.llr(sums)
        if llr >= self.bounds.high:
            return Verdict.BETTER
        return Verdict.NOT_BETTER if llr <= self.bounds.low else Verdict.OPEN

    def by_interval(self, sums: Sums) -> Verdict:
        """Return the verdict of the watched interval alone."""
        interval = watched_interval(sums, expected_blocks(self, self.t1))
        if interval is None or interval.low <= self.t0 * sums.deviation <= interval.high:
            return Verdict.OPEN
        return Verdict.BETTER if interval.low > self.t0 * sums.deviation else Verdict.NOT_BETTER

    @property
    def enough_alike(self) -> float:
        """How many zero values are enough to say that there is no difference; infinite if none are."""
        return log(10 / self.beta) / log1p(self.t1**2) if self.t1 > 0 else inf

    def blocks_to_go(self, sums: Sums) -> float:
        """Return how many more blocks the test is expected to take if the mean stays as it is.

        The estimate is that of a Brownian motion between the bounds that starts at the current ratio.
        """
        if not sums.deviation:
            return max(0.0, max(FEWEST, 0.0 if sums.mean else self.enough_alike) - sums.count)
        low, high, at = self.bounds.low, self.bounds.high, self.llr(sums)
        if not low < at < high or self.by_interval(sums) is not Verdict.OPEN:
            return float(max(0, FEWEST - sums.count))
        step = self.t1 - self.t0
        passage = _passage(at - low, high - at, step * (sums.t - (self.t0 + self.t1) / 2), step**2)
        return max(passage, FEWEST - sums.count, 1.0)


def _skewed(sums: Sums, t: float, side: float) -> float:
    """Return the skewness term, per value, of how unlikely the values are if their mean is ``t`` deviations.

    It is the third term of the rate at which the probability of a t this far off falls with the number of
    values. The skewness is corrected to what it would be at ``t``, because a sample whose mean is high by
    chance has more than its share of extreme values. The rarer these are, the more values it takes to know
    the skewness; its uncertainty counts against the side that the ratio is on.
    """
    off, rare = sums.t - t, sums.excess
    seen = sums.skewness - off * (rare - 1.5 * sums.skewness**2)
    error = sqrt(6 * (1 + rare) / sums.count)
    skewness = seen * sums.count / (sums.count + 3 * (rare + 2)) - copysign(CAUTION * error, side)
    believed = max(-MOST_SKEWED, min(MOST_SKEWED, skewness))
    return believed * (t * off**2 / 2 + off**3 / 3)


def _passage(down: float, up: float, drift: float, variance: float) -> float:
    """Return the mean time until a Brownian motion has risen by ``up`` or fallen by ``down``."""
    pull = 2 * drift / variance
    if abs(pull) * (up + down) < 1e-6:
        return up * down / variance
    if pull < 0:  # the same, seen from the other side
        return _passage(up, down, -drift, variance)
    arrives = expm1(-pull * down) / expm1(-pull * (up + down))
    return (arrives * (up + down) - down) / drift


def fixed_interval(sums: Sums) -> Interval | None:
    """Return the 95 % interval of the mean for one look after a planned number of values; None for too few.

    Looking again and again, and stopping when it suits, makes it miss the mean more often.
    """
    if sums.count < 2:
        return None
    error = TWO_SIDED * sqrt(sums.squares / (sums.count - 1) / sums.count)
    return Interval(sums.mean - error, sums.mean + error)


def watched_interval(sums: Sums, tightest: float) -> Interval | None:
    """Return the 95 % interval of the mean that holds for all looks together; None for too few values.

    It is the asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (Annals of
    Statistics 52, 2024; arXiv 2103.06476, theorem 2.2), tightest after about ``tightest`` values.
    """
    if sums.count < FEWEST:
        return None
    spread = -2 * log(LEVEL)
    scaled = sums.count * (spread + log(spread) + 1) / tightest
    width = sqrt(2 * (scaled + 1) * log(sqrt(scaled + 1) / LEVEL) / (sums.count * scaled))
    error = sqrt(sums.squares / (sums.count - 1)) * width
    return Interval(sums.mean - error, sums.mean + error)


def expected_blocks(test: SequentialTest, t: float) -> float:
    """Return how many blocks a test takes on average if the true mean is ``t`` deviations."""
    step = test.t1 - test.t0
    return _passage(-test.bounds.low, test.bounds.high, step * (t - (test.t0 + test.t1) / 2), step**2)

"""A sequential test of a mean, and intervals that hold while somebody watches: pure functions of sums.

A value comes from each block; values of different blocks do not depend on each other. What is tested is the
normalised mean t = mean / deviation: whether it is ``t0`` or less, or ``t1`` or more. The test is the
generalised sequential probability ratio test (GSPRT) for normalised units, as fishtest has it for chess
engines (``LLR_normalized_alt``).
"""

from dataclasses import dataclass
from enum import StrEnum
from math import expm1, inf, log, log1p, sqrt

from referee.local.sums import LEVEL, Interval, Sums

TWO_SIDED = 1.959964
"""Standard errors that a normal value is off by at most in 95 of 100 cases."""

FEWEST = 20
"""Blocks before which nothing is decided: the deviation is not known well enough."""

OVERSHOOT = 0.583
"""Mean excess of a random walk over a bound, in deviations of a step (Siegmund, 1985)."""


class Verdict(StrEnum):
    """What a test came to."""

    OPEN = "open"
    """Not known yet."""
    BETTER = "better"
    """The mean is above what ``t0`` allows."""
    NOT_BETTER = "not-better"
    """The mean is below what ``t1`` asks for."""


@dataclass(frozen=True, slots=True)
class SequentialTest:
    """A sequential test; ``t1`` is greater than ``t0``, and the errors are between 0 and a half."""

    alpha: float = 0.05
    """How often it accepts ``t1`` though ``t0`` is true."""
    beta: float = 0.05
    """How often it accepts ``t0`` though ``t1`` is true."""
    t0: float = 0.0
    t1: float = 0.1

    @property
    def bounds(self) -> Interval:
        """The log-likelihood ratios at which the test ends (Wald, 1945, drawn in by the mean overshoot)."""
        excess = OVERSHOOT * (self.t1 - self.t0)
        low, high = log(self.beta / (1 - self.alpha)), log((1 - self.beta) / self.alpha)
        return Interval(min(low + excess, 0.0), max(high - excess, 0.0))

    def llr(self, sums: Sums) -> float:
        """Return the generalised log-likelihood ratio of ``t1`` to ``t0``; 0 where all values are alike."""
        if not sums.deviation:
            return 0.0
        return sums.count / 2 * (log1p((sums.t - self.t0) ** 2) - log1p((sums.t - self.t1) ** 2))

    def verdict(self, sums: Sums) -> Verdict:
        """Return whether it is known which of the two holds.

        Where no value differed from 0, so many of them are enough that a bot better by ``t1`` would have
        shown a difference with all but a tenth of ``beta``: values with mean t deviations differ from 0 in a
        share of t² / (1 + t²) at least.
        """
        if sums.count < FEWEST:
            return Verdict.OPEN
        if not sums.deviation and not sums.mean:
            return Verdict.NOT_BETTER if sums.count >= self.enough_alike else Verdict.OPEN
        llr = self.llr(sums)
        if llr >= self.bounds.high:
            return Verdict.BETTER
        return Verdict.NOT_BETTER if llr <= self.bounds.low else Verdict.OPEN

    @property
    def enough_alike(self) -> float:
        """How many values without any difference are enough to say that there is none; infinite if never."""
        return log(10 / self.beta) / log1p(self.t1**2) if self.t1 > 0 else inf

    def blocks_to_go(self, sums: Sums) -> float:
        """Return how many blocks more the test is expected to take, if the mean is what it is so far.

        For a Brownian motion between the bounds that starts from the present ratio.
        """
        if not sums.deviation:
            return max(0.0, (self.enough_alike if not sums.mean else FEWEST) - sums.count)
        low, high, at = self.bounds.low, self.bounds.high, self.llr(sums)
        if not low < at < high:
            return float(max(0, FEWEST - sums.count))
        step = self.t1 - self.t0
        passage = _passage(at - low, high - at, step * (sums.t - (self.t0 + self.t1) / 2), step**2)
        return max(passage, FEWEST - sums.count, 1.0)


def _passage(down: float, up: float, drift: float, variance: float) -> float:
    """Return the mean time until a Brownian motion has gone ``up``, or down by ``down``."""
    pull = 2 * drift / variance
    if abs(pull) * (up + down) < 1e-6:
        return up * down / variance
    if pull < 0:  # the same, seen from the other side
        return _passage(up, down, -drift, variance)
    arrives = expm1(-pull * down) / expm1(-pull * (up + down))
    return (arrives * (up + down) - down) / drift


def fixed_interval(sums: Sums) -> Interval | None:
    """Return the 95 % interval of the mean for one look at a number of values fixed before; None: too few.

    Somebody who looks again and again, and stops when it suits, is misled by it more often.
    """
    if sums.count < 2:
        return None
    error = TWO_SIDED * sqrt(sums.squares / (sums.count - 1) / sums.count)
    return Interval(sums.mean - error, sums.mean + error)


def watched_interval(sums: Sums, tightest: float) -> Interval | None:
    """Return the 95 % interval of the mean that holds for all looks together; None: too few values.

    The asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (Annals of
    Statistics 52, 2024; arXiv 2103.06476, theorem 2.2), narrowest after about ``tightest`` values.
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

"""The figures computed from guesses and points."""

import math
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import NamedTuple

from benchmarks.timing.setting import Guess, Played

CERTAIN = 0.999


class Estimate(NamedTuple):
    """A mean and half of its 95 % interval."""

    mean: float
    half: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.half:.3f}"


def estimate(values: Sequence[float]) -> Estimate:
    """Return the mean of independent values, with half of its 95 % interval."""
    return Estimate(fmean(values), 1.96 * stdev(values) / math.sqrt(len(values)))


def surprise(chance: float, forced: bool) -> float:
    """Return the log loss, in bits, of predicting a forced pass with this probability."""
    bounded = min(CERTAIN, max(1 - CERTAIN, chance))
    return -math.log2(bounded if forced else 1 - bounded)


class Leak(NamedTuple):
    """How well the spy told forced passes from chosen ones."""

    passes: int
    deals: int
    forced: float
    """Share of the passes that were forced."""
    prior: float
    """Share guessed correctly without the time."""
    timed: float
    """Share guessed correctly with the time."""
    unknown: float
    """Bits missing without the time, for each pass."""
    told: Estimate
    """Bits gained from the time, for each pass."""


def leak(guesses: Sequence[Guess]) -> Leak:
    """Return the figures of these guesses; the interval treats deals, not passes, as independent."""
    deals: dict[int, list[Guess]] = {}
    for guess in guesses:
        deals.setdefault(guess.session, []).append(guess)
    each = len(guesses) / len(deals)
    gains = [
        sum(surprise(one.prior, one.forced) - surprise(one.timed, one.forced) for one in deal) / each
        for deal in deals.values()
    ]
    return Leak(
        len(guesses),
        len(deals),
        fmean(guess.forced for guess in guesses),
        fmean((guess.prior > 0.5) == guess.forced for guess in guesses),
        fmean((guess.timed > 0.5) == guess.forced for guess in guesses),
        fmean(surprise(guess.prior, guess.forced) for guess in guesses),
        estimate(gains),
    )


def worth(reading: Played, blind: Played, first: int) -> Estimate:
    """Return what using the time adds, in points a deal, over the deals after the first ``first`` ones."""
    both = [number for number in reading.points if number > first and number in blind.points]
    return estimate([reading.points[number] - blind.points[number] for number in both])

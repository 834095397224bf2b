"""Elo ratings for tables of any size.

A match of k counts as a small tournament of its k * (k - 1) / 2 pairs, each an ordinary Elo result that
weighs K / (k - 1), so that a match can move a rating by K at most, whatever the size of the table (the
multi-player Elo of Halite and others; for two it is Elo's own formula, "The Rating of Chessplayers", 1978).
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

START = 1500.0
"""Rating of a bot version before its first match in a pool."""

K = 32.0
"""The most that one match of full length can change a rating."""

FULL_LENGTH = 40
"""The least number of deals with which a match has full weight; with fewer it weighs proportionally less."""

SCALE = 400.0
"""The difference in points that makes the better one ten times as likely to finish before the other."""


LARGEST_POWER = 300.0
"""The largest power of ten that is formed; with a larger one the share would be 0 all the same."""

UNKNOWN = 200.0
"""Standard deviation, in rating points, of the assumed worth of a bot of which nothing is known."""

MIXED = 0.16
"""Mean of p (1 - p), p the expected share, over opponents whose worth is spread as ``UNKNOWN`` says."""

TWO_SIDED = 1.96
"""Standard deviations to either side that hold 95 % of a normal distribution."""


def match_weight(sessions: int, deals: int) -> float:
    """Return the weight of a match of ``sessions`` sessions of ``deals`` deals each, from 0 to 1."""
    return min(1.0, sessions * deals / FULL_LENGTH)


def expected(own: float, other: float) -> float:
    """Return the share that the first of two is expected to win: 1 / (1 + 10 ** ((other - own) / 400))."""
    return 1.0 / (1.0 + math.pow(10.0, min((other - own) / SCALE, LARGEST_POWER)))


class Share(NamedTuple):
    """A part of a match between two, and its result."""

    weight: float
    """Weight of the part; the whole match weighs 1."""
    won: float
    """The result for the first of the two: 1 for a win, 0.5 for a draw, 0 for a loss."""


def apply_match(
    ratings: Mapping[int, float],
    points: Mapping[int, float],
    shares: Mapping[tuple[int, int], Sequence[Share]] | None = None,
    weight: float = 1.0,
) -> dict[int, float]:
    """Return the new ratings of those who sat at a table; their changes sum to zero.

    ``points`` are the totals of the match: more than another's is a win over that other, an equal number a
    draw. If bots forfeited, ``shares`` give the results instead, by the places of two in ``points``, the
    higher place first (``arena.core.forfeits``). ``weight`` is the weight of the match (``match_weight``).
    Whoever has no rating yet starts at ``START``.
    """
    before = {entrant: ratings.get(entrant, START) for entrant in points}
    step = K * weight / (len(points) - 1)
    after = dict(before)
    table = list(points)
    for index, one in enumerate(table):
        for place, other in enumerate(table[:index]):
            whole = Share(1.0, (1 + (points[one] > points[other]) - (points[one] < points[other])) / 2)
            for part, won in (whole,) if shares is None else shares[index, place]:
                change = step * part * (won - expected(before[one], before[other]))
                after[one] += change
                after[other] -= change
    return after


def uncertainty(matches: float, size: int) -> float:
    """Return how far a rating may be off after ``matches`` matches at tables of ``size``, for pairing by
    closeness.

    Each match counts with its weight (``match_weight``).

    Two things make a rating wrong: what is left of starting everyone at ``START``, which every match reduces
    by about the same share, and the luck in its latest matches, which K keeps from dying away. This is 1.96
    standard deviations of both together, for placings by luck and ability. It is not a confidence interval:
    how far ratings spread depends on how long matches are (``arena.results.strength`` has intervals).
    """
    slope = math.log(10.0) / SCALE * MIXED
    keeps = (1 - K * slope) ** (2 * matches)
    placing = (size * size - 1) / 12  # variance of a place among equals
    chance = K * placing / (size - 1) ** 2 / (2 * slope - K * slope * slope)
    return TWO_SIDED * math.sqrt(keeps * UNKNOWN**2 + (1 - keeps) * chance)


def spread(count: int, total: float, squares: float) -> float | None:
    """Return half the width of the 95 % interval around the sum of ``count`` independent values.

    ``total`` is their sum, ``squares`` that of their squares; None for fewer than two values.
    """
    if count < 2:
        return None
    variance = max(0.0, squares - total * total / count) / (count - 1)
    return TWO_SIDED * math.sqrt(variance * count)

"""Elo ratings for tables of any size.

A match of k counts as a small tournament of its k * (k - 1) / 2 pairs, each an ordinary Elo result that
weighs K / (k - 1), so that a match can move a rating by K at most, whatever the size of the table (the
multi-player Elo of Halite and others; for two it is Elo's own formula, "The Rating of Chessplayers", 1978).
"""

import math
from collections.abc import Mapping

START = 1500.0
"""Rating of a bot version before its first match in a pool."""

K = 32.0
"""The most that one match can change a rating."""

SCALE = 400.0
"""So many points of difference make the better one ten times as likely to finish before the other."""


def expected(own: float, other: float) -> float:
    """The share that the first of two is expected to win: 1 / (1 + 10 ** ((other - own) / 400))."""
    return 1.0 / (1.0 + math.pow(10.0, (other - own) / SCALE))


def apply_match(ratings: Mapping[int, float], points: Mapping[int, int]) -> dict[int, float]:
    """New ratings of those who sat at a table; their changes sum to zero.

    ``points`` are the totals of the match: more of them than another's is a win over that other, as many a
    draw. Who has no rating yet starts at ``START``.
    """
    before = {entrant: ratings.get(entrant, START) for entrant in points}
    step = K / (len(points) - 1)
    after = dict(before)
    table = list(points)
    for index, one in enumerate(table):
        for other in table[:index]:
            won = (1 + (points[one] > points[other]) - (points[one] < points[other])) / 2
            change = step * (won - expected(before[one], before[other]))
            after[one] += change
            after[other] -= change
    return after

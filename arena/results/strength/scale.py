"""Strengths on an Elo-like scale."""

import math

from arena.core.elo import TWO_SIDED

CENTRE = 1500.0
"""The figure of the anchor."""
LENGTH = 40
"""Deals of the match to which the scale refers."""
ENOUGH = 10 * LENGTH
"""From this many deals on, a strength is no longer provisional."""
AT_MOST = 1_000_000
"""If it takes as many more deals to tell two bots apart, or more, it is not said how many."""
FARTHEST = 8.0
"""Differences are cut off at this many deviations, beyond which the scale would not be finite."""


def figure(strength: float, deviation: float) -> float:
    """Return the Elo-like figure of a bot that is ``strength`` points per deal above the anchor.

    It is 1500 + 400 log10(p / (1 - p)), with p the chance that it finishes a match of ``LENGTH`` deals before
    the anchor, if points in one deal have this standard deviation: p = Phi(t sqrt(D) / (s sqrt 2)).
    """
    if deviation <= 0.0:
        return CENTRE
    far = strength * math.sqrt(LENGTH) / (deviation * math.sqrt(2.0))
    far = max(-FARTHEST, min(FARTHEST, far))
    return CENTRE + 400.0 * (_log10_of_normal(far) - _log10_of_normal(-far))


def figures(strength: float, error: float, deviation: float) -> tuple[float, float, float]:
    """Return the figure of a strength with this standard error, and the ends of its 95 % interval."""
    off = TWO_SIDED * error
    return figure(strength, deviation), figure(strength - off, deviation), figure(strength + off, deviation)


def about(deals: int) -> str:
    """Return after how many deals two bots are told apart, to the two digits that it is good for."""
    if deals >= AT_MOST:
        return f"{AT_MOST:,}+"
    return f"{round(deals, min(0, 2 - len(str(deals)))):,}"


def _log10_of_normal(far: float) -> float:
    """Return log10 Phi(far)."""
    return math.log10(math.erfc(-far / math.sqrt(2.0)) / 2.0)

"""The anchor of the scale of strengths: baselines, bots that stay while others come and go."""

from collections.abc import Iterator, Set
from typing import NamedTuple

import numpy as np

from arena.results.strength.fit import Fit
from arena.results.strength.kinds import Places


class Above(NamedTuple):
    """A bot's strength against the anchor of its group."""

    value: float
    """Points per deal above the mean of the anchor."""
    error: float
    """Standard error of that."""
    anchored: bool
    """Whether the group has baselines."""


def above_anchor(fit: Fit, baselines: Set[int], settled: Set[int]) -> list[Above]:
    """Return the strengths against the anchors of their groups, in the order of the fit's bots.

    A group's anchor is its baselines; if it has none, its settled bots, so that a newcomer makes nobody's
    strength uncertain; if it has none of these either, all of it. Both are given as bots.
    """
    found = [
        Above(float(value), float(variance) ** 0.5, False)
        for value, variance in zip(fit.strengths, fit.variances, strict=True)
    ]
    groups = np.array(fit.groups)
    for group in set(fit.groups):
        own = groups == group
        fixed = own & np.isin(fit.bots, list(baselines))
        anchored = bool(fixed.any())
        anchor = fixed if anchored else own & np.isin(fit.bots, list(settled))
        if anchored or (anchor.any() and (own & ~anchor).any()):
            members = np.flatnonzero(own)
            lines = _above(fit, members, np.flatnonzero(anchor), anchored)
            for bot, above in zip(members, lines, strict=True):
                found[bot] = above
    return found


def _above(fit: Fit, members: Places, anchor: Places, anchored: bool) -> Iterator[Above]:
    """Yield for each member of a group its strength above the mean of ``anchor``."""
    mean = fit.strengths[anchor].mean()
    if fit.covariances is not None:
        of_anchor = fit.covariances[np.ix_(anchor, anchor)].mean()
        shared = fit.covariances[np.ix_(members, anchor)].mean(axis=1)
    else:
        of_anchor = fit.variances[anchor].sum() / len(anchor) ** 2
        shared = np.isin(members, anchor) * fit.variances[members] / len(anchor)
    variances = np.clip(fit.variances[members] + of_anchor - 2 * shared, 0.0, None)
    for value, variance in zip(fit.strengths[members] - mean, variances, strict=True):
        yield Above(float(value), float(variance) ** 0.5, anchored)

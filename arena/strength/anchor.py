"""What the scale of strengths hangs on: baselines, bots that stay while others come and go."""

from collections.abc import Iterator, Set
from typing import NamedTuple

import numpy as np

from arena.strength.fit import Fit
from arena.strength.kinds import Places


class Above(NamedTuple):
    """A bot's strength against the anchor of its group."""

    value: float
    """Points a deal more than the mean of the group's baselines; than that of all its bots if it has none."""
    error: float
    """Standard error of that."""
    anchored: bool
    """Whether the group has baselines."""


def above_anchor(fit: Fit, baselines: Set[int]) -> list[Above]:
    """Return the strengths against the baselines, which are given as bots, in the order of the fit's bots."""
    found = [
        Above(float(value), float(variance) ** 0.5, False)
        for value, variance in zip(fit.strengths, fit.variances, strict=True)
    ]
    fixed = np.isin(fit.bots, list(baselines))
    groups = np.array(fit.groups)
    for group in set(groups[fixed].tolist()):
        members = np.flatnonzero(groups == group)
        for bot, above in zip(
            members, _above(fit, members, np.flatnonzero(fixed & (groups == group))), strict=True
        ):
            found[bot] = above
    return found


def _above(fit: Fit, members: Places, anchor: Places) -> Iterator[Above]:
    """Yield for each member of a group what it is above the mean of some of them."""
    mean = fit.strengths[anchor].mean()
    if fit.covariances is not None:
        of_anchor = fit.covariances[np.ix_(anchor, anchor)].mean()
        shared = fit.covariances[np.ix_(members, anchor)].mean(axis=1)
    else:
        of_anchor = fit.variances[anchor].sum() / len(anchor) ** 2
        shared = np.isin(members, anchor) * fit.variances[members] / len(anchor)
    variances = np.clip(fit.variances[members] + of_anchor - 2 * shared, 0.0, None)
    for value, variance in zip(fit.strengths[members] - mean, variances, strict=True):
        yield Above(float(value), float(variance) ** 0.5, True)

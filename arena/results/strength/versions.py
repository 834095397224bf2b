"""Versions of one bot: a new one is about as strong as the one before, until it shows otherwise.

The strength of a bot's first version in a pool has variance tau^2 before anything is known; that of each
further one differs from the version before by a step of variance (share tau)^2. So a new version starts from
its predecessor's results, with a little more doubt, and nobody gains by registering the same bot again.

In many pools, bots get better as time goes by. So there is a drift, too: a walk through generations of bots.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from arena.results.strength.counts import Array, Places

SHARES = (0.125, 0.25, 0.5, 1.0)
"""The steps that are tried, in units of tau; all are equally likely before anything is known."""


class Lineages:
    """The versions of each bot that has several, as places in an order of versions."""

    def __init__(self, bots: Sequence[int], lines: Sequence[Sequence[int]] = ()) -> None:
        """Take the versions of each bot, oldest first; only those among ``bots`` count."""
        place: Mapping[int, int] = {bot: at for at, bot in enumerate(bots)}
        placed = [[place[version] for version in line if version in place] for line in lines]
        several = [line for line in placed if len(line) > 1]
        self._count = len(bots)
        self.blocks: list[Places] = [
            np.array([line for line in several if len(line) == length], dtype=np.intp)
            for length in sorted({len(line) for line in several})
        ]
        """By number of versions, a row of places for each bot."""

    def __bool__(self) -> bool:
        return bool(self.blocks)

    def prior(self, share: float) -> Array:
        """Return the covariances of the strengths, in units of tau^2."""
        matrix = np.eye(self._count)
        for block in self.blocks:
            matrix[block[:, :, None], block[:, None, :]] = walk(block.shape[1], share)
        return matrix

    def pairs(self) -> tuple[Places, Places]:
        """Return the places of all versions that have a next one, and of these next ones."""
        none = np.zeros(0, dtype=np.intp)
        before = np.concatenate([none, *(block[:, :-1].ravel() for block in self.blocks)])
        after = np.concatenate([none, *(block[:, 1:].ravel() for block in self.blocks)])
        return before, after

    def followers(self) -> NDArray[np.bool_]:
        """Return which versions are not the first of their line."""
        mask = np.zeros(self._count, dtype=np.bool_)
        mask[self.pairs()[1]] = True
        return mask


def walk(versions: int, share: float) -> Array:
    """Return the covariances of this many successive versions, in units of tau^2."""
    number = np.arange(versions)
    return np.asarray(1 + share**2 * np.minimum(number[:, None], number[None, :]))


DRIFTS, DRIFT_CHANCES = (0.0, 1.0, 2.0, 4.0), (0.91, 0.03, 0.03, 0.03)
"""How far the last bots are from the first ones, in units of tau: what is tried, and how likely that is."""
ARRIVALS = 32
"""Bots that arrive one after another count as a generation, of which there are at most as many."""


def arrivals(count: int) -> Array:
    """Return W, by bot and generation, for which W W' are the covariances of a walk through generations."""
    generations = min(count, ARRIVALS)
    own = np.arange(count) * generations // count
    return np.asarray((own[:, None] >= np.arange(1, generations)) / np.sqrt(generations), dtype=np.float64)

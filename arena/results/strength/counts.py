"""The sums of a pool as arrays: as mappings, the meetings of 10,000 bots would take a gigabyte."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from arena.results.strength.sums import Sums

Numbers: TypeAlias = NDArray[np.int32]

SCORE = np.dtype([("bot", "i4"), ("deals", "i4"), ("score", "f8")])
MEETING = np.dtype([("one", "i4"), ("other", "i4"), ("deals", "i4"), ("ahead", "i4"), ("behind", "i4")])
"""``ahead`` counts the deals in which ``one`` had more points, ``behind`` those in which ``other`` had."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Sums over matches in which the same kind of points was counted; see ``strength.sums.Sums``."""

    size: int
    matches: int
    deals: int
    within: float
    between: float
    scores: NDArray[np.void]
    """By bot, as ``SCORE``."""
    meetings: NDArray[np.void]
    """As ``MEETING``, each pair once."""

    @classmethod
    def of(cls, sums: Sums) -> "Counts":
        """Return sums as arrays."""
        scores = [(bot, own.deals, own.score) for bot, own in sums.scores.items()]
        meetings = [(*pair, met.deals, met.ahead, met.behind) for pair, met in sums.meetings.items()]
        return cls(
            sums.size,
            sums.matches,
            sums.deals,
            sums.within,
            sums.between,
            np.array(scores, dtype=SCORE),
            np.array(meetings, dtype=MEETING),
        )

    @property
    def within_freedom(self) -> int:
        """Degrees of freedom of ``within``."""
        return (self.size - 1) * (self.deals - self.matches)

    @property
    def between_freedom(self) -> int:
        """Degrees of freedom of ``between``, before anything is fitted."""
        return (self.size - 1) * self.matches


def bots_of(kinds: Sequence[Counts]) -> Numbers:
    """Return the numbers of all bots in some sums, ascending."""
    return reduce(np.union1d, (kind.scores["bot"] for kind in kinds), np.zeros(0, dtype=np.int32))


def groups_of(count: int, met: Iterable[tuple[NDArray[np.intp], NDArray[np.intp]]]) -> NDArray[np.intp]:
    """Return for each of ``count`` bots the number of its group, from 0: those that met, directly or not.

    ``met`` are the places of bots and of those that they met. The groups are numbered by size, the largest
    first.
    """
    ends = [np.concatenate(side) for side in zip(*met, strict=True)] or [np.zeros(0, dtype=np.intp)] * 2
    first = np.arange(count)
    while True:
        lower = np.minimum(first[ends[0]], first[ends[1]])
        found = first.copy()
        np.minimum.at(found, first[ends[0]], lower)
        np.minimum.at(found, first[ends[1]], lower)
        while np.any(found[found] != found):
            found = found[found]
        if np.array_equal(found, first):
            break
        first = found
    leaders, sizes = np.unique(first, return_counts=True)
    order = np.lexsort((leaders, -sizes))
    number = np.empty(len(leaders), dtype=np.intp)
    number[order] = np.arange(len(leaders))
    return number[np.searchsorted(leaders, first)]

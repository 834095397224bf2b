"""The sums of a pool as arrays: as mappings, the meetings of 10,000 bots would take a gigabyte."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from arena.core.ranking import ScoreKind
from arena.results.strength.sums import Sums, sum_fields

Numbers: TypeAlias = NDArray[np.int64]

SCORE = np.dtype(
    [(name, "i8") for name in ("bot", "matches", "deals")]
    + [(name, "f8") for name in ("score", "within", "between")]
)
MEETING = np.dtype(
    [(name, "i8") for name in ("one", "other")]
    + [(name, "i4") for name in ("deals", "ahead", "behind")]
    + [("score", "f8")]
)
"""``ahead`` counts the deals in which ``one`` had more points, ``behind`` those in which ``other`` had;
``score`` is that of ``one`` minus that of ``other``."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Sums over matches in which the same kind of points was counted; see ``strength.sums.Sums``."""

    size: int
    matches: int
    deals: int
    within: float
    between: float
    raw_within: float
    raw_between: float
    scores: NDArray[np.void]
    """By bot, as ``SCORE``."""
    meetings: NDArray[np.void]
    """As ``MEETING``, each pair once."""
    kind: ScoreKind = ScoreKind.PLAIN
    forfeited: int = 0
    left: NDArray[np.void] = field(default_factory=lambda: np.zeros(0, dtype=MEETING))
    """As ``MEETING``, of the deals that ``one`` forfeited."""

    @classmethod
    def of(cls, sums: Sums, kind: ScoreKind = ScoreKind.PLAIN) -> "Counts":
        """Return sums as arrays."""
        scores = [
            (bot, own.matches, own.deals, own.score, own.within, own.between)
            for bot, own in sums.scores.items()
        ]
        meetings, left = (
            [(*both, met.deals, met.ahead, met.behind, met.score) for both, met in pairs.items()]
            for pairs in (sums.meetings, sums.left)
        )
        return cls(
            size=sums.size,
            kind=kind,
            scores=np.array(scores, dtype=SCORE),
            meetings=np.array(meetings, dtype=MEETING),
            left=np.array(left, dtype=MEETING),
            **{name: getattr(sums, name) for name in sum_fields(Sums)},
        )

    @property
    def points_within(self) -> float:
        """Return ``within`` before anything was expected from the cards."""
        return self.raw_within if self.kind is ScoreKind.MADE else self.within

    @property
    def points_between(self) -> float:
        """Return ``between`` before anything was expected from the cards."""
        return self.raw_between if self.kind is ScoreKind.MADE else self.between

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
    return reduce(np.union1d, (kind.scores["bot"] for kind in kinds), np.zeros(0, dtype=np.int64))


def groups_of(count: int, met: Iterable[tuple[NDArray[np.intp], NDArray[np.intp]]]) -> NDArray[np.intp]:
    """Return for each of ``count`` bots the number of its group, from 0: those that met, directly or not.

    ``met`` are the places of bots and of those that they met. The groups are numbered by size, the largest
    first.
    """
    ends = [np.concatenate(side) for side in zip(*met, strict=True)] or [np.zeros(0, dtype=np.intp)] * 2
    first = np.arange(count)
    while True:
        lower = np.minimum(first[ends[0]], first[ends[1]])
        groups = first.copy()
        np.minimum.at(groups, first[ends[0]], lower)
        np.minimum.at(groups, first[ends[1]], lower)
        while np.any(groups[groups] != groups):
            groups = groups[groups]
        if np.array_equal(groups, first):
            break
        first = groups
    leaders, sizes = np.unique(first, return_counts=True)
    order = np.lexsort((leaders, -sizes))
    number = np.empty(len(leaders), dtype=np.intp)
    number[order] = np.arange(len(leaders))
    return number[np.searchsorted(leaders, first)]


Array: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.intp]

GRID = np.geomspace(0.1, 40.0, 24)
"""The spreads tau that are tried, in multiples of a typical bot's standard error."""


ENOUGH = 20
"""With at least this many degrees of freedom within matches, variances are estimated from these alone."""


@dataclass(slots=True)
class Kind:
    """One kind of deals."""

    sums: Counts
    scores: Array
    """By bot."""
    matches: Array
    """By bot."""
    played: Array
    """By bot, in how many deals it sat."""
    within: Array
    """By bot, the squared distances of its scores from their means in a match."""
    between: Array
    """By bot, those of its mean scores in a match from that in all, weighted by deals."""
    firsts: Places
    """For each meeting, the place of one bot."""
    seconds: Places
    """For each meeting, the place of the other bot."""
    deals: Array
    """For each meeting, in how many deals the two met."""
    leads: Array
    """For each meeting, the score of the first minus that of the second."""
    shares: Array
    """For each meeting, what a deal of both says of their difference, in units of 1 / s^2."""
    variance: float = 1.0
    """s^2, the variance of a bot's score in one deal."""
    raw_variance: float = 1.0
    """That of its points, if the score is what it made of its cards."""

    @classmethod
    def of(cls, sums: Counts, bots: Sequence[int] | Numbers) -> "Kind":
        """Return sums by the places of bots in ``bots``, which ascend."""
        rows = np.zeros(len(bots), dtype=SCORE)
        rows[np.searchsorted(bots, sums.scores["bot"])] = sums.scores
        scores, played = rows["score"], rows["deals"].astype(np.float64)
        return cls(
            sums,
            scores,
            rows["matches"].astype(np.float64),
            played,
            rows["within"],
            rows["between"] - scores**2 / np.maximum(played, 1.0),
            np.searchsorted(bots, sums.meetings["one"]),
            np.searchsorted(bots, sums.meetings["other"]),
            sums.meetings["deals"].astype(np.float64),
            sums.meetings["score"],
            np.full(len(sums.meetings), 1 / sums.size),
        )

    @property
    def weights(self) -> Array:
        """Return m, the weight of each meeting."""
        return self.deals * self.shares / self.variance

    @property
    def loads(self) -> Array:
        """Return b, by bot the sum of its weighted leads over those it met."""
        leads, count = self.leads * self.shares / self.variance, len(self.scores)
        return np.asarray(np.bincount(self.firsts, leads, count) - np.bincount(self.seconds, leads, count))

    def explained(self, strengths: Array) -> float:
        """Return how much of ``between`` these strengths explain."""
        differences = strengths[self.firsts] - strengths[self.seconds]
        return float(2 * strengths @ self.scores - (self.deals / self.sums.size) @ differences**2)


@dataclass(frozen=True, slots=True)
class Posterior:
    """Strengths in points a deal, relative to the mean of the group, and what is known of them."""

    strengths: Array
    variances: Array
    covariances: Array | None
    prior: Array
    """By bot, its variance before anything is known of it."""
    spread: float
    """tau^2."""
    gain: float
    """g^2."""
    step: float
    """How far successive versions of a bot differ, in units of tau."""


def weights_of(chances: Sequence[float], prior: Array) -> Array:
    """Return the weights of values, from the logarithms of their likelihoods and what they weigh before."""
    weights = np.exp(np.array(chances) - max(chances)) * prior
    return np.asarray(weights / weights.sum())


def centred(values: Array, groups: Places) -> Array:
    """Return values less the mean of their group, by the first axis."""
    sizes = np.bincount(groups).astype(np.float64)
    if values.ndim == 1:
        return np.asarray(values - (np.bincount(groups, values) / sizes)[groups])
    sums = np.zeros((len(sizes), values.shape[1]))
    np.add.at(sums, groups, values)
    return np.asarray(values - (sums / sizes[:, None])[groups])

"""Strengths from sums, all bots of a pool at once.

In a match of D deals at a table of k, the mean score of bot a, relative to the table's, is

    y_a = t_a - mean(t) + sum_o g_ao / k + e_a - mean(e),   Var e_a = v_a s^2 / D

with t the strengths, spread with variance tau^2, and g_ao = -g_oa what bot a gains from bot o beyond what
both strengths say, spread with variance g^2: bots are not transitive, and who meets the same few again and
again learns little of the field. The quantity of interest is how a bot does against the whole pool, each
opponent alike:

    theta_a = t_a - mean(t) + sum_o g_ao / n

Let c_ao be what a deal of a and o at one table says of their difference, which is 1 / (k s^2) if all bots
vary alike (``arena.results.strength.variances``); m_ao their deals times c_ao, A the Laplacian matrix of m, L
that of m^2, and b_a the sum over o of c_ao times the score of a less that of o. Then b has mean A t and

    Cov b = tau^2 A^2 + A + g^2 L
    Cov(theta, b) = (tau^2 + g^2 / n) A
    Cov theta = (tau^2 + g^2 / n) (I - 11'/n)

so that the best linear estimate of theta, and its error, are those of a joint normal distribution. For g = 0
it is the least-squares fit of scores with a normal prior, weighted by deals. In fact
tau^2 K takes the place of tau^2, where K has larger entries for bots that are far from the rest
(``arena.results.strength.tails``), and relates the versions of a bot, and bots that arrived at about the same
time (``arena.results.strength.versions``).

v and s^2 come from the deals within matches, g^2 from how much more the scores of matches differ than deals
and strengths explain, and tau^2 is integrated out over a grid, with a uniform prior. Duplicate scores, and
what bots made of their cards, vary less than points, and have an s^2 of their own; all else is shared.

Deals that a bot forfeited count for it alone, and after the fit (``arena.results.strength.forfeits``).

``python -m benchmarks.coverage`` shows how often the intervals hold.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from arena.core.ranking import ScoreKind
from arena.results.strength.counts import ENOUGH, Array, Counts, Kind, Posterior, bots_of, groups_of
from arena.results.strength.equations import Graph, Matrices
from arena.results.strength.forfeits import Placed, with_forfeits
from arena.results.strength.tails import widened
from arena.results.strength.variances import weigh
from arena.results.strength.versions import Lineages

TYPICAL_GAIN = 0.08
"""g / s to expect before anything is known of it; mixtures of the sample bots have about 0.06."""
ROUNDS = 8
"""How often s^2 and the strengths are estimated in turn if deals within matches are too few."""
LEAST_SHARE, LEAST_VARIANCE = 1e-6, 1e-12
"""s^2 is at least this share of the total variance of points, and always positive."""
DENSE = 1200
"""In larger pools, covariances are left out, and equations solved by iteration."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The strengths of a pool's bots, in points a deal."""

    bots: tuple[int, ...]
    strengths: Array
    """By bot, relative to the mean of its group in the deals that all played; see ``strength.forfeits``."""
    variances: Array
    """By bot."""
    covariances: Array | None
    """Of the strengths; None in large pools, where they are negligible."""
    noise: Array
    """By bot, how much its scores vary, as a multiple of what they would if all bots varied alike."""
    groups: tuple[int, ...]
    """By bot: those that never met, not even indirectly, cannot be compared."""
    deviation: float
    """Standard deviation s of a bot's points in one deal; of duplicate scores if there are no others."""
    made_deviation: float | None
    """That of what a bot made of its cards; None if that counts nowhere."""
    spread: float
    """Standard deviation tau of the strengths."""
    gain: float
    """Standard deviation g of what one bot gains from another beyond their strengths."""

    def variance_between(self, one: int, other: int) -> float:
        """Return the variance of the difference of two bots, which are given by their places in ``bots``."""
        both = float(self.variances[one] + self.variances[other])
        return both if self.covariances is None else max(0.0, both - 2 * float(self.covariances[one, other]))


class System(Protocol):
    """The equations of a pool, for given variances of its kinds of deals."""

    def spread(self) -> float:
        """Return tau^2 as if bots were transitive."""
        ...

    def least_squares(self, spread: float) -> tuple[Array, float]:
        """Return the strengths as if bots were transitive, and how many degrees of freedom they take."""
        ...

    def absorbed(self, spread: float) -> float:
        """Return how much of the squares of gains, each of variance 1, these strengths would absorb."""
        ...

    def posterior(self, gain: float, groups: NDArray[np.intp]) -> Posterior:
        """Return the strengths against the whole field; ``gain`` is g^2."""
        ...


def fit_counts(kinds: Sequence[Counts], lines: Sequence[Sequence[int]] = ()) -> Fit | None:
    """Return the strengths that follow from some sums, of one pool; None if nothing was played.

    ``lines`` are the versions of each bot, oldest first (``arena.results.strength.versions``).
    """
    bots = bots_of(kinds).tolist()
    if not bots:
        return None
    played = [Kind.of(sums, bots) for sums in kinds if sums.matches]
    groups = groups_of(len(bots), [(kind.firsts, kind.seconds) for kind in played])
    related = Lineages(bots, lines)

    def system(kinds: Sequence[Kind]) -> System:
        return Matrices(kinds, related) if len(bots) <= DENSE else Graph(kinds, related)

    variance, posterior, noise = _posterior(played, system, groups)
    variances = dict.fromkeys(ScoreKind, variance) | {kind.sums.kind: kind.variance for kind in played}
    fitted = Placed(bots, posterior, groups, noise)
    bots, posterior, groups, noise = with_forfeits(fitted, kinds, variances, related)
    return Fit(
        bots=tuple(bots),
        strengths=posterior.strengths,
        variances=posterior.variances,
        covariances=posterior.covariances,
        noise=noise,
        groups=tuple(groups.tolist()),
        deviation=math.sqrt(variance),
        made_deviation=next(
            (kind.variance**0.5 for kind in played if kind.sums.kind is ScoreKind.MADE), None
        ),
        spread=math.sqrt(posterior.spread),
        gain=math.sqrt(posterior.gain),
    )


def _posterior(
    kinds: Sequence[Kind], make: Callable[[Sequence[Kind]], System], groups: NDArray[np.intp]
) -> tuple[float, Posterior, Array]:
    """Return s^2 of points, or of duplicate scores if there are no others, strengths, and ``Fit.noise``."""
    of_points = [kind for kind in kinds if kind.sums.kind is not ScoreKind.DUPLICATE]
    others = [kind for kind in kinds if kind.sums.kind is ScoreKind.DUPLICATE]
    sources = [source for source in (of_points, others) if source]
    for source in sources:
        _set_variances(source, None, 0.0)
    few = [source for source in sources if _are_few(source)]
    vary, system = weigh(kinds), make(kinds)
    spread = system.spread()
    strengths, freedom = system.least_squares(spread)
    for _ in range(ROUNDS if few else 0):
        share = freedom / sum(kind.sums.between_freedom for kind in kinds)
        for source in few:
            _set_variances(source, strengths, share)
        vary, system = weigh(kinds), make(kinds)
        spread = system.spread()
        strengths, freedom = system.least_squares(spread)
    variance = kinds[0].raw_variance
    gain = _gain(kinds, vary.of_scores(), strengths, freedom, system.absorbed(spread))
    posterior = system.posterior(gain, groups)
    return variance, _with_tails(posterior, vary.freedom), vary.of_scores()


def _with_tails(posterior: Posterior, freedom: Array) -> Posterior:
    """Widen the errors, of which 1.96 are to be 95 % intervals."""
    wider = widened(posterior.variances, posterior.prior, freedom)
    covariances = posterior.covariances
    return replace(
        posterior,
        variances=posterior.variances * wider**2,
        covariances=None if covariances is None else covariances * np.outer(wider, wider),
    )


def _are_few(source: Sequence[Kind]) -> bool:
    """Return whether deals within matches are too few to estimate all s^2 from these alone."""
    made = [kind for kind in source if kind.sums.kind is ScoreKind.MADE]
    return any(sum(kind.sums.within_freedom for kind in some) < ENOUGH for some in (source, made) if some)


def _set_variances(source: Sequence[Kind], strengths: Array | None, share: float) -> None:
    """Estimate s^2 of kinds whose raw scores are the same, and for what was made of cards its part of that.

    ``share`` is how much of the freedom between matches the strengths take, if there are any yet.
    """
    sums = [kind.sums for kind in source]
    explained = [0.0 if strengths is None else kind.explained(strengths) for kind in source]
    within = sum(each.points_within for each in sums)
    between = sum(each.points_between for each in sums)
    free = float(sum(each.within_freedom for each in sums))
    free_between = sum(each.between_freedom for each in sums)
    least = LEAST_SHARE * (within + between) / (free + free_between)
    if free < ENOUGH:  # matches of one deal, or few
        within += max(0.0, between - sum(explained))
        free += max(1.0, free_between * (1 - share))
    for kind, of_strengths in zip(source, explained, strict=True):
        kind.raw_variance = max(within / free, least, LEAST_VARIANCE)
        left = _left(kind.sums, of_strengths) if kind.sums.kind is ScoreKind.MADE else 1.0
        kind.variance = max(kind.raw_variance * left, least, LEAST_VARIANCE)


def _left(made: Counts, explained: float) -> float:
    """Return the share of s^2 that is left by what was expected from the cards."""
    within, raw = made.within, made.raw_within
    if made.within_freedom < ENOUGH:
        within += max(0.0, made.between - explained)
        raw += max(0.0, made.raw_between - explained)
    return within / raw if raw else 1.0


def _gain(kinds: Sequence[Kind], vary: Array, strengths: Array, freedom: float, absorbed: float) -> float:
    """Return g^2: what strengths and deals leave unexplained of matches, shrunk towards the typical value.

    ``vary`` is by bot the variance of its scores, as a multiple of what it is if all bots vary alike.
    """
    left = free = squares = weight = noise = 0.0
    for kind in kinds:
        sums = kind.sums
        if sums.within_freedom < ENOUGH:
            continue
        left += (sums.between - kind.explained(strengths)) / kind.variance
        share = (sums.size - 1) / sums.size
        free += share * float(kind.matches @ vary)
        squares += share * float(kind.matches @ vary**2)
        weight += (sums.size - 1) * sums.deals / (sums.size * kind.variance)
        noise = max(noise, sums.between_freedom / sums.within_freedom)
    expected = TYPICAL_GAIN**2 * kinds[0].raw_variance
    if not free:
        return expected
    free = max(1.0, free - freedom)
    weight = max(weight - absorbed, weight / 50)
    gain, error = (left - free) / weight, 2 * squares * (1 + noise) / weight**2
    doubt = (2 * expected) ** 2
    return max(expected / 16, (gain / error + expected / doubt) / (1 / error + 1 / doubt))

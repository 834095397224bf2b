"""How often a bot finishes a deal with more points than another one of its group, a tie counting half.

Each pair of bots at a table is a result, and the chance that bot a finishes ahead of bot o is taken to be
1 / (1 + exp(b_o - b_a)). This Bradley-Terry model is fitted to all pairs of all deals as if they were
independent (a composite likelihood, arXiv 2306.02821), with half a win and half a loss against a ghost of
b = 0, which keep all b finite. That they are not independent is allowed for in the errors. The k bots of a
table have k (k - 1) / 2 results but one order, by which sums of results vary (k + 1) / 3 times as much; and
all matches of a pair share what one gains from the other (``arena.results.strength.fit``). With H the matrix
of second derivatives and J the covariance of the first ones, the covariance of b is H^-1 J H^-1.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arena.results.strength.counts import Array, Counts, Places
from arena.results.strength.fit import DENSE, Fit

TWO_SIDED = 1.96
"""Standard errors of a 95 % interval."""
STEPS, CLOSE = 50, 1e-6
"""The most steps of Newton's method, and the size of a step at which it ends."""
LONGEST = 2.0
"""The longest step."""
ROUNDS, NEAR = 100, 1e-3
"""How long each step is refined in large pools, and the relative residual at which that ends."""
SLOPE = 4 / math.sqrt(4 * math.pi)
"""How much b differs for a difference of one standard deviation of points in a deal, for even bots."""
GRID = 512
"""Places at which chances are computed in large pools; those between are interpolated."""


class Ahead(NamedTuple):
    """How often a bot finishes ahead of the others, and the 95 % interval of that; from 0 to 1."""

    share: float
    low: float
    high: float


class Results(NamedTuple):
    """The results of all pairs of bots that met."""

    firsts: Places
    seconds: Places
    deals: Array
    wins: Array
    """Deals in which the first one finished ahead, a tie counting half."""
    dependence: float
    """Variance of a bot's results in a deal, as a multiple of that of independent results without ties."""


def finishing_ahead(kinds: Sequence[Counts], fit: Fit) -> list[Ahead] | None:
    """Return how often each bot of a fit finishes ahead; None if that is known for no deal."""
    results = _results(kinds, fit)
    if results is None:
        return None
    abilities = abilities_of(results, len(fit.bots))
    groups = np.array(fit.groups)
    gain = SLOPE * fit.gain / fit.deviation
    dense = len(fit.bots) <= DENSE
    shares, errors = (_exactly if dense else _nearly)(results, abilities, groups, gain)
    shares, errors = _with_forfeits(kinds, fit, results, abilities, shares, errors)
    return [_interval(float(share), float(error)) for share, error in zip(shares, errors, strict=True)]


def _results(kinds: Sequence[Counts], fit: Fit) -> Results | None:
    met = np.concatenate([kind.meetings for kind in kinds])
    size = kinds[0].size
    deals, decided = float(met["deals"].sum()), float(met["ahead"].sum() + met["behind"].sum())
    if not decided:
        return None
    return Results(
        np.searchsorted(fit.bots, met["one"]),
        np.searchsorted(fit.bots, met["other"]),
        met["deals"].astype(np.float64),
        (met["deals"] + met["ahead"] - met["behind"]) / 2,
        (size + 1) / 3 * decided / deals,
    )


# Abilities


def abilities_of(results: Results, count: int) -> Array:
    """Return b for each of ``count`` bots."""
    abilities = np.zeros(count)
    for _ in range(STEPS):
        chances = _chance(abilities[results.firsts] - abilities[results.seconds])
        ghost = _chance(abilities)
        excess = results.wins - results.deals * chances
        slope = _sums(results, excess, -excess, count) + 0.5 - ghost
        weights = results.deals * chances * (1 - chances)
        step = np.clip(_solve(results, weights, ghost * (1 - ghost), slope), -LONGEST, LONGEST)
        abilities += step
        if float(np.abs(step).max()) < CLOSE:
            break
    return abilities


def _chance(differences: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-differences)))


def _sums(results: Results, ones: Array, others: Array, count: int) -> Array:
    """Return by bot the sum of ``ones`` where it is the first of a pair and ``others`` where it is second."""
    first = np.bincount(results.firsts, ones, count)
    return np.asarray(first + np.bincount(results.seconds, others, count), dtype=np.float64)


def _solve(results: Results, weights: Array, ghost: Array, right: Array) -> Array:
    """Return H^-1 times ``right``."""
    count = len(right)
    if count <= DENSE:
        return np.asarray(np.linalg.solve(_laplacian(results, weights, count) + np.diag(ghost), right))
    diagonal = _sums(results, weights, weights, count) + ghost
    solution, left = np.zeros(count), right.copy()
    scaled = left / diagonal
    way, size = scaled, float(left @ scaled)
    goal = NEAR * math.sqrt(float(left @ left))
    for _ in range(ROUNDS):
        if math.sqrt(float(left @ left)) <= goal:
            break
        met = _sums(results, weights * way[results.seconds], weights * way[results.firsts], count)
        image = diagonal * way - met
        length = size / float(way @ image)
        solution, left = solution + length * way, left - length * image
        scaled = left / diagonal
        size, before = float(left @ scaled), size
        way = scaled + size / before * way
    return solution


def _matrix(results: Results, values: Array, count: int) -> Array:
    matrix = np.zeros((count, count))
    np.add.at(matrix, (results.firsts, results.seconds), values)
    return matrix + matrix.T


def _laplacian(results: Results, weights: Array, count: int) -> Array:
    return _of_weights(_matrix(results, weights, count))


def _of_weights(weights: Array) -> Array:
    return np.diag(weights.sum(axis=0)) - weights


# Shares


def _exactly(results: Results, abilities: Array, groups: Places, gain: float) -> tuple[Array, Array]:
    """Return how often each bot finishes ahead of the others of its group, and the standard errors."""
    count = len(abilities)
    others = (groups[:, None] == groups[None, :]) & ~np.eye(count, dtype=np.bool_)
    field = np.maximum(others.sum(axis=1), 1)[:, None]
    chances = _chance(abilities[:, None] - abilities[None, :])
    varied = chances * (1 - chances)
    shares = (others * chances).sum(axis=1) / field[:, 0]
    toward = others * varied / field  # how the shares follow from differences of abilities
    met = _matrix(results, results.deals, count) * varied
    ghost = np.diag(np.diag(_chance(np.diag(abilities)) * (1 - _chance(np.diag(abilities)))))
    noise = results.dependence * _of_weights(met) + ghost
    follows = np.linalg.solve(_of_weights(met) + ghost, np.diag(toward.sum(axis=1)) - toward.T).T
    variances = np.einsum("ij,jk,ik->i", follows, noise, follows)
    variances += gain**2 * np.einsum("ij,jk,ik->i", follows, _of_weights(met**2), follows)
    shared = met * toward
    own = np.diag(follows)
    variances += gain**2 * (
        (toward**2).sum(axis=1) - 2 * (own * shared.sum(axis=1) - (shared * follows).sum(axis=1))
    )
    return shares, np.sqrt(np.clip(variances, 0.0, None))


def _nearly(results: Results, abilities: Array, groups: Places, gain: float) -> tuple[Array, Array]:
    """Return the same for large pools, in which the errors of different bots are nearly independent."""
    count = len(abilities)
    shares, toward, sizes = np.zeros(count), np.zeros(count), np.bincount(groups)[groups]
    for group in range(int(groups.max()) + 1):
        members = abilities[groups == group]
        grid = np.linspace(members.min(), members.max(), GRID)
        chances = _chance(grid[:, None] - members[None, :])
        shares[groups == group] = np.interp(members, grid, chances.sum(axis=1)) - 0.5
        toward[groups == group] = np.interp(members, grid, (chances * (1 - chances)).sum(axis=1)) - 0.25
    field = np.maximum(sizes - 1, 1)
    shares, toward = shares / field, toward / field
    ahead = _chance(abilities[results.firsts] - abilities[results.seconds])
    weights = results.deals * ahead * (1 - ahead)
    met, twice = _sums(results, weights, weights, count), _sums(results, weights**2, weights**2, count)
    ghost = _chance(abilities) * (1 - _chance(abilities))
    follows = toward / (met + ghost)
    noise = follows**2 * (results.dependence * met + ghost + gain**2 * twice)
    return shares, np.sqrt(noise)


def _with_forfeits(
    kinds: Sequence[Counts], fit: Fit, results: Results, abilities: Array, shares: Array, errors: Array
) -> tuple[Array, Array]:
    """Return shares and errors with the deals that bots forfeited, which count for these alone.

    By as much as such a bot finished ahead less often in them than it does of the same bots otherwise, its
    share is lower, each deal weighing the same.
    """
    left = np.concatenate([kind.left for kind in kinds])
    left = left[np.isin(left["one"], fit.bots) & np.isin(left["other"], fit.bots)]
    own, others = (np.searchsorted(fit.bots, left[name]) for name in ("one", "other"))
    pairs, count = left["deals"].astype(np.float64), len(fit.bots)
    forfeited = np.bincount(own, pairs, count)
    gone = np.flatnonzero(forfeited)
    if not len(gone):
        return shares, errors
    each = forfeited[gone]
    won = np.bincount(own, (left["deals"] + left["ahead"] - left["behind"]) / 2, count)[gone] / each
    due = np.bincount(own, pairs * _chance(abilities[own] - abilities[others]), count)[gone] / each
    weight = each / (each + _sums(results, results.deals, results.deals, count)[gone])
    shares, errors = shares.copy(), errors.copy()
    fewer = shares[gone] * (1 - weight + weight * won / due)
    more = 1 - (1 - shares[gone]) * (1 - weight + weight * (1 - won) / (1 - due))
    least = 0.5 / (each + 1)  # half a win against a ghost
    shares[gone] = np.clip(np.where(won < due, fewer, more), least, 1 - least)
    noise = results.dependence * due * (1 - due) / each
    errors[gone] = np.sqrt(((1 - weight) * errors[gone]) ** 2 + weight**2 * noise)
    return shares, errors


def _interval(share: float, error: float) -> Ahead:
    """Return a share with its interval, which is even on the logistic scale."""
    if not 0 < share < 1:  # a bot alone
        return Ahead(0.5, 0.0, 1.0)
    middle = math.log(share / (1 - share))
    off = TWO_SIDED * error / (share * (1 - share))
    return Ahead(share, 1 / (1 + math.exp(off - middle)), 1 / (1 + math.exp(-off - middle)))

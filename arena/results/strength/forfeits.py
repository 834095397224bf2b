"""Deals that a bot forfeited: they count for it alone, as they stand, once the others are fitted.

Whoever may leave chooses which deals all play to the end, so that these alone would flatter it. For the other
bots they are right: a bot that leaves is to them the bot it is as long as it stays. So the fit has the deals
that all played, and gives u; then the strength of a bot that left becomes

    theta = (1 - w) u + w f,    f = mean over its forfeited deals of (its lead over the others + their mean u)

with w the weight of these deals among all of its own, each deal weighing 1 / s^2. Nobody else's strength
changes, but that of other versions of the same bot: they follow as if these deals were ordinary ones of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.core.ranking import ScoreKind
from arena.results.strength.counts import Array, Counts, Places, Posterior
from arena.results.strength.versions import Lineages, walk


class Placed(NamedTuple):
    """The bots of a pool with their strengths."""

    bots: Sequence[int]
    posterior: Posterior
    groups: Places
    noise: Array
    """See ``Fit``."""


class _Left(NamedTuple):
    """Forfeited deals, by bot that forfeited and other one, and their sums by bot."""

    bots: Places
    """The places of the bots that forfeited."""
    others: Places
    weights: Array
    """Deals over s^2 and over the number of others at the table."""
    forfeited: Array
    """By bot, the sums of the weights."""
    means: Array
    """By bot, f; 0 if it forfeited none."""


def with_forfeits(
    fitted: Placed, kinds: Sequence[Counts], variances: Mapping[ScoreKind, float], lines: Lineages
) -> Placed:
    """Return the strengths with the deals that bots forfeited.

    ``fitted`` are those by the deals that all played, ``variances`` s^2 by kind. A bot that never played a
    deal to the end joins the group of a bot that it met; without any that did, it has no strength.
    """
    rows = np.concatenate([kind.left for kind in kinds])
    if not np.isin(rows["other"], fitted.bots).any():
        return fitted
    placed = _joined(fitted, rows)
    left, clean = _left(placed, fitted.bots, kinds, variances), np.zeros(len(placed.bots))
    for kind in kinds:
        at = np.searchsorted(placed.bots, kind.scores["bot"])
        clean[at] += kind.scores["deals"] / variances[kind.kind]
    whole = kinds[0].size / (kinds[0].size - 1) * placed.noise
    inherited = _inherited(
        lines, placed, fitted.bots, clean / whole, left._replace(forfeited=left.forfeited / whole)
    )
    own = left.forfeited > 0
    each = np.where(own, left.forfeited, 1.0)
    share = left.forfeited / np.where(own, left.forfeited + clean, 1.0)
    before = placed.posterior
    strengths = np.where(own, (1 - share) * before.strengths + share * left.means, inherited)
    posterior = replace(before, strengths=strengths)
    pulls = left.weights * (share / each)[left.bots]
    return placed._replace(posterior=_varied(posterior, left, pulls, 1 - share, share**2 * whole / each))


def _joined(fitted: Placed, rows: NDArray[np.void]) -> Placed:
    """Add the bots that never played a deal to the end, with strength and variance 0."""
    met = rows[np.isin(rows["other"], fitted.bots)]
    new, first = np.unique(met["one"], return_index=True)
    is_new = ~np.isin(new, fitted.bots)
    new, others = new[is_new], met["other"][first[is_new]]
    at, posterior = np.searchsorted(fitted.bots, new), fitted.posterior
    covariances = posterior.covariances
    if covariances is not None:
        covariances = np.insert(np.insert(covariances, at, 0.0, axis=0), at, 0.0, axis=1)
    return Placed(
        np.insert(np.array(fitted.bots), at, new).tolist(),
        replace(
            posterior,
            strengths=np.insert(posterior.strengths, at, 0.0),
            prior=np.insert(posterior.prior, at, posterior.spread),
            variances=np.insert(posterior.variances, at, 0.0),
            covariances=covariances,
        ),
        np.insert(fitted.groups, at, fitted.groups[np.searchsorted(fitted.bots, others)]),
        np.insert(fitted.noise, at, 1.0),
    )


def _left(
    placed: Placed, fitted: Sequence[int], kinds: Sequence[Counts], variances: Mapping[ScoreKind, float]
) -> _Left:
    """Return the forfeited deals with bots that also played deals to the end, whose strengths are fitted."""
    parts = [kind.left[np.isin(kind.left["other"], fitted)] for kind in kinds]
    units = [np.full(len(part), variances[kind.kind]) for kind, part in zip(kinds, parts, strict=True)]
    rows, unit = np.concatenate(parts), np.concatenate(units) * (kinds[0].size - 1)
    bots, others = (np.searchsorted(placed.bots, rows[name]) for name in ("one", "other"))
    weights, leads, count = rows["deals"] / unit, rows["score"] / unit, len(placed.bots)
    forfeited = np.asarray(np.bincount(bots, weights, count), dtype=np.float64)
    sums = np.bincount(bots, leads + weights * placed.posterior.strengths[others], count)
    return _Left(bots, others, weights, forfeited, sums / np.where(forfeited > 0, forfeited, 1.0))


def _varied(posterior: Posterior, left: _Left, pulls: Array, keeps: Array, noise: Array) -> Posterior:
    """Return strengths with their variances: what is kept of u, and how others' u pull at f."""
    if posterior.covariances is None:
        others = np.bincount(left.bots, pulls**2 * posterior.variances[left.others], len(keeps))
        return replace(posterior, variances=keeps**2 * posterior.variances + others + noise)
    own = np.unique(left.bots)
    rows = np.zeros((len(own), len(keeps)))
    np.add.at(rows, (np.searchsorted(own, left.bots), left.others), pulls)
    rows[np.arange(len(own)), own] += keeps[own]
    shared = rows @ posterior.covariances
    covariances = posterior.covariances.copy()
    covariances[own] = shared
    covariances[:, own] = shared.T
    covariances[np.ix_(own, own)] = shared @ rows.T + np.diag(noise[own])
    return replace(posterior, variances=np.clip(np.diag(covariances), 0.0, None), covariances=covariances)


def _inherited(lines: Lineages, placed: Placed, fitted: Sequence[int], clean: Array, left: _Left) -> Array:
    """Return the strengths, with those of other versions of the bots that left.

    ``clean`` and ``left.forfeited`` are by how much the deals of each kind narrow a bot's strength.
    """
    posterior = placed.posterior
    strengths = posterior.strengths.copy()
    places = np.searchsorted(placed.bots, fitted)
    for line in (places[line] for block in lines.blocks for line in block):
        forfeited = left.forfeited[line]
        if forfeited.any():
            prior = np.linalg.inv(posterior.prior[line[0]] * walk(len(line), posterior.step))
            narrowed = prior + np.diag(clean[line])
            total = narrowed @ strengths[line] + forfeited * left.means[line]
            strengths[line] = np.linalg.solve(narrowed + np.diag(forfeited), total)
    return strengths

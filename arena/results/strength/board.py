"""The board of a pool: all that it says of each bot, from the fit of its strengths."""

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np

from arena.core.boards import BoardStrength
from arena.results.strength.ahead import Ahead, finishing_ahead
from arena.results.strength.counts import Counts
from arena.results.strength.fit import Fit
from arena.results.strength.ranges import Stood, above_anchor, parting, places, shifts
from arena.results.strength.scale import ENOUGH, figures


def board_rows(
    fit: Fit, kinds: Sequence[Counts], baselines: Set[int], before: Mapping[int, Stood]
) -> Iterator[dict[str, Any]]:
    """Yield a row for each bot of a fit to these sums, by the names of the columns of ``Strength``.

    ``before`` is how bots stood in the fit before; it only changes ``shift``.
    """
    deals = np.zeros(fit.bots[-1] + 1)
    for kind in kinds:
        deals[kind.scores["bot"]] += kind.scores["deals"]
        fitted = kind.left[kind.left["one"] <= fit.bots[-1]]
        np.add.at(deals, fitted["one"], fitted["deals"] / (kind.size - 1))
    shares = finishing_ahead(kinds, fit)
    ahead: Sequence[Ahead | None] = [None] * len(fit.bots) if shares is None else shares
    settled = set(np.flatnonzero(deals >= ENOUGH).tolist())
    ranks = places(fit)
    parts = parting(fit, ranks, kinds[0].size)
    anchored = above_anchor(fit, baselines, settled)
    standing = zip(ranks, anchored, shifts(fit, anchored, before), ahead, parts, strict=True)
    for at, (place, above, shift, often, after) in enumerate(standing):
        bot = fit.bots[at]
        yield {
            "version_id": bot,
            "value": float(fit.strengths[at]),
            "error": math.sqrt(float(fit.variances[at])),
            "above": above.value,
            "above_error": above.error,
            "anchored": above.anchored,
            "shift": shift,
            "ahead": None if often is None else often.share,
            "ahead_low": None if often is None else often.low,
            "ahead_high": None if often is None else often.high,
            "deals": round(deals[bot]),
            "group_number": fit.groups[at] + 1,
            "rank": place.rank,
            "best": place.best,
            "worst": place.worst,
            "parts_after": after,
            "tier": place.tier,
        }


def board_strength(row: Mapping[str, Any], deviation: float) -> BoardStrength:
    """Return what a board's file says of a bot with this row; ``deviation`` is that of the fit."""
    figure, low, high = figures(row["above"], row["above_error"], deviation)
    own = {"figure": figure, "figure_low": low, "figure_high": high, "group": row["group_number"]}
    names = BoardStrength.__dataclass_fields__.keys() - own.keys()
    return BoardStrength(**own, **{name: row[name] for name in names})

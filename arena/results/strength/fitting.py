"""Fitting strengths anew when a pool's sums have changed, and storing them."""

import json
import math
import time
import zlib
from collections.abc import Iterator, Sequence, Set
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from sqlalchemy import delete, insert, update
from sqlmodel import col

from arena.results.strength.ahead import Ahead, finishing_ahead
from arena.results.strength.anchor import above_anchor
from arena.results.strength.counts import Counts
from arena.results.strength.fit import Fit, fit_counts
from arena.results.strength.history import forget_between, tell
from arena.results.strength.loading import counts_of
from arena.results.strength.pools import Pool, baselines_in, latest_fits, lines_in, unfitted
from arena.results.strength.ranges import places
from arena.results.strength.scale import ENOUGH
from arena.store.models import Strength, StrengthFit, StrengthSums
from arena.store.storage import Storage, Transaction, changed

SHARE = 20
"""After a fit, a pool rests for at least this many times as long as the fit took."""


def fit_due(storage: Storage, now: datetime) -> int:
    """Fit the pools whose sums or baselines have changed, but not those fitted just now; return how many."""
    with storage.read() as tx:
        due = [pool for pool, latest in unfitted(tx) if latest is None or _has_rested(latest, now)]
    for pool in due:
        fit_pool(storage, pool, now)
    return len(due)


def _has_rested(latest: StrengthFit, now: datetime) -> bool:
    return abs(now - latest.fitted_at) >= timedelta(seconds=SHARE * latest.seconds)


def fit_pool(storage: Storage, pool: Pool, now: datetime) -> None:
    """Fit a pool and store the result, unless a fit of as much has been stored in the meantime."""
    begun = time.monotonic()
    with storage.read() as tx:
        kinds = counts_of(tx, pool)
        baselines, lines = baselines_in(tx).get(pool, []), lines_in(tx, pool)
    found = fit_counts(kinds, lines)
    if found is None:
        return
    rows = [pool._asdict() | row for row in _rows(found, kinds, set(baselines))]
    kept = StrengthFit(
        **pool._asdict(),
        matches=sum(sums.matches for sums in kinds),
        deals=sum(sums.deals for sums in kinds),
        deviation=found.deviation,
        spread=found.spread,
        gain=found.gain,
        baselines=baselines,
        seconds=time.monotonic() - begun,
        fitted_at=now,
        lines=_compressed(rows),
    )
    with storage.write() as tx:
        sums = update(StrengthSums).where(col(StrengthSums.ruleset_id) == pool.ruleset_id)
        changed(tx, sums.values(matches=StrengthSums.matches))  # only one at a time gets past here
        _keep(tx, pool, kept, rows)


def _keep(tx: Transaction, pool: Pool, kept: StrengthFit, rows: Sequence[dict[str, Any]]) -> None:
    """Store a fit and its strengths, unless the latest stored one covers as much."""
    latest = latest_fits(tx).get(pool)
    if latest is not None and latest.matches >= kept.matches:
        if latest.matches > kept.matches or latest.baselines == kept.baselines:
            return
        tx.delete(latest)  # the baselines have changed
        tx.flush()
    tell(tx, rows, kept.fitted_at, kept.deviation)
    of_pool = (col(Strength.ruleset_id) == pool.ruleset_id, col(Strength.table_size) == pool.table_size)
    tx.connection().execute(delete(Strength).where(*of_pool))
    tx.connection().execute(insert(Strength), rows)
    forget_between(tx, pool, kept.fitted_at)
    tx.add(kept)


def _rows(found: Fit, kinds: Sequence[Counts], baselines: Set[int]) -> Iterator[dict[str, Any]]:
    """Yield a row for each bot."""
    deals = np.zeros(found.bots[-1] + 1)
    for kind in kinds:
        deals[kind.scores["bot"]] += kind.scores["deals"]
    known = finishing_ahead(kinds, found)
    ahead: Sequence[Ahead | None] = [None] * len(found.bots) if known is None else known
    settled = set(np.flatnonzero(deals >= ENOUGH).tolist())
    standing = zip(places(found), above_anchor(found, baselines, settled), ahead, strict=True)
    for at, (place, above, often) in enumerate(standing):
        bot = found.bots[at]
        yield {
            "version_id": bot,
            "value": float(found.strengths[at]),
            "error": math.sqrt(float(found.variances[at])),
            "above": above.value,
            "above_error": above.error,
            "anchored": above.anchored,
            "ahead": None if often is None else often.share,
            "ahead_low": None if often is None else often.low,
            "ahead_high": None if often is None else often.high,
            "deals": int(deals[bot]),
            "group_number": found.groups[at] + 1,
            "rank": place.rank,
            "best": place.best,
            "worst": place.worst,
            "tier": place.tier,
        }


def _compressed(rows: Sequence[dict[str, Any]]) -> bytes:
    lines = [[row["version_id"], round(row["value"], 4), round(row["error"], 4)] for row in rows]
    return zlib.compress(json.dumps(lines, separators=(",", ":")).encode())

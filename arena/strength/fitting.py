"""Strengths are fitted anew when a pool's sums have changed, and kept."""

import json
import math
import time
import zlib
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, insert, update
from sqlmodel import col

from arena.models import Strength, StrengthFit, StrengthSums
from arena.storage import Storage, changed
from arena.strength.fit import Fit, fit
from arena.strength.history import forget_between, tell
from arena.strength.keeping import sums_of
from arena.strength.kept import Pool, latest_fits, matches_of
from arena.strength.ranges import places
from arena.strength.sums import Sums

SHARE = 20
"""After a fit, a pool has its next one no sooner than so many times later as the fit took."""


def fit_due(storage: Storage, now: datetime) -> int:
    """Fit all pools whose sums have changed, unless they were fitted just now; return how many."""
    with storage.read() as tx:
        latest = latest_fits(tx)
        due = [pool for pool, matches in matches_of(tx) if _is_due(latest.get(pool), matches, now)]
    for pool in due:
        fit_pool(storage, pool, now)
    return len(due)


def _is_due(latest: StrengthFit | None, matches: int, now: datetime) -> bool:
    if latest is None:
        return True
    rested = abs(now - latest.fitted_at) >= timedelta(seconds=SHARE * latest.seconds)
    return latest.matches != matches and rested


def fit_pool(storage: Storage, pool: Pool, now: datetime) -> None:
    """Fit a pool, and keep what comes of it, unless somebody else has kept as much meanwhile."""
    begun = time.monotonic()
    with storage.read() as tx:
        kinds = sums_of(tx, *pool)
    found = fit(kinds)
    if found is None:
        return
    rows = [pool._asdict() | row for row in _rows(found, kinds)]
    matches = sum(sums.matches for sums in kinds)
    kept = StrengthFit(
        **pool._asdict(),
        matches=matches,
        deals=sum(sums.deals for sums in kinds),
        deviation=found.deviation,
        spread=found.spread,
        gain=found.gain,
        seconds=time.monotonic() - begun,
        fitted_at=now,
        lines=_compressed(rows),
    )
    with storage.write() as tx:
        sums = update(StrengthSums).where(col(StrengthSums.ruleset_id) == pool.ruleset_id)
        changed(tx, sums.values(matches=StrengthSums.matches))  # only one at a time gets past here
        latest = latest_fits(tx).get(pool)
        if latest is None or latest.matches < matches:
            of_it = (
                col(Strength.ruleset_id) == pool.ruleset_id,
                col(Strength.table_size) == pool.table_size,
            )
            tell(tx, rows, now, found.deviation)
            tx.connection().execute(delete(Strength).where(*of_it))
            tx.connection().execute(insert(Strength), rows)
            forget_between(tx, pool, now)
            tx.add(kept)


def _rows(found: Fit, kinds: Sequence[Sums]) -> Iterator[dict[str, Any]]:
    """Yield a row for each bot."""
    of_them = zip(found.bots, found.strengths, found.variances, found.groups, places(found), strict=True)
    for bot, strength, variance, group, place in of_them:
        yield {
            "version_id": bot,
            "value": float(strength),
            "error": math.sqrt(float(variance)),
            "deals": sum(sums.bot_deals.get(bot, 0) for sums in kinds),
            "group_number": group,
            "rank": place.rank,
            "best": place.best,
            "worst": place.worst,
            "tier": place.tier,
        }


def _compressed(rows: Sequence[dict[str, Any]]) -> bytes:
    lines = [[row["version_id"], round(row["value"], 4), round(row["error"], 4)] for row in rows]
    return zlib.compress(json.dumps(lines, separators=(",", ":")).encode())

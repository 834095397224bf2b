"""Fitting strengths anew when a pool's sums have changed, and storing them.

A pool in continuous play is fitted every minute or so, for years. What is stored grows with the logarithm of
the matches, as knowledge of the strengths does: a snapshot of the pool when it has one per cent more matches
than the one before, and the last one of each day; a point of a bot's history when its strength has changed
since the last point.
"""

import json
import time
import zlib
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from sqlalchemy import Executable, delete, insert, update
from sqlalchemy import select as select_columns
from sqlmodel import col, select

from arena.core.ranking import ScoreKind
from arena.results.strength.board import board_rows
from arena.results.strength.counts import MEETING, SCORE, Counts
from arena.results.strength.fit import fit_counts
from arena.results.strength.pools import Pool, Summed, baselines_in, latest_fits, lines_in, unfitted
from arena.results.strength.ranges import Stood, pair_errors
from arena.results.strength.scale import ENOUGH
from arena.results.strength.sums import Sums, sum_fields
from arena.store.models import (
    LeftMeeting,
    Meeting,
    Strength,
    StrengthFit,
    StrengthPoint,
    StrengthScore,
    StrengthSums,
)
from arena.store.storage import Storage, Transaction, changed

SHARE = 20
"""After a fit, a pool rests for at least this many times as long as the fit took."""
AT_ONCE = 20_000
"""The most rows in memory at once before they are in arrays."""
GROWTH = 0.01
"""The share by which a pool's matches grow from one stored snapshot to the next."""
MOVED = 0.25
"""A strength has changed if it differs by more than this many of its standard errors …"""
NARROWED = 0.25
"""… or if its standard error is smaller or larger by more than this share."""


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
        before = _stood(tx, pool)
    fit = fit_counts(kinds, lines)
    if fit is None:
        return
    rows = [pool._asdict() | row for row in board_rows(fit, kinds, set(baselines), before)]
    stored = StrengthFit(
        **pool._asdict(),
        matches=sum(sums.matches for sums in kinds),
        made=sum(sums.matches for sums in kinds if sums.kind is ScoreKind.MADE),
        forfeited=sum(sums.forfeited for sums in kinds),
        deals=sum(sums.deals for sums in kinds),
        deviation=fit.deviation,
        made_deviation=fit.made_deviation,
        spread=fit.spread,
        gain=fit.gain,
        baselines=baselines,
        seconds=time.monotonic() - begun,
        fitted_at=now,
        lines=_compressed(rows),
        pair_errors=pair_errors(fit),
    )
    with storage.write() as tx:
        sums = update(StrengthSums).where(col(StrengthSums.ruleset_id) == pool.ruleset_id)
        changed(tx, sums.values(matches=StrengthSums.matches))  # only one at a time gets past here
        _keep(tx, pool, stored, rows)


def _keep(tx: Transaction, pool: Pool, stored: StrengthFit, rows: Sequence[dict[str, Any]]) -> None:
    """Store a fit and its strengths, unless the latest stored one covers as much."""
    latest = latest_fits(tx).get(pool)
    if latest is not None and _covers(latest) >= _covers(stored):
        if _covers(latest) > _covers(stored) or latest.baselines == stored.baselines:
            return
        tx.delete(latest)  # the baselines have changed
        tx.flush()
    of_pool = (col(StrengthFit.ruleset_id) == pool.ruleset_id, col(StrengthFit.table_size) == pool.table_size)
    tx.connection().execute(update(StrengthFit).where(*of_pool).values(pair_errors=None))
    add_to_histories(tx, rows, stored.fitted_at, stored.deviation)
    of_pool = (col(Strength.ruleset_id) == pool.ruleset_id, col(Strength.table_size) == pool.table_size)
    tx.connection().execute(delete(Strength).where(*of_pool))
    tx.connection().execute(insert(Strength), rows)
    forget_between(tx, pool, stored.fitted_at)
    tx.add(stored)


def _covers(fit: StrengthFit) -> Summed:
    """Return the matches and deals of a fit; none of the numbers ever falls."""
    return Summed(fit.matches, fit.made, fit.forfeited)


def _stood(tx: Transaction, pool: Pool) -> dict[int, Stood]:
    """Return how the bots of a pool stood in its latest fit."""
    latest = latest_fits(tx).get(pool)
    baselines = set() if latest is None else set(latest.baselines)
    rows = select(Strength).where(
        Strength.ruleset_id == pool.ruleset_id, Strength.table_size == pool.table_size
    )
    return {
        row.version_id: Stood(
            row.group_number, row.version_id in baselines if row.anchored else row.deals >= ENOUGH, row.shift
        )
        for row in tx.exec(rows)
    }


def _compressed(rows: Sequence[dict[str, Any]]) -> bytes:
    lines = [[row["version_id"], round(row["value"], 4), round(row["error"], 4)] for row in rows]
    return zlib.compress(json.dumps(lines, separators=(",", ":")).encode())


# Reading sums

ORDER = tuple(ScoreKind)


def counts_of(tx: Transaction, pool: Pool) -> list[Counts]:
    """Return the sums of a pool by kind, plain deals first."""
    of_pool = select(StrengthSums).where(
        StrengthSums.ruleset_id == pool.ruleset_id, StrengthSums.table_size == pool.table_size
    )
    return [_counts(tx, row) for row in sorted(tx.exec(of_pool).all(), key=lambda row: ORDER.index(row.kind))]


def _counts(tx: Transaction, row: StrengthSums) -> Counts:
    scores = select_columns(
        *(col(StrengthScore.version_id), col(StrengthScore.matches), col(StrengthScore.deals)),
        *(col(StrengthScore.score), col(StrengthScore.within), col(StrengthScore.between)),
    )
    meetings = select_columns(
        *(col(Meeting.version_id), col(Meeting.other_id)),
        *(col(Meeting.deals), col(Meeting.ahead), col(Meeting.behind), col(Meeting.score)),
    )
    left = select_columns(
        *(col(LeftMeeting.version_id), col(LeftMeeting.other_id), col(LeftMeeting.deals)),
        *(col(LeftMeeting.ahead), col(LeftMeeting.behind), col(LeftMeeting.score)),
    )
    return Counts(
        size=row.table_size,
        kind=row.kind,
        scores=np.fromiter(_stream(tx, scores.where(col(StrengthScore.sums_id) == row.id)), dtype=SCORE),
        meetings=np.fromiter(_stream(tx, meetings.where(col(Meeting.sums_id) == row.id)), dtype=MEETING),
        left=np.fromiter(_stream(tx, left.where(col(LeftMeeting.sums_id) == row.id)), dtype=MEETING),
        **{name: getattr(row, name) for name in sum_fields(Sums)},
    )


def _stream(tx: Transaction, rows: Executable) -> Iterator[tuple[Any, ...]]:
    for row in tx.connection().execute(rows, execution_options={"yield_per": AT_ONCE}):
        yield tuple(row)


# Snapshots


def forget_between(tx: Transaction, pool: Pool, now: datetime) -> None:
    """Delete the latest fit of a pool, before a newer one is stored, unless it is worth keeping."""
    of_pool = (StrengthFit.ruleset_id == pool.ruleset_id, StrengthFit.table_size == pool.table_size)
    newest = select(StrengthFit.id, StrengthFit.matches, StrengthFit.fitted_at).where(*of_pool)
    fits = tx.exec(newest.order_by(col(StrengthFit.id).desc()).limit(2)).all()
    if len(fits) < 2:
        return
    (latest, matches, fitted_at), (_, before, _) = fits
    if matches < (1 + GROWTH) * before and fitted_at.date() == now.date():
        tx.connection().execute(delete(StrengthFit).where(col(StrengthFit.id) == latest))


# Histories


def add_to_histories(
    tx: Transaction, rows: Sequence[dict[str, Any]], fitted_at: datetime, deviation: float
) -> None:
    """Add the changes to the histories of bots; ``rows`` are the new strengths of a pool.

    They get ``last_value`` and ``last_error``; the old strengths are still in the database.
    """
    ends = _ends(tx, Pool(rows[0]["ruleset_id"], rows[0]["table_size"]))
    points = list(_new_points(rows, ends, {"fitted_at": fitted_at, "deviation": deviation}))
    if points:
        tx.connection().execute(insert(StrengthPoint), points)


def _ends(tx: Transaction, pool: Pool) -> dict[int, tuple[float, float]]:
    """Return the value and the error with which the history of each bot of a pool ends."""
    rows = select(Strength.version_id, Strength.last_value, Strength.last_error).where(
        Strength.ruleset_id == pool.ruleset_id, Strength.table_size == pool.table_size
    )
    return {version_id: (value, error) for version_id, value, error in tx.exec(rows)}


def _new_points(
    rows: Sequence[dict[str, Any]], ends: dict[int, tuple[float, float]], fit: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    for row in rows:
        value, error = row["above"] + row["shift"], row["above_error"]
        before = ends.get(row["version_id"])
        if before is None or has_changed(before, (value, error)):
            before = value, error
            names = ("ruleset_id", "table_size", "version_id", "anchored", "deals")
            yield {name: row[name] for name in names} | fit | {"value": value, "error": error}
        row["last_value"], row["last_error"] = before


def has_changed(before: tuple[float, float], now: tuple[float, float]) -> bool:
    """Return whether a strength has changed; both are given with their standard errors."""
    (value, error), (new_value, new_error) = before, now
    return abs(new_value - value) > MOVED * new_error or abs(new_error - error) > NARROWED * error

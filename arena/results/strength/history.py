"""What is stored of fits: snapshots of the whole pool now and then, and a point for each change of a bot.

A pool in continuous play is fitted every minute or so, for years. What is stored grows with the logarithm of
the matches, as knowledge of the strengths does: a snapshot of the pool when it has one per cent more matches
than the one before, and the last one of each day; a point of a bot's history when its strength has changed
since the last point.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import delete, insert
from sqlmodel import col, select

from arena.results.strength.pools import Pool
from arena.store.models import Strength, StrengthFit, StrengthPoint
from arena.store.storage import Transaction

GROWTH = 0.01
"""The share by which a pool's matches grow from one stored snapshot to the next."""
MOVED = 0.25
"""A strength has changed if it differs by more than this many of its standard errors …"""
NARROWED = 0.25
"""… or if its standard error is smaller or larger by more than this share."""


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


def tell(tx: Transaction, rows: Sequence[dict[str, Any]], fitted_at: datetime, deviation: float) -> None:
    """Add the changes to the histories of bots; ``rows`` are the new strengths of a pool.

    They get ``told_value`` and ``told_error``; the old strengths are still in the database.
    """
    told = _told(tx, Pool(rows[0]["ruleset_id"], rows[0]["table_size"]))
    points = list(_changed(rows, told, {"fitted_at": fitted_at, "deviation": deviation}))
    if points:
        tx.connection().execute(insert(StrengthPoint), points)


def _told(tx: Transaction, pool: Pool) -> dict[int, tuple[float, float]]:
    """Return the value and the error with which the history of each bot of a pool ends."""
    rows = select(Strength.version_id, Strength.told_value, Strength.told_error).where(
        Strength.ruleset_id == pool.ruleset_id, Strength.table_size == pool.table_size
    )
    return {version_id: (value, error) for version_id, value, error in tx.exec(rows)}


def _changed(
    rows: Sequence[dict[str, Any]], told: dict[int, tuple[float, float]], fit: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    for row in rows:
        value, error = row["above"], row["above_error"]
        before = told.get(row["version_id"])
        if before is None or has_changed(before, (value, error)):
            before = value, error
            names = ("ruleset_id", "table_size", "version_id", "anchored", "deals")
            yield {name: row[name] for name in names} | fit | {"value": value, "error": error}
        row["told_value"], row["told_error"] = before


def has_changed(before: tuple[float, float], now: tuple[float, float]) -> bool:
    """Return whether a strength has changed; both are given with their standard errors."""
    (value, error), (new_value, new_error) = before, now
    return abs(new_value - value) > MOVED * new_error or abs(new_error - error) > NARROWED * error

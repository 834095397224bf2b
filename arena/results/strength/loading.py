"""Reading the sums of a pool that a fit needs."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sqlalchemy import Executable
from sqlalchemy import select as select_columns
from sqlmodel import col, select

from arena.results.strength.counts import MEETING, SCORE, Counts
from arena.results.strength.pools import Pool
from arena.store.models import Meeting, StrengthScore, StrengthSums
from arena.store.storage import Transaction

AT_ONCE = 20_000
"""The most rows in memory at once before they are in arrays."""


def counts_of(tx: Transaction, pool: Pool) -> list[Counts]:
    """Return the sums of a pool, plain deals first."""
    of_pool = select(StrengthSums).where(
        StrengthSums.ruleset_id == pool.ruleset_id, StrengthSums.table_size == pool.table_size
    )
    return [_counts(tx, row) for row in tx.exec(of_pool.order_by(col(StrengthSums.duplicate))).all()]


def _counts(tx: Transaction, row: StrengthSums) -> Counts:
    scores = select_columns(col(StrengthScore.version_id), col(StrengthScore.deals), col(StrengthScore.score))
    meetings = select_columns(
        *(col(Meeting.version_id), col(Meeting.other_id)),
        *(col(Meeting.deals), col(Meeting.ahead), col(Meeting.behind)),
    )
    return Counts(
        row.table_size,
        row.matches,
        row.deals,
        row.within,
        row.between,
        np.fromiter(_rows(tx, scores.where(col(StrengthScore.sums_id) == row.id)), dtype=SCORE),
        np.fromiter(_rows(tx, meetings.where(col(Meeting.sums_id) == row.id)), dtype=MEETING),
    )


def _rows(tx: Transaction, rows: Executable) -> Iterator[tuple[Any, ...]]:
    for row in tx.connection().execute(rows, execution_options={"yield_per": AT_ONCE}):
        yield tuple(row)

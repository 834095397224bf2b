"""Which pools have strengths, and from which matches."""

from typing import NamedTuple

from sqlalchemy.orm import defer
from sqlmodel import col, func, select

from arena.models import StrengthFit, StrengthSums
from arena.storage import Storage, Transaction


class Pool(NamedTuple):
    """A pool: a ruleset and a table size."""

    ruleset_id: int
    table_size: int


def are_fitted(storage: Storage) -> bool:
    """Return whether the strengths follow from all rounds that are closed."""
    with storage.read() as tx:
        latest = latest_fits(tx)
        return all(pool in latest and latest[pool].matches == matches for pool, matches in matches_of(tx))


def matches_of(tx: Transaction) -> list[tuple[Pool, int]]:
    """Return the pools in which there are sums, each with the number of its matches."""
    pool = (col(StrengthSums.ruleset_id), col(StrengthSums.table_size))
    counted = select(*pool, func.sum(StrengthSums.matches)).group_by(*pool).order_by(*pool)
    return [(Pool(ruleset_id, size), int(matches)) for ruleset_id, size, matches in tx.exec(counted)]


def latest_fits(tx: Transaction) -> dict[Pool, StrengthFit]:
    """Return the latest fit of each pool."""
    fitted = (col(StrengthFit.ruleset_id), col(StrengthFit.table_size))
    newest = select(func.max(StrengthFit.id)).group_by(*fitted)
    without_lines = defer(StrengthFit.lines)  # type: ignore[arg-type]
    fits = select(StrengthFit).where(col(StrengthFit.id).in_(newest)).options(without_lines)
    return {Pool(found.ruleset_id, found.table_size): found for found in tx.exec(fits)}

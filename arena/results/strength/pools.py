"""Which pools have strengths, from which matches, and which bot versions are their baselines."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy.orm import defer
from sqlmodel import case, col, func, select

from arena.actors import Actor, Role
from arena.bots.versions import find_versions, register_house_bots
from arena.core.ranking import ScoreKind
from arena.errors import StateError
from arena.people.audit import record
from arena.store.models import Baseline, BotVersion, StrengthFit, StrengthScore, StrengthSums
from arena.store.storage import Storage, Transaction


class Pool(NamedTuple):
    """A pool: a ruleset and a table size."""

    ruleset_id: int
    table_size: int


def are_fitted(storage: Storage) -> bool:
    """Return whether the strengths cover all closed rounds."""
    with storage.read() as tx:
        return not unfitted(tx)


def unfitted(tx: Transaction) -> list[tuple[Pool, StrengthFit | None]]:
    """Return the pools whose sums or baselines have changed since their latest fit, each with that fit.

    Where no deal counts for all, nothing can be fitted.
    """
    latest, baselines = latest_fits(tx), baselines_in(tx)
    return [
        (pool, fitted)
        for pool, summed in matches_of(tx)
        for fitted in [latest.get(pool)]
        if summed.matches
        if fitted is None
        or (fitted.matches, fitted.made, fitted.forfeited, fitted.baselines)
        != (*summed, baselines.get(pool, []))
    ]


def baselines_in(tx: Transaction) -> dict[Pool, list[int]]:
    """Return the baselines that have a score in each pool, ascending; only pools that have some."""
    scored = (
        select(StrengthSums.ruleset_id, StrengthSums.table_size, Baseline.version_id)
        .join(StrengthScore, col(StrengthScore.version_id) == Baseline.version_id)
        .join(StrengthSums, col(StrengthSums.id) == StrengthScore.sums_id)
        .distinct()
    )
    by_pool: dict[Pool, list[int]] = {}
    for ruleset_id, size, version_id in sorted(tx.exec(scored)):
        by_pool.setdefault(Pool(ruleset_id, size), []).append(version_id)
    return by_pool


def lines_in(tx: Transaction, pool: Pool) -> list[list[int]]:
    """Return the versions of each bot that have a score in a pool, oldest first."""
    of_pool = select(StrengthSums.id).where(
        StrengthSums.ruleset_id == pool.ruleset_id, StrengthSums.table_size == pool.table_size
    )
    scored = (
        select(BotVersion.bot_id, BotVersion.number, BotVersion.id)
        .join(StrengthScore, col(StrengthScore.version_id) == BotVersion.id)
        .where(col(StrengthScore.sums_id).in_(of_pool))
        .distinct()
    )
    lines: dict[int, list[int]] = {}
    for bot_id, _, version_id in sorted(tx.exec(scored)):
        lines.setdefault(bot_id, []).append(version_id)
    return list(lines.values())


class Summed(NamedTuple):
    """The matches in the sums of a pool."""

    matches: int
    made: int
    """In how many of them it counts what bots made of their cards."""
    forfeited: int
    """The deals that count only for the bot that forfeited them."""


def matches_of(tx: Transaction) -> list[tuple[Pool, Summed]]:
    """Return the pools that have sums, each with the number of its matches."""
    pool = (col(StrengthSums.ruleset_id), col(StrengthSums.table_size))
    made = case((col(StrengthSums.kind) == ScoreKind.MADE, StrengthSums.matches), else_=0)
    summed = (func.sum(StrengthSums.matches), func.sum(made), func.sum(StrengthSums.forfeited))
    counted = select(*pool, *summed).group_by(*pool).order_by(*pool)  # type: ignore[call-overload]
    return [(Pool(*row[:2]), Summed(*map(int, row[2:]))) for row in tx.exec(counted)]


def latest_fits(tx: Transaction) -> dict[Pool, StrengthFit]:
    """Return the latest fit of each pool."""
    fitted = (col(StrengthFit.ruleset_id), col(StrengthFit.table_size))
    newest = select(func.max(StrengthFit.id)).group_by(*fitted)
    without = [defer(large) for large in (StrengthFit.lines, StrengthFit.pair_errors)]  # type: ignore[arg-type]
    fits = select(StrengthFit).where(col(StrengthFit.id).in_(newest)).options(*without)
    return {Pool(fit.ruleset_id, fit.table_size): fit for fit in tx.exec(fits)}


def list_baselines(storage: Storage) -> list[str]:
    """Return the names of the baselines, sorted."""
    named = select(BotVersion.name).join(Baseline, col(Baseline.version_id) == BotVersion.id)
    with storage.read() as tx:
        return sorted(tx.exec(named))


def add_baselines(storage: Storage, actor: Actor, names: Sequence[str], now: datetime) -> None:
    """Make bot versions baselines, all or none; ``owner/bot`` alone is its newest version.

    The next fit of a pool anchors its scale to those that play in it. A house bot that was never run is
    registered: ``arena up`` runs those that are baselines. Raise NotAllowed, SpecError,
    UnknownError, and StateError for one that is a baseline already.
    """
    actor.require(Role.OPERATOR, "say which bots are baselines")
    register_house_bots(storage, actor, names, now)
    with storage.write() as tx:
        for version in find_versions(tx, names, None):
            if tx.get(Baseline, version.id) is not None:
                raise StateError(f"{version.name} is a baseline already")
            tx.add(Baseline(version_id=version.id, named_at=now))
            record(tx, actor, "rating.baseline", version.name, now)


def remove_baselines(storage: Storage, actor: Actor, names: Sequence[str], now: datetime) -> None:
    """Remove bot versions from the baselines, all or none.

    Raise NotAllowed, SpecError, UnknownError, and StateError for one that is not a baseline.
    """
    actor.require(Role.OPERATOR, "say which bots are baselines")
    with storage.write() as tx:
        for version in find_versions(tx, names, None):
            baseline = tx.get(Baseline, version.id)
            if baseline is None:
                raise StateError(f"{version.name} is not a baseline")
            tx.delete(baseline)
            record(tx, actor, "rating.baseline.remove", version.name, now)

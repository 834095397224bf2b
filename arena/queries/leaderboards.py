"""Leaderboards: the best of a pool."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import and_
from sqlmodel import col, select

from arena.errors import UnknownError
from arena.models import BotVersion, Rating, StoredRuleset, Strength
from arena.ratings.elo import TWO_SIDED
from arena.storage import Storage, Transaction
from arena.strength.kept import Pool, latest_fits
from arena.strength.scale import figure
from referee.validation import suggestion


@dataclass(frozen=True, slots=True)
class StrengthLine:
    """How strong a bot version is, by the latest fit of its pool (``arena.strength``)."""

    points: float
    """Points a deal more than the mean of the group."""
    plus_minus: float
    """Half the width of the 95 % interval around that."""
    figure: float
    """Strength against the anchor, which has 1500, on a scale like that of Elo (``arena.strength.scale``)."""
    figure_low: float
    """The lower end of its 95 % interval."""
    figure_high: float
    """The upper end."""
    anchor: Literal["baselines", "mean"]
    """The anchor: the mean of the group's baselines, or, where it has none, of all its bots."""
    rank: int
    """Place in the group."""
    best: int
    """The best place that it may have."""
    worst: int
    """The worst place."""
    tier: int
    group: int
    """From 1; bots of different groups never met, not even by way of others, and are not comparable."""
    deals: int
    """Deals that it comes from."""


@dataclass(frozen=True, slots=True)
class LeaderboardLine:
    """A bot version's place in a pool."""

    ruleset: str
    """Name and version, as ``hong-kong@1``."""
    table_size: int
    place: int
    """From 1; by strength where it is known, then by rating."""
    name: str
    """``owner/bot@version``."""
    strength: StrengthLine | None
    """None before the first fit, and without deals that were played out."""
    rating: float
    matches: int
    deals: int


def leaderboard(storage: Storage, pool: str | None = None, limit: int = 100) -> list[LeaderboardLine]:
    """Return the best of a pool; ``pool`` is a ruleset's name, ``name@version`` or the beginning of its hash.

    Without ``pool``, or where several have that name, one pool after another. Raise UnknownError if there is
    none.
    """
    with storage.read() as tx:
        chosen = [one for one in _pools(tx) if pool is None or _is_called(one[0], pool)]
        if pool is not None and not chosen:
            raise UnknownError(
                f"no ratings under {pool!r}{suggestion(pool, [one.name for one, _ in _pools(tx)])}"
            )
        return [line for ruleset, size in chosen for line in _lines(tx, ruleset, size, limit)]


def _is_called(ruleset: StoredRuleset, name: str) -> bool:
    return name in (ruleset.label, ruleset.name) or (len(name) > 3 and ruleset.hash.startswith(name))


def _pools(tx: Transaction) -> list[tuple[StoredRuleset, int]]:
    """Return the rulesets and table sizes under which there are ratings."""
    rated = select(Rating.ruleset_id, Rating.table_size).where(Rating.matches > 0).distinct()
    found = [(tx.get_one(StoredRuleset, ruleset_id), size) for ruleset_id, size in tx.exec(rated).all()]
    return sorted(found, key=lambda one: (one[0].label, one[1], one[0].id))


def _lines(tx: Transaction, ruleset: StoredRuleset, size: int, limit: int) -> Iterator[LeaderboardLine]:
    fitted = latest_fits(tx).get(Pool(ruleset.id, size))
    deviation = 0.0 if fitted is None else fitted.deviation
    same = (
        col(Strength.version_id) == Rating.version_id,
        col(Strength.ruleset_id) == Rating.ruleset_id,
        col(Strength.table_size) == Rating.table_size,
    )
    best = (
        select(Rating, BotVersion.name, Strength)
        .join(BotVersion, col(BotVersion.id) == Rating.version_id)
        .outerjoin(Strength, and_(*same))
        .where(Rating.ruleset_id == ruleset.id, Rating.table_size == size, Rating.matches > 0)
        .order_by(
            col(Strength.id).is_(None),
            col(Strength.group_number),
            col(Strength.value).desc(),
            col(Rating.value).desc(),
            col(Rating.version_id),
        )
        .limit(limit)
    )
    for place, (rating, name, joined) in enumerate(tx.exec(best), start=1):
        strength: Strength | None = joined
        yield LeaderboardLine(
            ruleset=ruleset.label,
            table_size=size,
            place=place,
            name=name,
            strength=None if strength is None else _strength(strength, deviation),
            rating=rating.value,
            matches=rating.matches,
            deals=rating.deals,
        )


def _strength(row: Strength, deviation: float) -> StrengthLine:
    off = TWO_SIDED * row.above_error
    return StrengthLine(
        points=row.value,
        plus_minus=TWO_SIDED * row.error,
        figure=figure(row.above, deviation),
        figure_low=figure(row.above - off, deviation),
        figure_high=figure(row.above + off, deviation),
        anchor="baselines" if row.anchored else "mean",
        rank=row.rank,
        best=row.best,
        worst=row.worst,
        tier=row.tier,
        group=row.group_number + 1,
        deals=row.deals,
    )

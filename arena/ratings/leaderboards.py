"""Leaderboards: the best of a pool."""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlmodel import col, select

from arena.errors import UnknownError
from arena.models import BotVersion, Rating, StoredRuleset
from arena.ratings.elo import uncertainty
from arena.storage import Storage, Transaction
from referee.validation import suggestion


@dataclass(frozen=True, slots=True)
class LeaderboardLine:
    """A bot version's place in a pool."""

    ruleset: str
    """Name and version, as ``hong-kong@1``."""
    table_size: int
    rank: int
    """From 1; by rating, then by age."""
    name: str
    """``owner/bot@version``."""
    rating: float
    plus_minus: float
    """Half the width of the 95 % interval around the rating (``arena.ratings.elo.uncertainty``)."""
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
    best = (
        select(Rating, BotVersion.name)
        .join(BotVersion, col(BotVersion.id) == Rating.version_id)
        .where(Rating.ruleset_id == ruleset.id, Rating.table_size == size, Rating.matches > 0)
        .order_by(col(Rating.value).desc(), col(Rating.version_id))
        .limit(limit)
    )
    for rank, (rating, name) in enumerate(tx.exec(best), start=1):
        yield LeaderboardLine(
            ruleset=ruleset.label,
            table_size=size,
            rank=rank,
            name=name,
            rating=rating.value,
            plus_minus=uncertainty(rating.matches, size),
            matches=rating.matches,
            deals=rating.deals,
        )

"""Pools by the names of their rulesets."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Select, exists
from sqlalchemy import select as select_columns
from sqlmodel import col

from arena.errors import UnknownError
from arena.queries.names import is_called
from arena.results.strength.pools import Pool
from arena.store.models import Rating, StoredRuleset
from arena.store.storage import Storage, Transaction
from referee.validation import suggestion


@dataclass(frozen=True, slots=True)
class NamedPool:
    """A pool with the name of its ruleset."""

    ruleset_id: int
    table_size: int
    name: str
    """The ruleset's own name."""
    version: int
    """The ruleset's own version."""
    hash: str
    """Hash of the ruleset's content."""
    matches: int
    """Rated matches under the ruleset."""

    @property
    def ruleset(self) -> str:
        """Name and version, as ``hong-kong@1``."""
        return f"{self.name}@{self.version}"

    @property
    def pool(self) -> Pool:
        return Pool(self.ruleset_id, self.table_size)

    def is_called(self, name: str) -> bool:
        """Return whether a text names the ruleset: its name, ``name@version``, or the start of its hash."""
        return is_called(name, self.name, self.version, self.hash)


def list_pools(storage: Storage) -> list[NamedPool]:
    """Return the pools in which there are ratings, by name."""
    with storage.read() as tx:
        return rated_pools(tx)


def rated_pools(tx: Transaction) -> list[NamedPool]:
    """Return the pools in which there are ratings, by name; each ruleset has one table size."""
    found = [NamedPool(*row) for row in tx.connection().execute(_rated_pools())]
    return sorted(found, key=lambda one: (one.ruleset, one.table_size, one.ruleset_id))


@cache
def _rated_pools() -> Select[Any]:
    rated = exists(col(Rating.id)).where(
        col(Rating.ruleset_id) == StoredRuleset.id,
        col(Rating.table_size) == StoredRuleset.players,
        col(Rating.matches) > 0,
    )
    columns: tuple[Any, ...] = (
        StoredRuleset.id,
        StoredRuleset.players,
        StoredRuleset.name,
        StoredRuleset.version,
        StoredRuleset.hash,
        StoredRuleset.rated_matches,
    )
    return select_columns(*columns).where(col(StoredRuleset.rated_matches) > 0, rated)


def choose_pools(
    tx: Transaction, ruleset: str | None, table_size: int | None, among: Sequence[Pool] | None = None
) -> list[NamedPool]:
    """Return the pools of a ruleset and a table size, by name; None stands for all, ``among`` limits them.

    Raise UnknownError if a ruleset is named under which there are no ratings.
    """
    pools = rated_pools(tx)
    called = [one for one in pools if ruleset is None or one.is_called(ruleset)]
    if ruleset is not None and not called:
        raise UnknownError(f"no ratings under {ruleset!r}{suggestion(ruleset, [one.name for one in pools])}")
    return [
        one for one in called if table_size in (None, one.table_size) and (among is None or one.pool in among)
    ]

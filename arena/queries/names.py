"""Names: those in a question looked up, and those that begin with what somebody types."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, bindparam, exists
from sqlalchemy import select as select_columns
from sqlmodel import col, select
from sqlmodel.sql.expression import SelectOfScalar

from arena.bots.versions import check_bot, find_all_versions, find_each, find_versions
from arena.errors import UnknownError
from arena.results.strength.pools import Pool
from arena.store.models import (
    Bot,
    BotVersion,
    League,
    Owner,
    Rating,
    Season,
    SeasonDivision,
    SeasonPlace,
    StoredRuleset,
    Tournament,
)
from arena.store.storage import Storage, Transaction
from arena.store.suggestions import unknown
from referee.reading.validation import suggestion

SHORTEST_HASH = 4
"""The fewest digits of a hash that can stand for a ruleset."""


def versions_called(tx: Transaction, name: str) -> list[BotVersion]:
    """Return all versions of ``owner/bot``, oldest first, or the one version ``owner/bot@number``.

    Raise SpecError for a malformed name, UnknownError.
    """
    check_bot(name)
    return find_versions(tx, [name], None) if "@" in name else find_all_versions(tx, name)


def versions_called_each(tx: Transaction, names: Sequence[str]) -> dict[str, list[BotVersion]]:
    """Return by name what ``versions_called`` would return for each. Raise the same errors."""
    for name in names:
        check_bot(name)
    return find_each(tx, names)


def find_owner(tx: Transaction, name: str) -> int:
    """Return the id of an owner. Raise UnknownError."""
    owner_id = tx.exec(select(Owner.id).where(Owner.name == name)).first()
    if owner_id is None:
        raise unknown(tx, "owner", name, col(Owner.name))
    return owner_id


def versions_of_owner(tx: Transaction, name: str) -> set[int]:
    """Return the ids of all versions of an owner's bots. Raise UnknownError."""
    versions = {*tx.connection().execute(_versions_of_owner(), {"owner": name}).scalars()}
    if not versions:
        find_owner(tx, name)
    return versions


@cache
def _versions_of_owner() -> Select[Any]:
    versions = select_columns(col(BotVersion.id)).join(Bot, col(Bot.id) == BotVersion.bot_id)
    return versions.join(Owner, col(Owner.id) == Bot.owner_id).where(col(Owner.name) == bindparam("owner"))


def find_tournament(tx: Transaction, name: str) -> int:
    """Return the id of a tournament. Raise UnknownError."""
    tournament_id = tx.exec(select(Tournament.id).where(Tournament.name == name)).first()
    if tournament_id is None:
        raise unknown(tx, "tournament", name, col(Tournament.name))
    return tournament_id


def rulesets_called(tx: Transaction, name: str) -> list[int]:
    """Return the ids of the rulesets that a text names: name, ``name@version``, or the start of a hash.

    Raise UnknownError.
    """
    columns = (StoredRuleset.id, StoredRuleset.name, StoredRuleset.version, StoredRuleset.hash)
    rows = tx.exec(select(*columns)).all()
    ids = [id for id, own, version, hash in rows if is_called(name, own, version, hash)]
    if not ids:
        raise UnknownError(f"no ruleset {name!r} was played{suggestion(name, [own for _, own, *_ in rows])}")
    return ids


def is_called(called: str, name: str, version: int, hash: str) -> bool:
    """Return whether a text names a ruleset."""
    return called in (name, f"{name}@{version}") or (len(called) >= SHORTEST_HASH and hash.startswith(called))


def placed_in(
    tx: Transaction, league: str, number: int | None, division: str | None
) -> tuple[list[Pool], SelectOfScalar[int]]:
    """Return the pools of a season, and a selection of the ids of the versions that have a place in it.

    ``number`` is None for the latest season, ``division`` None for all divisions. Raise UnknownError.
    """
    league_id = tx.exec(select(League).where(League.name == league)).first()
    if league_id is None:
        raise unknown(tx, "league", league, col(League.name))
    season = _season(tx, league_id, number)
    divisions = tx.exec(select(SeasonDivision).where(SeasonDivision.season_id == season.id)).all()
    chosen = [place for place in divisions if division in (None, place.name)]
    if not chosen:
        names = [place.name for place in divisions]
        raise UnknownError(f"no division {division!r} in {league}{suggestion(division or '', names)}")
    played = select(Tournament.ruleset_id, Tournament.table_size).where(
        col(Tournament.id).in_([place.tournament_id for place in chosen if place.tournament_id is not None])
    )
    pools = [Pool(*row) for row in tx.exec(played)]
    places = col(SeasonPlace.division_id).in_([place.id for place in chosen])
    return pools, select(SeasonPlace.version_id).where(places)


def _season(tx: Transaction, league: League, number: int | None) -> Season:
    numbered = (Season.league_id == league.id, Season.number == (number or league.seasons))
    season = tx.exec(select(Season).where(*numbered)).first()
    if season is None:
        what = f" {number}" if number is not None else ""
        raise UnknownError(f"no season{what} in {league.name}: {league.seasons} have started")
    return season


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
    pools = [NamedPool(*row) for row in tx.connection().execute(_rated_pools())]
    return sorted(pools, key=lambda pool: (pool.ruleset, pool.table_size, pool.ruleset_id))


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
    called = [pool for pool in pools if ruleset is None or pool.is_called(ruleset)]
    if ruleset is not None and not called:
        similar = suggestion(ruleset, [pool.name for pool in pools])
        raise UnknownError(f"no ratings under {ruleset!r}{similar}")
    sized = [pool for pool in called if table_size in (None, pool.table_size)]
    return [pool for pool in sized if among is None or pool.pool in among]


AFTER_ALL = "~"
"""A character that is greater than all that are in names."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Names that begin with a text, in alphabetical order."""

    bots: tuple[str, ...]
    """``owner/bot``, found by the bot's own name, or by both with the slash."""
    owners: tuple[str, ...]
    """Those with bots: each account has an owner, and accounts are nobody else's business."""
    tournaments: tuple[str, ...]
    """Without test matches."""
    leagues: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """All of them."""
        return self.bots + self.owners + self.tournaments + self.leagues


def search(storage: Storage, text: str, limit: int) -> SearchResult:
    """Return up to ``limit`` names of each kind; none for an empty text."""
    prefix = text.strip().lower().partition("@")[0]
    if not prefix:
        return SearchResult((), (), (), ())
    with storage.read() as tx:
        owner, of_owner, bot = prefix.partition("/")
        if of_owner:
            its = and_(col(Owner.name) == owner, _begins(Bot.name, bot))
            return SearchResult(_bots(tx, its, limit), (), (), ())
        has_bots = exists(col(Bot.id)).where(col(Bot.owner_id) == Owner.id)
        listed = col(Tournament.test).is_(False)
        return SearchResult(
            bots=_bots(tx, _begins(Bot.name, prefix), limit),
            owners=_names(tx, Owner.name, prefix, limit, has_bots),
            tournaments=_names(tx, Tournament.name, prefix, limit, listed),
            leagues=_names(tx, League.name, prefix, limit),
        )


def _begins(column: Any, text: str) -> ColumnElement[bool]:
    """Return the condition that a name begins with a text, which an index of the names answers."""
    return and_(col(column) >= text, col(column) < text + AFTER_ALL)


def _names(
    tx: Transaction, column: Any, text: str, limit: int, *more: ColumnElement[bool]
) -> tuple[str, ...]:
    rows = select(column).where(_begins(column, text), *more).order_by(col(column)).limit(limit)
    return tuple(tx.exec(rows))


def _bots(tx: Transaction, condition: ColumnElement[bool], limit: int) -> tuple[str, ...]:
    rows = select(Owner.name, Bot.name).join(Bot, col(Bot.owner_id) == Owner.id).where(condition)
    rows_found = tx.exec(rows.order_by(col(Bot.name), col(Owner.name)).limit(limit))
    return tuple(f"{owner}/{bot}" for owner, bot in rows_found)

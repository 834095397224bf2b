"""What came out: standings, crosstables, leaderboards."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlmodel import col, func, select

from arena.errors import UnknownError
from arena.models import (
    BotVersion,
    Entrant,
    Match,
    MatchState,
    Rating,
    Seat,
    Session,
    StoredRuleset,
    Tournament,
)
from arena.services.history import current_standings, list_entrants
from arena.services.tournaments import find_tournament
from arena.standings import Standing
from arena.standings import crosstable as count_deals
from arena.storage import Storage, Transaction


@dataclass(frozen=True, slots=True)
class StandingLine:
    """A line of the standings with its name."""

    standing: Standing
    name: str
    """``owner/bot@version``."""


@dataclass(frozen=True, slots=True)
class Crosstable:
    """Who finished before whom how often."""

    names: tuple[str, ...]
    """In the order of the standings."""
    before: Mapping[tuple[int, int], tuple[int, int]]
    """For two places in ``names``: deals that the first finished before the second, and that both sat in."""


@dataclass(frozen=True, slots=True)
class Pool:
    """The ratings under one ruleset and table size."""

    ruleset: str
    """Name and version, as ``hong-kong@1``."""
    hash: str
    """Of the ruleset's content."""
    table_size: int
    bots: int
    """Bot versions rated."""
    matches: int
    """Matches that the ratings come from."""


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
    matches: int
    deals: int


def standings(storage: Storage, name: str) -> list[StandingLine]:
    """The standings after all matches that are done, best first. UnknownError."""
    with storage.read() as tx:
        tournament = find_tournament(tx, name)
        entrants = list_entrants(tx, tournament)
        names = {entrant.number: entrant.name for entrant in entrants}
        lines = current_standings(tx, tournament, entrants)
        return [StandingLine(line, names[line.entrant]) for line in lines]


def crosstable(storage: Storage, name: str) -> Crosstable:
    """Who finished before whom how often, in the deals of all matches that are done. UnknownError."""
    lines = standings(storage, name)
    place = {line.standing.entrant: at for at, line in enumerate(lines)}
    with storage.read() as tx:
        deals = _deals(tx, find_tournament(tx, name), place)
        return Crosstable(tuple(line.name for line in lines), count_deals(list(place.values()), deals))


def _deals(tx: Transaction, tournament: Tournament, place: Mapping[int, int]) -> Iterator[dict[int, int]]:
    """For each deal the points by place in the standings; the records themselves are not read."""
    done = (col(Match.tournament_id) == tournament.id, col(Match.state) == MatchState.DONE)
    seats = (
        select(Seat.match_id, Seat.position, Entrant.number)
        .join(Entrant, col(Entrant.id) == Seat.entrant_id)
        .join(Match, col(Match.id) == Seat.match_id)
        .where(*done)
    )
    sits = {(match_id, position): place[number] for match_id, position, number in tx.exec(seats)}
    sessions = (
        select(Session.match_id, Session.seating, Session.deal_points)
        .join(Match, col(Match.id) == Session.match_id)
        .where(*done)
    )
    for match_id, seating, deals in tx.exec(sessions):
        who = [sits[match_id, position] for position in seating]
        for points in deals:
            yield dict(zip(who, points, strict=True))


def pools(storage: Storage) -> list[Pool]:
    """All pools, by ruleset and table size."""
    with storage.read() as tx:
        return [pool for _, pool in _pools(tx)]


def leaderboard(
    storage: Storage, pool: str | None = None, limit: int = 100, offset: int = 0
) -> list[LeaderboardLine]:
    """The best of a pool; ``pool`` is a ruleset's name, ``name@version`` or the beginning of its hash.

    Without ``pool``, or where several have that name, one pool after another. UnknownError if there is none.
    """
    with storage.read() as tx:
        chosen = [(id_, found) for id_, found in _pools(tx) if pool is None or _is_called(found, pool)]
        if pool is not None and not chosen:
            raise UnknownError(f"no ratings under {pool!r}")
        return [line for id_, found in chosen for line in _lines(tx, id_, found, limit, offset)]


def _is_called(pool: Pool, name: str) -> bool:
    return name in (pool.ruleset, pool.ruleset.partition("@")[0]) or (
        len(name) > 3 and pool.hash.startswith(name)
    )


def _pools(tx: Transaction) -> list[tuple[int, Pool]]:
    rows = (
        select(Rating.ruleset_id, Rating.table_size, func.count(), func.sum(Rating.matches))
        .where(Rating.matches > 0)
        .group_by(col(Rating.ruleset_id), col(Rating.table_size))
    )
    found = []
    for ruleset_id, size, count, matches in tx.exec(rows).all():
        ruleset = tx.get_one(StoredRuleset, ruleset_id)
        found.append((ruleset_id, Pool(ruleset.label, ruleset.hash, size, count, matches // size)))
    return sorted(found, key=lambda one: (one[1].ruleset, one[1].table_size, one[0]))


def _lines(
    tx: Transaction, ruleset_id: int, pool: Pool, limit: int, offset: int
) -> Iterator[LeaderboardLine]:
    best = (
        select(Rating, BotVersion.name)
        .join(BotVersion, col(BotVersion.id) == Rating.version_id)
        .where(Rating.ruleset_id == ruleset_id, Rating.table_size == pool.table_size, Rating.matches > 0)
        .order_by(col(Rating.value).desc(), col(Rating.version_id))
        .limit(limit)
        .offset(offset)
    )
    for rank, (rating, name) in enumerate(tx.exec(best), start=offset + 1):
        yield LeaderboardLine(
            pool.ruleset, pool.table_size, rank, name, rating.value, rating.matches, rating.deals
        )

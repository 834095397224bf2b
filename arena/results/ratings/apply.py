"""Applying ratings when a round closes, and adding its deals to the sums of its pool."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import bindparam, insert, update
from sqlalchemy.orm.exc import StaleDataError
from sqlmodel import col, select

from arena.core.elo import START, Share, apply_match, shares
from arena.core.ranking import Played, ScoreKind
from arena.results.ledgers import LEFT, MEETINGS, RATINGS, SCORES, SEATS, TOTALS
from arena.results.standings.outcomes import Table, scores_of
from arena.results.strength.sums import Expected, RatedMatch, Sums, add_round, made_of_round
from arena.store.models import (
    Rating,
    RatingChange,
    Round,
    Seat,
    StoredRuleset,
    StrengthSums,
    Tournament,
)
from arena.store.storage import Transaction, changed
from referee.ruleset import load_ruleset
from referee.ruleset.axes.session import most_deals


def rate_round(
    tx: Transaction,
    tournament: Tournament,
    round: Round,
    tables: Sequence[Table],
    played: Played,
    now: datetime,
) -> None:
    """Apply the round's matches to the pool in the order of their tables; each seat gets a RatingChange row.

    ``played`` are the sessions by table. The order of tables makes the result independent of which worker
    finished first.
    """
    lock_pools(tx, tournament.ruleset_id, matches=len(tables))
    sums = Sums(tournament.table_size)
    add_tables(sums, tournament, tables, played)
    SEATS.add(tx, sums.seats, **_pool(tournament))
    add_sums(tx, tournament, kind_of(tournament), sums)
    counted = select(StoredRuleset.rated_matches).where(StoredRuleset.id == tournament.ruleset_id)
    round.rated_after = tx.exec(counted).one() - len(tables)
    ratings = _ratings(tx, tournament, tables)
    for rating in ratings.values():
        tx.expunge(rating)  # all are stored with one statement
    changes: list[dict[str, object]] = [
        {
            "match_id": change.table.match.id,
            "seat_id": change.seat.id,
            "rating_id": change.rating.id,
            "before": change.before,
            "after": change.after,
            "created_at": now,
        }
        for change in rate_tables(tx, tournament, tables, played, ratings)
    ]
    if changes:
        tx.connection().execute(insert(RatingChange), changes)
        _store_ratings(tx, [*ratings.values()])


STORE_RATING = (
    update(Rating)
    .where(col(Rating.id) == bindparam("rating"), col(Rating.version) == bindparam("read"))
    .values(version=Rating.version + 1, **{name: bindparam(f"new_{name}") for name in RATINGS.columns})
)


def _store_ratings(tx: Transaction, ratings: Sequence[Rating]) -> None:
    """Store ratings that have changed. Raise StaleDataError if somebody else has changed one of them, too."""
    rows = [
        {f"new_{name}": value for name, value in zip(RATINGS.columns, RATINGS.row(rating), strict=True)}
        | {"rating": rating.id, "read": rating.version}
        for rating in ratings
    ]
    if tx.connection().execute(STORE_RATING, rows).rowcount != len(rows):
        raise StaleDataError("a rating was changed by others at the same time")


class Change(NamedTuple):
    """The change of a rating by a match."""

    table: Table
    seat: Seat
    rating: Rating
    """The rating, which has changed."""
    before: float
    after: float


def rate_tables(
    tx: Transaction,
    tournament: Tournament,
    tables: Sequence[Table],
    played: Played,
    ratings: Mapping[int, Rating],
) -> Iterator[Change]:
    """Apply the matches at some tables to ratings, by bot version; yield the change of each seat."""
    compared = scores_of(played) if tournament.duplicate else {}
    forfeited = _forfeited_shares(tx, tournament, played)
    for table in tables:
        match, number = table.match, table.match.table_number
        counted = compared.get(number) or [seat.points for seat in table.seats]
        points = dict(zip(table.version_ids, counted, strict=True))
        before = {version_id: ratings[version_id].value for version_id in points}
        after = apply_match(before, points, forfeited.get(number), tournament.match_weight)
        for seat in table.seats:
            rating = ratings[seat.version_id]
            rating.value = after[seat.version_id]
            rating.matches += 1
            rating.weight += tournament.match_weight
            rating.deals += match.deals_done
            times = (time for time in (rating.last_played, match.finished_at) if time is not None)
            rating.last_played = max(times, default=None)
            yield Change(table, seat, rating, before[seat.version_id], after[seat.version_id])


def new_rating(tournament: Tournament, version_id: int) -> Rating:
    """Return the rating of a bot version before its first match in the pool of a tournament."""
    ruleset_id, size = tournament.ruleset_id, tournament.table_size
    return Rating(ruleset_id=ruleset_id, table_size=size, version_id=version_id, value=START)


def lock_pools(tx: Transaction, ruleset_id: int, *, matches: int) -> None:
    """Lock the pools of a ruleset until this transaction ends, and count ``matches`` more rated in them.

    Whoever reads ratings to change them does this first, so that nobody else can until this one is done.
    """
    pools = update(StoredRuleset).where(col(StoredRuleset.id) == ruleset_id)
    changed(tx, pools.values(rated_matches=StoredRuleset.rated_matches + matches))


def add_tables(sums: Sums, tournament: Tournament, tables: Sequence[Table], played: Played) -> None:
    """Add the deals of a round's finished matches to the sums of its pool."""
    add_round(sums, _matches(tables), played, duplicate=tournament.duplicate)


def adjusted(
    tournament: Tournament, tables: Sequence[Table], played: Played, expected: Expected
) -> tuple[Sums, Sums]:
    """Return what to add to the plain sums of a pool, which is negative, and to those of what was made.

    Both are of the same deals. Matches in which it is not known what to expect from the cards stay plain.
    """
    gone = Sums(tournament.table_size)
    if tournament.duplicate:
        return gone, Sums(tournament.table_size)
    points, made = made_of_round(tournament.table_size, _matches(tables), played, expected)
    gone.merge(points, -1)
    return gone, made


def _matches(tables: Sequence[Table]) -> list[RatedMatch]:
    return [RatedMatch(table.match.table_number, table.match.id, table.version_ids) for table in tables]


def kind_of(tournament: Tournament) -> ScoreKind:
    """Return what counts as score when the rounds of a tournament close."""
    return ScoreKind.DUPLICATE if tournament.duplicate else ScoreKind.PLAIN


def _pool(tournament: Tournament) -> dict[str, Any]:
    return {"ruleset_id": tournament.ruleset_id, "table_size": tournament.table_size}


def add_sums(tx: Transaction, tournament: Tournament, kind: ScoreKind, sums: Sums) -> None:
    """Add the sums of a round to those stored for its pool."""
    if not (sums.matches or sums.forfeited):
        return
    pool = {**_pool(tournament), "kind": kind}
    row = tx.exec(select(StrengthSums).filter_by(**pool)).first()
    if row is None:
        row = StrengthSums(**pool)
        tx.add(row)
        tx.flush()
    for name, more in zip(TOTALS.columns, TOTALS.row(sums), strict=True):
        setattr(row, name, getattr(row, name) + more)
    SCORES.add(tx, sums.scores, sums_id=row.id)
    MEETINGS.add(tx, sums.meetings, sums_id=row.id)
    LEFT.add(tx, sums.left, sums_id=row.id)


def _forfeited_shares(
    tx: Transaction, tournament: Tournament, played: Played
) -> dict[int, dict[tuple[int, int], list[Share]]]:
    """Return the shares of a round's matches that do not count as a whole, by table and pair of positions.

    Without forfeits and deals that were dealt again, all do.
    """
    if not any(session.forfeits or session.attempts for sessions in played.values() for session in sessions):
        return {}
    ruleset = load_ruleset(tx.get_one(StoredRuleset, tournament.ruleset_id).content)
    return shares(played, most_deals(ruleset, tournament.deals or 0), duplicate=tournament.duplicate)


def _ratings(tx: Transaction, tournament: Tournament, tables: Sequence[Table]) -> dict[int, Rating]:
    """Return the pool's ratings of all who sit at the tables; those who have none yet get one."""
    seated = {version_id: None for table in tables for version_id in table.version_ids}  # in order
    in_pool = (Rating.ruleset_id == tournament.ruleset_id, Rating.table_size == tournament.table_size)
    rows = tx.exec(select(Rating).where(*in_pool, col(Rating.version_id).in_(seated)))
    ratings = {rating.version_id: rating for rating in rows}
    for version_id in seated:
        if version_id not in ratings:
            ratings[version_id] = new_rating(tournament, version_id)
            tx.add(ratings[version_id])
    tx.flush()
    return ratings

"""Applying ratings when a round closes."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import insert, update
from sqlmodel import col, select

from arena.core.duplicate import PlayedSession
from arena.core.elo import START, Share, apply_match, shares
from arena.results.standings.outcomes import scores_of
from arena.results.strength.updating import add_round
from arena.results.tables import Table
from arena.store.models import Rating, RatingChange, Round, StoredRuleset, Tournament
from arena.store.storage import Transaction, changed
from referee.ruleset import load_ruleset
from referee.ruleset.limits import most_deals


def rate_round(
    tx: Transaction,
    tournament: Tournament,
    round: Round,
    tables: Sequence[Table],
    played: Mapping[int, Sequence[PlayedSession]],
    now: datetime,
) -> None:
    """Apply the round's matches to the pool in the order of their tables; each seat gets a RatingChange row.

    ``played`` are the sessions by table. The order of tables makes the result independent of which worker
    finished first.
    """
    lock_pools(tx, tournament.ruleset_id, matches=len(tables))
    add_round(tx, tournament, tables, played)
    counted = select(StoredRuleset.rated_matches).where(StoredRuleset.id == tournament.ruleset_id)
    round.rated_after = tx.exec(counted).one() - len(tables)
    ratings = _ratings(tx, tournament, tables)
    compared = scores_of(played) if tournament.duplicate else {}
    forfeited = forfeited_shares(tx, tournament, played)
    changes: list[dict[str, object]] = []
    for table in tables:
        number = table.match.table_number
        points = points_of(table, compared.get(number))
        before = {version_id: ratings[version_id].value for version_id in points}
        after = apply_match(before, points, forfeited.get(number), tournament.match_weight)
        for seat, version_id in zip(table.seats, table.version_ids, strict=True):
            rating = ratings[version_id]
            changes.append(
                {
                    "match_id": table.match.id,
                    "seat_id": seat.id,
                    "rating_id": rating.id,
                    "before": rating.value,
                    "after": after[version_id],
                    "created_at": now,
                }
            )
            rating.value = after[version_id]
            rating.matches += 1
            rating.weight += tournament.match_weight
            rating.deals += table.match.deals_done
            rating.last_played = latest(rating.last_played, table.match.finished_at)
    if changes:
        tx.connection().execute(insert(RatingChange), changes)


def latest(*times: datetime | None) -> datetime | None:
    """Return the latest of some times; None if there is none."""
    return max((time for time in times if time is not None), default=None)


def lock_pools(tx: Transaction, ruleset_id: int, *, matches: int) -> None:
    """Lock the pools of a ruleset until this transaction ends, and count ``matches`` more rated in them.

    Whoever reads ratings to change them does this first, so that nobody else can until this one is done.
    """
    pools = update(StoredRuleset).where(col(StoredRuleset.id) == ruleset_id)
    changed(tx, pools.values(rated_matches=StoredRuleset.rated_matches + matches))


def forfeited_shares(
    tx: Transaction, tournament: Tournament, played: Mapping[int, Sequence[PlayedSession]]
) -> dict[int, dict[tuple[int, int], list[Share]]]:
    """Return the shares of a round's matches that do not count as a whole, by table and pair of positions.

    Without forfeits and deals that were dealt again, all do.
    """
    if not any(session.forfeits or session.attempts for sessions in played.values() for session in sessions):
        return {}
    ruleset = load_ruleset(tx.get_one(StoredRuleset, tournament.ruleset_id).content)
    return shares(played, most_deals(ruleset, tournament.deals or 0), duplicate=tournament.duplicate)


def points_of(table: Table, compared: Sequence[float] | None) -> dict[int, float]:
    """Return the points that count, by bot version: ``compared`` in a duplicate tournament."""
    points = compared or [seat.points for seat in table.seats]
    return dict(zip(table.version_ids, points, strict=True))


def _ratings(tx: Transaction, tournament: Tournament, tables: Sequence[Table]) -> dict[int, Rating]:
    """Return the pool's ratings of all who sit at the tables; those who have none yet get one."""
    seated = {version_id: None for table in tables for version_id in table.version_ids}  # in order
    in_pool = (Rating.ruleset_id == tournament.ruleset_id, Rating.table_size == tournament.table_size)
    found = tx.exec(select(Rating).where(*in_pool, col(Rating.version_id).in_(seated)))
    ratings = {rating.version_id: rating for rating in found}
    for version_id in seated:
        if version_id not in ratings:
            ratings[version_id] = Rating(
                ruleset_id=tournament.ruleset_id,
                table_size=tournament.table_size,
                version_id=version_id,
                value=START,
            )
            tx.add(ratings[version_id])
    tx.flush()
    return ratings

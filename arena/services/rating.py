"""Ratings of a round's matches, applied when the round closes."""

from datetime import datetime

from sqlalchemy import update
from sqlmodel import col, select

from arena.models import Entrant, Match, Rating, RatingChange, Round, Seat, StoredRuleset, Tournament
from arena.ratings import START, apply_match
from arena.storage import Transaction, changed

Table = tuple[Match, list[tuple[Seat, int]]]
"""A match and its seats, each with the bot version that sat there."""


def rate_round(tx: Transaction, tournament: Tournament, round: Round, now: datetime) -> None:
    """Apply the round's matches to the pool in the order of their tables; each seat gets a RatingChange row.

    The order of tables makes the result independent of which worker finished first.
    """
    tables = _tables(tx, round)
    pool = update(StoredRuleset).where(col(StoredRuleset.id) == tournament.ruleset_id)
    # Until this transaction ends no other round gets past here, to read ratings that are about to change.
    changed(tx, pool.values(rated_matches=StoredRuleset.rated_matches + len(tables)))
    ratings = _ratings(tx, tournament)
    for match, seats in tables:
        points = {version_id: seat.points for seat, version_id in seats}
        after = apply_match({version_id: ratings[version_id].value for version_id in points}, points)
        for seat, version_id in seats:
            rating = ratings[version_id]
            change = RatingChange(
                match_id=match.id,
                seat_id=seat.id,
                rating_id=rating.id,
                before=rating.value,
                after=after[version_id],
                created_at=now,
            )
            tx.add(change)
            rating.value = change.after
            rating.matches += 1
            rating.deals += match.deals_done


def _tables(tx: Transaction, round: Round) -> list[Table]:
    rows = (
        select(Match, Seat, Entrant.version_id)
        .join(Seat, col(Seat.match_id) == Match.id)
        .join(Entrant, col(Entrant.id) == Seat.entrant_id)
        .where(Match.round_id == round.id)
        .order_by(col(Match.table_number), col(Seat.position))
    )
    tables: dict[int, Table] = {}
    for match, seat, version_id in tx.exec(rows):
        tables.setdefault(match.id, (match, []))[1].append((seat, version_id))
    return list(tables.values())


def _ratings(tx: Transaction, tournament: Tournament) -> dict[int, Rating]:
    """The pool's ratings of all entrants, who are rated from here on if they were not yet."""
    versions = select(Entrant.version_id).where(Entrant.tournament_id == tournament.id)
    in_pool = (Rating.ruleset_id == tournament.ruleset_id, Rating.table_size == tournament.table_size)
    found = tx.exec(select(Rating).where(*in_pool, col(Rating.version_id).in_(versions)))
    ratings = {rating.version_id: rating for rating in found}
    for version_id in tx.exec(versions.order_by(col(Entrant.number))).all():
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

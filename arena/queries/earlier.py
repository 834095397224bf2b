"""The standing of bots at an earlier time."""

import json
import zlib
from bisect import bisect_left
from collections.abc import Mapping, Sequence, Set
from datetime import datetime
from functools import lru_cache

from sqlmodel import col, select

from arena.models import Rating, RatingChange, StrengthFit, StrengthPoint
from arena.queries.board import Before
from arena.queries.places import Rated
from arena.storage import Transaction, among
from arena.strength.kept import Pool
from arena.strength.scale import figure


def earlier(tx: Transaction, pool: Pool, ratings: Sequence[Rated], since: datetime) -> dict[int, Before]:
    """Return by bot version the standing of those with these ratings in a pool at a time."""
    elo = _elo(tx, ratings, since)
    figures = _figures(tx, pool, ratings, since)
    ranks = _ranks(tx, pool, {one.version_id for one in ratings}, since) if ratings else {}
    return {
        one.version_id: Before(elo.get(one.id), figures.get(one.version_id), ranks.get(one.version_id))
        for one in ratings
    }


def _elo(tx: Transaction, ratings: Sequence[Rated], since: datetime) -> dict[int, float]:
    """Return by rating its value after the last change until then."""
    last = (
        select(RatingChange.id)
        .where(col(RatingChange.rating_id) == Rating.id, col(RatingChange.created_at) <= since)
        .order_by(col(RatingChange.created_at).desc(), col(RatingChange.id).desc())
        .limit(1)
        .correlate(Rating)
        .scalar_subquery()
    )
    changes = select(RatingChange.rating_id, RatingChange.after).join(Rating, col(RatingChange.id) == last)
    return dict(tx.exec(changes.where(among(Rating.id, (one.id for one in ratings)))).all())


def _figures(tx: Transaction, pool: Pool, ratings: Sequence[Rated], since: datetime) -> dict[int, float]:
    """Return by bot version the last figure in its history until then."""
    last = (
        select(StrengthPoint.id)
        .where(
            col(StrengthPoint.version_id) == Rating.version_id,
            col(StrengthPoint.ruleset_id) == pool.ruleset_id,
            col(StrengthPoint.table_size) == pool.table_size,
            col(StrengthPoint.fitted_at) <= since,
        )
        .order_by(col(StrengthPoint.id).desc())
        .limit(1)
        .correlate(Rating)
        .scalar_subquery()
    )
    told = select(StrengthPoint.version_id, StrengthPoint.value, StrengthPoint.deviation)
    points = told.join(Rating, col(StrengthPoint.id) == last)
    found = tx.exec(points.where(among(Rating.id, (one.id for one in ratings))))
    return {version_id: figure(value, deviation) for version_id, value, deviation in found}


def _ranks(tx: Transaction, pool: Pool, version_ids: Set[int], since: datetime) -> dict[int, int]:
    """Return by bot version its rank in the last stored fit until then."""
    fits = select(StrengthFit.lines).where(
        StrengthFit.ruleset_id == pool.ruleset_id,
        StrengthFit.table_size == pool.table_size,
        StrengthFit.fitted_at <= since,
    )
    lines = tx.exec(fits.order_by(col(StrengthFit.matches).desc()).limit(1)).first()
    ranks = {} if lines is None else _ranks_of(lines)
    return {one: ranks[one] for one in version_ids if one in ranks}


@lru_cache(maxsize=4)  # leaderboards are asked for again and again, and a large fit takes long to read
def _ranks_of(lines: bytes) -> Mapping[int, int]:
    """Return the rank of each bot version in a stored fit."""
    strengths = [(strength, version_id) for version_id, strength, *_ in json.loads(zlib.decompress(lines))]
    falling = sorted(-strength for strength, _ in strengths)
    return {version_id: 1 + bisect_left(falling, -strength) for strength, version_id in strengths}

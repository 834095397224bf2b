"""The standing of bots at an earlier time."""

import json
import zlib
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache
from typing import Any

from sqlalchemy import Select, bindparam
from sqlalchemy import select as select_columns
from sqlmodel import col

from arena.queries.board import Before
from arena.queries.places import Rated
from arena.results.strength.kept import Pool
from arena.results.strength.scale import figure
from arena.store.models import Rating, RatingChange, StrengthFit, StrengthPoint
from arena.store.storage import Ids, Transaction, among


def earlier(tx: Transaction, ratings: Mapping[Pool, Sequence[Rated]], since: datetime) -> dict[int, Before]:
    """Return by rating the standing of these at a time; those of all pools are read at once."""
    wanted = {"since": since, "ratings": [one.id for of_pool in ratings.values() for one in of_pool]}
    connection = tx.connection()
    elo = {row[0]: row[1] for row in connection.execute(_last_changes(), wanted).all()}
    points = connection.execute(_last_points(), wanted).all()
    figures = {rating_id: figure(value, deviation) for rating_id, value, deviation in points}
    found = {}
    for pool, of_pool in ratings.items():
        ranks = _ranks(tx, pool, since) if of_pool else {}
        for one in of_pool:
            found[one.id] = Before(elo.get(one.id), figures.get(one.id), ranks.get(one.version_id))
    return found


_SINCE: Any = bindparam("since")
_THESE = among(Rating.id, bindparam("ratings", type_=Ids()))


@cache
def _last_changes() -> Select[Any]:
    """Select the value of ratings after their last change until a time; made once, as that takes long."""
    last = (
        select_columns(col(RatingChange.id))
        .where(col(RatingChange.rating_id) == Rating.id, col(RatingChange.created_at) <= _SINCE)
        .order_by(col(RatingChange.created_at).desc(), col(RatingChange.id).desc())
        .limit(1)
        .correlate(Rating)
        .scalar_subquery()
    )
    columns: tuple[Any, ...] = (RatingChange.rating_id, RatingChange.after)
    return select_columns(*columns).join(Rating, col(RatingChange.id) == last).where(_THESE)


@cache
def _last_points() -> Select[Any]:
    """Select by rating the last strength of its bot version in its pool until a time."""
    last = (
        select_columns(col(StrengthPoint.id))
        .where(
            col(StrengthPoint.version_id) == Rating.version_id,
            col(StrengthPoint.ruleset_id) == Rating.ruleset_id,
            col(StrengthPoint.table_size) == Rating.table_size,
            col(StrengthPoint.fitted_at) <= _SINCE,
        )
        .order_by(col(StrengthPoint.id).desc())
        .limit(1)
        .correlate(Rating)
        .scalar_subquery()
    )
    columns: tuple[Any, ...] = (Rating.id, StrengthPoint.value, StrengthPoint.deviation)
    points = select_columns(*columns).select_from(StrengthPoint).join(Rating, col(StrengthPoint.id) == last)
    return points.where(_THESE)


def _ranks(tx: Transaction, pool: Pool, since: datetime) -> Mapping[int, int]:
    """Return the rank of each bot version in the last stored fit of a pool until then."""
    lines = tx.connection().execute(_last_fit(), {**pool._asdict(), "since": since}).scalar()
    return {} if lines is None else _ranks_of(lines)


@cache
def _last_fit() -> Select[Any]:
    fits = select_columns(col(StrengthFit.lines)).where(
        col(StrengthFit.ruleset_id) == bindparam("ruleset_id"),
        col(StrengthFit.table_size) == bindparam("table_size"),
        col(StrengthFit.fitted_at) <= _SINCE,
    )
    return fits.order_by(col(StrengthFit.matches).desc()).limit(1)


@lru_cache(maxsize=4)  # leaderboards are asked for again and again, and a large fit takes long to read
def _ranks_of(lines: bytes) -> Mapping[int, int]:
    """Return the rank of each bot version in a stored fit."""
    strengths = [(strength, version_id) for version_id, strength, *_ in json.loads(zlib.decompress(lines))]
    falling = sorted(-strength for strength, _ in strengths)
    return {version_id: 1 + bisect_left(falling, -strength) for strength, version_id in strengths}

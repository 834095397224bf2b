"""How matches count in their tournaments, which the points as they were played do not always tell.

In a duplicate tournament, points are compared with those of the same seat at other tables; an organiser may
have corrected points; and whoever forfeited a whole match is behind everybody else. What such matches count
is kept with their seats (``arena.results.standings.counted``).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlmodel import col

from arena.core.duplicate import DealScore, RoundBeside, all_beside, scores_at
from arena.results.standings.outcomes import played_deals
from arena.store.models import Match, Round
from arena.store.storage import Storage
from arena.tournaments.overview import find_tournament


class Counts:
    """A match with points and what counts; both are None as long as they are not known."""

    __slots__ = ()

    points: tuple[int, ...] | None
    scores: tuple[float, ...] | None

    @property
    def as_played(self) -> bool:
        """Whether nothing else counts than the points as they were played."""
        return self.scores is None or self.scores == self.points


class Counted(NamedTuple):
    """How a match that is done counts, by position; nothing in a duplicate round that goes on."""

    scores: tuple[float, ...] | None
    places: tuple[int, ...] | None


NOT_YET = Counted(None, None)


def count(
    points: Sequence[int],
    scores: Sequence[float | None],
    places: Sequence[int | None],
    *,
    duplicate: bool,
) -> Counted:
    """Return how a match that is done counts, from what is kept with its seats."""
    known = tuple(place for place in places if place is not None)
    if known:
        pairs = zip(points, scores, strict=True)
        return Counted(tuple(float(own if score is None else score) for own, score in pairs), known)
    if duplicate:
        return NOT_YET
    return Counted(
        tuple(map(float, points)), tuple(1 + sum(other > own for other in points) for own in points)
    )


def deals_beside(storage: Storage, name: str, round: int) -> RoundBeside:
    """Return what the deals of a duplicate round that is over are compared with. Raise UnknownError.

    All sessions of the round are read, but the answer is small, and never changes.
    """
    with storage.read() as tx:
        tables = dict(played_deals(tx, find_tournament(tx, name), col(Round.number) == round))
    return all_beside([*tables.get(round, {}).values()])


def deal_scores_at(
    storage: Storage, name: str, round: int, table: int, beside: RoundBeside
) -> Mapping[int, Sequence[DealScore]]:
    """Return what the deals of a finished match in a duplicate tournament count, by session.

    ``beside`` is what they are compared with. Raise UnknownError.
    """
    which = (col(Round.number) == round, col(Match.table_number) == table)
    with storage.read() as tx:
        tables = dict(played_deals(tx, find_tournament(tx, name), *which)).get(round, {})
    sessions = tables.get(table, [])
    return {one.number: deals for one, deals in zip(sessions, scores_at(sessions, beside), strict=True)}

"""What a match with forfeits or fouled deals is worth for ratings.

Whoever forfeits loses; the others get what was played, as far as it says who played better.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from arena.core.duplicate import DealScore, PlayedSession, deal_scores
from arena.core.elo import Share


class _Counted(NamedTuple):
    """The part of a session that counts, by place at the table."""

    points: Sequence[float]
    """Points of the deals that count."""
    gone: frozenset[int]
    """The places whose bots forfeited it."""
    share: float
    """How much of the session counts, from 0 to 1."""


def shares(
    tables: Mapping[int, Sequence[PlayedSession]], deals: int, *, duplicate: bool
) -> dict[int, dict[tuple[int, int], list[Share]]]:
    """Return the shares of those matches of a round that do not count as a whole, by table and pair.

    These are the matches in which bots forfeited, or deals were fouled. ``deals`` is the most that a session
    has. Each session is the same share of its match. If one of a pair forfeited it, that one loses it; if
    both did, it counts for nothing between them. For all other pairs, the points of all their sessions
    together count. A session that a forfeit ended weighs less, by the share of its deals that were finished,
    and so does one with fouled deals.
    """
    compared: Sequence[Sequence[Sequence[DealScore]]]
    if duplicate:
        compared = deal_scores(list(tables.values()))
    else:
        compared = [[_plain(session) for session in sessions] for sessions in tables.values()]
    return {
        table: _pairs([_counted(*session, deals) for session in zip(sessions, scored, strict=True)])
        for (table, sessions), scored in zip(tables.items(), compared, strict=True)
        if any(session.forfeits for session in sessions) or any(one.fouled for of in scored for one in of)
    }


def _plain(session: PlayedSession) -> list[DealScore]:
    return [DealScore(tuple(map(float, points)), fouled=False) for points in session.points]


def _pairs(sessions: Sequence[_Counted]) -> dict[tuple[int, int], list[Share]]:
    places = range(len(sessions[0].points))
    return {(one, other): _pair(sessions, one, other) for one in places for other in range(one)}


def _pair(sessions: Sequence[_Counted], one: int, other: int) -> list[Share]:
    lost = sum(one in session.gone and other not in session.gone for session in sessions)
    won = sum(other in session.gone and one not in session.gone for session in sessions)
    played = [session for session in sessions if not session.gone & {one, other}]
    ahead = round(sum(session.points[one] - session.points[other] for session in played), 6)
    weights = (lost, 0.0), (won, 1.0), (sum(session.share for session in played), (1 + _sign(ahead)) / 2)
    return [Share(weight / len(sessions), result) for weight, result in weights if weight]


def _sign(number: float) -> int:
    return (number > 0) - (number < 0)


def _counted(session: PlayedSession, scored: Sequence[DealScore], deals: int) -> _Counted:
    finished = scored if session.forfeit is None else scored[:-1]
    whole = (len(scored) or 1) if session.forfeit is None else max(deals, len(finished))
    counted = [one.by_seat for one in finished if not one.fouled]
    points = [0.0] * len(session.seating)
    for position, own in zip(session.seating, zip(*counted, strict=True), strict=False):  # there may be none
        points[position] = sum(own)
    gone = frozenset(session.seating[seat] for seat in session.forfeits)
    return _Counted(points, gone, len(counted) / whole)

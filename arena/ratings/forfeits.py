"""What a match with forfeits is worth for ratings: whoever forfeits loses, the others get what was played."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from arena.matches.duplicate import PlayedSession, scores
from arena.ratings.elo import Share


class _Counted(NamedTuple):
    """The part of a session that counts, by place at the table."""

    points: Sequence[float]
    """Points of the deals that were played to their end."""
    gone: frozenset[int]
    """The places whose bots forfeited it."""
    share: float
    """How much of the session was played, from 0 to 1."""


def shares(
    tables: Mapping[int, Sequence[PlayedSession]], deals: int, *, duplicate: bool
) -> dict[int, dict[tuple[int, int], list[Share]]]:
    """Return the shares of the matches of a round in which bots forfeited, by table and pair of places.

    ``deals`` is the most that a session has. Each session is the same share of its match. If one of a pair
    forfeited it, that one loses it; if both did, it counts for nothing between them. For all other pairs, the
    points of all their sessions together count. A session that a forfeit ended weighs less: by the share of
    its deals that were finished.
    """
    return {
        table: _pairs([_counted(tables, table, session, deals, duplicate) for session in sessions])
        for table, sessions in tables.items()
        if any(session.forfeits for session in sessions)
    }


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


def _counted(
    tables: Mapping[int, Sequence[PlayedSession]],
    table: int,
    session: PlayedSession,
    deals: int,
    duplicate: bool,
) -> _Counted:
    finished = session.points if session.forfeit is None else session.points[:-1]
    here = session._replace(points=finished)
    share = 1.0 if session.forfeit is None else min(1.0, len(finished) / deals)
    points = [0.0] * len(session.seating)
    by_seat = _compared(tables, table, here) if duplicate else map(sum, zip(*finished, strict=True))
    for position, scored in zip(session.seating, by_seat, strict=False):  # none if no deal is finished
        points[position] = scored
    gone = frozenset(session.seating[seat] for seat in session.forfeits)
    return _Counted(points, gone, share)


def _compared(
    tables: Mapping[int, Sequence[PlayedSession]], table: int, session: PlayedSession
) -> Sequence[float]:
    """Return the duplicate scores of a session by seat."""
    together = [session]
    for other, sessions in tables.items():
        if other != table:
            together += [one for one in sessions if one.number == session.number]
    played = [{one.number: one.points} for one in together]
    return scores(played, [{one.number: one.attempts} for one in together])[0]

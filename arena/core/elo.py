"""Elo ratings for tables of any size.

A match of k counts as a small tournament of its k * (k - 1) / 2 pairs, each an ordinary Elo result that
weighs K / (k - 1), so that a match can move a rating by K at most, whatever the size of the table (the
multi-player Elo of Halite and others; for two it is Elo's own formula, "The Rating of Chessplayers", 1978).
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from arena.core.duplicate import DealScore, PlayedSession, deal_scores

START = 1500.0
"""Rating of a bot version before its first match in a pool."""

K = 32.0
"""The most that one match of full length can change a rating."""

FULL_LENGTH = 40
"""The least number of deals with which a match has full weight; with fewer it weighs proportionally less."""

SCALE = 400.0
"""The difference in points that makes the better one ten times as likely to finish before the other."""


LARGEST_POWER = 300.0
"""The largest power of ten that is formed; with a larger one the share would be 0 all the same."""

UNKNOWN = 200.0
"""Standard deviation, in rating points, of the assumed worth of a bot of which nothing is known."""

MIXED = 0.16
"""Mean of p (1 - p), p the expected share, over opponents whose worth is spread as ``UNKNOWN`` says."""

TWO_SIDED = 1.96
"""Standard deviations to either side that hold 95 % of a normal distribution."""


def match_weight(sessions: int, deals: int) -> float:
    """Return the weight of a match of ``sessions`` sessions of ``deals`` deals each, from 0 to 1."""
    return min(1.0, sessions * deals / FULL_LENGTH)


def expected(own: float, other: float) -> float:
    """Return the share that the first of two is expected to win: 1 / (1 + 10 ** ((other - own) / 400))."""
    return 1.0 / (1.0 + math.pow(10.0, min((other - own) / SCALE, LARGEST_POWER)))


class Share(NamedTuple):
    """A part of a match between two, and its result."""

    weight: float
    """Weight of the part; the whole match weighs 1."""
    won: float
    """The result for the first of the two: 1 for a win, 0.5 for a draw, 0 for a loss."""


def apply_match(
    ratings: Mapping[int, float],
    points: Mapping[int, float],
    shares: Mapping[tuple[int, int], Sequence[Share]] | None = None,
    weight: float = 1.0,
) -> dict[int, float]:
    """Return the new ratings of those who sat at a table; their changes sum to zero.

    ``points`` are the totals of the match: more than another's is a win over that other, an equal number a
    draw. If bots forfeited, ``shares`` give the results instead, by the places of two in ``points``, the
    higher place first (``arena.core.elo``). ``weight`` is the weight of the match (``match_weight``).
    Whoever has no rating yet starts at ``START``.
    """
    before = {entrant: ratings.get(entrant, START) for entrant in points}
    step = K * weight / (len(points) - 1)
    after = dict(before)
    table = list(points)
    for index, first in enumerate(table):
        for place, other in enumerate(table[:index]):
            whole = Share(1.0, (1 + (points[first] > points[other]) - (points[first] < points[other])) / 2)
            for part, won in (whole,) if shares is None else shares[index, place]:
                change = step * part * (won - expected(before[first], before[other]))
                after[first] += change
                after[other] -= change
    return after


def uncertainty(matches: float, size: int) -> float:
    """Return how far a rating may be off after ``matches`` matches at tables of ``size``, for pairing by
    closeness.

    Each match counts with its weight (``match_weight``).

    Two things make a rating wrong: what is left of starting everyone at ``START``, which every match reduces
    by about the same share, and the luck in its latest matches, which K keeps from dying away. This is 1.96
    standard deviations of both together, for placings by luck and ability. It is not a confidence interval:
    how far ratings spread depends on how long matches are (``arena.results.strength`` has intervals).
    """
    slope = math.log(10.0) / SCALE * MIXED
    keeps = (1 - K * slope) ** (2 * matches)
    placing = (size * size - 1) / 12  # variance of a place among equals
    chance = K * placing / (size - 1) ** 2 / (2 * slope - K * slope * slope)
    return TWO_SIDED * math.sqrt(keeps * UNKNOWN**2 + (1 - keeps) * chance)


def spread(count: int, total: float, squares: float) -> float | None:
    """Return half the width of the 95 % interval around the sum of ``count`` independent values.

    ``total`` is their sum, ``squares`` that of their squares; None for fewer than two values.
    """
    if count < 2:
        return None
    variance = max(0.0, squares - total * total / count) / (count - 1)
    return TWO_SIDED * math.sqrt(variance * count)


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
    has. If one of a pair forfeited a session, it loses the match to the other: whatever it kept, it could
    leave when it is ahead, or give up only the sessions that go badly. If both did, the match is no result
    between them. For all other pairs, the points of all sessions together count, each session the same share
    of the match. A session that a forfeit ended weighs less, by the share of its deals that were finished,
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
        if any(session.forfeits for session in sessions) or any(deal.fouled for of in scored for deal in of)
    }


def _plain(session: PlayedSession) -> list[DealScore]:
    return [DealScore(tuple(map(float, points)), fouled=False) for points in session.points]


def _pairs(sessions: Sequence[_Counted]) -> dict[tuple[int, int], list[Share]]:
    places = range(len(sessions[0].points))
    return {(one, other): _pair(sessions, one, other) for one in places for other in range(one)}


def _pair(sessions: Sequence[_Counted], one: int, other: int) -> list[Share]:
    gone = frozenset[int]().union(*(session.gone for session in sessions)) & {one, other}
    if gone:
        return [] if len(gone) == 2 else [Share(1.0, float(other in gone))]
    ahead = round(sum(session.points[one] - session.points[other] for session in sessions), 6)
    weight = sum(session.share for session in sessions) / len(sessions)
    return [Share(weight, (1 + _sign(ahead)) / 2)] if weight else []


def _sign(number: float) -> int:
    return (number > 0) - (number < 0)


def _counted(session: PlayedSession, scored: Sequence[DealScore], deals: int) -> _Counted:
    finished = scored if session.forfeit is None else scored[:-1]
    whole = (len(scored) or 1) if session.forfeit is None else max(deals, len(finished))
    counted = [deal.by_seat for deal in finished if not deal.fouled]
    points = [0.0] * len(session.seating)
    for position, own in zip(session.seating, zip(*counted, strict=True), strict=False):  # there may be none
        points[position] = sum(own)
    gone = frozenset(session.seating[seat] for seat in session.forfeits)
    return _Counted(points, gone, len(counted) / whole)

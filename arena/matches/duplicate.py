"""Duplicate deals: all tables of a round play the same cards, and a bot is scored against its seat elsewhere.

What a seat gets from the cards alone is the same at every table, so it cancels out: what is left is what the
bot made of them (as in duplicate bridge). Seats at the tables are fixed throughout the match, so nobody sees
a deal twice. A deal that only one table played with its cards, because it was dealt again, is a fouled board.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import zip_longest
from typing import NamedTuple

from arena.errors import SpecError
from referee.ruleset import Ruleset

Deals = Sequence[Sequence[int]]
"""For each deal of a session the points of each seat."""


Attempts = Sequence[int] | None
"""For each deal of a session the attempt that dealt it; None if the first dealt all."""


class PlayedSession(NamedTuple):
    """A session of a finished match."""

    number: int
    seating: Sequence[int]
    """For each seat the position at the table."""
    points: Deals
    attempts: Attempts
    forfeits: Sequence[int] = ()
    """The seats whose bots forfeited it."""
    forfeit: int | None = None
    """The seat whose forfeit ended it, in its last deal; None if it was played to its end."""
    forfeited_from: int | None = None
    """Index of the first deal without all bots; None if all played all deals."""
    faults: Sequence[int] = ()
    """The number of faults by seat."""


def scores(
    tables: Sequence[Mapping[int, Deals]], attempts: Sequence[Mapping[int, Attempts]] | None = None
) -> list[tuple[float, ...]]:
    """Return for each table the score of each seat: the sum of ``deal_scores``, rounded once at the end.

    ``tables`` has for each table its sessions by number; tables may have different sessions and deals.
    ``attempts`` has the same for the attempts; None means that each session had only one.
    """
    sums: list[list[Counter[int]]] = [[] for _ in tables]
    for at, points, totals, others in _deals(tables, attempts):
        sums[at] = sums[at] or [Counter() for _ in points]
        for seat, own in enumerate(points):
            sums[at][seat][others] += (others + 1) * own - totals[seat] if others else own
    return [tuple(float(_sum(counts)) for counts in seats) for seats in sums]


def deal_scores(
    tables: Sequence[Mapping[int, Deals]], attempts: Sequence[Mapping[int, Attempts]] | None = None
) -> list[list[tuple[float, ...]]]:
    """Return for each table, for each of its deals by session and number, the score of each seat.

    That is its points minus the mean of the same seat's at the other tables that played the deal with the
    same cards. If others played it, but none with the same cards because an attempt dealt it again, it is
    fouled: 0 for every seat. If no other table played it, the score is the seat's points.
    """
    found: list[list[tuple[float, ...]]] = [[] for _ in tables]
    for at, points, totals, others in _deals(tables, attempts):
        found[at].append(
            tuple(
                own - (total - own) / others if others else float(own)
                for own, total in zip(points, totals, strict=True)
            )
        )
    return found


def _deals(
    tables: Sequence[Mapping[int, Deals]], attempts: Sequence[Mapping[int, Attempts]] | None
) -> Iterator[tuple[int, Sequence[int], Sequence[int], int]]:
    """Yield for each deal at each table: the table, its points, their sums at all tables with the same cards,
    and how many others these are. A fouled deal has no points.
    """
    for session in sorted({number for table in tables for number in table}):
        played = [(at, table[session]) for at, table in enumerate(tables) if session in table]
        for number, together in enumerate(zip_longest(*(deals for _, deals in played))):
            same: dict[int, list[tuple[int, Sequence[int]]]] = {}
            for (at, _), points in zip(played, together, strict=True):
                if points is not None:
                    dealt = attempts[at].get(session) if attempts else None
                    same.setdefault(dealt[number] if dealt else 1, []).append((at, points))
            for here in same.values():
                fouled = len(here) == 1 and len(same) > 1
                totals = [sum(column) for column in zip(*(points for _, points in here), strict=True)]
                for at, points in here:
                    counted = [0] * len(points) if fouled else points
                    yield at, counted, totals, len(here) - 1


def _sum(counts: Mapping[int, int]) -> Fraction:
    return sum((Fraction(total, others or 1) for others, total in counts.items()), Fraction())


def session_deals(ruleset: Ruleset, deals: int | None) -> int | None:
    """Return the deals of a duplicate tournament's session if ``deals`` are asked for (None: the ruleset's).

    If a seat's cards depend on how the previous deal ended, they would differ from table to table; under such
    rulesets a session is one deal. Raise SpecError if more are asked for.
    """
    if ruleset.dealer != "rotate":
        reason = f"the {ruleset.dealer} of a deal deals the next"
    elif ruleset.exchange != "none":
        reason = "cards are exchanged after a deal"
    else:
        return deals
    if deals not in (None, 1):
        needed = f"duplicate under {ruleset.label} needs sessions of 1 deal, as {reason}"
        raise SpecError("deals", f"{needed}: leave deals out, and set sessions")
    return 1

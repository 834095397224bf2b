"""Tallies of the deals of rated matches by pair of bots and by seat, stored as rounds close."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from operator import gt, mul
from typing import Any

from arena.core.duplicate import PlayedSession


@dataclass(slots=True)
class Met:
    """The results of two bots' meetings in the deals that count (``arena.results.strength.updating``).

    The one with more points in a deal is ahead, even if the scores of duplicate deals are what counts.
    """

    matches: int = 0
    """Matches with such deals."""
    ahead: int = 0
    """Deals in which the one with the lower id was ahead."""
    behind: int = 0
    """Deals in which the other one was."""
    lead: int = 0
    """Points of the one minus those of the other."""
    last_match_id: int = 0
    """The highest id of the matches."""

    def values(self) -> dict[str, int]:
        """Return the values of the columns of ``meetings``, apart from the deals."""
        return {
            "matches": self.matches,
            "ahead": self.ahead,
            "behind": self.behind,
            "lead": self.lead,
            "last_match_id": self.last_match_id,
        }


@dataclass(slots=True)
class Sat:
    """The results of a bot in a seat: of the deals that count, and all its faults and forfeits."""

    deals: int = 0
    points: int = 0
    squares: int = 0
    """Sum of the squared points of each deal."""
    first: float = 0.0
    """Deals in which nobody had more points; one that n bots share counts 1/n."""
    faults: int = 0
    forfeits: int = 0
    """Sessions that it forfeited."""

    def __add__(self, other: "Sat") -> "Sat":
        """Return the sum of both."""
        return Sat(**{name: value + getattr(other, name) for name, value in self.values().items()})

    def values(self) -> dict[str, Any]:
        """Return the values of the columns of ``seat_tallies``."""
        return {
            "deals": self.deals,
            "points": self.points,
            "squares": self.squares,
            "first": self.first,
            "faults": self.faults,
            "forfeits": self.forfeits,
        }


@dataclass(slots=True)
class Tallies:
    """The tallies of some matches."""

    met: dict[tuple[int, int], Met] = field(default_factory=dict)
    """By pair of bot versions, the lower id first."""
    sat: dict[tuple[int, int], Sat] = field(default_factory=dict)
    """By bot version and seat."""

    def add(self, match_id: int, bots: Sequence[int], sessions: Iterable[PlayedSession]) -> None:
        """Add a match; ``bots`` are the bot versions by position at the table.

        ``sessions`` have only the deals that count.
        """
        columns: list[list[int]] = [[] for _ in bots]
        """By position the points of all deals."""
        for session in sessions:
            self._add_session(bots, session)
            for position, column in zip(session.seating, zip(*session.points, strict=True), strict=False):
                columns[position].extend(column)  # there are no columns if no deal counts
        if columns[0]:
            self._add_meetings(match_id, bots, columns)

    def _add_session(self, bots: Sequence[int], session: PlayedSession) -> None:
        deals = session.points
        bests = [max(points) for points in deals]
        shares = [1 / list(points).count(best) for points, best in zip(deals, bests, strict=True)]
        by_seat: Sequence[Sequence[int]] = list(zip(*deals, strict=True)) or [()] * len(session.seating)
        for seat, (position, points) in enumerate(zip(session.seating, by_seat, strict=True)):
            sat = self.sat.setdefault((bots[position], seat), Sat())
            sat.deals += len(deals)
            sat.points += sum(points)
            sat.squares += sum(map(mul, points, points))
            firsts = zip(points, bests, shares, strict=True)
            sat.first += sum(share for own, best, share in firsts if own == best)
            sat.faults += session.faults[seat]
            sat.forfeits += seat in session.forfeits

    def _add_meetings(self, match_id: int, bots: Sequence[int], columns: Sequence[Sequence[int]]) -> None:
        order = sorted(range(len(bots)), key=bots.__getitem__)
        for one, other in combinations(order, 2):
            mine, theirs = columns[one], columns[other]
            met = self.met.setdefault((bots[one], bots[other]), Met())
            met.matches += 1
            met.ahead += sum(map(gt, mine, theirs))
            met.behind += sum(map(gt, theirs, mine))
            met.lead += sum(mine) - sum(theirs)
            met.last_match_id = max(met.last_match_id, match_id)

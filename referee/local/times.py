"""How long decisions took, in a form that stays small however many there are."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import ceil

_EXACT = 100
"""Shorter times are counted to the microsecond, others to two digits."""


@dataclass(frozen=True, slots=True)
class Spent:
    """A summary of the times of a bot's decisions, in milliseconds."""

    decisions: int
    median_ms: float
    p99_ms: float
    """99 of 100 decisions took no longer."""
    longest_ms: float
    late: int
    """How many decisions took longer than allowed."""


@dataclass(slots=True)
class Times:
    """Counts decisions by the time they took."""

    limit: float
    """Seconds that a decision may take."""
    longest: float = 0.0
    late: int = 0
    _by_time: Counter[int] = field(default_factory=Counter)

    def add(self, seconds: Iterable[float]) -> None:
        """Take in the times of decisions."""
        for one in seconds:
            self._by_time[_rounded(one)] += 1
            self.longest = max(self.longest, one)
            self.late += one > self.limit

    def spent(self) -> Spent | None:
        """Return a summary; None without any decisions."""
        decisions = self._by_time.total()
        if not decisions:
            return None
        middle, late = (self._below(ceil(share * decisions)) for share in (0.5, 0.99))
        return Spent(decisions, middle, late, round(self.longest * 1000, 3), self.late)

    def _below(self, rank: int) -> float:
        """Return the time of the decision of this rank, the shortest first, in milliseconds."""
        passed = 0
        for time, number in sorted(self._by_time.items()):
            passed += number
            if passed >= rank:
                return time / 1000
        raise AssertionError("a rank beyond the last decision")


def _rounded(seconds: float) -> int:
    """Return a time in microseconds, cut to two digits."""
    micro, scale = int(seconds * 1e6), 1
    while micro >= _EXACT:
        micro, scale = micro // 10, scale * 10
    return micro * scale

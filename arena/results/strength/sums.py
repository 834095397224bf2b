"""What is stored of a pool's matches for its strengths: only sums, so that a fit reads no history."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple


class Scored(NamedTuple):
    """The scores of the bots at one table in the deals of a match that count."""

    bots: tuple[int, ...]
    deals: int
    scores: tuple[float, ...]
    """By bot, its points minus the mean of the table, summed over the deals."""
    within: float
    """Sum over deals and bots of the squared distances from the bot's mean in the match."""


def scored(bots: Sequence[int], deals: Sequence[Sequence[float]]) -> Scored | None:
    """Return the scores of some deals, each given as the points by bot; None if there are no deals."""
    if not deals:
        return None
    size, count = len(bots), len(deals)
    totals, squares = [0.0] * size, [0.0] * size
    for points in deals:
        mean = sum(points) / size
        for at, own in enumerate(points):
            totals[at] += own - mean
            squares[at] += (own - mean) ** 2
    within = sum(squares) - sum(total * total for total in totals) / count
    return Scored(tuple(bots), count, tuple(totals), max(0.0, within))


@dataclass(slots=True)
class Sums:
    """Sums over matches in which the same kind of points was counted."""

    size: int
    """How many bots sit at a table."""
    matches: int = 0
    deals: int = 0
    within: float = 0.0
    """Squared distances of deals from the means of their matches; see ``Scored``."""
    between: float = 0.0
    """Sum over matches and bots of the squared mean score, times the deals of the match."""
    scores: dict[int, float] = field(default_factory=dict)
    """By bot; see ``Scored``."""
    bot_deals: dict[int, int] = field(default_factory=dict)
    """By bot, the deals in which it sat."""
    meetings: dict[tuple[int, int], int] = field(default_factory=dict)
    """Deals in which two bots, the lower number first, sat at one table."""

    def add(self, match: Scored) -> None:
        """Add a match."""
        self.matches += 1
        self.deals += match.deals
        self.within += match.within
        for bot, score in zip(match.bots, match.scores, strict=True):
            self.between += score * score / match.deals
            self.scores[bot] = self.scores.get(bot, 0.0) + score
            self.bot_deals[bot] = self.bot_deals.get(bot, 0) + match.deals
        for pair in combinations(sorted(match.bots), 2):
            self.meetings[pair] = self.meetings.get(pair, 0) + match.deals

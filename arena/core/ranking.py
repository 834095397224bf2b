"""A tournament's standings and crosstable, from the points of its matches."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import lcm
from operator import attrgetter, mul
from typing import NamedTuple, TypeVar


@dataclass(frozen=True, slots=True)
class Criteria:
    """What decides standings."""

    decisive: tuple[str, ...]
    """Fields of ``Standing``, in the order in which they count."""
    byes_count: bool = False
    """Whether a bye is worth the mean score of a table; otherwise it is worth nothing."""

    @property
    def per_match(self) -> bool:
        """Whether scores count per match, as where some play more matches than others."""
        return "mean" in self.decisive


BY_SCORE = Criteria(("score", "points", "wins", "opponents"), byes_count=True)
"""By match scores, then by points."""


class Merit(NamedTuple):
    """What decides a bot's place in a match: whoever has the greater one is ahead."""

    played: bool
    """Whether it played any session: whoever forfeited all of them is behind everybody else."""
    points: float
    """Its points; 0 if it played no session."""
    unforfeited: float
    """The share of the sessions that it did not forfeit, which decides between equal points."""


Value = TypeVar("Value", float, Merit)


@dataclass(frozen=True, slots=True)
class MatchOutcome:
    """How a match ended."""

    round: int
    """Round of the tournament, from 1."""

    table: int
    """Table in the round, from 1."""

    points: Mapping[int, float]
    """Entrant to points, summed over all deals of the match."""

    forfeits: Mapping[int, float] = field(default_factory=dict)
    """Entrant to the share of the match's sessions that it forfeited; those who forfeited none are left
    out."""

    @property
    def merits(self) -> dict[int, Merit]:
        """Entrant to what decides its place."""
        merits_by = {}
        for entrant, points in self.points.items():
            unforfeited = 1 - self.forfeits.get(entrant, 0)
            merits_by[entrant] = Merit(unforfeited > 0, points if unforfeited > 0 else 0, unforfeited)
        return merits_by

    @property
    def places(self) -> dict[int, int]:
        """Entrant to its place, from 1; equal ones have the same."""
        merits = self.merits
        return {who: 1 + sum(other > own for other in merits.values()) for who, own in merits.items()}


@dataclass(frozen=True, slots=True)
class Standing:
    """A line of the standings; which of its figures decide, and in what order, depends on the format."""

    rank: int
    """Place, from 1; shared only by those who are equal in everything that decides."""

    entrant: int
    """Number of the entrant."""

    score: float
    """Sum of the match scores: k - 1 for the first of k to 0 for the last, ties sharing; see ``Criteria``."""

    points: float
    """Points of all deals."""

    wins: int
    """Matches in which everyone else was behind."""

    opponents: float
    """Mean of the opponents' scores, each as often as met: how hard the way was (after Buchholz).

    Where ``mean`` decides, these are their scores per match.
    """

    opponents_cut: float = 0.0
    """The same without the lowest, so that one weak opponent costs nobody a place (Buchholz Cut 1)."""

    mean: float = 0.0
    """Mean match score of the matches played."""

    matches: int = 0
    """Matches played."""

    reached: int = 0
    """Rounds played or sat out; in a knockout, the round that was reached."""

    last: float = 0.0
    """Match score in the latest match."""


def match_scores(values: Mapping[int, Value]) -> dict[int, float]:
    """Return everyone's match score at a table: the opponents beaten, and half of those who are equal."""
    everyone = values.values()
    return {
        entrant: sum(own > other for other in everyone) + (sum(own == other for other in everyone) - 1) / 2
        for entrant, own in values.items()
    }


def standings(
    entrants: Sequence[int],
    outcomes: Sequence[MatchOutcome],
    byes: Iterable[int] = (),
    criteria: Criteria = BY_SCORE,
) -> list[Standing]:
    """Return the standings after these matches; ``byes`` names everyone who sat out, once for each time.

    They are ranked by ``criteria``; those equal in all of them share a rank, in the order of ``entrants``.
    If byes count, each is worth the mean score of a table as large as those played (nothing before the first
    match).
    """
    totals = totals_of(outcomes)
    for entrant in byes:
        totals[entrant].byes += 1
    return ranked(entrants, totals, len(outcomes[0].points) if outcomes else 1, criteria)


@dataclass(slots=True)
class Total:
    """The results of an entrant's matches, and whom it met."""

    played: float = 0.0
    """Sum of the match scores, without what byes are worth."""
    points: float = 0
    wins: int = 0
    matches: int = 0
    last: float = 0.0
    """Match score in the latest match."""
    byes: int = 0
    met: Counter[int] = field(default_factory=Counter)
    """How often it met each opponent."""


def ranked(
    entrants: Sequence[int], totals: Mapping[int, Total], size: int, criteria: Criteria = BY_SCORE
) -> list[Standing]:
    """Return the standings from everyone's totals; ``size`` is that of the tables (1 without matches)."""
    bye = (size - 1) / 2 if criteria.byes_count else 0.0
    nothing = Total()
    scores = {who: total.played + bye * total.byes for who, total in totals.items()}
    parts = lcm(*(total.matches or 1 for total in totals.values())) if criteria.per_match else 1
    # Whole numbers, so that sums and differences are exact, and equal figures are equal.
    worths = {
        who: round(2 * scores[who]) * (parts // (total.matches or 1) if criteria.per_match else 1)
        for who, total in totals.items()
    }
    lines = [_line(who, totals.get(who, nothing), scores, worths, 2 * parts) for who in entrants]
    decisive = attrgetter(*criteria.decisive)
    lines.sort(key=decisive, reverse=True)
    first: dict[object, int] = {}
    return [
        replace(line, rank=first.setdefault(decisive(line), place))
        for place, line in enumerate(lines, start=1)
    ]


def _line(
    who: int, own: Total, scores: Mapping[int, float], worths: Mapping[int, int], unit: int
) -> Standing:
    """Return the line of an entrant, without its rank; opponents have their ``worths`` in this unit."""
    met, others = own.met.total(), [worths[other] for other in own.met]
    hard = sum(map(mul, own.met.values(), others))
    easiest = min(others, default=0)
    return Standing(
        rank=0,
        entrant=who,
        score=scores.get(who, 0.0),
        points=own.points,
        wins=own.wins,
        opponents=hard / (unit * (met or 1)),
        opponents_cut=(hard - easiest) / (unit * (met - 1 or 1)),
        mean=own.played / (own.matches or 1),
        matches=own.matches,
        reached=own.matches + own.byes,
        last=own.last,
    )


def totals_of(outcomes: Sequence[MatchOutcome]) -> dict[int, Total]:
    """Return everyone's results in these matches."""
    totals: dict[int, Total] = defaultdict(Total)
    for outcome in sorted(outcomes, key=attrgetter("round", "table")):
        for entrant, scored in match_scores(outcome.merits).items():
            total = totals[entrant]
            total.played += scored
            total.points += outcome.points[entrant]
            total.wins += scored == len(outcome.points) - 1
            total.matches += 1
            total.last = scored
            total.met.update(other for other in outcome.points if other != entrant)
    return totals

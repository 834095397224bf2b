"""A tournament's standings and crosstable, from the points of its matches."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations


@dataclass(frozen=True, slots=True)
class MatchOutcome:
    """How a match ended."""

    round: int
    """Round of the tournament, from 1."""

    table: int
    """Table in the round, from 1."""

    points: Mapping[int, int]
    """Entrant to points, summed over all deals of the match."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A line of the standings; what decides stands in the order in which it decides."""

    rank: int
    """Place, from 1; shared only by those who are equal in everything below."""

    entrant: int
    """Who."""

    score: float
    """Sum of the match scores: k - 1 for the first of k to 0 for the last, ties sharing; a bye, the mean."""

    points: int
    """Points of all deals."""

    wins: int
    """Matches in which everyone else had fewer points."""

    opponents: float
    """Mean score of the opponents, each as often as met: how hard the way was (after Buchholz)."""


def match_scores(points: Mapping[int, int]) -> dict[int, float]:
    """Match score of everyone at a table: the opponents beaten, and half of those with equal points."""
    everyone = points.values()
    return {
        entrant: sum(own > other for other in everyone) + (sum(own == other for other in everyone) - 1) / 2
        for entrant, own in points.items()
    }


def standings(
    entrants: Sequence[int], outcomes: Sequence[MatchOutcome], byes: Iterable[int] = ()
) -> list[Standing]:
    """The standings after these matches; ``byes`` names everyone who sat out, once for each time.

    Ranked by score, then points, then wins, then the opponents' mean score; those equal in all of it share a
    rank and stand in the order of ``entrants``. A bye is worth the mean score of a table as large as those
    played (nothing before the first match).
    """
    score, points, wins, met = _totals(outcomes)
    bye = (len(outcomes[0].points) - 1) / 2 if outcomes else 0.0
    for entrant in byes:
        score[entrant] += bye
    means = {
        entrant: sum(score[other] for other in met[entrant]) / (len(met[entrant]) or 1)
        for entrant in entrants
    }
    lines = [(score[who], points[who], wins[who], means[who], who) for who in entrants]
    lines.sort(key=lambda line: line[:4], reverse=True)
    first = {line[:4]: place for place, line in reversed([*enumerate(lines, start=1)])}
    return [Standing(first[line[:4]], line[4], *line[:4]) for line in lines]


def _totals(
    outcomes: Sequence[MatchOutcome],
) -> tuple[dict[int, float], dict[int, int], dict[int, int], dict[int, list[int]]]:
    """Score, points, wins and opponents of everyone who played."""
    score: dict[int, float] = defaultdict(float)
    points: dict[int, int] = defaultdict(int)
    wins: dict[int, int] = defaultdict(int)
    met: dict[int, list[int]] = defaultdict(list)
    for outcome in outcomes:
        for entrant, scored in match_scores(outcome.points).items():
            score[entrant] += scored
            points[entrant] += outcome.points[entrant]
            wins[entrant] += scored == len(outcome.points) - 1
            met[entrant] += [other for other in outcome.points if other != entrant]
    return score, points, wins, met


def crosstable(
    entrants: Sequence[int], deals: Iterable[Mapping[int, int]]
) -> dict[tuple[int, int], tuple[int, int]]:
    """For every two entrants (a, b): in how many deals a had more points than b, and in how many both sat.

    ``deals`` gives the points of everyone in a deal, one mapping for each deal.
    """
    before = dict.fromkeys(permutations(entrants, 2), 0)
    together = dict(before)
    for points in deals:
        for pair in permutations(points, 2):
            before[pair] += points[pair[0]] > points[pair[1]]
            together[pair] += 1
    return {pair: (before[pair], together[pair]) for pair in before}

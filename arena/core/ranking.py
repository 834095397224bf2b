"""A tournament's standings and crosstable, from the sums over its matches."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain, combinations
from math import lcm
from operator import attrgetter, gt, lt, mul
from typing import NamedTuple, TypeVar

from arena.core.duplicate import PlayedSession, deal_scores, scores


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


@dataclass(slots=True)
class Total:
    """The results of an entrant's matches."""

    played: float = 0.0
    """Sum of the match scores, without what byes are worth."""
    points: float = 0
    wins: int = 0
    matches: int = 0
    last: float = 0.0
    """Match score in the latest match."""
    byes: int = 0
    last_round: int = 0
    """The round of its latest match."""


Meeting = tuple[int, int, int]
"""Two entrants, and in how many matches they met."""


class Results(NamedTuple):
    """What standings follow from."""

    totals: Mapping[int, Total]
    """By entrant; those without any result may be left out."""
    meetings: Iterable[Meeting]
    """Who met whom; a pair may be there several times. They are read once, and may be many."""


def results_of(outcomes: Sequence[MatchOutcome], byes: Iterable[int] = ()) -> Results:
    """Return what standings follow from; ``byes`` names everyone who sat out, once for each time."""
    totals: dict[int, Total] = defaultdict(Total)
    for outcome in sorted(outcomes, key=attrgetter("round", "table")):
        add_outcome(totals, outcome)
    for entrant in byes:
        totals[entrant].byes += 1
    return Results(totals, meetings_of(outcome.points for outcome in outcomes))


def add_outcome(totals: dict[int, Total], outcome: MatchOutcome) -> None:
    """Add a match to everyone's totals, which are there or made by ``totals`` itself."""
    for entrant, scored in match_scores(outcome.merits).items():
        total = totals[entrant]
        total.played += scored
        total.points += outcome.points[entrant]
        total.wins += scored == len(outcome.points) - 1
        total.matches += 1
        if outcome.round > total.last_round:
            total.last, total.last_round = scored, outcome.round


def meetings_of(tables: Iterable[Iterable[int]]) -> Iterator[Meeting]:
    """Yield the meetings at these tables, each with its entrants."""
    return ((one, other, 1) for table in tables for one, other in combinations(table, 2))


def ranked(
    entrants: Sequence[int], results: Results, size: int, criteria: Criteria = BY_SCORE
) -> list[Standing]:
    """Return the standings of entrants at tables of this size.

    They are ranked by ``criteria``; those equal in all of them share a rank, in the order of ``entrants``.
    If byes count, each is worth the mean score of a table (nothing before the first match).
    """
    totals, nothing = results.totals, Total()
    counts = criteria.byes_count and any(total.matches for total in totals.values())
    bye = (size - 1) / 2 if counts else 0.0
    scores = {who: total.played + bye * total.byes for who, total in totals.items()}
    parts = lcm(*(total.matches or 1 for total in totals.values())) if criteria.per_match else 1
    # Whole numbers, so that sums and differences are exact, and equal figures are equal.
    worths = {
        who: round(2 * scores[who]) * (parts // (total.matches or 1) if criteria.per_match else 1)
        for who, total in totals.items()
    }
    ways = _ways(worths, results.meetings)
    lines = [
        _line(who, totals.get(who, nothing), scores.get(who, 0.0), ways.get(who, (0, 0, 0)), 2 * parts)
        for who in entrants
    ]
    decisive = attrgetter(*criteria.decisive)
    lines.sort(key=decisive, reverse=True)
    first: dict[object, int] = {}
    return [
        replace(line, rank=first.setdefault(decisive(line), place))
        for place, line in enumerate(lines, start=1)
    ]


_Way = tuple[int, int, int]
"""How many opponents an entrant met, the sum of their worths, each as often as met, and the lowest worth."""


def _ways(worths: Mapping[int, int], meetings: Iterable[Meeting]) -> dict[int, _Way]:
    """Return the way of everyone who met anybody."""
    met, hard = dict.fromkeys(worths, 0), dict.fromkeys(worths, 0)
    easiest: dict[int, int] = {}
    for one, other, times in meetings:
        for who, worth in ((one, worths[other]), (other, worths[one])):
            met[who] += times
            hard[who] += times * worth
            if worth < easiest.setdefault(who, worth):
                easiest[who] = worth
    return {who: (met[who], hard[who], lowest) for who, lowest in easiest.items()}


def _line(who: int, own: Total, score: float, way: _Way, unit: int) -> Standing:
    """Return the line of an entrant, without its rank; worths of opponents are in this unit."""
    met, hard, easiest = way
    return Standing(
        rank=0,
        entrant=who,
        score=score,
        points=own.points,
        wins=own.wins,
        opponents=hard / (unit * (met or 1)),
        opponents_cut=(hard - easiest) / (unit * (met - 1 or 1)),
        mean=own.played / (own.matches or 1),
        matches=own.matches,
        reached=own.matches + own.byes,
        last=own.last,
    )


class ScoreKind(StrEnum):
    """What is counted as a bot's score in a deal; scores of different kinds vary by luck differently."""

    PLAIN = "plain"
    """Its points."""
    MADE = "made"
    """What it made of its cards: its points less what was expected from the cards (``arena.core.luck``)."""
    DUPLICATE = "duplicate"
    """Its points beside those of the bots that had the same cards at other tables."""


Played = Mapping[int, Sequence[PlayedSession]]
"""The sessions of a round's finished matches, by table."""

Number = TypeVar("Number", int, float)


@dataclass(slots=True)
class Sum:
    """The results of an entrant's matches; the fields are those of ``EntrantSum``."""

    matches: int = 0
    played: float = 0.0
    points: float = 0.0
    wins: int = 0
    last: float = 0.0
    last_round: int = 0
    byes: int = 0
    deals: int = 0
    raw: int = 0
    total: float = 0.0
    squares: float = 0.0
    forfeits: int = 0


@dataclass(slots=True)
class Pair:
    """How often two sat at one table; the fields are those of ``Encounter``."""

    matches: int = 0
    deals: int = 0
    ahead: int = 0
    behind: int = 0


@dataclass(slots=True)
class Sums:
    """Sums by entrant, and by pair of entrants, the lower number first."""

    entrants: dict[int, Sum] = field(default_factory=dict)
    pairs: dict[tuple[int, int], Pair] = field(default_factory=dict)

    def of(self, entrant: int) -> Sum:
        """Return the sum of an entrant, empty if it has none yet."""
        return self.entrants.setdefault(entrant, Sum())

    def pair(self, one: int, other: int) -> Pair:
        """Return the sums of a pair, the lower number first."""
        return self.pairs.setdefault((one, other), Pair())

    def add_byes(self, byes: Iterable[int]) -> None:
        """Add those who sat out, once for each time."""
        for entrant in byes:
            self.of(entrant).byes += 1

    def add_round(
        self, number: int, seated: Mapping[int, Mapping[int, int]], played: Played, *, duplicate: bool
    ) -> None:
        """Add the finished matches of a round.

        ``seated`` has for each table the points of the entrants there, in the order of positions.
        """
        tables = list(played.values())
        compared = deal_scores(tables) if duplicate else None
        counted = scores(tables) if duplicate else None
        for place, (table, sessions) in enumerate(played.items()):
            there = list(seated[table])
            of_match = list(seated[table].values()) if counted is None else counted[place]
            forfeits = Counter(
                there[session.seating[seat]] for session in sessions for seat in session.forfeits
            )
            shares = {who: count / len(sessions) for who, count in forfeits.items()}
            self._add_match(MatchOutcome(number, table, dict(zip(there, of_match, strict=True)), shares))
            raw = _columns(sessions, [session.points for session in sessions])
            of_deals = [[score.by_seat for score in deals] for deals in compared[place]] if compared else None
            self._add_deals(there, raw, raw if of_deals is None else _columns(sessions, of_deals))
            for who, count in forfeits.items():
                self.of(who).forfeits += count

    def _add_match(self, match: MatchOutcome) -> None:
        points, round = match.points, match.round
        for entrant, scored in match_scores(match.merits).items():
            own = self.of(entrant)
            own.matches += 1
            own.played += scored
            own.points += points[entrant]
            own.wins += scored == len(points) - 1
            if round > own.last_round:
                own.last, own.last_round = scored, round
        for one, other in combinations(sorted(points), 2):
            self.pair(one, other).matches += 1

    def _add_deals(
        self, entrants: Sequence[int], raw: Sequence[Sequence[int]], scored: Sequence[Sequence[float]]
    ) -> None:
        """Add the deals of a match; ``raw`` and ``scored`` have the points of each entrant in each deal."""
        for entrant, points, score in zip(entrants, raw, scored, strict=True):
            own = self.of(entrant)
            own.deals += len(points)
            own.raw += sum(points)
            own.total += sum(score)
            own.squares += sum(map(mul, score, score))
        by_entrant = sorted(zip(entrants, raw, strict=True))
        for (one, mine), (other, theirs) in combinations(by_entrant, 2):
            pair = self.pair(one, other)
            pair.deals += len(mine)
            pair.ahead += sum(map(gt, mine, theirs))
            pair.behind += sum(map(lt, mine, theirs))

    def results(self, met: Iterable[Meeting] = ()) -> Results:
        """Return what standings follow from; ``met`` has further meetings."""
        totals = {
            entrant: Total(own.played, own.points, own.wins, own.matches, own.last, own.byes, own.last_round)
            for entrant, own in self.entrants.items()
        }
        here = ((one, other, pair.matches) for (one, other), pair in self.pairs.items())
        return Results(totals, chain(met, here))


def _columns(
    sessions: Sequence[PlayedSession], deals: Sequence[Sequence[Sequence[Number]]]
) -> list[list[Number]]:
    """Return the points of each deal for each position at a table; ``deals`` are by session and seat."""
    columns: list[list[Number]] = [[] for _ in sessions[0].seating]
    for session, of_it in zip(sessions, deals, strict=True):
        by_seat = zip(*of_it, strict=True)
        for position, column in zip(session.seating, by_seat, strict=False):  # there may be no deals
            columns[position] += column
    return columns

"""Sums over the matches of a tournament, from which standings and crosstables follow."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, combinations
from operator import gt, lt, mul
from typing import TypeVar

from arena.core.duplicate import PlayedSession, deal_scores, scores
from arena.core.ranking import MatchOutcome, Meeting, Results, Total, match_scores

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
            forfeits = Counter(there[one.seating[seat]] for one in sessions for seat in one.forfeits)
            shares = {who: count / len(sessions) for who, count in forfeits.items()}
            self._add_match(MatchOutcome(number, table, dict(zip(there, of_match, strict=True)), shares))
            raw = _columns(sessions, [one.points for one in sessions])
            of_deals = [[one.by_seat for one in deals] for deals in compared[place]] if compared else None
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

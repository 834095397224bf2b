"""What is stored of a pool's matches for its strengths: only sums, so that a fit reads no history."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from itertools import combinations
from operator import gt, mul
from typing import Any, NamedTuple, TypeAlias

from arena.core.duplicate import Deals, PlayedSession, deal_scores
from arena.core.luck import UNIT, made
from arena.core.ranking import Played


class Scored(NamedTuple):
    """The scores of the bots at one table in the deals of a match that count."""

    bots: tuple[int, ...]
    deals: int
    scores: tuple[float, ...]
    """By bot, its points minus the mean of the table, summed over the deals."""
    within: tuple[float, ...]
    """By bot, the sum over the deals of the squared distances from its mean in the match."""


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
    within = [max(0.0, of_bot - total * total / count) for of_bot, total in zip(squares, totals, strict=True)]
    return Scored(tuple(bots), count, tuple(totals), tuple(within))


class CountedDeals(NamedTuple):
    """The deals of a session that count: all bots played them to the end, and they are not fouled."""

    session: PlayedSession
    """The session with only these deals."""
    scores: Sequence[Sequence[float]]
    """Their scores by seat: the points, or those of duplicate deals."""
    forfeited: Deals = ()
    """The points of the deals after them that count only for ``session.leaver``, as they stand."""
    forfeited_scores: Sequence[Sequence[float]] = ()
    """Their scores."""

    def by_position(self) -> Iterator[list[float]]:
        """Yield the scores of each deal by position at the table."""
        for scores in self.scores:
            by_position = [0.0] * len(scores)
            for position, score in zip(self.session.seating, scores, strict=True):
                by_position[position] = float(score)
            yield by_position


def counted_deals(played: Played, *, duplicate: bool) -> dict[int, list[CountedDeals]]:
    """Return the deals of a round's finished matches that count, by table and session."""
    if not duplicate:
        return {
            table: [_counted(each, each.points, [*range(each.clean)]) for each in sessions]
            for table, sessions in played.items()
        }
    by_table: dict[int, list[CountedDeals]] = {}
    for (table, sessions), compared in zip(played.items(), deal_scores(list(played.values())), strict=True):
        for session, scores in zip(sessions, compared, strict=True):
            right = [at for at, each in enumerate(scores[: session.clean]) if not each.fouled]
            counted = _counted(session, [deal.by_seat for deal in scores], right)
            by_table.setdefault(table, []).append(counted)
    return by_table


def made_deals(
    counted: Mapping[int, Sequence[CountedDeals]], expected: Mapping[int, Sequence[Sequence[Sequence[int]]]]
) -> dict[int, list[CountedDeals]]:
    """Return the deals of a round that count, none of them duplicate, with what was made of them as scores.

    ``expected`` is what was expected from the cards, by table, session and deal, for each seat in ``UNIT``
    parts of a point. A table of which that is not known for all deals that count is left out.
    """
    return {
        table: [_made(each, of_session) for each, of_session in zip(sessions, expected[table], strict=True)]
        for table, sessions in counted.items()
        if table in expected and _are_known(sessions, expected[table])
    }


def _made(counted: CountedDeals, expected: Sequence[Sequence[int]]) -> CountedDeals:
    deals = [*counted.session.points, *counted.forfeited]
    scores = [
        [score / UNIT for score in made(points, share)]
        for points, share in zip(deals, expected, strict=False)
    ]
    count = len(counted.scores)
    return counted._replace(scores=scores[:count], forfeited_scores=scores[count:])


def _are_known(sessions: Sequence[CountedDeals], expected: Sequence[Sequence[Sequence[int]]]) -> bool:
    return len(sessions) == len(expected) and all(
        len(each.scores) + len(each.forfeited) <= len(of_session)
        for each, of_session in zip(sessions, expected, strict=True)
    )


def _counted(session: PlayedSession, scores: Sequence[Sequence[float]], right: Sequence[int]) -> CountedDeals:
    """Return what counts of a session; ``right`` are the deals that count for all bots."""
    left = session.forfeited
    return CountedDeals(
        session._replace(points=[session.points[at] for at in right], forfeited_from=()),
        [scores[at] for at in right],
        [session.points[at] for at in left],
        [scores[at] for at in left],
    )


@cache
def sum_fields(sums: type) -> tuple[str, ...]:
    """Return the names of the fields that are sums: those that are a number by default."""
    return tuple(each.name for each in fields(sums) if isinstance(each.default, int | float))


def _merge(own: Any, other: Any, times: int) -> None:
    for name in sum_fields(own.__class__):
        setattr(own, name, getattr(own, name) + times * getattr(other, name))


@dataclass(slots=True)
class Score:
    """A bot's score; the fields are those of ``StrengthScore``."""

    matches: int = 0
    """Those with such deals."""
    deals: int = 0
    """The deals in which it sat."""
    score: float = 0.0
    """See ``Scored``."""
    within: float = 0.0
    """Its part of that of ``Sums``."""
    between: float = 0.0
    """Its part of that of ``Sums``."""


@dataclass(slots=True)
class Met:
    """How two bots fared at the same tables in the deals that count; the fields are those of ``Meeting``.

    The one with more points in a deal is ahead, even if the scores of duplicate deals are what counts.
    """

    deals: int = 0
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
    score: float = 0.0
    """Score of the one minus that of the other; see ``Scored``."""


@dataclass(slots=True)
class Left:
    """How a bot fared against one other in deals that it forfeited; the fields are those of ``LeftMeeting``.

    They count for this bot only, and as they stand.
    """

    deals: int = 0
    matches: int = 0
    """Matches with such deals in which no deal counts for both."""
    ahead: int = 0
    """Deals in which it had more points than the other one all the same."""
    behind: int = 0
    lead: int = 0
    """Its points minus those of the other one."""
    score: float = 0.0
    """Its score minus that of the other one; see ``CountedDeals``."""


@dataclass(slots=True)
class SeatSum:
    """The results of a bot in a seat; the fields are those of ``SeatTally``.

    They are of the deals that count for it, but of all faults and forfeits.
    """

    deals: int = 0
    points: int = 0
    squares: int = 0
    """Sum of the squared points of each deal."""
    first: float = 0.0
    """Deals in which nobody had more points; one that n bots share counts 1/n."""
    faults: int = 0
    forfeits: int = 0
    """Sessions that it forfeited."""


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
    raw_within: float = 0.0
    """What ``within`` would be if points counted; 0 but for what was made of cards."""
    raw_between: float = 0.0
    """What ``between`` would be if points counted; 0 but for what was made of cards."""
    forfeited: int = 0
    """Deals that count only for the bot that forfeited them, and are in ``left`` alone."""
    scores: dict[int, Score] = field(default_factory=dict)
    """By bot."""
    meetings: dict[tuple[int, int], Met] = field(default_factory=dict)
    """By pair of bots, the lower number first."""
    left: dict[tuple[int, int], Left] = field(default_factory=dict)
    """By bot that forfeited, and each other one that sat there."""
    seats: dict[tuple[int, int], SeatSum] = field(default_factory=dict)
    """By bot and seat."""

    def add(self, match: Scored) -> None:
        """Add the scores of a match, from which strengths follow."""
        self.matches += 1
        self.deals += match.deals
        for bot, score, within in zip(match.bots, match.scores, match.within, strict=True):
            between = score * score / match.deals
            self.within += within
            self.between += between
            own = self.scores.setdefault(bot, Score())
            own.matches += 1
            own.deals += match.deals
            own.score += score
            own.within += within
            own.between += between
        scores = sorted(zip(match.bots, match.scores, strict=True))
        for (one, score), (other, its) in combinations(scores, 2):
            met = self.meetings.setdefault((one, other), Met())
            met.deals += match.deals
            met.score += score - its

    def merge(self, other: "Sums", times: int = 1) -> None:
        """Add other sums, or take them away with ``times`` -1; those by seat are left as they are."""
        _merge(self, other, times)
        for bot, score in other.scores.items():
            _merge(self.scores.setdefault(bot, Score()), score, times)
        for pair, met in other.meetings.items():
            own = self.meetings.setdefault(pair, Met())
            last = max(own.last_match_id, met.last_match_id)
            _merge(own, met, times)
            own.last_match_id = last
        for both, left in other.left.items():
            _merge(self.left.setdefault(both, Left()), left, times)

    def add_match(self, match_id: int, bots: Sequence[int], sessions: Sequence[CountedDeals]) -> None:
        """Add a match, and its results by pair of bots and by seat; ``bots`` are by position at the table."""
        columns: list[list[int]] = [[] for _ in bots]
        """By position the points of all deals."""
        for session, *_ in sessions:
            for position, column in zip(session.seating, zip(*session.points, strict=True), strict=False):
                columns[position].extend(column)  # there are no columns if no deal counts
        match = scored(bots, [deal for each in sessions for deal in each.by_position()])
        if match is not None:
            self.add(match)
            self._add_meetings(match_id, bots, columns)
        left: set[tuple[int, int]] = set()
        for each in sessions:
            self._add_seats(bots, each)
            left.update(self._add_left(bots, each))
        for both in left if match is None else ():
            self.left[both].matches += 1

    def _add_seats(self, bots: Sequence[int], counted: CountedDeals) -> None:
        session = counted.session
        for seat, position in enumerate(session.seating):
            own = self.seats.setdefault((bots[position], seat), SeatSum())
            own.faults += session.faults[seat]
            own.forfeits += seat in session.forfeits
        self._add_points(bots, session, session.points, range(len(session.seating)))
        if session.leaver is not None:
            self._add_points(bots, session, counted.forfeited, (session.leaver,))

    def _add_points(
        self, bots: Sequence[int], session: PlayedSession, deals: Deals, seats: Iterable[int]
    ) -> None:
        """Add deals of a session in the seats for whose bots they count."""
        bests = [max(points) for points in deals]
        shares = [1 / list(points).count(best) for points, best in zip(deals, bests, strict=True)]
        for seat in seats if deals else ():
            own, points = self.seats[bots[session.seating[seat]], seat], [deal[seat] for deal in deals]
            own.deals += len(deals)
            own.points += sum(points)
            own.squares += sum(map(mul, points, points))
            firsts = zip(points, bests, shares, strict=True)
            own.first += sum(share for mine, best, share in firsts if mine == best)

    def _add_left(self, bots: Sequence[int], counted: CountedDeals) -> Iterator[tuple[int, int]]:
        """Add the deals that count only for the bot that left; yield it with each other one at the table."""
        seat, seating = counted.session.leaver, counted.session.seating
        if seat is None or not counted.forfeited:
            return
        self.forfeited += len(counted.forfeited)
        for place, position in enumerate(seating):
            if place == seat:
                continue
            both = bots[seating[seat]], bots[position]
            left = self.left.setdefault(both, Left())
            leads = [points[seat] - points[place] for points in counted.forfeited]
            left.deals += len(leads)
            left.ahead += sum(lead > 0 for lead in leads)
            left.behind += sum(lead < 0 for lead in leads)
            left.lead += sum(leads)
            left.score += sum(scores[seat] - scores[place] for scores in counted.forfeited_scores)
            yield both

    def _add_meetings(self, match_id: int, bots: Sequence[int], columns: Sequence[Sequence[int]]) -> None:
        order = sorted(range(len(bots)), key=bots.__getitem__)
        for one, other in combinations(order, 2):
            mine, theirs = columns[one], columns[other]
            met = self.meetings[bots[one], bots[other]]
            met.matches += 1
            met.ahead += sum(map(gt, mine, theirs))
            met.behind += sum(map(gt, theirs, mine))
            met.lead += sum(mine) - sum(theirs)
            met.last_match_id = max(met.last_match_id, match_id)


Expected: TypeAlias = Mapping[int, Sequence[Sequence[Sequence[int]]]]
"""What was expected from the cards, by table, session and deal, for each seat in 64ths of a point."""


class RatedMatch(NamedTuple):
    """A finished match of a rated round."""

    table: int
    id: int
    """Higher than those of earlier matches."""
    bots: Sequence[int]
    """By position at the table."""


def add_round(sums: Sums, matches: Iterable[RatedMatch], played: Played, *, duplicate: bool) -> None:
    """Add the deals of a round's finished matches to the sums of its pool, as they are scored at first."""
    counted = counted_deals(played, duplicate=duplicate)
    for match in matches:
        sums.add_match(match.id, match.bots, counted.get(match.table, ()))


def made_of_round(
    size: int, matches: Iterable[RatedMatch], played: Played, expected: Expected
) -> tuple[Sums, Sums]:
    """Return the sums of points in a round without duplicate deals, and of what was made of the cards.

    Both are of the same deals: those of the matches of which it is known what was expected.
    """
    counted = counted_deals(played, duplicate=False)
    of_cards = made_deals(counted, expected)
    points, made = Sums(size), Sums(size)
    for match in matches:
        if match.table in of_cards:
            points.add_match(match.id, match.bots, counted[match.table])
            made.add_match(match.id, match.bots, of_cards[match.table])
    made.raw_within, made.raw_between = points.within, points.between
    return points, made

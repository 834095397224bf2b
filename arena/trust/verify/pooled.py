"""What the rounds of exports add to their pool: the sums from which its board follows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from arena.core.duplicate import PlayedSession
from arena.core.luck import Luck, Slope, counted_deals, expected, luck_in
from arena.core.parts import ReferencePart
from arena.core.ranking import ScoreKind
from arena.results.strength.sums import RatedMatch, Sums, add_round, made_of_round
from arena.trust.exports.boards import joined_digest


class Numbers:
    """The numbers of bots, which are the same in the sums of all exports."""

    def __init__(self) -> None:
        self._by_name: dict[str, int] = {}

    def of(self, bot: str) -> int:
        """Return the number of a bot; a new one gets the next."""
        return self._by_name.setdefault(bot, len(self._by_name))


class PooledMatch(NamedTuple):
    """A match of a round that has ended, and is done."""

    table: int
    bots: Sequence[int]
    """Their numbers, by place at the table."""
    sessions: Sequence[PlayedSession]
    results: Sequence[str]
    """The digests of the sessions' signed results."""
    reference: ReferencePart | None

    def worth(self) -> list[Sequence[Sequence[int]]]:
        """Return what the cards were worth, by session; nothing for a session of which it is not known."""
        sessions = () if self.reference is None else self.reference.sessions
        known = {session.session: session.worth for session in sessions}
        return [known.get(session.number, ()) for session in self.sessions]


@dataclass(slots=True)
class PooledRound:
    """What a round adds to its pool."""

    round: int
    rated_after: int | None
    """None if none of its matches is rated."""
    matches: int
    results: str
    """As in ``BoardRound``."""
    beta: int | None
    beta_after: int | None
    references: str
    """The digest of its ``reference`` parts, as in ``BoardRound``."""
    kind: ScoreKind
    """What counts as score at first."""
    sums: Sums
    """The sums as it was rated."""
    points: Sums
    """The part of ``sums`` that ``made`` takes the place of once what cards were worth is taken in."""
    made: Sums
    slope: Slope
    """What it adds to that of the pool then."""
    luck: dict[int, Luck] = field(default_factory=dict)
    """By bot."""
    played: dict[int, list[int]] = field(default_factory=dict)
    """By bot, the number of deals of each of its matches."""


def pooled_round(
    round: int, rated_after: int | None, matches: Sequence[PooledMatch], *, duplicate: bool
) -> PooledRound:
    """Return what a round adds to its pool; ``matches`` are those that are done."""
    size = len(matches[0].bots) if matches else 0
    parts = [match.reference for match in matches if match.reference is not None]
    beta = parts[0].beta if parts else None
    played = {match.table: match.sessions for match in matches}
    rated = [RatedMatch(match.table, 0, match.bots) for match in matches]
    pooled = PooledRound(
        round=round,
        rated_after=rated_after,
        matches=len(matches),
        results=joined_digest(digest for match in matches for digest in match.results),
        beta=beta,
        beta_after=parts[0].beta_after if parts else None,
        references=joined_digest(part.digest for part in parts),
        kind=ScoreKind.DUPLICATE if duplicate else ScoreKind.PLAIN,
        sums=Sums(size),
        points=Sums(size),
        made=Sums(size),
        slope=Slope(),
    )
    add_round(pooled.sums, rated, played, duplicate=duplicate)
    for match in matches:
        for bot in match.bots:
            deals = sum(len(session.points) for session in match.sessions)
            pooled.played.setdefault(bot, []).append(deals)
    if beta is not None:
        _weigh(pooled, matches, parts[0].parts, beta)
        if not duplicate:
            shares = {match.table: _expected(match, parts[0].parts, beta) for match in matches}
            pooled.points, pooled.made = made_of_round(size, rated, played, shares)
    return pooled


def _expected(match: PooledMatch, parts: int, beta: int) -> list[list[tuple[int, ...]]]:
    return [[expected(deal, parts, beta) for deal in session] for session in match.worth()]


def _weigh(pooled: PooledRound, matches: Sequence[PooledMatch], parts: int, beta: int) -> None:
    """Add the slope of a round, and the luck of its bots."""
    for match in matches:
        for session, worth in zip(match.sessions, match.worth(), strict=True):
            for _, points, cards in counted_deals(session, worth):
                pooled.slope.add(cards, parts, points)
            for seat, own, share in luck_in(session, worth, parts, beta):
                bot = match.bots[session.seating[seat]]
                pooled.luck.setdefault(bot, Luck()).add(own, share)


def renumbered(sums: Sums, numbers: Mapping[int, int]) -> Sums:
    """Return sums with other numbers of the bots."""
    meetings = {}
    for (one, other), met in sums.meetings.items():
        pair = numbers[one], numbers[other]
        if pair[0] > pair[1]:
            pair = pair[1], pair[0]
            met = replace(met, ahead=met.behind, behind=met.ahead, lead=-met.lead, score=-met.score)
        meetings[pair] = met
    return replace(
        sums,
        scores={numbers[bot]: score for bot, score in sums.scores.items()},
        meetings=dict(sorted(meetings.items())),
        left={(numbers[one], numbers[other]): left for (one, other), left in sums.left.items()},
        seats={},
    )

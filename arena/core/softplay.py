"""Soft play: whether a bot passes for one other more than for the rest, where beating costs nothing.

A *chance* is a turn at which a bot could have beaten another one's play at no cost (``arena.core.softplay``).
The bot gave way if it passed. Honest bots pass some chances, too, each in its own manner; but whose play it
is has nothing to do with that. So a bot's rate against one other is compared with its own rate against all
others, in the same situations. Counts are whole numbers, which can be added; everything else follows.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import hypot, sqrt
from statistics import NormalDist
from typing import Any, NamedTuple, TypeAlias

from referee.deals.deal import Deal
from referee.deals.state import BOMBS, PLAY
from referee.records.reading import Record, read_record
from referee.records.record import full_record, parse_action
from referee.records.replay import is_played_for, start
from referee.reference.values import policies_of
from referee.rules.plays import Rules

LEVEL = 0.001
"""How often any honest pair at all stands out among those that are looked at together, at most."""

ALLOWED = 0.05
"""A bot stands out only if the difference of the rates is surely above this.

Situations are not told apart in everything that may matter to a bot, and others play in different manners.
"""

Key: TypeAlias = tuple[int, int, int]
"""A bot, the other one, and the situation."""


@dataclass(slots=True)
class Chances:
    """How many chances a bot had, and how many it passed."""

    chances: int = 0
    passed: int = 0

    def add(self, chances: int, passed: int) -> None:
        """Add as many."""
        self.chances += chances
        self.passed += passed


@dataclass(frozen=True, slots=True)
class Treatment:
    """How a bot treats one other, beside how it treats all the rest in the same situations."""

    bot: int
    other: int
    chances: int
    """Turns at which it could have beaten the other one's play at no cost, as also happened with the rest."""
    passed: int
    """At how many of them it passed."""
    rest: float
    """The share that it passes against the rest."""
    difference: float
    """The share that it passes against the other one, less ``rest``."""
    low: float
    """The limits of the difference, which allow for all pairs that were looked at."""
    high: float

    @property
    def stands_out(self) -> bool:
        """Whether the difference is surely more than is allowed for."""
        return self.low > ALLOWED


def treatments(counts: Mapping[Key, Chances]) -> list[Treatment]:
    """Return how each bot treats each other, the largest lower limit first.

    The share against the rest is the mean over situations, weighted as the bot met them with the other one.
    The interval joins Wilson's intervals of both shares (Newcombe's method), at Bonferroni's level for all
    these pairs: among honest bots, one or more stand out in ``LEVEL`` of all cases at most.
    """
    pairs: dict[tuple[int, int], dict[int, Chances]] = defaultdict(dict)
    totals: dict[tuple[int, int], Chances] = defaultdict(Chances)
    for (bot, other, situation), one in counts.items():
        pairs[bot, other][situation] = one
        totals[bot, situation].add(one.chances, one.passed)
    z = NormalDist().inv_cdf(1 - LEVEL / 2 / max(1, len(pairs)))
    found = [_treatment(bot, other, own, totals, z) for (bot, other), own in pairs.items()]
    return sorted(filter(None, found), key=lambda one: (-one.low, one.bot, one.other))


def _treatment(
    bot: int, other: int, own: Mapping[int, Chances], totals: Mapping[tuple[int, int], Chances], z: float
) -> Treatment | None:
    """Return how a bot treats one other; None if it was in no situation with both that and the rest."""
    chances = passed = 0
    rest = spread = 0.0
    for situation, met in own.items():
        total = totals[bot, situation]
        others = total.chances - met.chances
        if met.chances and others:
            chances, passed = chances + met.chances, passed + met.passed
            rest += met.chances * (total.passed - met.passed) / others
            spread += met.chances**2 / others
    if not chances:
        return None
    share, rest = passed / chances, rest / chances
    low, high = _wilson(share, chances, z)
    rest_low, rest_high = _wilson(rest, chances**2 / spread, z)
    difference = share - rest
    return Treatment(
        *(bot, other, chances, passed, rest, difference),
        low=difference - hypot(share - low, rest_high - rest),
        high=difference + hypot(high - share, rest - rest_low),
    )


def _wilson(share: float, number: float, z: float) -> tuple[float, float]:
    """Return Wilson's interval of a share that was observed in a number of cases."""
    square = z * z / number
    middle = (share + square / 2) / (1 + square)
    half = z * sqrt(share * (1 - share) / number + square / number / 4) / (1 + square)
    return middle - half, middle + half


FEW = 3
"""With so few cards the other one may go out soon."""


class Chance(NamedTuple):
    """A turn at which a seat could have beaten another one's play at no cost."""

    action: int
    """The index of the action in its deal."""
    seat: int
    other: int
    """The seat whose play it was."""
    situation: int
    """From 0 to 7, what the turn was like: 4 if the other one has few cards left, 2 if nobody has fewer, and
    1 if the play that beats it contains one of the highest ranks."""
    passed: bool
    """Whether it gave way."""


def count_chances(
    ruleset: Mapping[str, object], records: Iterable[Mapping[str, Any]]
) -> list[tuple[int, int, int, int, int]]:
    """Return the chances in a session's lean records, in order: seat, other seat, situation, number, passed.

    Raise RefereeError if a record cannot be followed.
    """
    counts: dict[Key, Chances] = {}
    for lean in records:
        seats = [f"bots/{seat}@1" for seat in range(len(lean["hands"]))]
        record = full_record(
            lean, ruleset=ruleset, tournament="any", round=1, table=1, session=1, seats=seats
        )
        for one in chances(read_record(record)):
            counts.setdefault((one.seat, one.other, one.situation), Chances()).add(1, one.passed)
    return [(*key, one.chances, one.passed) for key, one in sorted(counts.items())]


def chances(record: Record) -> Iterator[Chance]:
    """Yield the chances of a deal in order, without actions of a seat whose bot has left.

    A pass that was made for a bot because of its fault is its own, or faults would hide that it gave way.

    Raise RecordError, CardError or PlayError if the record cannot be followed.
    """
    rules, deal = record.rules, start(record, None)
    policies, full = policies_of(rules), rules.full
    paired = rules.ruleset.partners != "none"
    for index, text in enumerate(record.actions):
        seat, cards, out_of_turn = parse_action(rules, text)
        if deal.stage is BOMBS and not out_of_turn:
            for one in deal.owing():
                deal.act(one, 0)
        other = deal.last_seat
        opposed = not paired or (seat - other) % 2
        if deal.stage is PLAY and deal.to_beat and deal.hands[other] and opposed:
            choices = deal.choices(seat)
            if len(choices) > 1 and not choices[-1] and _is_own(record, index, seat):
                picks = {policy(choices, deal.hands, seat) & full for policy in policies}
                if 0 not in picks and _costs_nothing(rules, deal.hands[seat], picks):
                    yield Chance(index, seat, other, _situation(deal, other, picks), not cards)
        deal.follow(seat, cards, out_of_turn)


def _situation(deal: Deal, other: int, picks: Iterable[int]) -> int:
    """Return what a turn is like at which ``picks`` would beat the play of ``other``."""
    rules = deal.rules
    ranks = rules.rank_masks[-(len(rules.rank_masks) // 3) :]
    left = rules.count(deal.hands[other])
    few = left <= FEW
    fewest = left == min(rules.count(hand) for hand in deal.hands if hand)
    high = any(cards & rank for cards in picks for rank in ranks)
    return 4 * few + 2 * fewest + high


def _is_own(record: Record, index: int, seat: int) -> bool:
    """Return whether a seat's bot was asked for the action of this index."""
    return not any(
        forfeit["seat"] == seat and is_played_for(forfeit, record.deal, index, record.faults)
        for forfeit in record.played_for
    )


def _costs_nothing(rules: Rules, hand: int, picks: Iterable[int]) -> bool:
    """Return whether after one of these plays the hand needs fewer plays than before."""
    full = rules.full
    plays = [
        code & full
        for code in sorted(rules.list_plays(hand), key=lambda code: (-(code & full).bit_count(), code))
    ]
    needed = _plays_needed(rules, hand, plays)
    return any(_plays_needed(rules, rules.remove(hand, cards), plays) < needed for cards in picks)


def _plays_needed(rules: Rules, hand: int, plays: Iterable[int]) -> int:
    """Return about how many of ``plays``, the largest of which come first, it takes to play out a hand."""
    needed = 0
    for cards in plays:
        if not cards & ~hand:
            hand = rules.remove(hand, cards)
            needed += 1
    return needed

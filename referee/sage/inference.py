"""What the plays of the others tell about their hands, and about how they play.

A seat is taken to play thriftily or loosely, either with so much probability for what it did, given a hand.
Worlds are sampled in proportion to that: from one to the next, two cards change hands if that explains what
was seen as well, or with the probability by which it does so worse (Metropolis).
"""

from collections.abc import Callable
from math import exp, log
from random import Random
from typing import NamedTuple

from referee.position import Position
from referee.sage.plans import Planner
from referee.sage.policy import NEARLY_OUT, Manner, Policy, Thrifty
from referee.worlds import World

FIRST_SWAPS = 200
"""Pairs of cards that may change hands before the first world."""
SWAPS = 5
"""The same from one world to the next."""
LOOKS = 8
"""Pairs from one look at the clock to the next."""


class Odds(NamedTuple):
    """The logarithm of how likely a decision is."""

    thrifty: float
    """Of a thrifty seat."""
    loose: float


def _odds(thrifty: float, loose: float) -> Odds:
    return Odds(log(thrifty), log(loose))


LEADS = {True: _odds(0.88, 0.25), False: _odds(0.015, 0.09)}
"""By whether a lead is what a thrifty seat leads."""
FOLLOWS = {True: _odds(0.85, 0.55), False: _odds(0.1, 0.15)}
"""The same of a play where a thrifty seat follows."""
PASSES = {True: _odds(0.9, 0.8), False: _odds(0.05, 0.2)}
"""The same where a thrifty seat passes."""
PASSES_INSTEAD = _odds(0.05, 0.15)
"""Of a pass where a thrifty seat follows."""


class Decision(NamedTuple):
    """What a seat did, and what it knew."""

    since: int
    """Mask of the cards that it has played then and since."""
    to_beat: int
    code: int
    hurries: bool
    """Whether another seat was nearly out."""


class Inference:
    """Samples worlds of one position, in one pack, by how well they explain what the others did."""

    def __init__(
        self,
        position: Position,
        seat: int,
        world: World,
        planner: Planner,
        random: Random,
        own: Manner,
    ) -> None:
        """Prepare for what ``seat`` sees of ``position``, from any of its worlds.

        The seat is to play in the ``own`` manner.
        """
        self._random = random
        self._plan, self._full, self._thrifty = planner.plan, planner.rules.full, Thrifty(planner)
        self._seat, self._own, self._loose = seat, own, Policy(planner)
        self._decisions = decisions(position, seat)
        slots = position.worlds.slots
        self._cards = [(card, slot.seat) for slot, card in zip(slots, world.cards, strict=True)]
        self._lacks = [0] * (len(world.hands) + 1)
        """By seat, what it is known not to hold; last, for ``NOBODY``."""
        for slot in slots:
            self._lacks[slot.seat] |= slot.lacks
        self._hands = list(world.hands)
        self._fits = [self._fit(other, hand, float("-inf")) for other, hand in enumerate(self._hands)]

    def prepare(self, clock: Callable[[], float], until: float) -> None:
        """Let cards change hands until the worlds no longer depend on the first one, or time is up."""
        for _ in range(0, FIRST_SWAPS, LOOKS):
            self._swap(LOOKS)
            if clock() >= until:
                break

    def sample(self) -> World:
        """Return another world."""
        self._swap(SWAPS)
        return World(list(self._hands), [], [])

    def manners(self) -> list[Manner]:
        """Return by seat how it plays in the last world: as what it did there suggests, and by chance."""
        manners_so_far: list[Manner] = []
        for seat, hand in enumerate(self._hands):
            thrifty, loose = self._both(seat, hand, float("-inf"))
            is_thrifty = self._random.random() < 1 / (1 + exp(loose - thrifty))
            manners_so_far.append(self._thrifty if is_thrifty else self._loose)
        manners_so_far[self._seat] = self._own
        return manners_so_far

    def _swap(self, times: int) -> None:
        """Let so many pairs of cards change hands, as far as that explains what was seen."""
        cards, hands, fits, chance = self._cards, self._hands, self._fits, self._random.random
        lacks = self._lacks
        count = len(cards)
        for _ in range(times if count else 0):
            first, second = int(chance() * count), int(chance() * count)
            (card, owner), (other_card, other_owner) = cards[first], cards[second]
            if owner == other_owner or card & lacks[other_owner] or other_card & lacks[owner]:
                continue
            both = card | other_card
            least = log(chance() or 1e-300)
            if owner >= 0:
                least += fits[owner]
            if other_owner >= 0:
                least += fits[other_owner]
            mine = theirs = 0.0
            if owner >= 0:
                mine = self._fit(owner, hands[owner] ^ both, least)
            if other_owner >= 0 and mine >= least:
                theirs = self._fit(other_owner, hands[other_owner] ^ both, least - mine)
            if mine + theirs < least:
                continue
            if owner >= 0:
                hands[owner] ^= both
                fits[owner] = mine
            if other_owner >= 0:
                hands[other_owner] ^= both
                fits[other_owner] = theirs
            cards[first], cards[second] = (card, other_owner), (other_card, owner)

    def _fit(self, seat: int, hand: int, least: float) -> float:
        """Return how likely a hand makes what its seat did, as a logarithm; any less if below ``least``."""
        thrifty, loose = self._both(seat, hand, least)
        return _either(thrifty, loose)

    def _both(self, seat: int, hand: int, least: float) -> tuple[float, float]:
        """Return the same for a seat that plays thriftily and for one that does not."""
        thrifty = loose = log(0.5)
        plan, wants, full = self._plan, self._thrifty, self._full
        for since, to_beat, code, hurries in self._decisions[seat]:
            units = plan[hand | since]
            if to_beat:
                follow = wants.wants_to_follow(units, to_beat, hurries)
                same = follow | full == code | full
                odds = PASSES[same] if not follow else FOLLOWS[same] if code else PASSES_INSTEAD
            else:
                odds = LEADS[wants.wants_to_lead(units, hurries) | full == code | full]
            thrifty += odds[0]
            loose += odds[1]
            if thrifty < least and loose < least and _either(thrifty, loose) < least:
                break
        return thrifty, loose


def decisions(position: Position, seat: int) -> list[list[Decision]]:
    """Return what the other seats did, by seat, the latest first, as long as nobody was out.

    A deal's first play is left out: it may have had to be with a certain card.
    """
    rules = position.rules
    counts, total = list(position.counts), [0] * len(position.counts)
    for action in position.actions:
        counts[action.seat] += rules.count(action.cards)
        total[action.seat] |= action.cards
    by_seat: list[list[Decision]] = [[] for _ in counts]
    played = [0] * len(counts)
    to_beat, last = 0, -1
    for number, action in enumerate(position.actions):
        other = action.seat
        if other == last:
            to_beat = 0
        code = rules.code(action.cards) if action.cards else 0
        hurries = min(count for at, count in enumerate(counts) if at != other) <= NEARLY_OUT
        if number and other != seat:
            by_seat[other].append(Decision(played[other], to_beat, code, hurries))
        if code:
            to_beat, last = code, other
            played[other] |= action.cards
            counts[other] -= rules.count(action.cards)
            if not counts[other]:
                break
    return [
        [decision._replace(since=total[other] & ~decision.since) for decision in reversed(some)]
        for other, some in enumerate(by_seat)
    ]


def _either(larger: float, smaller: float) -> float:
    """Return the logarithm of the sum of two numbers, of which these are the logarithms."""
    if larger < smaller:
        larger, smaller = smaller, larger
    return larger + log(1 + exp(smaller - larger))

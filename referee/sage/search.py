"""Choosing by playouts: all candidates get the same worlds and random numbers; the worse half is dropped."""

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from math import ceil, log, log2, sqrt
from random import Random

from referee.position import Position
from referee.sage.endings import Endings, TooLong
from referee.sage.inference import Inference
from referee.sage.plans import planner_of
from referee.sage.playouts import Careful, Quick, Start, is_quick
from referee.sage.policy import Chance, Scored
from referee.worlds import World

TURNS = 3
"""Turns of a playout at which it chooses; from then on it makes the play that its score prefers."""
FIRST = 4
"""Times that it does what its score prefers before it tries anything else."""
CURIOUS = 0.3
"""How much it tries what was rarely tried, in standard deviations of what playouts come to."""
_COUNTED = 64
"""Playouts from one look at their deviation to the next."""


class _Choice:
    """The actions of one turn, and what they came to."""

    __slots__ = ("codes", "sums", "tries", "visits")

    def __init__(self, codes: Sequence[int]) -> None:
        self.codes = codes
        self.visits = 0
        self.tries = [0] * len(codes)
        self.sums = [0] * len(codes)

    def pick(self, curious: float) -> int:
        """Return the index of the action to try: one that did well, or was tried too rarely (UCB)."""
        if self.visits < FIRST:
            return 0
        bonus, best, most = curious * sqrt(log(self.visits + 1)), 0, float("-inf")
        for index, tries in enumerate(self.tries):
            if not tries:
                return index
            worth = self.sums[index] / tries + bonus / sqrt(tries)
            if worth > most:
                best, most = index, worth
        return best


class Tree:
    """A seat's turns in the playouts of one decision."""

    def __init__(self, scored: Scored, full: int) -> None:
        """Take what prefers actions where little is known yet, and the mask of all cards."""
        self._scored, self._full = scored, full
        self._choices: dict[tuple[int, ...], _Choice] = {}
        self._path: list[tuple[_Choice, int]] = []
        self._count = self._sum = self._squares = 0
        self._curious = 0.0

    def lead(self, units: list[int], hands: Sequence[int], seat: int, following: int, chance: Chance) -> int:
        """Return the code of a lead."""
        return self._choose(hands, seat, 0)

    def follow(self, units: list[int], hands: Sequence[int], seat: int, to_beat: int, chance: Chance) -> int:
        """Return the code of a play that beats ``to_beat``, or 0 for a pass."""
        return self._choose(hands, seat, to_beat | self._full)

    def learn(self, worth: int) -> None:
        """Note what the playout came to, and be ready for the next one."""
        for choice, index in self._path:
            choice.visits += 1
            choice.tries[index] += 1
            choice.sums[index] += worth
        self._path.clear()
        self._count += 1
        self._sum += worth
        self._squares += worth * worth
        if self._count % _COUNTED == 0:
            mean = self._sum / self._count
            self._curious = CURIOUS * sqrt(max(0.0, self._squares / self._count - mean * mean))

    def _choose(self, hands: Sequence[int], seat: int, to_beat: int) -> int:
        codes = self._scored.best[hands[seat], to_beat]
        if len(codes) == 1 or len(self._path) == TURNS:
            return codes[0]
        key = (hands[seat], to_beat, *[hand.bit_count() for hand in hands])
        choice = self._choices.get(key)
        if choice is None:
            choice = self._choices[key] = _Choice(codes)
        index = choice.pick(self._curious)
        self._path.append((choice, index))
        return choice.codes[index]


LEAST_WORLDS = 8
"""The fewest worlds in which each candidate is played out, whatever the clock says."""
SURE_WORLDS = 24
"""The fewest worlds before the search may end as decided."""
SURE = 2.5
"""By how many standard errors the leader must then be ahead of every other candidate."""
AHEAD = 2.0
"""By how many standard errors a candidate must be ahead of the one that the score prefers."""
AHEAD_INFERRED = 1.0
"""The same in worlds that explain what the others did."""
PREPARING = 0.2
"""The part of the time in which such worlds may be looked for before the first playout."""
FEW_CARDS = 16
"""How few cards all hands together must have for a world to be played out exactly."""
NODES = 400
"""How many positions of an exact ending may be looked at for one candidate in one world."""
NODES_A_SECOND = 50_000
"""How many positions are surely looked at in a second, to bound endings by the time that is left."""
NUMBERS = 256
"""How many random numbers a playout draws before they repeat."""

_CHANCES = [chance() for chance in [Random(1).random] * (1 << 13)]  # noqa: S311
"""The numbers of a playout are taken from here, at a random place, which is much faster than drawing them."""

Clock = Callable[[], float]


class Search:
    """A search for one decision."""

    def __init__(
        self,
        position: Position,
        seat: int,
        units: Mapping[int, Sequence[int]],
        sample: Callable[[], World],
        random: Random,
        endings: Endings | None = None,
        relative: bool = False,
        inference: Inference | None = None,
        tree: Tree | None = None,
    ) -> None:
        """Prepare to compare actions of ``seat``; ``units`` has, by code, the plan for the hand after each,
        and ``sample`` draws a world of the position.

        With ``endings``, the last cards are played out exactly. With ``relative``, an action is worth the sum
        of the differences between the seat's points and each of the others'. With ``inference``, worlds and
        how seats play come from there, under rules for which ``Quick`` plays on (``is_quick``). A ``tree`` is
        how the inference has the seat itself play, and learns from every playout.
        """
        self._seat, self._random, self._relative = seat, random, relative
        self._planner = planner_of(position.rules)
        self._worlds, self._sample = position.worlds, sample
        self._inference, self._tree = inference, tree
        self._units = units
        self._quick = Quick(self._planner) if is_quick(position.rules) else None
        self._careful = Careful(self._planner)
        self._deal = position.deal()
        self._starts = {code: Start.after(self._deal, code) for code in units} if self._quick else {}
        few = self._quick is not None and sum(position.counts) <= FEW_CARDS
        self._endings = endings if few else None
        self._is_known = few and is_known(position)
        self.values: dict[int, list[int]] = {code: [] for code in units}
        """What the playouts were worth, by candidate and world by world."""

    @property
    def playouts(self) -> int:
        """How many playouts were made."""
        return sum(map(len, self.values.values()))

    def best(self, clock: Clock, until: float) -> int:
        """Return the code of the best candidate found until ``clock`` reads ``until``."""
        alive, begin = list(self.values), clock()
        if self._is_known and self._solve(alive, self._sample(), _nodes(until - begin)):
            return max(alive, key=self.mean)
        if self._inference:
            self._inference.prepare(clock, begin + (until - begin) * PREPARING)
        rounds = max(1, ceil(log2(len(alive))))
        for number in range(1, rounds + 1):
            end = begin + (until - begin) * number / rounds
            worlds = 0
            while worlds < LEAST_WORLDS or clock() < end:
                self._play(alive, _nodes(until - clock()))
                worlds += 1
                if worlds % 16 == 0 and self._is_decided(alive):
                    break
            alive.sort(key=self.mean, reverse=True)
            if self._is_decided(alive):
                break
            alive = alive[: (len(alive) + 1) // 2]
        return self._over_first(alive[0])

    def _over_first(self, best: int) -> int:
        """Return the first candidate, which the score prefers, unless ``best`` is clearly ahead of it."""
        first = next(iter(self.values))
        ours, theirs = self.values[best], self.values[first]
        leads = [a - b for a, b in zip(ours, theirs, strict=False)]  # worlds in which both were played
        mean = sum(leads) / len(leads)
        variance = sum([lead * lead for lead in leads]) / len(leads) - mean * mean
        ahead = AHEAD_INFERRED if self._inference else AHEAD
        return best if mean > ahead * sqrt(variance / len(leads)) else first

    def prices(self, clock: Clock, until: float) -> dict[int, list[int]]:
        """Return the points of every candidate, world by world; all are played out in the same worlds."""
        codes, worlds = list(self.values), 0
        while worlds < LEAST_WORLDS or clock() < until:
            self._play(codes, _nodes(until - clock()))
            worlds += 1
        return self.values

    def mean(self, code: int) -> float:
        """Return the mean of a candidate's points."""
        return sum(self.values[code]) / len(self.values[code])

    def _play(self, alive: Sequence[int], nodes: int) -> None:
        """Play every candidate in one more world, exactly if that takes no more than ``nodes``."""
        seat, rules = self._seat, self._planner.rules
        world = self._inference.sample() if self._inference else self._sample()
        if self._solve(alive, world, min(nodes, NODES * len(alive))):
            return
        plan = self._planner.plan
        units = [plan[hand] if other != seat else () for other, hand in enumerate(world.hands)]
        begin = int(self._random.random() * len(_CHANCES))
        numbers = _CHANCES[begin : begin + NUMBERS] or _CHANCES
        manners = self._inference.manners() if self._inference else ()
        deal = None if self._quick else self._worlds.deal(world, self._random)
        for code in alive:
            chance = cycle(numbers).__next__
            mine = [list(some) for some in units]
            mine[seat] = list(self._units[code])
            if deal is None:
                assert self._quick is not None
                hands = list(world.hands)
                hands[seat] = rules.remove(hands[seat], code & rules.full)
                points = self._quick.points(self._starts[code], hands, mine, chance, manners)
            else:
                other = deal.copy()
                other.act(seat, code & rules.full)
                points = self._careful.points(other, mine, chance)
            worth = self._worth(points)
            self.values[code].append(worth)
            if self._tree:
                self._tree.learn(worth)

    def _worth(self, points: Sequence[int]) -> int:
        own = points[self._seat]
        return len(points) * own - sum(points) if self._relative else own

    def _solve(self, alive: Sequence[int], world: World, nodes: int) -> bool:
        """Play every candidate in this world exactly; return whether that took no more than ``nodes``."""
        if self._endings is None:
            return False
        rules, solved = self._planner.rules, []
        for code in alive:
            hands = list(world.hands)
            hands[self._seat] = rules.remove(hands[self._seat], code & rules.full)
            try:
                solved.append(self._worth(self._endings.points(self._starts[code], hands, nodes)))
            except TooLong:  # most of the other worlds would be too
                self._endings = None
                return False
            nodes -= self._endings.looked_at
        for code, points in zip(alive, solved, strict=True):
            self.values[code].append(points)
        return True

    def _is_decided(self, alive: Sequence[int]) -> bool:
        """Return whether the leader's lead over every other is beyond doubt, world by world."""
        best = max(alive, key=self.mean)
        ours = self.values[best]
        count = len(ours)
        if count < SURE_WORLDS:
            return False
        for code in alive:
            if code != best:
                leads = [a - b for a, b in zip(ours, self.values[code], strict=True)]
                mean = sum(leads) / count
                variance = sum([lead * lead for lead in leads]) / count - mean * mean
                if mean <= SURE * sqrt(variance / count):
                    return False
        return True


def is_known(position: Position) -> bool:
    """Return whether all hands can be inferred: at most one is hidden, and it has all unseen cards."""
    hidden = [count for count in position.hidden if count]
    return not hidden or hidden == [len(position.unseen)]


def _nodes(seconds: float) -> int:
    """Return how many positions of endings can be looked at in this time."""
    return max(0, int(NODES_A_SECOND * seconds))

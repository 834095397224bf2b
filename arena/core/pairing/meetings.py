"""Search for rounds in which every two points meet equally often, if need be under a symmetry.

Points 0 … n-1. A *turn* of order g moves the points of each orbit of g on by one and leaves at most one
point where it is: p = orbit * g + place. Rounds that are the g turns of a few base rounds make all pairs
of a class (same orbits, same difference of places) meet equally often, so only the base rounds have to be
searched; this is how cyclic whist, Kirkman and block designs are built (Anderson, "Combinatorial Designs
and Tournaments", 1997). With g = 1 every point is an orbit and the rounds are searched directly.
"""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from arena.core.pairing.values import Tables, below, shuffled

HOT = 5.0
"""The largest increase in cost that a search accepts at its start; a swap changes the cost by at least 2."""


class Classes:
    """The classes of pairs under a turn of order ``order`` of ``points`` points."""

    def __init__(self, points: int, order: int) -> None:
        self.points = points
        self.order = order
        self.moved = points - points % order
        numbers: dict[tuple[int, int, int], int] = {}
        self.of = [
            [-1 if p == q else numbers.setdefault(self._key(p, q), len(numbers)) for q in range(points)]
            for p in range(points)
        ]
        pairs = [0] * len(numbers)
        for p in range(points):
            for q in range(p):
                pairs[self.of[p][q]] += 1
        self.weight = [order // count for count in pairs]
        """How often each pair of the class meets when the base rounds hold one pair of the class."""

    def _key(self, p: int, q: int) -> tuple[int, int, int]:
        p, q = min(p, q), max(p, q)
        if q >= self.moved:
            return (self.orbit(p), self.orbit(q), 0)
        ahead = (q - p) % self.order
        if self.orbit(p) == self.orbit(q):
            ahead = min(ahead, self.order - ahead)
        return (self.orbit(p), self.orbit(q), ahead)

    def orbit(self, p: int) -> int:
        """Return the number of the orbit of point p (the point that stays has one of its own)."""
        return p // self.order

    def turned(self, p: int, turns: int) -> int:
        """Return where point p is after this many turns."""
        if p >= self.moved:
            return p
        start = p - p % self.order
        return start + (p + turns) % self.order


class Meetings:
    """How often the classes have met, and the cost: the sum of squared meetings of all pairs / order."""

    def __init__(self, classes: Classes, met: Sequence[int] | None = None) -> None:
        self.classes = classes
        self.met = list(met) if met else [0] * len(classes.weight)

    def add(self, tables: Tables) -> None:
        """Count the meetings at these tables."""
        for table in tables:
            for index, p in enumerate(table):
                for q in table[:index]:
                    self.met[self.classes.of[p][q]] += 1

    def cost(self) -> int:
        """Return the sum over classes of weight times meetings squared: least when all meet equally often."""
        return sum(w * m * m for w, m in zip(self.classes.weight, self.met, strict=True))

    def least(self) -> float:
        """Return a lower bound for rounds with as many meetings: all pairs within one of each other."""
        points, order = self.classes.points, self.classes.order
        pairs = points * (points - 1) // 2
        each, more = divmod(sum(self.met) * order, pairs)
        return (more * (each + 1) ** 2 + (pairs - more) * each**2) / order

    def spread(self) -> int:
        """Return the difference between the most and the least often that two points meet."""
        each = [w * m for w, m in zip(self.classes.weight, self.met, strict=True)]
        return max(each) - min(each)

    def replace(self, others: Sequence[int], old: int, new: int) -> int:
        """Count ``new`` instead of ``old`` with ``others``; return how the cost changes."""
        met, weight = self.met, self.classes.weight
        old_class, new_class = self.classes.of[old], self.classes.of[new]
        change = 0
        for other in others:
            left = old_class[other]
            met[left] -= 1
            change -= weight[left] * (2 * met[left] + 1)
            joined = new_class[other]
            change += weight[joined] * (2 * met[joined] + 1)
            met[joined] += 1
        return change


def base_rounds(classes: Classes, size: int, count: int, rng: Random) -> list[Tables]:
    """Return rounds drawn by lot: tables of ``size``, then the byes, spread evenly over the orbits."""
    byes = classes.points % size
    rounds = []
    for number in range(count):
        out = [_bye(classes, number * byes + nth) for nth in range(byes)]
        playing = shuffled((p for p in range(classes.points) if p not in out), rng)
        rounds.append([*(playing[at : at + size] for at in range(0, len(playing), size)), out])
    return rounds


def _bye(classes: Classes, nth: int) -> int:
    orbits = classes.points // classes.order
    return nth % orbits * classes.order + nth // orbits % classes.order


class Swap(NamedTuple):
    """Two points that change places in a round: seat ``i`` of one list and seat ``j`` of another."""

    tables: Tables
    one: list[int]
    i: int
    two: list[int]
    j: int

    def make(self, meetings: Meetings) -> int:
        """Change their places; return how the cost changes. Making a swap again undoes it."""
        p, q = self.one[self.i], self.two[self.j]
        change = meetings.replace(self.one[: self.i] + self.one[self.i + 1 :], p, q)
        if self.two is not self.tables[-1]:
            change += meetings.replace(self.two[: self.j] + self.two[self.j + 1 :], q, p)
        self.one[self.i], self.two[self.j] = q, p
        return change


def settle(rounds: list[Tables], meetings: Meetings, swaps: int, cold: float, rng: Random) -> bool:
    """Swap points between tables, in place, until all meet as equally as the bound allows.

    The last list of each round holds its byes; whoever takes another's bye gives back one in another round,
    so that every orbit sits out as often as before. At most ``swaps`` swaps are tried; worse ones are
    accepted more and more rarely, in the end by at most ``cold`` (simulated annealing with a linear threshold
    instead of an exponential, which platforms round differently). Return whether the bound was reached.
    """
    cost, least = meetings.cost(), meetings.least()
    limit, cooling = HOT, (cold / HOT) ** (1 / swaps)
    for _ in range(swaps):
        if cost <= least:
            return True
        limit *= cooling
        cost += _try(rounds, meetings, limit, rng)
    return cost <= least


def _try(rounds: list[Tables], meetings: Meetings, limit: float, rng: Random) -> int:
    """Draw a swap and make it unless it costs too much; return how the cost changes."""
    random = rng.random
    tables = rounds[int(random() * len(rounds))]
    one, two = tables[int(random() * (len(tables) - 1))], tables[int(random() * len(tables))]
    if one is two or not two:
        return 0
    i, j = int(random() * len(one)), int(random() * len(two))
    if two is tables[-1]:
        return _try_bye(rounds, Swap(tables, one, i, two, j), meetings, limit, rng)
    # Most swaps are rejected, so none is made before its cost is known.
    if meetings.classes.order == 1:
        change = _change(one, one[i], two, two[j], meetings)
        if change <= 0 or change <= limit * random():
            Swap(tables, one, i, two, j).make(meetings)
            return change
    else:
        change, met = _changed(one, one[i], two, two[j], meetings)
        if change <= 0 or change <= limit * random():
            one[i], two[j] = two[j], one[i]
            meetings.met = met
            return change
    return 0


def _try_bye(rounds: list[Tables], swap: Swap, meetings: Meetings, limit: float, rng: Random) -> int:
    """Do the same for a swap with a bye, for which one is given back."""
    classes = meetings.classes
    playing, out = classes.orbit(swap.one[swap.i]), classes.orbit(swap.two[swap.j])
    draft = [swap]
    if playing != out:
        back = _give_back(rounds[below(rng, len(rounds))], classes, playing, out)
        if back is None:
            return 0
        draft.append(back)
    change = sum([step.make(meetings) for step in draft])
    if change <= 0 or change <= limit * rng.random():
        return change
    for step in reversed(draft):
        step.make(meetings)
    return 0


def _change(one: Sequence[int], p: int, two: Sequence[int], q: int, meetings: Meetings) -> int:
    """Return how the cost changes if p and q change tables and every pair is a class of its own."""
    met, of_p, of_q = meetings.met, meetings.classes.of[p], meetings.classes.of[q]
    joined = sum([met[of_q[x]] - met[of_p[x]] for x in one if x != p])
    joined += sum([met[of_p[x]] - met[of_q[x]] for x in two if x != q])
    return 2 * joined + 2 * (len(one) + len(two) - 2)


def _changed(
    one: Sequence[int], p: int, two: Sequence[int], q: int, meetings: Meetings
) -> tuple[int, list[int]]:
    """Return how the cost changes if p and q change tables, and the meetings then."""
    of, weight, met = meetings.classes.of, meetings.classes.weight, meetings.met[:]
    change = 0
    for table, old, new in ((one, p, q), (two, q, p)):
        of_old, of_new = of[old], of[new]
        for other in table:
            if other != old:
                left = of_old[other]
                times = met[left] = met[left] - 1
                change -= weight[left] * (2 * times + 1)
                joined = of_new[other]
                times = met[joined]
                met[joined] = times + 1
                change += weight[joined] * (2 * times + 1)
    return change, met


def _give_back(tables: Tables, classes: Classes, out: int, playing: int) -> Swap | None:
    """Return a swap that seats a point of orbit ``out`` again in place of one of orbit ``playing``."""
    for j, bye in enumerate(tables[-1]):
        if classes.orbit(bye) == out:
            for table in tables[:-1]:
                for i, point in enumerate(table):
                    if classes.orbit(point) == playing:
                        return Swap(tables, table, i, tables[-1], j)
    return None

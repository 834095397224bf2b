"""Whole schedules in which every pair meets equally often, or as nearly as a search comes to it.

Known constructions first: the circle method for two at a table, and affine planes (Bose 1938) for q x q
points at tables of q, a prime power. Everything else is searched under a symmetry (``balance``): that finds
Kirkman's fifteen schoolgirls, the whist tournaments for tables of four, the blocks of S(3,4,8), ….
"""

from collections.abc import Iterator
from functools import cache
from itertools import islice, product
from operator import itemgetter

from arena.pairing.balance import Classes, Meetings, base_rounds, settle
from arena.pairing.chance import generator
from arena.pairing.values import Tables

SWAPS, ORDERS = 120_000, 2
"""Effort: swaps of one search, and turns tried for one number of rounds."""

COLD = (1.5, 0.8)
"""Final temperatures of the searches under each turn: exact designs like the warmer, others the colder."""

PLANES = (3, 4, 5, 7, 8)
"""Table sizes for which there is an affine plane."""

FIELDS = {4: 0b111, 8: 0b1011}
"""Polynomials that make the fields of four and eight elements."""

Schedule = tuple[Tables, ...]
"""Rounds of tables of points 0 … n-1; the last list of each round holds the byes."""


@cache
def schedule(points: int, size: int) -> Schedule:
    """The round-robin of so many points at tables of ``size``.

    Every pair meets equally often if the search finds that in as many rounds as points or fewer (up to
    twice as many where counting rules out fewer), in the fewest such rounds. Else there are as many rounds
    as points (one fewer if nobody sits out), everyone sits out equally often, and meetings differ as little
    as the search finds, mostly by one.
    """
    if size == 2:
        return tuple(circle(points))
    if points == size:
        return ([list(range(points)), []],)
    if points == size * size and size in PLANES:
        return tuple(affine_plane(size))
    equal = equal_rounds(points, size)
    whole = points if points % size else points - 1
    best: list[tuple[int, Schedule]] = []
    for rounds in dict.fromkeys([*equal, whole]):
        for order, cold in product(orders(points, size, rounds), COLD):
            spread, found = turned_rounds(points, size, rounds, order, cold)
            if spread <= (rounds not in equal):
                return found
            best += [(spread, found)] if rounds == whole else []
    return min(best, key=itemgetter(0))[1]


def equal_rounds(points: int, size: int) -> list[int]:
    """Numbers of rounds after which all pairs can have met equally often: up to ``points``, or the least.

    By counting alone: everyone plays the same number of rounds, meets ``size - 1`` others in each, and so
    each of the others equally often. Of two tables that seat everyone each is the other's complement, so
    that all triples are together equally often too, which rules some out. None above twice the points.
    """
    possible = [rounds for rounds in range(1, 2 * points + 1) if _even(points, size, rounds)]
    return [rounds for rounds in possible if rounds <= points] or possible[:1]


def _even(points: int, size: int, rounds: int) -> bool:
    playing = points - points % size
    played, rest = divmod(rounds * playing, points)
    meetings, uneven = divmod(played * (size - 1), points - 1)
    triples = meetings * (size - 2) % (points - 2) if points == 2 * size else 0
    return not (rest or uneven or triples)


def orders(points: int, size: int, rounds: int) -> list[int]:
    """Orders of turns that can make so many rounds, the greatest (and easiest to search) first."""
    stays = (0,) if points % size else (0, 1)
    fitting = (n for n in range(rounds, 1, -1) if rounds % n == 0 and points % n in stays)
    return list(islice(fitting, ORDERS))


def meets_equally(rounds: Schedule, points: int) -> bool:
    """Whether every pair meets equally often."""
    classes = Classes(points, 1)
    meetings = Meetings(classes)
    for tables in rounds:
        meetings.add(tables[:-1])
    return meetings.spread() == 0


def turned_rounds(points: int, size: int, rounds: int, order: int, cold: float) -> tuple[int, Schedule]:
    """Rounds that are the turns of searched base rounds, after the spread of their meetings."""
    rng = generator(b"", f"{points} points, tables of {size}, {rounds} rounds, turns of {order}, {cold}")
    classes = Classes(points, order)
    bases = base_rounds(classes, size, rounds // order, rng)
    meetings = Meetings(classes)
    for base in bases:
        meetings.add(base[:-1])
    settle(bases, meetings, SWAPS, cold, rng)
    developed = (
        [[classes.turned(p, turn) for p in table] for table in base]
        for base in bases
        for turn in range(order)
    )
    return meetings.spread(), tuple(developed)


def circle(points: int) -> Iterator[Tables]:
    """The circle method (Kirkman 1847): one point stays, or is missing, the others go round."""
    ring = points - 1 if points % 2 == 0 else points
    for turn in range(ring):
        pairs = [[(turn + k) % ring, (turn - k) % ring] for k in range(1, (ring + 1) // 2)]
        if ring < points:
            yield [[ring, turn], *pairs, []]
        else:
            yield [*pairs, [turn]]


def affine_plane(order: int) -> Iterator[Tables]:
    """The lines of the affine plane of this order as tables, its parallel classes as rounds (order + 1)."""
    elements = range(order)
    for slope in elements:
        lines: Tables = [[] for _ in elements]
        for x in elements:
            for y in elements:
                lines[minus(y, times(slope, x, order), order)].append(x * order + y)
        yield [*lines, []]
    yield [[x * order + y for y in elements] for x in elements] + [[]]


def minus(a: int, b: int, order: int) -> int:
    """Difference in the field of ``order`` elements."""
    return a ^ b if order in FIELDS else (a - b) % order


def times(a: int, b: int, order: int) -> int:
    """Product in the field of ``order`` elements."""
    if order not in FIELDS:
        return a * b % order
    product = 0
    while b:
        if b & 1:
            product ^= a
        a <<= 1
        if a & order:
            a ^= FIELDS[order]
        b >>= 1
    return product

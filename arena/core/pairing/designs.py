"""Whole schedules in which every pair meets equally often, or as nearly so as a search finds.

Known constructions first: the circle method for two at a table, affine spaces (Bose 1938) for a power of the
table size, a prime power, Kirkman systems (Ray-Chaudhuri and Wilson 1971) for tables of three, cosets for a
prime number of points, and base rounds found once and kept (``known``). Everything else is searched under a
symmetry (``meetings``): that finds the whist tournaments for tables of four, the blocks of S(3,4,8), ….
"""

from collections.abc import Iterator
from functools import cache
from itertools import islice, product
from operator import itemgetter
from typing import NamedTuple

from arena.core.pairing.meetings import Classes, Meetings, base_rounds, settle
from arena.core.pairing.values import Tables, generator

BASES: dict[tuple[int, int], tuple[int, tuple[str, ...]]] = {
    (24, 6): (
        23,
        ("18 15 17 5 21 22 | 1 9 0 10 7 12 | 6 16 23 14 20 2 | 4 19 13 3 8 11",),
    ),
    (28, 4): (
        9,
        ("22 16 9 12 | 2 17 0 8 | 3 7 14 21 | 1 25 18 13 | 6 19 11 10 | 4 23 20 24 | 5 15 27 26",),
    ),
    (30, 5): (
        29,
        ("17 28 19 20 12 | 23 18 14 24 10 | 21 16 2 5 4 | 11 7 25 29 13 | 6 8 26 1 27 | 22 3 9 0 15",),
    ),
    (32, 4): (
        31,
        (
            "15 16 8 30 | 14 21 10 18 | 7 28 19 22 | 6 12 24 13 | 5 1 26 0 | 4 2 23 31 | 3 20 25 17 | 9 "
            "27 29 11",
        ),
    ),
    (36, 6): (
        35,
        (
            "25 2 16 27 32 10 | 7 1 8 20 12 23 | 3 19 28 21 24 13 | 35 0 31 6 33 34 | 26 14 17 4 22 5 | "
            "9 18 30 29 11 15",
        ),
    ),
    (40, 4): (
        13,
        (
            "1 18 21 12 | 14 31 34 25 | 27 5 8 38 | 2 16 23 11 | 15 29 36 24 | 28 3 10 37 | 4 19 20 9 | "
            "17 32 33 22 | 30 6 7 35 | 0 13 26 39",
        ),
    ),
    (40, 5): (
        39,
        (
            "24 7 33 1 36 | 15 26 17 22 21 | 0 27 9 38 39 | 32 13 29 30 8 | 19 16 35 11 4 | 12 25 6 23 "
            "37 | 20 5 34 18 14 | 3 31 28 2 10",
        ),
    ),
    (42, 6): (
        41,
        (
            "30 0 6 33 34 9 | 17 21 35 23 32 37 | 40 18 14 7 8 2 | 36 31 41 10 38 12 | 15 16 28 24 5 1 "
            "| 39 22 27 11 29 19 | 4 25 3 13 26 20",
        ),
    ),
    (44, 4): (
        43,
        (
            "3 9 26 40 | 34 12 43 13 | 4 42 17 19 | 2 10 38 14 | 5 39 6 31 | 8 41 29 32 | 24 33 28 1 | "
            "23 25 36 7 | 35 20 37 27 | 0 16 30 11 | 21 15 22 18",
        ),
    ),
    (48, 4): (
        47,
        (
            "33 47 35 40 | 39 6 42 10 | 43 15 3 24 | 36 12 16 38 | 37 30 19 22 | 13 41 26 21 | 23 5 29 "
            "46 | 7 44 8 45 | 4 31 25 9 | 0 17 1 34 | 27 11 2 14 | 18 28 32 20",
        ),
    ),
    (52, 4): (
        17,
        (
            "1 19 20 41 | 18 36 37 7 | 35 2 3 24 | 4 8 46 15 | 21 25 12 32 | 38 42 29 49 | 5 44 28 30 | "
            "22 10 45 47 | 39 27 11 13 | 6 9 14 50 | 23 26 31 16 | 40 43 48 33 | 0 17 34 51",
        ),
    ),
    (56, 4): (
        55,
        (
            "30 27 13 31 | 14 33 21 42 | 24 25 50 41 | 6 53 10 44 | 36 8 23 1 | 37 40 15 35 | 55 4 17 "
            "48 | 19 7 29 9 | 47 32 2 16 | 12 43 49 38 | 45 3 22 26 | 5 20 28 34 | 52 46 51 54 | 11 39 "
            "18 0",
        ),
    ),
    (60, 4): (
        59,
        (
            "9 56 59 58 | 42 27 50 28 | 35 7 53 48 | 2 19 30 57 | 13 3 46 39 | 43 47 4 18 | 22 21 40 16 "
            "| 11 36 8 38 | 37 25 49 33 | 31 5 24 14 | 54 1 6 45 | 44 23 55 10 | 0 52 29 51 | 20 41 17 "
            "26 | 34 12 15 32",
        ),
    ),
}


SWAPS, SWAPS_EACH, ORDERS = 120_000, 1_500, 2
"""Effort: swaps of a search, or swaps for each point of a large field; turns tried for each length."""

PART_SWAPS_EACH, PART_COLD = 100, 0.6
"""Swaps for each seat, on top of those of any search, and final temperature, if rounds need not be whole."""

COLD = (1.5, 0.8)
"""Final temperatures of the searches under each turn: the warmer suits exact designs, the colder others."""

LARGE = 64
"""With more points than this there is only one search, without hope of an exact design."""

PRIME_POWERS = (3, 4, 5, 7, 8)
"""Table sizes for which there are affine spaces."""

FIELDS = {4: 0b111, 8: 0b1011}
"""Polynomials that make the fields of four and eight elements."""

Schedule = tuple[Tables, ...]
"""Rounds of tables of points 0 … n-1; the last list of each round holds the byes."""


class Candidate(NamedTuple):
    """The result of a search."""

    spread: int
    """The most that two meet minus the least."""
    uneven: float
    """The sum of squared meetings of all pairs, minus its minimum for rounds of as many seats."""
    rounds: Schedule


@cache
def schedule(points: int, size: int) -> Schedule:
    """Return the round-robin of ``points`` points at tables of ``size``.

    Every pair meets equally often, in the fewest rounds, if a construction or the search finds that in at
    most as many rounds as points (up to twice as many if counting rules out fewer). Otherwise there are as
    many rounds as points (one fewer if nobody sits out), everyone sits out equally often, and meetings differ
    as little as the search finds, mostly by one.
    """
    known = constructed(points, size)
    if known is not None:
        return known
    whole = even_rounds(points, size)
    if points > LARGE:
        return turned_rounds(points, size, whole, whole, COLD[-1], SWAPS_EACH * points).rounds
    equal = equal_rounds(points, size)
    best: list[Candidate] = []
    for rounds in dict.fromkeys([*equal, whole]):
        for order, cold in product(orders(points, size, rounds), COLD):
            candidate = turned_rounds(points, size, rounds, order, cold, SWAPS)
            if candidate.spread <= (rounds not in equal):
                return candidate.rounds
            best += [candidate] if rounds == whole else []
    return min(best, key=itemgetter(0)).rounds


@cache
def part(points: int, size: int, rounds: int) -> Schedule:
    """Return ``rounds`` rounds in which meetings are as even as the search finds, and byes within one.

    The search is done under the turns that this many rounds have, and without any; the evenest is taken.
    """
    if not rounds:
        return ()
    candidates: list[Candidate] = []
    for order in dict.fromkeys([*orders(points, size, rounds), 1]):
        more = PART_SWAPS_EACH * points * rounds if order == 1 else 0
        candidates.append(turned_rounds(points, size, rounds, order, PART_COLD, SWAPS + more))
        if not candidates[-1].uneven:
            break
    return min(candidates, key=itemgetter(1)).rounds


def constructed(points: int, size: int) -> Schedule | None:
    """Return an equal schedule that is known without a search; None if there is none here."""
    if size == 2:
        return tuple(circle(points))
    if points == size:
        return ([list(range(points)), []],)
    if size in PRIME_POWERS and (dimension := power(points, size)):
        return tuple(affine_space(size, dimension))
    if (points, size) in BASES:
        order, bases = BASES[points, size]
        return turns([[*map(_numbers, base.split("|")), []] for base in bases], Classes(points, order))
    if size == 3 and points % 3 == 0 and points // 3 % 6 == 1 and is_prime(points // 3):
        return kirkman_triple(points // 3)
    if size == 3 and points % 2 and points // 2 % 6 == 1 and is_prime(points // 2):
        return kirkman_double(points // 2)
    if points % size == 1 and points > LARGE and is_prime(points):
        return turns([cosets(points, size)], Classes(points, points))
    return None


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split()]


def even_rounds(points: int, size: int) -> int:
    """Return the number of rounds after which everyone can have sat out once, and never if all can play."""
    return points if points % size else points - 1


def fewest_rounds(points: int, size: int) -> int:
    """Return a lower bound on the rounds of any schedule that is searched for ``points`` points."""
    return min([*equal_rounds(points, size), even_rounds(points, size)])


def equal_rounds(points: int, size: int) -> list[int]:
    """Return the numbers of rounds after which all pairs can be even: those up to ``points``, or the least.

    They follow from counting alone: everyone plays the same number of rounds, meets ``size - 1`` others in
    each, and so each of the others equally often. If two tables seat everyone, each is the complement of the
    other, so that all triples are together equally often too, which rules some out. None is above twice the
    points.
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
    """Return the orders of turns that can give this many rounds, the greatest (easiest to search) first."""
    stays = (0,) if points % size else (0, 1)
    fitting = (n for n in range(rounds, 1, -1) if rounds % n == 0 and points % n in stays)
    return list(islice(fitting, ORDERS))


def meets_equally(rounds: Schedule, points: int) -> bool:
    """Return whether every pair meets equally often."""
    classes = Classes(points, 1)
    meetings = Meetings(classes)
    for tables in rounds:
        meetings.add(tables[:-1])
    return meetings.spread() == 0


def turned_rounds(points: int, size: int, rounds: int, order: int, cold: float, swaps: int) -> Candidate:
    """Return rounds that are the turns of searched base rounds."""
    rng = generator(b"", f"{points} points, tables of {size}, {rounds} rounds, turns of {order}, {cold}")
    classes = Classes(points, order)
    bases = base_rounds(classes, size, rounds // order, rng)
    meetings = Meetings(classes)
    for base in bases:
        meetings.add(base[:-1])
    settle(bases, meetings, swaps, cold, rng)
    uneven = (meetings.cost() - meetings.least()) * order
    return Candidate(meetings.spread(), uneven, turns(bases, classes))


def turns(bases: list[Tables], classes: Classes) -> Schedule:
    """Return all turns of the base rounds."""
    return tuple(
        [[classes.turned(p, turn) for p in table] for table in base]
        for base in bases
        for turn in range(classes.order)
    )


def circle(points: int) -> Iterator[Tables]:
    """Yield the circle method (Kirkman 1847): one point stays, or is missing, the others go round."""
    ring = points - 1 if points % 2 == 0 else points
    for turn in range(ring):
        pairs = [[(turn + k) % ring, (turn - k) % ring] for k in range(1, (ring + 1) // 2)]
        if ring < points:
            yield [[ring, turn], *pairs, []]
        else:
            yield [*pairs, [turn]]


def power(number: int, base: int) -> int:
    """Return the exponent with which ``base`` gives ``number``; 0 if there is none."""
    exponent = 0
    while number % base == 0:
        number, exponent = number // base, exponent + 1
    return exponent if number == 1 else 0


def affine_space(order: int, dimension: int) -> Iterator[Tables]:
    """Yield the lines of the affine space over the field of ``order`` elements as tables.

    Rounds are the classes of parallel lines, one for each direction: a direction is a point whose first
    coordinate that is not 0 is 1. Lines of a direction begin where that coordinate is 0.
    """
    elements = range(order)
    for lead in range(dimension):
        for rest in product(elements, repeat=dimension - 1 - lead):
            direction = (*[0] * lead, 1, *rest)
            starts = (point for point in product(elements, repeat=dimension) if point[lead] == 0)
            yield [*(_line(start, direction, order) for start in starts), []]


def _line(start: tuple[int, ...], direction: tuple[int, ...], order: int) -> list[int]:
    line = []
    for step in range(order):
        point = 0
        for a, d in zip(start, direction, strict=True):
            point = point * order + plus(a, times(step, d, order), order)
        line.append(point)
    return line


def is_prime(number: int) -> bool:
    """Return whether this is a prime number."""
    return number > 1 and all(number % divisor for divisor in range(2, int(number**0.5) + 1))


def powers(prime: int) -> list[int]:
    """Return the powers 0 … prime - 2 of the least primitive root: all numbers from 1 to prime - 1."""
    for base in range(2, prime):
        values = [1]
        while (following := values[-1] * base % prime) != 1:
            values.append(following)
        if len(values) == prime - 1:
            return values
    return [1]


def cosets(prime: int, size: int) -> Tables:
    """Return a base round for a prime number of points, one more than the tables seat: 0 sits out.

    Tables are the cosets of the numbers whose power ``size`` is 1: every difference occurs equally often.
    """
    values, tables = powers(prime), (prime - 1) // size
    return [*([values[at + step * tables] for step in range(size)] for at in range(tables)), [0]]


def kirkman_triple(prime: int) -> Schedule:
    """Return triples of 3p points, where p is a prime 6t + 1: every two meet once in 9t + 1 rounds."""
    values, t = powers(prime), prime // 6
    ring = [values[at % len(values)] for at in range(2 * len(values))]

    def across(at: int) -> list[int]:
        return [ring[at], prime + ring[at + 2 * t], 2 * prime + ring[at + 4 * t]]

    inside = [[j * prime + ring[i + step * t] for step in (0, 2, 4)] for i in range(t) for j in range(3)]
    base = [[0, prime, 2 * prime], *inside, *(across(i + k * t) for i in range(t) for k in (1, 3, 5)), []]
    classes = Classes(3 * prime, prime)
    others = [across(i + k * t) for i in range(t) for k in (0, 2, 4)]
    shifted = ([[classes.turned(p, turn) for p in table] for turn in range(prime)] for table in others)
    return (*turns([base], classes), *([*tables, []] for tables in shifted))


def kirkman_double(prime: int) -> Schedule:
    """Return triples of 2p + 1 points, where p is a prime 6t + 1: every two meet once in 6t + 1 rounds."""
    values, t = powers(prime), prime // 6
    ring = [values[at % len(values)] for at in range(3 * len(values))]
    half = (ring[t] + 1) * (prime + 1) // 2 % prime
    m = values.index(half)
    base = [[0, prime, 2 * prime]]
    base += [
        [ring[i + k], ring[i + k + t], prime + ring[i + k + m]] for i in range(t) for k in (0, 2 * t, 4 * t)
    ]
    base += [[prime + ring[i + m + k * t] for k in (1, 3, 5)] for i in range(t)]
    return turns([[*base, []]], Classes(2 * prime + 1, prime))


def plus(a: int, b: int, order: int) -> int:
    """Return the sum in the field of ``order`` elements."""
    return a ^ b if order in FIELDS else (a + b) % order


def times(a: int, b: int, order: int) -> int:
    """Return the product in the field of ``order`` elements."""
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

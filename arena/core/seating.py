"""Who sits where in the sessions of a match, so that neither seat nor neighbour favours anyone."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

from arena.core.pairing.values import below, generator, shuffled

SWAPS = 20_000
"""Effort of the search for the seatings of one number of sessions."""

HOT, COLD = 6.0, 1.0
"""The largest increase in cost that the search accepts at its start and at its end."""

SEAT_WEIGHT = 4
"""How much more an uneven count of a seat costs than an uneven count of a neighbour."""


@dataclass(frozen=True, slots=True)
class Balance:
    """The evenness of some seatings."""

    seats: tuple[tuple[int, ...], ...]
    """For each position, how often it has each seat."""
    after: tuple[tuple[int, ...], ...]
    """For each position, how often it plays directly after each other one; 0 for itself."""

    @property
    def seat_spread(self) -> tuple[int, int]:
        """The least and the most often that a position has a seat."""
        counts = [count for row in self.seats for count in row]
        return min(counts), max(counts)

    @property
    def neighbour_spread(self) -> tuple[int, int]:
        """The least and the most often that a position plays directly after another one."""
        counts = [
            count for one, row in enumerate(self.after) for other, count in enumerate(row) if one != other
        ]
        return min(counts), max(counts)


def balance(seatings: Sequence[Sequence[int]]) -> Balance:
    """Return how even these seatings are; there must be at least one."""
    counts = Counts(len(seatings[0]))
    for seating in seatings:
        counts.add(seating, 1)
    return Balance(tuple(map(tuple, counts.seat)), tuple(map(tuple, counts.after)))


def seatings(size: int, sessions: int, *, duplicate: bool = False) -> list[tuple[int, ...]]:
    """Return for each session of a match the position at the table (0 … size - 1) that has each seat.

    In ``duplicate`` each position keeps the seat of its number, so that nobody has a deal's cards twice and
    everyone can be compared with the same seat at another table. Otherwise, over the sessions each position
    has each seat equally often (give or take one), and plays directly after each other one as equally often
    as the search can manage with that. Both are exactly equal after blocks of ``size * (size - 1)`` sessions
    if ``size`` is odd, and of twice as many if it is even. Meant for 2 to 8 seats.
    """
    if duplicate:
        return [tuple(range(size))] * sessions
    block = _block(size)
    blocks, rest = divmod(sessions, len(block))
    return [*block * blocks, *_searched(size, rest)]


@cache
def _block(size: int) -> tuple[tuple[int, ...], ...]:
    """Return all rotations of cyclic orders in which everyone follows each other one equally often."""
    if size % 2:
        orders = [[step * seat % size for seat in range(size)] for step in range(1, size)]  # size is prime
    else:
        ring = size - 1  # one stays beside the ring's zigzag, there and back, which has each step twice
        there = [[ring, *((turn + step) % ring for step in zigzag(ring))] for turn in range(ring)]
        orders = there + [order[::-1] for order in there]
    return tuple(tuple(order[turn:] + order[:turn]) for order in orders for turn in range(size))


def zigzag(size: int) -> list[int]:
    """Return 0, 1, -1, 2, -2, … modulo ``size``; its rotations follow each other evenly (Williams 1949)."""
    return [((place + 1) // 2 if place % 2 else -place // 2) % size for place in range(size)]


@cache
def _searched(size: int, sessions: int) -> tuple[tuple[int, ...], ...]:
    """Return the better of two searches: from the rotations of a zigzag, and from random seatings."""
    rng = generator(b"", f"seatings/{size}/{sessions}")
    turns = [[(position + turn) % size for position in zigzag(size)] for turn in range(sessions)]
    drawn = [shuffled(range(size), rng) for _ in range(sessions)]
    best = min((_settle(start, size, rng), start) for start in (turns, drawn))[1]
    return tuple(map(tuple, best))


def _settle(seatings: list[list[int]], size: int, rng: Random) -> int:
    """Swap two seats of a session at a time, in place, by simulated annealing; return the final cost."""
    counts = Counts(size)
    for seating in seatings:
        counts.add(seating, 1)
    limit, least = HOT, counts.least(len(seatings))
    for _ in range(SWAPS):
        if counts.cost <= least:
            break
        limit *= (COLD / HOT) ** (1 / SWAPS)
        _try_swap(seatings[below(rng, len(seatings))], counts, limit, rng)
    return counts.cost


def _try_swap(seating: list[int], counts: "Counts", limit: float, rng: Random) -> None:
    i, j = below(rng, len(seating)), below(rng, len(seating))
    before = counts.cost
    counts.add(seating, -1)
    seating[i], seating[j] = seating[j], seating[i]
    counts.add(seating, 1)
    worse = counts.cost - before
    if worse > 0 and worse > limit * rng.random():
        counts.add(seating, -1)
        seating[i], seating[j] = seating[j], seating[i]
        counts.add(seating, 1)


class Counts:
    """How often each position had each seat and played directly after each other one."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.seat = [[0] * size for _ in range(size)]
        self.after = [[0] * size for _ in range(size)]
        self.cost = 0
        """Sum of the squares of all counts, those of seats weighted: least when they are equal."""

    def add(self, seating: Sequence[int], times: int) -> None:
        """Count a session (``times`` is 1) or take it back (-1)."""
        for seat, position in enumerate(seating):
            self.cost += SEAT_WEIGHT * _bump(self.seat[position], seat, times)
            self.cost += _bump(self.after[position], seating[seat - 1], times)

    def least(self, sessions: int) -> int:
        """Return the cost if all seats, and all neighbours, were within one of each other."""
        size = self.size
        return SEAT_WEIGHT * _squares(size * sessions, size * size) + _squares(
            size * sessions, size * (size - 1)
        )


def _bump(counts: list[int], index: int, times: int) -> int:
    """Add ``times`` to a count; return by how much its square grew."""
    counts[index] += times
    return times * (2 * counts[index] - times)


def _squares(total: int, cells: int) -> int:
    each, more = divmod(total, cells)
    return more * (each + 1) ** 2 + (cells - more) * each**2

"""Counts over pairings and bounds on them, computed independently of the code under test."""

import os
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

from arena.core.pairing import History, Pairing

FIELDS = int(os.environ.get("ARENA_TEST_FIELDS", "10"))
"""Number of random fields for property tests; ``ARENA_TEST_FIELDS=1000`` tries a thousand."""

ROUND_ROBINS = max(FIELDS, 25)
"""The number for round-robins, which is larger because most of them are quick to make."""


def meetings(pairings: Sequence[Pairing], entrants: Sequence[int]) -> Counter[frozenset[int]]:
    """Return how often each pair of entrants sat at one table; pairs that never met count 0."""
    met = Counter(
        frozenset(pair) for one in pairings for table in one.tables for pair in combinations(table, 2)
    )
    for pair in combinations(entrants, 2):
        met[frozenset(pair)] += 0
    return met


def spread(counts: Counter[frozenset[int]]) -> int:
    """Return the difference between the largest and the smallest count."""
    return max(counts.values()) - min(counts.values())


def byes(pairings: Sequence[Pairing], entrants: Sequence[int]) -> list[int]:
    """Return how often each entrant sat out."""
    out = Counter(entrant for one in pairings for entrant in one.byes)
    return [out[entrant] for entrant in entrants]


def around(total: int, among: int) -> tuple[int, int]:
    """Return the mean of ``total`` things over ``among``, rounded down and up."""
    return total // among, -(-total // among)


def least_uneven(total: int, cells: int) -> float:
    """Return the least sum of squared deviations from the mean if ``total`` is distributed over ``cells``."""
    more = total % cells
    return more * (cells - more) / cells


def uneven_by_lot(entrants: int, size: int, rounds: int) -> float:
    """Return the expected sum of squared deviations of all pairs' meetings if rounds are drawn at random."""
    seated = entrants // size * size
    chance = seated * (size - 1) / (entrants * (entrants - 1))
    return entrants * (entrants - 1) / 2 * rounds * chance * (1 - chance)


def assert_whole(pairing: Pairing, entrants: Sequence[int], size: int) -> None:
    """Assert that everyone is in the round once, every table is full, and as few as possible sit out."""
    seen = [entrant for table in pairing.tables for entrant in table] + list(pairing.byes)
    assert sorted(seen) == sorted(entrants)
    assert {len(table) for table in pairing.tables} == {size}
    assert len(pairing.byes) == len(entrants) % size


def partitions(entrants: Sequence[int], size: int) -> Iterator[list[tuple[int, ...]]]:
    """Yield all ways to seat the entrants at full tables."""
    if not entrants:
        yield []
        return
    for rest in combinations(entrants[1:], size - 1):
        left = [entrant for entrant in entrants[1:] if entrant not in rest]
        for tables in partitions(left, size):
            yield [(entrants[0], *rest), *tables]


@dataclass(frozen=True)
class Field:
    """A random field in the middle of a tournament."""

    standing: list[int]
    size: int
    history: History


def random_field(seed: int) -> Field:
    """Draw entrants, table size, owners, scores and earlier rounds at random."""
    rng = random.Random(seed)
    size = rng.randint(2, 8)
    count = rng.randint(size, max(20, 6 * size))
    owners = {bot: rng.randrange(1 + count // rng.randint(1, 4)) for bot in range(count)}
    tables, byes = [], []
    for _ in range(rng.randint(0, 5)):
        drawn = rng.sample(range(count), count)
        tables += [drawn[at : at + size] for at in range(0, count - count % size, size)]
        byes += drawn[count - count % size :]
    scores = {bot: rng.randint(0, 20) / 2 for bot in range(count)}
    standing = sorted(range(count), key=lambda bot: (-scores[bot], bot))
    return Field(standing, size, History(tables, byes, owners, scores))


def least_same_owner(playing: Sequence[int], size: int, owners: Mapping[int, int]) -> int:
    """Count the same-owner pairs that no seating avoids, with each owner's bots spread over all tables."""
    tables = len(playing) // size
    pairs = 0
    for bots in Counter(owners[bot] for bot in playing).values():
        each, more = divmod(bots, tables)
        pairs += more * comb(each + 1, 2) + (tables - more) * comb(each, 2)
    return pairs


def same_owner(tables: Sequence[Sequence[int]], owners: Mapping[int, int]) -> int:
    """Count the pairs of one owner at these tables."""
    return sum(owners[a] == owners[b] for table in tables for a, b in combinations(table, 2))


def repeats(tables: Sequence[Sequence[int]], history: History) -> int:
    """Count the repeated meetings at these tables, each weighted by how often the two have met."""
    met = Counter(frozenset(pair) for table in history.tables for pair in combinations(table, 2))
    return sum(met[frozenset(pair)] for table in tables for pair in combinations(table, 2))


def greedy(playing: Sequence[int], size: int, history: History) -> list[list[int]]:
    """Return tables filled from the top, with each seat given to the bot that costs least there."""
    left, tables = list(playing), []
    while left:
        table = [left.pop(0)]
        while len(table) < size:
            best = min(
                left,
                key=lambda bot: (
                    same_owner([[*table, bot]], history.owners),
                    repeats([[*table, bot]], history),
                ),
            )
            left.remove(best)
            table.append(best)
        tables.append(table)
    return tables

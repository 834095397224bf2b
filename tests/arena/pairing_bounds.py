"""What is counted in pairings, and the bounds they are held to, worked out apart from the code under test."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

from arena.pairing import Pairing


def meetings(pairings: Sequence[Pairing], entrants: Sequence[int]) -> Counter[frozenset[int]]:
    """How often each two of the entrants sat at one table; pairs that never met count 0."""
    met = Counter(
        frozenset(pair) for one in pairings for table in one.tables for pair in combinations(table, 2)
    )
    for pair in combinations(entrants, 2):
        met[frozenset(pair)] += 0
    return met


def spread(counts: Counter[frozenset[int]]) -> int:
    """Most minus least."""
    return max(counts.values()) - min(counts.values())


def byes(pairings: Sequence[Pairing], entrants: Sequence[int]) -> list[int]:
    """How often each entrant sat out."""
    out = Counter(entrant for one in pairings for entrant in one.byes)
    return [out[entrant] for entrant in entrants]


def assert_whole(pairing: Pairing, entrants: Sequence[int], size: int) -> None:
    """Everyone is in the round once, every table is full, and no more sit out than must."""
    seen = [entrant for table in pairing.tables for entrant in table] + list(pairing.byes)
    assert sorted(seen) == sorted(entrants)
    assert {len(table) for table in pairing.tables} == {size}
    assert len(pairing.byes) == len(entrants) % size


def partitions(entrants: Sequence[int], size: int) -> Iterator[list[tuple[int, ...]]]:
    """All ways to seat all entrants at full tables."""
    if not entrants:
        yield []
        return
    for rest in combinations(entrants[1:], size - 1):
        left = [entrant for entrant in entrants[1:] if entrant not in rest]
        for tables in partitions(left, size):
            yield [(entrants[0], *rest), *tables]

"""How even a tournament has been to its entrants: meetings, positions, neighbours, byes."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from arena.core.pairing.values import Pairing


class Spread(NamedTuple):
    """The least and the most of a count."""

    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Balance:
    """How evenly meetings, positions, neighbours and byes were spread."""

    entrants: int
    rounds: int
    meetings: Spread
    """How often two entrants sat at one table, over all pairs."""
    pairs: tuple[int, ...]
    """Number of pairs that never met, met once, twice, …"""
    positions: Spread
    """How often an entrant had a position at its table, over all entrants and positions."""
    neighbours: Spread
    """How often an entrant came directly after another one, over all ordered pairs."""
    byes: Spread
    """How often an entrant sat out."""


def balance(entrants: Sequence[int], pairings: Sequence[Pairing]) -> Balance:
    """Return the balance of these rounds."""
    met: Counter[tuple[int, int]] = Counter()
    had: Counter[tuple[int, int]] = Counter()
    followed: Counter[tuple[int, int]] = Counter()
    out = Counter(entrant for pairing in pairings for entrant in pairing.byes)
    tables = [table for pairing in pairings for table in pairing.tables]
    for table in tables:
        for position, entrant in enumerate(table):
            had[entrant, position] += 1
            followed[table[position - 1], entrant] += 1
            met.update((min(one, entrant), max(one, entrant)) for one in table[:position])
    count = len(entrants)
    pairs = count * (count - 1) // 2
    often = Counter(met.values())
    often[0] = pairs - len(met)
    size = len(tables[0]) if tables else 0
    return Balance(
        entrants=count,
        rounds=len(pairings),
        meetings=_spread(met.values(), pairs),
        pairs=tuple(often[times] for times in range(max(often) + 1)),
        positions=_spread(had.values(), count * size),
        neighbours=_spread(followed.values(), 2 * pairs),
        byes=_spread(out.values(), count),
    )


def _spread(counts: Iterable[int], all_of_them: int) -> Spread:
    """Return the spread over ``all_of_them``; those that never happened are not among ``counts``."""
    seen = list(counts)
    return Spread(
        min(seen, default=0) if len(seen) == all_of_them else 0,
        max(seen, default=0),
    )

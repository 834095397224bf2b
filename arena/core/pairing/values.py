"""The values that pairing works with: tables, byes, what has been played; and seeded, portable chance."""

import hashlib
import random
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

Tables = list[list[int]]
"""Tables while they are being searched: lists of point or entrant numbers."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """One round: who sits together and who sits out."""

    tables: tuple[tuple[int, ...], ...]
    """Entrants of each table, all tables of one size, in the order of their positions at the table."""

    byes: tuple[int, ...] = ()
    """Entrants without a table in this round."""


class Past:
    """The rounds paired so far, kept as plain numbers: in a large tournament, a million seats."""

    def __init__(self, pairings: Iterable[Pairing] = ()) -> None:
        self.tables = PastTables()
        """All their tables, in the order of rounds and of tables."""
        self.byes: list[Sequence[int]] = []
        """Those who sat out, by round."""
        for pairing in pairings:
            self.add(pairing)

    def __len__(self) -> int:
        """Return how many rounds there are."""
        return len(self.byes)

    def add(self, pairing: Pairing) -> None:
        """Add the next round."""
        self.tables.add(pairing)
        self.byes.append(array("I", pairing.byes))


class PastTables:
    """Tables of one size, in the order of positions; they can be gone through again and again."""

    def __init__(self) -> None:
        self._size = 1
        self._seats = array("I")

    def add(self, pairing: Pairing) -> None:
        """Add the tables of a round."""
        for table in pairing.tables:
            self._size = len(table)
            self._seats.extend(table)

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        """Yield table after table."""
        return zip(*[iter(self._seats)] * self._size, strict=True)


@dataclass(frozen=True, slots=True)
class History:
    """The past that matters to a new round."""

    tables: Iterable[Sequence[int]] = ()
    """Every table of every round so far, in the order of positions; gone through more than once."""

    byes: Sequence[int] = ()
    """Everyone who sat out, once for each time."""

    owners: Mapping[int, int] = field(default_factory=dict)
    """Entrant to owner; whoever is not in it shares no owner with anyone."""

    scores: Mapping[int, float] = field(default_factory=dict)
    """Entrant to score; if it is empty, places in the standing take the place of scores."""

    owners_apart: bool = False
    """Whether no owner may be twice at a table; otherwise that is only avoided."""


RECENT = 3
"""Matches of each entrant that are too recent to be repeated."""


class Recent(NamedTuple):
    """The recent past of those who are free."""

    seats: Mapping[int, int]
    """How often each sat at one of the latest n tables, n being the number of entrants; missing for never."""
    tables: Sequence[Sequence[int]]
    """Their tables that are too recent to be repeated, in the order of positions: those that are among the
    ``RECENT`` latest of somebody who sat there, and in one of the latest n batches."""


class Batches:
    """All tables of a continuous tournament so far, by who sat there."""

    def __init__(self) -> None:
        self._first: list[int] = []
        """The place of the first table of each batch."""
        self._tables: list[Sequence[int]] = []
        self._of: defaultdict[int, list[int]] = defaultdict(list)
        """By entrant, the places of its tables, in order."""

    def add(self, pairing: Pairing) -> None:
        """Add the next batch."""
        self._first.append(len(self._tables))
        for table in pairing.tables:
            for entrant in table:
                self._of[entrant].append(len(self._tables))
            self._tables.append(table)

    def recent(self, entrants: int, present: Collection[int]) -> Recent:
        """Return the recent past of those present; ``entrants`` is how many have entered."""
        batches = self._first[-entrants:]
        first = batches[0] if batches else 0
        latest = max(0, len(self._tables) - entrants)
        seats = {entrant: times for entrant in present if (times := len(self._since(entrant, latest)))}
        places = {at for entrant in present for at in self._since(entrant, first)}
        return Recent(seats, [self._tables[at] for at in sorted(places) if self._is_recent(at)])

    def _since(self, entrant: int, first: int) -> Sequence[int]:
        """Return the places of an entrant's tables from this one on."""
        of_it = self._of[entrant]
        return of_it[bisect_left(of_it, first) :]

    def _is_recent(self, at: int) -> bool:
        return any(len(self._since(entrant, at)) <= RECENT for entrant in self._tables[at])


Item = TypeVar("Item")


def lots(commitment: str, beacon_value: str | None) -> bytes:
    """Return the seed of a tournament's pairings, which is public, and fixed when its entrants are.

    It is the SHA-256 of the commitment's hexadecimal digits, followed by the beacon's value if there is one.
    """
    return hashlib.sha256(f"{commitment}{beacon_value or ''}".encode()).digest()


def generator(seed: bytes, label: str) -> random.Random:
    """Return a separate generator for each seed and purpose."""
    return random.Random(int.from_bytes(hashlib.sha256(seed + label.encode()).digest(), "big"))  # noqa: S311 no secret


def below(rng: random.Random, stop: int) -> int:
    """Return a whole number from 0 to ``stop - 1``, all equally likely."""
    return int(rng.random() * stop)


def shuffled(items: Iterable[Item], rng: random.Random) -> list[Item]:
    """Return the items in an order drawn by lot (Fisher-Yates)."""
    result = list(items)
    for last in range(len(result) - 1, 0, -1):
        other = below(rng, last + 1)
        result[last], result[other] = result[other], result[last]
    return result

"""What was played, added up block by block: points, places, faults and times of every bot."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from referee.local.field import MOST_TURNS, Block
from referee.local.played import Failure, Fault, Played
from referee.local.sums import Sums
from referee.local.times import Times

KEPT = 5
"""Faults and exceptions of a bot that are kept in words."""


class Assembly:
    """Puts sessions, which end in any order, together to blocks, in the order of their numbers.

    That order must not depend on how long deals take, or quick deals would count more while somebody watches.
    """

    def __init__(self) -> None:
        self._blocks: dict[int, Block] = {}
        self._played: dict[int, dict[int, Played]] = {}
        self._next = 0

    def expect(self, block: Block) -> None:
        """Know of a block whose sessions are to come."""
        self._blocks[block.number] = block
        self._played[block.number] = {}

    def add(self, played: Played) -> Iterator[tuple[Block, list[Played]]]:
        """Take a session, and yield all blocks whose turn it is, with their sessions in order."""
        self._played[(played.number - 1) // MOST_TURNS][played.number] = played
        while (block := self._blocks.get(self._next)) is not None:
            found = self._played[self._next]
            if len(found) < len(block.sessions):
                return
            del self._blocks[self._next], self._played[self._next]
            self._next += 1
            yield block, [found[session.number] for session in block.sessions]


@dataclass(slots=True)
class Standing:
    """What one bot has come to."""

    times: Times
    points: Sums = field(default_factory=Sums)
    """Of its blocks: points a deal."""
    seats: int = 0
    """Deals that it played, each of its seats counted."""
    places: Counter[int] = field(default_factory=Counter)
    """How often it finished where; bots with the same points share the better place."""
    faults: Counter[str] = field(default_factory=Counter)
    """By kind."""
    fault_texts: list[str] = field(default_factory=list)
    failures: int = 0
    """Exceptions."""
    failure_texts: list[Failure] = field(default_factory=list)
    """The first ones, each different."""
    forfeits: int = 0


@dataclass(slots=True)
class Tally:
    """What all bots have come to, and how the first stands against each of the others."""

    bots: int
    limit: float
    """Seconds that a decision may take."""
    per_session: int = 1
    """Deals in a session."""
    blocks: int = 0
    played: int = 0
    """Deals that were played, each seating counted."""
    standings: list[Standing] = field(init=False)
    against: list[Sums] = field(init=False)
    """By bot, of the blocks in which it and the first sat: points a deal of the first less its own."""

    def __post_init__(self) -> None:
        self.standings = [Standing(Times(self.limit)) for _ in range(self.bots)]
        self.against = [Sums() for _ in range(self.bots)]

    @property
    def deals(self) -> int:
        """Different deals; a session that ended early counts as if it had not."""
        return self.blocks * self.per_session

    def add(self, block: Block, played: Sequence[Played]) -> Mapping[int, float]:
        """Take a whole block; return its value for each bot that sat in it: points a deal."""
        self.blocks += 1
        earned: dict[int, list[float]] = {}
        for session, one in zip(block.sessions, played, strict=True):
            self._add_session(session.seating, one)
            deals = max(1, len(one.records))
            for bot, points in zip(session.seating, one.points, strict=True):
                earned.setdefault(bot, []).append(points / deals)
        values = {bot: sum(points) / len(points) for bot, points in earned.items()}
        for bot, value in values.items():
            self.standings[bot].points = self.standings[bot].points.add(value)
            if bot and 0 in values:
                self.against[bot] = self.against[bot].add(values[0] - value)
        return values

    def _add_session(self, seating: Sequence[int], played: Played) -> None:
        deals = list(_points(played))
        self.played += len(deals)
        for seat, bot in enumerate(seating):
            standing = self.standings[bot]
            standing.seats += len(deals)
            standing.places.update([1 + sum(other > points[seat] for other in points) for points in deals])
            standing.times.add(played.spent[seat])
            standing.forfeits += seat in played.forfeits
        for fault in played.faults:
            self._add_fault(self.standings[seating[fault.seat]], fault)
        for failure in played.failures:
            self._add_failure(self.standings[seating[failure.seat]], failure)

    def _add_fault(self, standing: Standing, fault: Fault) -> None:
        standing.faults[fault.kind] += 1
        if len(standing.fault_texts) < KEPT:
            standing.fault_texts.append(fault.text)

    def _add_failure(self, standing: Standing, failure: Failure) -> None:
        standing.failures += 1
        known = {one.lines for one in standing.failure_texts}
        if len(known) < KEPT and failure.lines not in known:
            standing.failure_texts.append(failure)


def _points(played: Played) -> Iterator[Sequence[int]]:
    """Yield the points of each deal of a session."""
    if len(played.records) < 2:
        yield played.points
    else:
        yield from (json.loads(record)["points"] for record in played.records)

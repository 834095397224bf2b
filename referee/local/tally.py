"""Results added up block by block: points, places, faults and times of every bot."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import NamedTuple

from referee.local.field import MOST_TURNS, Block
from referee.local.sequential import Sums
from referee.matches.match import SessionResult


class Fault(NamedTuple):
    """A fault of a bot, as the referee saw it."""

    seat: int
    kind: str
    text: str
    """The fault in words, with the position."""
    reason: str
    """The reason without the position, so that equal faults can be counted."""


class Failure(NamedTuple):
    """An exception that a bot raised."""

    seat: int
    text: str
    """The exception as one line, and where it was raised."""
    lines: tuple[str, ...]
    """The end of the traceback."""
    cause: str
    """The type of the exception and the calls it passed through, so that equal ones can be counted."""


@dataclass(slots=True)
class Played:
    """A session that was played locally: its result, and what else is known of its bots."""

    result: SessionResult
    spent: list[list[float]]
    """By seat, the seconds that each decision took."""
    faults: list[Fault] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)


class Thought(NamedTuple):
    """What bots have thought so far."""

    times: Sequence[tuple[int, float]]
    """By bot, decisions and the seconds that they took."""
    stuck: tuple[int, float] | None
    """The bot that has not answered for longest, and for how many seconds; None if none takes long."""


_EXACT = 100
"""Shorter times are counted to the microsecond, others to two digits."""


@dataclass(frozen=True, slots=True)
class Spent:
    """A summary of the times of a bot's decisions, in milliseconds."""

    decisions: int
    median_ms: float
    p99_ms: float
    """99 of 100 decisions took no longer."""
    longest_ms: float
    late: int
    """How many decisions took longer than allowed."""


@dataclass(slots=True)
class Times:
    """Counts decisions by the time they took."""

    limit: float
    """Seconds that a decision may take."""
    longest: float = 0.0
    late: int = 0
    _by_time: Counter[int] = field(default_factory=Counter)

    def add(self, seconds: Iterable[float]) -> None:
        """Take in the times of decisions."""
        for duration in seconds:
            self._by_time[_rounded(duration)] += 1
            self.longest = max(self.longest, duration)
            self.late += duration > self.limit

    def spent(self) -> Spent | None:
        """Return a summary; None without any decisions."""
        decisions = self._by_time.total()
        if not decisions:
            return None
        middle, late = (self._below(ceil(share * decisions)) for share in (0.5, 0.99))
        return Spent(decisions, middle, late, round(self.longest * 1000, 3), self.late)

    def _below(self, rank: int) -> float:
        """Return the time of the decision of this rank, the shortest first, in milliseconds."""
        passed = 0
        for time, number in sorted(self._by_time.items()):
            passed += number
            if passed >= rank:
                return time / 1000
        raise AssertionError("a rank beyond the last decision")


def _rounded(seconds: float) -> int:
    """Return a time in microseconds, cut to two digits."""
    micro, scale = int(seconds * 1e6), 1
    while micro >= _EXACT:
        micro, scale = micro // 10, scale * 10
    return micro * scale


KEPT = 5
"""How many faults, and how many exceptions, of a bot are kept in words."""


class Assembly:
    """Assembles sessions, which end in any order, into blocks in the order of their numbers.

    The order must not depend on how long deals take, or quick deals would count more while play goes on.
    """

    def __init__(self) -> None:
        self._blocks: dict[int, Block] = {}
        self._played: dict[int, dict[int, Played]] = {}
        self._next = 0

    def expect(self, block: Block) -> None:
        """Register a block whose sessions are to come."""
        self._blocks[block.number] = block
        self._played[block.number] = {}

    def seating(self, number: int) -> Sequence[int]:
        """Return the seating of an expected session."""
        block = self._blocks[(number - 1) // MOST_TURNS]
        return next(session.seating for session in block.sessions if session.number == number)

    def left(self) -> Iterator[tuple[Sequence[int], Played]]:
        """Yield the sessions of incomplete blocks, each with its seating."""
        for sessions in self._played.values():
            for number, played in sorted(sessions.items()):
                yield self.seating(number), played

    def add(self, played: Played) -> Iterator[tuple[Block, list[Played]]]:
        """Take in a session, and yield all blocks whose turn it is, with their sessions in order."""
        number = played.result.number
        self._played[(number - 1) // MOST_TURNS][number] = played
        while (block := self._blocks.get(self._next)) is not None:
            complete = self._played[self._next]
            if len(complete) < len(block.sessions):
                return
            del self._blocks[self._next], self._played[self._next]
            self._next += 1
            yield block, [complete[session.number] for session in block.sessions]


@dataclass(slots=True)
class Standing:
    """The results of one bot so far."""

    times: Times
    points: Sums = field(default_factory=Sums)
    """Its points per deal, block by block."""
    seats: int = 0
    """How many deals it played, counting each of its seats."""
    places: Counter[int] = field(default_factory=Counter)
    """How often it finished in each place; bots with the same points share the better one."""
    faults: Counter[str] = field(default_factory=Counter)
    """By kind."""
    first_faults: dict[str, str] = field(default_factory=dict)
    """The first faults that differ in kind or reason, in words, by kind and reason."""
    alike: Counter[str] = field(default_factory=Counter)
    """How many faults there were by kind and reason; reasons that differ only in numbers are the same."""
    failures: Counter[str] = field(default_factory=Counter)
    """Exceptions, by their cause."""
    first_failures: dict[str, Failure] = field(default_factory=dict)
    """The first exception of each cause, up to ``KEPT``."""
    forfeits: int = 0


@dataclass(slots=True)
class Tally:
    """The results of all bots, and how the first stands against each of the others."""

    bots: int
    limit: float
    """Seconds that a decision may take."""
    per_session: int = 1
    """Deals in a session."""
    blocks: int = 0
    played: int = 0
    """How many deals were played, counting each seating."""
    unfinished: int = 0
    """How many further deals were played, in incomplete blocks."""
    standings: list[Standing] = field(init=False)
    against: list[Sums] = field(init=False)
    """By bot, over the blocks in which it and the first sat: the first's points per deal minus its own."""

    def __post_init__(self) -> None:
        self.standings = [Standing(Times(self.limit)) for _ in range(self.bots)]
        self.against = [Sums() for _ in range(self.bots)]

    @property
    def deals(self) -> int:
        """How many different deals were played; a session that ended early counts in full."""
        return self.blocks * self.per_session

    def add(self, block: Block, played: Sequence[Played]) -> Mapping[int, float]:
        """Take in a complete block; return its value for each bot in it: points per deal."""
        self.blocks += 1
        earned: dict[int, list[float]] = {}
        for session, result in zip(block.sessions, played, strict=True):
            self._add_session(session.seating, result)
            deals = max(1, len(result.result.records))
            for bot, points in zip(session.seating, result.result.points, strict=True):
                earned.setdefault(bot, []).append(points / deals)
        values = {bot: sum(points) / len(points) for bot, points in earned.items()}
        for bot, value in values.items():
            self.standings[bot].points = self.standings[bot].points.add(value)
            if bot and 0 in values:
                self.against[bot] = self.against[bot].add(values[0] - value)
        return values

    def add_unfinished(self, seating: Sequence[int], played: Played) -> None:
        """Take in a session of a block that stays incomplete: its times and faults, but not its points.

        Quick deals come back first, so points and places would be biased.
        """
        self.unfinished += len(played.result.records)
        self._add_conduct(seating, played)

    def _add_session(self, seating: Sequence[int], played: Played) -> None:
        deals = list(_points(played))
        self.played += len(deals)
        for seat, bot in enumerate(seating):
            standing = self.standings[bot]
            standing.seats += len(deals)
            standing.places.update([1 + sum(other > points[seat] for other in points) for points in deals])
        self._add_conduct(seating, played)

    def _add_conduct(self, seating: Sequence[int], played: Played) -> None:
        for seat, bot in enumerate(seating):
            self.standings[bot].times.add(played.spent[seat])
            self.standings[bot].forfeits += seat in played.result.forfeits
        for fault in played.faults:
            self._add_fault(self.standings[seating[fault.seat]], fault)
        for failure in played.failures:
            self._add_failure(self.standings[seating[failure.seat]], failure)

    def _add_fault(self, standing: Standing, fault: Fault) -> None:
        standing.faults[fault.kind] += 1
        like = f"{fault.kind} {_NUMBER.sub('0', fault.reason)}"
        if like in standing.first_faults or len(standing.first_faults) < KEPT:
            standing.first_faults.setdefault(like, fault.text)
            standing.alike[like] += 1

    def _add_failure(self, standing: Standing, failure: Failure) -> None:
        standing.failures[failure.cause] += 1
        if len(standing.first_failures) < KEPT:
            standing.first_failures.setdefault(failure.cause, failure)


_NUMBER = re.compile(r"\d+")


def _points(played: Played) -> Iterator[Sequence[int]]:
    """Yield the points of each deal of a session."""
    if len(played.result.records) < 2:
        yield played.result.points
    else:
        yield from (json.loads(record)["points"] for record in played.result.records)

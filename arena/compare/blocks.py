"""What is played in a comparison: blocks of one deal from every seat, by either bot against one panel."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import fmean

from arena.practice.plan import Opposition, seating
from referee.matches.match import MatchBot, MatchSpec, SessionResult

ARMS = ("a", "b")
"""The two bots that are compared: is the second better than the first?"""


@dataclass(frozen=True, slots=True)
class Panel(Opposition):
    """What both bots are played against, and how."""

    @property
    def names(self) -> tuple[str, ...]:
        """Everybody's names: those of the two bots first, then the opponents'."""
        return (*(f"bot-{arm}/bot@1" for arm in ARMS), *self.others)

    def match(self, arm: int, blocks: range) -> MatchSpec:
        """Return the match of one of the two bots in these blocks; bots have the numbers of the room."""
        places = (arm, *range(len(ARMS), len(self.names)))
        bots = [MatchBot(place + 1, self.names[place]) for place in places]
        return self.match_of("compare", bots, blocks, round=blocks.start + 1, table=arm + 1)


@dataclass
class Blocks:
    """Turns sessions, as they finish, into the values of blocks in the order of their deals.

    That order must not depend on how long deals take, or quick deals would count more while somebody watches.
    """

    players: int
    next: int = 0
    """The first block whose value was not given yet."""
    _points: dict[int, tuple[list[int], list[int]]] = field(default_factory=dict)
    """By block, the points of either bot so far."""

    def add(self, arm: int, result: SessionResult) -> Iterator[float]:
        """Take a session of an arm, and yield the values of all blocks whose turn it is.

        The value is the mean over the seats of the points of the second bot less those of the first.
        """
        block = (result.number - 1) // self.players
        self._points.setdefault(block, ([], []))[arm].append(result.points[self.own_seat(result)])
        while self._whole(self.next):
            first, second = self._points.pop(self.next)
            self.next += 1
            yield fmean(second) - fmean(first)

    def own_seat(self, result: SessionResult) -> int:
        """Return the seat of the bot that is compared."""
        return seating((result.number - 1) % self.players, self.players).index(0)

    def skip(self, upto: int) -> Iterator[float]:
        """Yield the values of whole blocks before ``upto``, and leave out those with sessions missing."""
        for block in range(self.next, upto):
            if self._whole(block):
                first, second = self._points[block]
                yield fmean(second) - fmean(first)
            self._points.pop(block, None)
        self.next = max(self.next, upto)

    def _whole(self, block: int) -> bool:
        return all(len(points) == self.players for points in self._points.get(block, ([],)))

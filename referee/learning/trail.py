"""What all seats saw happen in a deal: a fold over its actions."""

from collections.abc import Iterable
from functools import reduce

from referee.deals.action import NOBODY
from referee.deals.dealing import next_seats
from referee.rules.plays import Rules

Shown = tuple[int, int, int]
"""An action as all seats saw it: the seat, the mask of the cards played (0: a pass), how many it drew."""


class Trail:
    """The cards that each seat has played, and who has passed in the current trick."""

    __slots__ = (
        "_begun",
        "_drawn",
        "_locks",
        "_next",
        "_own",
        "_rules",
        "_trick",
        "counts",
        "gone",
        "last",
        "passed",
        "played",
    )

    def __init__(self, rules: Rules, step: int, counts: Iterable[int]) -> None:
        """Begin before the first action; ``counts`` has the number of cards of each seat then."""
        self._rules = rules
        self.counts = list(counts)
        """Cards left, by seat."""
        players = len(self.counts)
        self._next = next_seats(step, players)
        self._locks, self._own = rules.ruleset.pass_locks, rules.ruleset.beat_own
        self._begun = len(rules.pack) - sum(self.counts)
        self._drawn = 0
        self._trick = [0] * players
        self.played = [0] * players
        """By seat, the mask of the cards it has played, except those that have become the stock again."""
        self.gone = 0
        """The mask of the cards that all seats together have played."""
        self.passed = 0
        """The seats, as bits, that passed since the last play, or in the whole trick if a pass locks out."""
        self.last = NOBODY
        """Who made the last play of the trick; ``NOBODY`` between tricks."""

    def add(self, shown: Shown) -> None:
        """Take in an action."""
        seat, mask, drawn = shown
        if mask:
            self._play(seat, mask)
        else:
            self._pass(seat, drawn)

    def _play(self, seat: int, mask: int) -> None:
        own = seat == self.last
        if self.last == NOBODY:
            self._trick = [0] * len(self.played)
        if own:
            self.passed = (1 << len(self.played)) - 1 & ~(1 << seat)
        elif self.last == NOBODY or not self._locks:
            self.passed = 0
        add = self._rules.add
        self.played[seat] = add(self.played[seat], mask)
        self._trick[seat] = add(self._trick[seat], mask)
        self.gone = add(self.gone, mask)
        self.counts[seat] -= mask.bit_count()
        self.last = seat
        if own:
            self._settle()

    def _pass(self, seat: int, drawn: int) -> None:
        if drawn:
            self._draw(seat, drawn)
        if seat == self.last:
            self._end()
            return
        self.passed |= 1 << seat
        self._settle()

    def _draw(self, seat: int, drawn: int) -> None:
        self.counts[seat] += drawn
        self._drawn += drawn
        if self._drawn > self._begun:  # so the cards of finished tricks are the stock now
            self._begun += sum([mask.bit_count() for mask in self.played])
            self.played = self._trick[:]
            self._begun -= sum([mask.bit_count() for mask in self.played])
            self.gone = reduce(self._rules.add, self.played, 0)

    def _settle(self) -> None:
        """End the trick if nobody can answer the last play any more."""
        last, counts = self.last, self.counts
        if last == NOBODY:
            return
        seat = self._next[last]
        while seat != last and (not counts[seat] or self.passed >> seat & 1):
            seat = self._next[seat]
        if seat == last and not (self._own and counts[last]):
            self._end()

    def _end(self) -> None:
        self.passed, self.last = 0, NOBODY

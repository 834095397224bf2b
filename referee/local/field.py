"""Who sits where: every deal is played several times, with the bots rotated through the seats.

All sessions with the same cards are a block. Blocks are independent of each other, so a bot's strength is
the mean over blocks, and its error follows from how blocks differ: the luck of the cards is the same for all.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import count
from random import Random

from referee.matches.match import SessionSpec

MOST_TURNS = 64
"""The most sessions that a block can have, so that the sessions of later blocks have other numbers."""


@dataclass(frozen=True, slots=True)
class Block:
    """A deal, in all its seatings."""

    number: int
    """Counts from 0."""
    sessions: tuple[SessionSpec, ...]
    """Numbered from 1 over all blocks, with gaps; their seatings have places in the list of all bots."""


def block_of(seed: str, number: int, seatings: Iterable[Sequence[int]]) -> Block:
    """Return the block in which the deal of this number is played once in each of these seatings."""
    different = dict.fromkeys(map(tuple, seatings))
    dealt = sha256(f"{seed}/{number}".encode()).digest()
    first = number * MOST_TURNS + 1
    return Block(
        number, tuple(SessionSpec(first + turned, seats, dealt) for turned, seats in enumerate(different))
    )


def turned(line_up: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield the seatings in which each bot at a table has every seat once."""
    for by in range(len(line_up)):
        yield (*line_up[by:], *line_up[:by])


def field_blocks(seed: str, slots: Sequence[int], players: int) -> Iterator[Block]:
    """Yield blocks for all bots of a field, without end.

    ``slots`` are the bots' places in the list of all bots; a bot with two slots sits twice as often. If there
    are fewer slots than seats at a table, some get a second seat, in turn; if there are more, those that have
    met least often are seated together.
    """
    order = Random(seed)  # noqa: S311 no secret
    draw = _Draw(slots, players, order)
    for number, line_up in enumerate(draw):
        order.shuffle(line_up)
        yield block_of(seed, number, turned(line_up))


def versus_blocks(seed: str, panel: Sequence[int]) -> Iterator[Block]:
    """Yield blocks in which bots 0 and 1 each play the same deals against one panel, without end."""
    order = Random(seed)  # noqa: S311 no secret
    others = [*panel]
    for number in count():
        order.shuffle(others)
        both = [seating for arm in (0, 1) for seating in turned([arm, *others])]
        yield block_of(seed, number, both)


class _Draw(Iterator[list[int]]):
    """Draws the bots of one table after the other, so that all sit and meet about equally often."""

    def __init__(self, slots: Sequence[int], players: int, order: Random) -> None:
        self._slots, self._players, self._order = slots, players, order
        self._next = 0
        self._sat = [0] * len(slots)
        self._met = [[0] * len(slots) for _ in slots]

    def __next__(self) -> list[int]:
        if len(self._slots) <= self._players:
            return [*self._slots, *self._again(self._players - len(self._slots))]
        return [self._slots[slot] for slot in self._least_met()]

    def _again(self, seats: int) -> Iterator[int]:
        """Yield the bots that get another seat at the table, all in turn."""
        for _ in range(seats):
            yield self._slots[self._next % len(self._slots)]
            self._next += 1

    def _least_met(self) -> list[int]:
        """Return the slots of a table: those that sat least often, then those that met these least often."""
        chosen: list[int] = []
        chance = [self._order.random() for _ in self._slots]
        while len(chosen) < self._players:
            left = [slot for slot in range(len(self._slots)) if slot not in chosen]
            chosen.append(
                min(
                    left,
                    key=lambda slot: (
                        self._sat[slot],
                        sum([self._met[slot][other] for other in chosen]),
                        chance[slot],
                    ),
                )
            )
        for slot in chosen:
            self._sat[slot] += 1
            for other in chosen:
                self._met[slot][other] += 1
        return chosen

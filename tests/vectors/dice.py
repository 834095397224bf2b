"""Chance for choosing vectors, from the public shuffle: the same on every machine and version of Python."""

from collections.abc import Sequence
from typing import TypeVar

from referee.deals.shuffle import shuffle, words

T = TypeVar("T")


class Dice:
    """Draws in a row."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._words = words(bytes(32), label)

    def below(self, stop: int) -> int:
        """Return a whole number from 0 to ``stop - 1``."""
        return next(self._words) % stop

    def one(self, items: Sequence[T]) -> T:
        """Return one of the items."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return the items in an order drawn by lot."""
        drawn = list(items)
        shuffle(next(self._words).to_bytes(32, "big"), self._label, drawn)
        return drawn

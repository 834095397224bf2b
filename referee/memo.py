"""Dictionaries that fill themselves, within bounds."""

from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Memo(dict[K, V], Generic[K, V]):
    """Values by key, made on first use; emptied when ``limit`` entries are reached."""

    __slots__ = ("_limit", "_make")

    def __init__(self, make: Callable[[K], V], limit: int = 1 << 15) -> None:
        super().__init__()
        self._make = make
        self._limit = limit

    def __missing__(self, key: K) -> V:
        if len(self) >= self._limit:
            self.clear()
        value = self[key] = self._make(key)
        return value

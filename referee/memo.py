"""Dictionaries that fill themselves, within bounds."""

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Memo(dict[int, T], Generic[T]):
    """Values by key, made on first use; emptied when ``limit`` entries are reached."""

    __slots__ = ("_limit", "_make")

    def __init__(self, make: Callable[[int], T], limit: int = 1 << 15) -> None:
        super().__init__()
        self._make = make
        self._limit = limit

    def __missing__(self, key: int) -> T:
        if len(self) >= self._limit:
            self.clear()
        value = self[key] = self._make(key)
        return value

"""Limiting concurrent long answers, such as streams and exports."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from arena.errors import TooMany


class Slots:
    """Slots for answers of one kind, limited for each caller and in total."""

    def __init__(self, what: str, each: int, in_all: int) -> None:
        self._what, self._each, self._in_all = what, each, in_all
        self._taken: Counter[str] = Counter()

    @property
    def taken(self) -> int:
        """Return how many slots are taken."""
        return self._taken.total()

    @contextmanager
    def held(self, caller: str) -> Iterator[None]:
        """Hold a slot during the block. Raise TooMany if none is free."""
        if self._taken[caller] >= self._each:
            raise TooMany(f"you have {self._each} {self._what} open already")
        if self.taken >= self._in_all:
            raise TooMany(f"{self._in_all} {self._what} are open already")
        self._taken[caller] += 1
        try:
            yield
        finally:
            self._taken -= Counter([caller])  # drops callers without a slot

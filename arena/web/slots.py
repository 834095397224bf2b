"""How many long answers, as streams and exports are, may go on at once."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from arena.errors import TooMany


class Slots:
    """Places for answers of a kind: so many of a caller, and so many in all."""

    def __init__(self, what: str, each: int, in_all: int) -> None:
        self._what, self._each, self._in_all = what, each, in_all
        self._taken: Counter[str] = Counter()

    @property
    def taken(self) -> int:
        """How many places are taken."""
        return self._taken.total()

    @contextmanager
    def held(self, caller: str) -> Iterator[None]:
        """Hold a place while the block lasts. Raise TooMany if none is free."""
        if self._taken[caller] >= self._each:
            raise TooMany(f"you have {self._each} {self._what} open already")
        if self.taken >= self._in_all:
            raise TooMany(f"{self._in_all} {self._what} are open already")
        self._taken[caller] += 1
        try:
            yield
        finally:
            self._taken -= Counter([caller])  # leaves nobody with none in it

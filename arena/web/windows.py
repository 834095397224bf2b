"""Sliding windows: how often each of many callers made a request within the last minute."""

import time
from collections import deque
from collections.abc import Callable, Hashable
from typing import NamedTuple

SECONDS = 60.0
"""The length of a window."""


class Counted(NamedTuple):
    """The result of counting a request."""

    allowed: bool
    left: int
    """How many more requests are allowed now."""
    reset: float
    """Seconds until the oldest request no longer counts."""


class Windows:
    """The times of the callers' requests; to be used by one thread.

    The library ``limits`` offers such windows, too, but starts a thread for each request, which takes longer
    than many answers.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._asked: dict[Hashable, deque[float]] = {}
        self._tidied = now()

    def __len__(self) -> int:
        """Return the number of callers with requests on record."""
        return len(self._asked)

    def count(self, caller: Hashable, most: int) -> Counted:
        """Count a request of a caller, unless it made ``most`` in the window; refused ones do not count."""
        now = self._now()
        self._tidy(now)
        asked = self._asked.setdefault(caller, deque())
        while asked and asked[0] <= now - SECONDS:
            asked.popleft()
        allowed = len(asked) < most
        if allowed:
            asked.append(now)
        return Counted(allowed, most - len(asked), asked[0] + SECONDS - now)

    def _tidy(self, now: float) -> None:
        """Once per window, forget callers without requests in it."""
        if now - self._tidied >= SECONDS:
            self._tidied = now
            self._asked = {
                caller: asked for caller, asked in self._asked.items() if asked[-1] > now - SECONDS
            }

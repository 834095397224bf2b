"""Moving windows: how often each of many callers asked within the last minute."""

import time
from collections import deque
from collections.abc import Callable, Hashable
from typing import NamedTuple

SECONDS = 60.0
"""How long a window is."""


class Counted(NamedTuple):
    """What came of one more request."""

    allowed: bool
    left: int
    """How many more are allowed now."""
    reset: float
    """Seconds until the oldest one no longer counts."""


class Windows:
    """The times at which callers asked, used by one thread.

    The library ``limits`` keeps such windows, too, but starts a thread for each request, which takes longer
    than many an answer.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._asked: dict[Hashable, deque[float]] = {}
        self._tidied = now()

    def __len__(self) -> int:
        """Return of how many callers something is kept."""
        return len(self._asked)

    def count(self, caller: Hashable, most: int) -> Counted:
        """Count a request of a caller, unless it had ``most`` within the window; those count no further."""
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
        """Forget, once in the length of a window, who has not asked within it."""
        if now - self._tidied >= SECONDS:
            self._tidied = now
            self._asked = {
                caller: asked for caller, asked in self._asked.items() if asked[-1] > now - SECONDS
            }

"""Turns for spectators: their cost is bounded, however many there are."""

import asyncio
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

SPECTATOR_SECONDS, SPECTATOR_TURNS = 0.02, 32
"""How often spectators are served, and how many each time."""
SHARE = 0.05
"""Which share of the time that may take: what some spectators cost makes others wait."""
TURN_SECONDS, MESSAGE_SECONDS, BYTE_SECONDS = 2e-5, 8e-5, 1e-8
"""What a turn, a message and each of its bytes cost in addition to what is measured: the event loop's work,
and that of gRPC in a thread of its own. Five million bytes a second use up the spectators' whole share."""

clock = time.monotonic


class Pacer:
    """Serves spectators in turn, some at a time. Hosts take turns: many from one do not delay another's."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        """By host; the host whose turn is next comes first."""
        self._timer: asyncio.TimerHandle | None = None
        self._free_at = 0.0
        """From when on spectators may be served again."""

    async def turn(self, host: str) -> None:
        """Wait for the turn of a spectator of this host."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(host, deque()).append(future)
        if self._timer is None:
            self._wait(clock())
        await future

    @contextmanager
    def spending(self) -> Iterator[None]:
        """Count the time of the block, in which nothing is awaited."""
        begun = clock()
        try:
            yield
        finally:
            self.spend(clock() - begun)

    def sent(self, size: int) -> None:
        """Count what a message of this size costs."""
        self.spend(MESSAGE_SECONDS + size * BYTE_SECONDS)

    def spend(self, seconds: float) -> None:
        """Make spectators wait until the tables have had their share for this time."""
        self._free_at = max(self._free_at, clock()) + seconds / SHARE

    def _wait(self, now: float) -> None:
        seconds = max(SPECTATOR_SECONDS, self._free_at - now)
        self._timer = asyncio.get_running_loop().call_later(seconds, self._serve)

    def _serve(self) -> None:
        self._timer = None
        now = clock()
        turns = SPECTATOR_TURNS if now >= self._free_at else 0
        while turns and self._waiting:
            host = next(iter(self._waiting))
            queue = self._waiting.pop(host)
            future = queue.popleft()
            if queue:
                self._waiting[host] = queue  # behind all others
            if not future.done():
                future.set_result(None)
                self.spend(TURN_SECONDS)
                turns -= 1
        if self._waiting:
            self._wait(now)

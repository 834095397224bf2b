"""Turns for spectators: what they cost is bounded, however many they are."""

import asyncio
from collections import deque

SPECTATOR_SECONDS, SPECTATOR_TURNS = 0.02, 8
"""How often spectators are served, and how many of them each time, so that any number of them leaves the
tables the better part of the time."""


class Pacer:
    """Serves spectators in turn, some at a time."""

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    async def turn(self, *, newcomer: bool) -> None:
        """Wait for a spectator's turn; newcomers go first."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        if newcomer:
            self._waiting.appendleft(future)
        else:
            self._waiting.append(future)
        if self._timer is None:
            self._timer = loop.call_later(SPECTATOR_SECONDS, self._serve)
        await future

    def _serve(self) -> None:
        for _ in range(min(SPECTATOR_TURNS, len(self._waiting))):
            future = self._waiting.popleft()
            if not future.done():
                future.set_result(None)
        self._timer = None
        if self._waiting:
            self._timer = asyncio.get_running_loop().call_later(SPECTATOR_SECONDS, self._serve)

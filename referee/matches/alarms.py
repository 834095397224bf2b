"""Alarms: one queue for everything in a referee that waits for a time."""

from collections.abc import Iterator
from heapq import heappop, heappush


class Alarms:
    """Times, each with a handle that says whom to call then.

    Handles, not objects: the queue must not keep a closed table alive. An alarm cannot be withdrawn; whoever
    is called too early sets the next one.
    """

    def __init__(self) -> None:
        self._queue: list[tuple[float, int]] = []

    def set(self, when: float, handle: int) -> None:
        """Set an alarm for ``handle`` at that time."""
        heappush(self._queue, (when, handle))

    def due(self, now: float) -> Iterator[tuple[float, int]]:
        """Take out the alarms that are due, including those added meanwhile, the earliest first."""
        queue = self._queue
        while queue and queue[0][0] <= now:
            yield heappop(queue)

    def soonest(self) -> float | None:
        """Return the time of the next alarm; None while there is none."""
        return self._queue[0][0] if self._queue else None

    def __iter__(self) -> Iterator[tuple[float, int]]:
        return iter(self._queue)

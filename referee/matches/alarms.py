"""When something wants to be called: one queue for everything that waits for a time in a referee."""

from collections.abc import Iterator
from heapq import heappop, heappush


class Alarms:
    """Times, each with the handle of what wants to be called then.

    Handles, not objects: what waits here must not keep a closed table. An alarm cannot be withdrawn;
    whoever is called too early sets the next one.
    """

    def __init__(self) -> None:
        self._queue: list[tuple[float, int]] = []

    def set(self, when: float, handle: int) -> None:
        """Have ``handle`` called at that time."""
        heappush(self._queue, (when, handle))

    def due(self, now: float) -> Iterator[tuple[float, int]]:
        """Take out what is due, also what is added meanwhile, the earliest first."""
        queue = self._queue
        while queue and queue[0][0] <= now:
            yield heappop(queue)

    def soonest(self) -> float | None:
        """Return the time of the next alarm; None while there is none."""
        return self._queue[0][0] if self._queue else None

    def __iter__(self) -> Iterator[tuple[float, int]]:
        return iter(self._queue)

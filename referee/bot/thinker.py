"""The thread in which a bot thinks."""

import asyncio
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue

HANDOVER_SECONDS = 0.002
"""How long the event loop waits for a bot that answers at once, which is quicker than to be woken again."""

log = logging.getLogger("bot")


class _Job:
    """Something to be thought about."""

    __slots__ = ("done", "left", "then", "work")

    def __init__(self, work: Callable[[], None], then: Callable[[], None]) -> None:
        self.work, self.then = work, then
        self.done = threading.Lock()
        self.done.acquire()
        """Released when the work is done."""
        self.left = False
        """Whether the event loop has moved on, and must be notified."""


class Thinker:
    """One thread for all streams of a bot, which does what it is given one after the other.

    So the event loop is free for pings while the bot thinks, however long that takes, and no two decisions
    are thought about at the same time: neither for two referees, nor for a stream that broke and the one
    that took its place. A daemon: a bot that does not stop thinking does not keep its process from ending.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._busy = 0
        """Jobs that the event loop has left to the thread."""
        threading.Thread(target=self._run, name="bot", daemon=True).start()

    def do(self, work: Callable[[], None], then: Callable[[], None]) -> None:
        """Have work done in the thread, after all that was given before.

        Unless it is done on return, ``then`` is called in the event loop when it is.
        """
        job = _Job(work, then)
        self._jobs.put(job)
        if not self._busy and job.done.acquire(timeout=HANDOVER_SECONDS):
            return
        self._busy += 1
        job.left = True
        if job.done.acquire(blocking=False):  # else the thread will see that the loop has gone on
            self._finish(job)

    def stop(self) -> None:
        """Let the thread end after what it was given."""
        self._jobs.put(None)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job.work()
            except Exception:
                log.exception("the bot's thread failed")
            job.done.release()
            if job.left:
                with suppress(RuntimeError):  # the loop has ended
                    self._loop.call_soon_threadsafe(self._finish, job)

    def _finish(self, job: _Job) -> None:
        if job.left:
            job.left = False
            self._busy -= 1
            job.then()

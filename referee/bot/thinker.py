"""The thread in which a bot thinks."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import NoReturn

HANDOVER_SECONDS = 0.002
"""How long the event loop waits for a bot that answers at once, which is faster than being woken again."""
QUICK_SECONDS, SLOW_SECONDS = 0.005, 0.020
"""If a bot answers messages within the first time, the event loop may run in its thread; after an answer that
took longer than the second, the loop moves out."""
QUICK_ANSWERS = 250
"""How many quick answers in a row bring the event loop in; the number doubles each time it moves out."""

log = logging.getLogger("bot")


class _Job:
    """Some work for the bot's thread."""

    __slots__ = ("done", "left", "then", "work")

    def __init__(self, work: Callable[[], None], then: Callable[[], None]) -> None:
        self.work, self.then = work, then
        self.done = threading.Lock()
        self.done.acquire()
        """Released when the work is done."""
        self.left = False
        """Whether the event loop has gone on, and must be told when the work is done."""


class Thinker:
    """Lets one thread do the work of all streams of a bot, one job after the other.

    So the event loop is free for pings while the bot thinks, however long that takes, and no two decisions
    are made at the same time: neither for two referees, nor for a broken stream and its replacement.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._busy = 0
        """How many jobs the event loop has left to the thread."""
        self.thinking = False
        """Whether something is being done."""
        self.interrupted = False
        """Whether work was interrupted: the bot is leaving, and is asked nothing more."""

    def start(self) -> None:
        """Start a thread, as a daemon: a bot that does not stop thinking does not keep its process alive."""
        threading.Thread(target=self.work, name="bot", daemon=True).start()

    def do(self, work: Callable[[], None], then: Callable[[], None]) -> bool:
        """Let the thread do some work, after all earlier work.

        Return whether it is done. If it is not, ``then`` will be called in the event loop once it is.
        """
        job = _Job(work, then)
        self._jobs.put(job)
        if not self._busy and job.done.acquire(timeout=HANDOVER_SECONDS):
            return True
        self._busy += 1
        job.left = True
        if job.done.acquire(blocking=False):  # else the thread will see that the loop has gone on
            self._finish(job)
        return False

    def stop(self) -> None:
        """Let the thread end after the work that it was given."""
        self._jobs.put(None)

    def work(self) -> None:
        """Do the work in this thread, until ``stop``."""
        while (job := self._jobs.get()) is not None:
            self._think(job.work)
            job.done.release()
            if job.left:
                with suppress(RuntimeError):  # the loop has ended
                    self._loop.call_soon_threadsafe(self._finish, job)

    def _think(self, work: Callable[[], None]) -> None:
        """Do some work; ``interrupt`` ends only that work."""
        try:
            try:
                self.thinking = True
                work()
            except Exception:
                log.exception("the bot's thread failed")
            finally:
                self.thinking = False
        except KeyboardInterrupt:
            if not self.interrupted:  # the bot's own code has raised it
                raise

    def interrupt(self) -> NoReturn:
        """End the work that is being done; call this in the thread that does it, from a signal's handler."""
        self.interrupted = True
        raise KeyboardInterrupt

    def _finish(self, job: _Job) -> None:
        if job.left:
            job.left = False
            self._busy -= 1
            job.then()


class HomeThinker(Thinker):
    """Thinks in the thread that calls ``run``, where the event loop runs too as long as the bot is quick.

    Handing a turn to another thread and back takes longer than a simple bot takes to answer it. A bot that
    does think has its thread for itself: after one slow answer, the event loop goes on in another one.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, *, apart: bool = False) -> None:
        """Create a thinker; with ``apart``, the event loop stays out, for a bot that has one of its own."""
        super().__init__(loop)
        self._apart = apart
        self._together = self._move_in = self._slow = False
        """Whether the loop runs in the bot's thread, whether it should run there next, and whether the last
        answer was slow."""
        self._quick, self._enough_quick = 0, QUICK_ANSWERS
        """How many quick answers came in a row, and how many of them bring the loop in."""

    def do(self, work: Callable[[], None], then: Callable[[], None]) -> bool:
        """Let the thread do some work; do it at once if the event loop runs in that thread."""
        if not self._together:
            done = super().do(work, then)
            if self._quick >= self._enough_quick and not self._busy and not self._apart:
                self._move()
            return done
        self._think(work)
        if self._slow:
            self._enough_quick *= 2
            self._move()
        return True

    def _think(self, work: Callable[[], None]) -> None:
        begun = time.monotonic()
        super()._think(work)
        taken = time.monotonic() - begun
        self._quick = self._quick + 1 if taken < QUICK_SECONDS else 0
        self._slow = taken > SLOW_SECONDS

    def pause(self) -> None:
        """Make ``run`` check again where the event loop should run; call this in the event loop."""
        self._loop.stop()
        if not self._together:
            self.stop()

    def run(self, over: Callable[[], bool]) -> None:
        """Run the event loop and think, until ``pause`` is called and it is ``over``."""
        while not over():
            self._together = self._move_in
            if self._together:
                self._loop.run_forever()
                continue
            network = threading.Thread(target=self._loop.run_forever, name="network", daemon=True)
            network.start()
            try:
                self.work()
            except BaseException:  # the bot's own code ends the program
                self._loop.call_soon_threadsafe(self._loop.stop)
                raise
            finally:
                network.join()
            self.stop()
            self.work()  # what came while the loop stopped

    def _move(self) -> None:
        """Let the event loop run in the other thread once it has stopped in this one."""
        if self._move_in is self._together:
            self._quick, self._move_in = 0, not self._together
            self.pause()

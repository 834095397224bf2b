"""The thread in which a bot thinks."""

import logging
import threading
from collections.abc import Callable
from queue import SimpleQueue

log = logging.getLogger("bot")


class Thinker:
    """One thread for all streams of a bot, which does what it is given one after the other.

    So the event loop is free for pings while the bot thinks, however long that takes, and no two decisions
    are thought about at the same time: neither for two referees, nor for a stream that broke and the one
    that took its place. A daemon: a bot that does not stop thinking does not keep its process from ending.
    """

    def __init__(self) -> None:
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self.give = self._work.put
        """Has something done after everything that was given before."""
        threading.Thread(target=self._run, name="bot", daemon=True).start()

    def stop(self) -> None:
        """Let the thread end after what it was given."""
        self._work.put(None)

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            try:
                work()
            except Exception:
                log.exception("the bot's thread failed")

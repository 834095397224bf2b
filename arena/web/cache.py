"""Remembering what many readers ask for: bounded, for a time, and computed once for all who wait."""

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from math import inf
from threading import Event, Lock, Thread
from typing import Generic, TypeVar

from arena.errors import ArenaError

T = TypeVar("T")

log = logging.getLogger(__name__)


class Store(Generic[T]):
    """Values for a time, the latest ones; it is not safe for several threads."""

    def __init__(self, most: int, most_bytes: float = inf) -> None:
        """Prepare to keep so many values, of so many bytes together."""
        self._most, self._most_bytes = most, most_bytes
        self._kept: OrderedDict[Hashable, tuple[T, float, int]] = OrderedDict()
        self._bytes = 0

    def get(self, key: Hashable, now: float = 0.0) -> T | None:
        """Return a value; None if there is none, or its time is over."""
        value, until, _ = self._kept.get(key, (None, 0.0, 0))
        return value if now < until else None

    def used(self, key: Hashable) -> None:
        """Keep a value as long as if it were new."""
        self._kept.move_to_end(key)

    def put(self, key: Hashable, value: T, until: float = inf, size: int = 0) -> None:
        """Keep a value of so many bytes, and forget the oldest ones if there are too many."""
        self.forget(key)
        self._kept[key] = value, until, size
        self._bytes += size
        while self._bytes > self._most_bytes or len(self._kept) > self._most:
            self.forget(next(iter(self._kept)))

    def forget(self, key: Hashable) -> None:
        """Forget a value, if it is kept."""
        _, _, size = self._kept.pop(key, (None, 0.0, 0))
        self._bytes -= size


@dataclass(frozen=True, slots=True)
class Rule:
    """How values of a kind are remembered."""

    most: int
    """How many: those that were read last."""
    seconds: float = inf
    """How long they are shown."""
    share: float = 0.0
    """How many times the time that computing one took it is also shown after progress."""
    slow: float = inf
    """If computing one took longer, in seconds, readers get it after progress while a new one is computed."""
    oldest: float = 0.0
    """Seconds after which they wait for the new one nevertheless."""


@dataclass(frozen=True, slots=True)
class Kept(Generic[T]):
    """A value that was computed."""

    value: T
    version: Hashable
    progress: Hashable
    at: float
    took: float


class Computed(Generic[T]):
    """Values that are computed when they are read, each by one thread while others who ask for it wait."""

    def __init__(self, rule: Rule, now: Callable[[], float] = time.monotonic) -> None:
        self._rule, self._now = rule, now
        self._kept: Store[Kept[T]] = Store(rule.most)
        self._awaited: dict[Hashable, Event] = {}
        self._renewed: dict[Hashable, Thread] = {}
        self._lock = Lock()

    def get(
        self, key: Hashable, compute: Callable[[], T], version: Hashable = None, progress: Hashable = None
    ) -> T:
        """Return the value of a key. Raise whatever computing it raises.

        A value of another ``version`` is never shown; one of other ``progress`` only as the rule says.
        """
        with self._lock:
            if kept := self._known(key, compute, version, progress):
                return kept.value
            awaited = self._awaited.get(key)
            mine = self._awaited.setdefault(key, Event())
        if awaited is not None:
            awaited.wait()
            with self._lock:
                if kept := self._known(key, compute, version, progress):
                    return kept.value
        try:
            return self._compute(key, compute, version, progress)
        finally:
            with self._lock:
                mine.set()
                if self._awaited.get(key) is mine:
                    del self._awaited[key]

    def wait(self) -> None:
        """Wait until nothing is being computed in the background."""
        for thread in [*self._renewed.values()]:
            thread.join()

    def _known(
        self, key: Hashable, compute: Callable[[], T], version: Hashable, progress: Hashable
    ) -> Kept[T] | None:
        """Return what can be shown, and have it renewed if it is old; the lock is held."""
        kept, rule = self._kept.get(key), self._rule
        if kept is None or kept.version != version:
            return None
        age = self._now() - kept.at
        self._kept.used(key)
        if age < (rule.seconds if kept.progress == progress else rule.share * kept.took):
            return kept
        if kept.took < rule.slow or age >= rule.oldest:
            return None
        if key not in self._renewed:
            renewing = Thread(target=self._renew, args=(key, compute, version, progress), daemon=True)
            self._renewed[key] = renewing
            renewing.start()
        return kept

    def _renew(self, key: Hashable, compute: Callable[[], T], version: Hashable, progress: Hashable) -> None:
        try:
            self._compute(key, compute, version, progress)
        except ArenaError as error:
            log.warning("%s stays as it was: %s", key, error)
        finally:
            with self._lock:
                del self._renewed[key]

    def _compute(self, key: Hashable, compute: Callable[[], T], version: Hashable, progress: Hashable) -> T:
        began = self._now()
        value = compute()
        now = self._now()
        with self._lock:
            self._kept.put(key, Kept(value, version, progress, now, now - began))
        return value

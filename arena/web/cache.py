"""What many readers ask for, computed once for all who wait: values, and whole anonymous answers."""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from math import inf
from threading import Event, Lock, Thread
from typing import Generic, TypeVar

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.errors import ArenaError

T = TypeVar("T")
E = TypeVar("E", Event, asyncio.Event)

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


class Awaited(Generic[E]):
    """What is being computed by the first who asked for it: an event by key, for which all others wait."""

    def __init__(self, make: Callable[[], E]) -> None:
        self._make: Callable[[], E] = make
        self._events: dict[Hashable, E] = {}

    def get(self, key: Hashable) -> E | None:
        """Return the event that is set when a key is computed; None if nobody computes it."""
        return self._events.get(key)

    def begin(self, key: Hashable) -> Callable[[], None]:
        """Have others wait for a key, and return what wakes them; it may be called several times."""
        event = self._events.setdefault(key, self._make())

        def end() -> None:
            event.set()
            if self._events.get(key) is event:
                del self._events[key]

        return end


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
        self._awaited = Awaited(Event)
        self._renewed: dict[Hashable, Thread] = {}
        self._lock = Lock()

    def get(
        self, key: Hashable, compute: Callable[[], T], version: Hashable = None, progress: Hashable = None
    ) -> T:
        """Return the value of a key. Raise whatever computing it raises.

        A value of another ``version`` is never shown; one of other ``progress`` only as the rule says.
        """
        with self._lock:
            if entry := self._find(key, compute, version, progress):
                return entry.value
            awaited = self._awaited.get(key)
            end = self._awaited.begin(key)
        if awaited is not None:
            awaited.wait()
            with self._lock:
                if entry := self._find(key, compute, version, progress):
                    return entry.value
        try:
            return self._compute(key, compute, version, progress)
        finally:
            with self._lock:
                end()

    def wait(self) -> None:
        """Wait until nothing is being computed in the background."""
        for thread in [*self._renewed.values()]:
            thread.join()

    def _find(
        self, key: Hashable, compute: Callable[[], T], version: Hashable, progress: Hashable
    ) -> Kept[T] | None:
        """Return what can be shown, and have it renewed if it is old; the lock is held."""
        entry, rule = self._kept.get(key), self._rule
        if entry is None or entry.version != version:
            return None
        age = self._now() - entry.at
        self._kept.used(key)
        if age < (rule.seconds if entry.progress == progress else rule.share * entry.took):
            return entry
        if entry.took < rule.slow or age >= rule.oldest:
            return None
        if key not in self._renewed:
            renewing = Thread(target=self._renew, args=(key, compute, version, progress), daemon=True)
            self._renewed[key] = renewing
            renewing.start()
        return entry

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


LONGER = 5
"""How many times longer than others answers below the ``SETTLED`` paths are reused."""

SETTLED = ("/bots/", "/matches/", "/api/v1/bots/", "/api/v1/matches/")
"""Paths with many addresses, each of which is rarely requested, and whose contents change little."""

MOST_BYTES = 32 << 20
"""Maximum bytes of all cached answers."""

MOST_KEPT = 4_000

OF_ONE = ("cookie", "authorization", "range")
"""Headers of requests whose answers are not for everybody."""

TELLING = ("accept", "accept-encoding", "if-none-match")
"""Headers that an answer may depend on."""

Key = tuple[object, ...]


Answer = tuple[Message, Message]
"""An answer: how it starts, and its body."""


class Remembered:
    """Middleware that gives anonymous callers the answer that another one just got.

    Requests with a key or a cookie are always answered afresh, errors are not cached, and streams pass
    through. While an answer is being computed, others who ask for it wait.
    """

    def __init__(self, app: ASGIApp, seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        self._app, self._seconds, self._now = app, seconds, now
        self._kept: Store[Answer] = Store(MOST_KEPT, MOST_BYTES)
        self._awaited = Awaited(asyncio.Event)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        key = _key(scope) if self._seconds else None
        if key is None:
            await self._app(scope, receive, send)
            return
        answer = self._kept.get(key, self._now())
        if answer is None and (awaited := self._awaited.get(key)) is not None:
            await awaited.wait()
            answer = self._kept.get(key, self._now())
        if answer is None:
            await self._ask(key, scope, receive, send)
            return
        start, body = answer
        await send({**start, "headers": list(start["headers"])})  # other middleware adds to them
        await send(body)

    async def _ask(self, key: Key, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and cache its answer if it comes in one piece."""
        # Those who found nothing after waiting do not wait again, as it may be a stream.
        end = self._awaited.begin(key)
        start: Message = {}

        async def keep(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = {**message, "headers": list(message["headers"])}
                if not _may_be_kept(start):
                    start = {}
                    end()
            elif start and not message.get("more_body", False):
                seconds = self._seconds * (LONGER if scope["path"].startswith(SETTLED) else 1)
                self._kept.put(key, (start, message), self._now() + seconds, len(message.get("body", b"")))
                end()
            await send(message)

        try:
            await self._app(scope, receive, keep)
        finally:
            end()


def _key(scope: Scope) -> Key | None:
    """Return what an answer depends on; None if it is not for everybody."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return None
    headers = Headers(scope=scope)
    if any(name in headers for name in OF_ONE):
        return None
    values = [tuple(headers.getlist(name)) for name in TELLING]
    return scope["scheme"], scope["path"], scope["query_string"], *values


def _may_be_kept(start: Message) -> bool:
    """Return whether an answer that begins like this may be cached: it has a length, and is not an error."""
    headers = Headers(raw=start["headers"])
    unchanged = start["status"] == 304
    return (unchanged or (start["status"] == 200 and "content-length" in headers)) and (
        "set-cookie" not in headers
    )

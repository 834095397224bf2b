"""Caching anonymous answers: reused for some seconds, and computed once for all who wait."""

import asyncio

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.web.cache import Store

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


Kept = tuple[Message, Message]
"""An answer: how it starts, and its body."""


class Remembered:
    """Middleware that gives anonymous callers the answer that another one just got.

    Requests with a key or a cookie are always answered afresh, errors are not cached, and streams pass
    through. While an answer is being computed, others who ask for it wait.
    """

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self._app = app
        self._seconds = seconds
        self._kept: Store[Kept] = Store(MOST_KEPT, MOST_BYTES)
        self._awaited: dict[Key, asyncio.Event] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        key = _key(scope) if self._seconds else None
        if key is None:
            await self._app(scope, receive, send)
            return
        kept = self._known(key)
        if kept is None and (awaited := self._awaited.get(key)) is not None:
            await awaited.wait()
            kept = self._known(key)
        if kept is None:
            await self._ask(key, scope, receive, send)
            return
        start, body = kept
        await send({**start, "headers": list(start["headers"])})  # other middleware adds to them
        await send(body)

    async def _ask(self, key: Key, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and cache its answer if it comes in one piece."""
        # Those who found nothing after waiting do not wait again, as it may be a stream.
        mine = self._awaited.setdefault(key, asyncio.Event())
        start: Message = {}

        async def keep(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = {**message, "headers": list(message["headers"])}
                if not _may_be_kept(start):
                    start = {}
                    self._release(key, mine)
            elif start and not message.get("more_body", False):
                until = self._until(scope["path"])
                self._kept.put(key, (start, message), until, len(message.get("body", b"")))
                self._release(key, mine)
            await send(message)

        try:
            await self._app(scope, receive, keep)
        finally:
            self._release(key, mine)

    def _until(self, path: str) -> float:
        longer = LONGER if path.startswith(SETTLED) else 1
        return asyncio.get_running_loop().time() + longer * self._seconds

    def _release(self, key: Key, awaited: asyncio.Event) -> None:
        """Wake those who wait for an answer."""
        awaited.set()
        if self._awaited.get(key) is awaited:
            del self._awaited[key]

    def _known(self, key: Key) -> Kept | None:
        return self._kept.get(key, asyncio.get_running_loop().time())


def _key(scope: Scope) -> Key | None:
    """Return what an answer depends on; None if it is not for everybody."""
    if scope["type"] != "http" or scope["method"] != "GET":
        return None
    headers = Headers(scope=scope)
    if any(name in headers for name in OF_ONE):
        return None
    told = [tuple(headers.getlist(name)) for name in TELLING]
    return scope["scheme"], scope["path"], scope["query_string"], *told


def _may_be_kept(start: Message) -> bool:
    """Return whether an answer that begins like this may be cached: it has a length, and is not an error."""
    headers = Headers(raw=start["headers"])
    unchanged = start["status"] == 304
    return (unchanged or (start["status"] == 200 and "content-length" in headers)) and (
        "set-cookie" not in headers
    )

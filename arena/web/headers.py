"""Headers of every answer: security policy, ETags and compression."""

import asyncio
from hashlib import sha256

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Only this server's own files may be loaded, and no inline scripts or styles."""

SMALL = 1_000
"""Size in bytes below which compression gains nothing."""

LEVEL = 5
"""The level of compression: the maximum would make everything else wait twice as long to save 2 %."""

ALWAYS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class AlwaysHeaders:
    """Middleware that adds security headers to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and add headers to its answer."""

        async def add(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in ALWAYS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "private, no-cache")
            await send(message)

        await self._app(scope, receive, add if scope["type"] == "http" else send)


class Bodiless:
    """Middleware that answers HEAD as GET, without the body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; as soon as the answer has begun, it is over, even if it were a stream."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        begun = asyncio.Event()

        async def begin(message: Message) -> None:
            if not begun.is_set():
                begun.set()
                await send(message)
                await send({"type": "http.response.body", "body": b""})

        async def leave() -> Message:
            message, over = asyncio.ensure_future(receive()), asyncio.ensure_future(begun.wait())
            try:
                await asyncio.wait((message, over), return_when=asyncio.FIRST_COMPLETED)
                return {"type": "http.disconnect"} if begun.is_set() else message.result()
            finally:
                message.cancel()
                over.cancel()

        await self._app({**scope, "method": "GET"}, leave, begin)


class Unchanged:
    """Middleware that answers 304 if the client already has the answer.

    Only answers that are sent in one piece get an ETag; streams pass through.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; hold back the beginning of the answer until the body is known."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        tags = Headers(scope=scope).get("if-none-match", "")
        start: Message | None = None

        async def compare(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
                return
            if start is None:
                await send(message)
                return
            first, start = start, None
            whole = not message.get("more_body", False)
            if whole and first["status"] == 200 and message.get("body"):
                tag = f'"{sha256(message["body"]).hexdigest()[:32]}"'
                headers = MutableHeaders(scope=first)
                headers["ETag"] = tag
                if _has(tags, tag):
                    del headers["content-length"]
                    first, message = {**first, "status": 304}, {**message, "body": b""}
            await send(first)
            await send(message)

        await self._app(scope, receive, compare)


class Compressed:
    """Middleware that compresses pages and their files.

    Answers for programs are not compressed: exports are streamed, and other answers may hold a secret next to
    text from the request, which compression could leak. Pages with a secret say that they are not compressed.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._packing = GZipMiddleware(app, minimum_size=SMALL, compresslevel=LEVEL)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        page = scope["type"] == "http" and not scope["path"].startswith("/api/")
        await (self._packing if page else self._app)(scope, receive, send)


def _has(tags: str, tag: str) -> bool:
    """Return whether an ``If-None-Match`` header contains a tag, which a proxy may have made weak."""
    return tags == "*" or tag in [text.strip().removeprefix("W/") for text in tags.split(",")]

"""Headers of every answer: what a browser may do with it, whether it has changed, how it is packed."""

from hashlib import sha256

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Nothing but this server's own files, and no script or style within a page."""

SMALL = 1_000
"""Bytes below which nothing is gained by compressing."""

LEVEL = 5
"""How hard is compressed: at most, all else would wait twice as long for two parts in a hundred."""

ALWAYS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class AlwaysHeaders:
    """Middleware that adds to every answer what browsers should know."""

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


class Unchanged:
    """Middleware that answers 304 where the asker already has what it would be answered.

    Only answers that come in one piece get an ETag; streams pass through.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on; hold the beginning of its answer back until its body is known."""
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        known = Headers(scope=scope).get("if-none-match", "")
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
                if _has(known, tag):
                    del headers["content-length"]
                    first, message = {**first, "status": 304}, {**message, "body": b""}
            await send(first)
            await send(message)

        await self._app(scope, receive, compare)


class Compressed:
    """Middleware that compresses pages and their files.

    What programs read goes as it is: exports come as long as they are read, and answers may hold secrets
    beside what was asked for. No page holds one that stays.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._packing = GZipMiddleware(app, minimum_size=SMALL, compresslevel=LEVEL)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        page = scope["type"] == "http" and not scope["path"].startswith("/api/")
        await (self._packing if page else self._app)(scope, receive, send)


def _has(known: str, tag: str) -> bool:
    """Return whether an ``If-None-Match`` names a tag; a proxy may have made it a weak one."""
    return known == "*" or tag in [one.strip().removeprefix("W/") for one in known.split(",")]

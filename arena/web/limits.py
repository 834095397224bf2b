"""Limits for each caller: size of a body and time to send it, requests per minute, sign-ins."""

import asyncio
import hashlib
from http import HTTPStatus
from math import ceil
from typing import NamedTuple

from fastapi import HTTPException
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.web.problems import too_large, too_many
from arena.web.windows import Windows

LARGEST_BODY = 1 << 20
"""Maximum bytes in a request's body: a tournament of ten thousand entrants takes half of that."""

BODY_SECONDS = 20.0
"""Maximum time for a body to arrive."""


class Rate(NamedTuple):
    """The number of requests of a kind that a caller may make per minute."""

    kind: str
    most: int


READS = Rate("reads", 1200)
CHANGES = Rate("changes", 120)
SIGN_INS = Rate("sign-ins", 10)
"""Sign-ins of a caller, identified by its key or cookie, else by its network address."""

SIGNING_IN = ("/api/v1/session", "/api/v1/accounts", "/sign-in", "/sign-up")


class Limits:
    """Middleware that refuses callers who ask too often or send too much, and tells others what remains."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._windows = Windows()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, unless its caller has made too many."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        rate = _rate(scope)
        counted = self._windows.count((rate.kind, _caller(scope, headers, rate)), rate.most)
        if not counted.allowed:
            await too_many(scope, max(1, ceil(counted.reset)))(scope, receive, send)
            return
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > LARGEST_BODY:
            await too_large(scope, LARGEST_BODY)(scope, receive, send)
            return

        async def tell(message: Message) -> None:
            if message["type"] == "http.response.start":
                told = MutableHeaders(scope=message)
                told["RateLimit-Limit"] = str(rate.most)
                told["RateLimit-Remaining"] = str(counted.left)
                told["RateLimit-Reset"] = str(ceil(counted.reset))
            await send(message)

        await self._app(scope, _bounded(receive), tell)


def _rate(scope: Scope) -> Rate:
    if scope["method"] in ("GET", "HEAD", "OPTIONS"):
        return READS
    return SIGN_INS if scope["path"] in SIGNING_IN and scope["method"] == "POST" else CHANGES


def _caller(scope: Scope, headers: Headers, rate: Rate) -> str:
    """Return an identifier of the caller: a hash of its credentials, else its network address."""
    host = (scope.get("client") or ("", 0))[0]
    shown = headers.get("authorization") if rate is not SIGN_INS else None
    return hashlib.sha256(shown.encode()).hexdigest() if shown else host


class RefusedBody(HTTPException):
    """Raised if a body is too large, or takes too long."""


def _bounded(receive: Receive) -> Receive:
    """Return a ``receive`` that raises RefusedBody for a body that is too large or too slow."""
    read, whole = 0, False
    end = asyncio.get_running_loop().time() + BODY_SECONDS

    async def bounded() -> Message:
        nonlocal read, whole
        if whole:
            return await receive()
        try:
            async with asyncio.timeout_at(end):
                message = await receive()
        except TimeoutError:
            slow = f"the body took longer than {BODY_SECONDS:g} s"
            raise RefusedBody(HTTPStatus.REQUEST_TIMEOUT, slow, {"Connection": "close"}) from None
        whole = not message.get("more_body", False)
        read += len(message.get("body", b""))
        if read > LARGEST_BODY:
            raise RefusedBody(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body has more than {LARGEST_BODY} bytes"
            )
        return message

    return bounded

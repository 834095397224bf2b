"""Requests that are executed once, however often they are sent: those with an ``Idempotency-Key``."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.errors import ArenaError, SpecError, StorageError
from arena.people.answers import Answer, RepeatableRequest, begin, forget, hold, keep
from arena.web.asking import credentials_in, look_up
from arena.web.context import Web, web_of
from arena.web.limits import RefusedBody
from arena.web.problems import answer_error, answer_http

HEADER = "Idempotency-Key"
LONGEST = 200
"""Maximum number of characters in a key."""

HOLD_SECONDS = 3.0
"""How often a process renews its claim that a request is being worked on."""

AGAIN = frozenset({401, 408, 413, 429, 503})
"""Statuses of answers that are not kept: nothing was done, and the same request may succeed later."""


class DoneOnce:
    """Middleware that repeats its answer to a POST that is sent again with the same key."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, unless it was answered before."""
        key = Headers(scope=scope).get(HEADER) if scope["type"] == "http" else None
        if key is None or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            answer = await self._answer(request, key, send)
        except RefusedBody as error:
            answer = answer_http(request, error)
        except ArenaError as error:
            answer = answer_error(request, error)
        if answer is not None:
            await answer(scope, receive, send)

    async def _answer(self, request: Request, key: str, send: Send) -> Response | None:
        """Return the earlier answer, or None after having the request executed."""
        _check(key)
        web, credentials = web_of(request), credentials_in(request.headers)
        body = await request.body()
        again = _again(body, request.receive)
        if await look_up(web, *credentials) is None:
            await self._app(request.scope, again, send)
            return None
        path = str(request.url.path).encode() + b"?" + request.scope["query_string"]
        once = RepeatableRequest("\n".join([*credentials, key]).encode(), b"\n".join([b"POST", path, body]))
        before = await run_in_threadpool(begin, web.storage, once, web.clock())
        if before is not None:
            return _response(before)
        collected = _Collected()
        async with _held(web, once):
            await self._app(request.scope, again, collected.add)
        answer = collected.answer()
        after = forget if answer.status in AGAIN else keep
        await run_in_threadpool(after, web.storage, once, *(() if after is forget else (answer,)))
        for message in collected.messages:
            await send(message)
        return None


class _Collected:
    """The messages of an answer, held back until the answer is stored."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    async def add(self, message: Message) -> None:
        """Hold a message back."""
        self.messages.append(message)

    def answer(self) -> Answer:
        """Return the whole answer."""
        start, *rest = self.messages
        kind = Headers(raw=start["headers"]).get("content-type", "")
        return Answer(start["status"], kind, b"".join(message.get("body", b"") for message in rest))


@asynccontextmanager
async def _held(web: Web, once: RepeatableRequest) -> AsyncIterator[None]:
    """Renew during the block the claim that a request is being worked on; it lapses if the process dies."""

    async def go_on() -> None:
        while True:
            await asyncio.sleep(HOLD_SECONDS)
            with suppress(StorageError):  # then it is said again
                await run_in_threadpool(hold, web.storage, once, web.clock())

    holding = asyncio.create_task(go_on())
    try:
        yield
    finally:
        holding.cancel()
        with suppress(asyncio.CancelledError):
            await holding


def _check(key: str) -> None:
    """Raise SpecError for a header that is not a valid key."""
    if not 1 <= len(key) <= LONGEST or not key.isascii() or not key.isprintable():
        raise SpecError(HEADER, f"must have 1 to {LONGEST} printable ASCII characters")


def _again(body: bytes, receive: Receive) -> Receive:
    """Return a ``receive`` that first returns a body that was already read."""
    returned = False

    async def again() -> Message:
        nonlocal returned
        if returned:
            return await receive()
        returned = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _response(answer: Answer) -> Response:
    """Return an earlier answer, marked as repeated."""
    headers = {"Idempotency-Replayed": "true"}
    if answer.kind:
        headers["Content-Type"] = answer.kind
    return Response(answer.body, answer.status, headers)

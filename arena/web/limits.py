"""Limits for each caller: size of a body and time to send it, requests per minute, sign-ins.

All limits of what may be done before it is known who asks are here, in ``arena.web.serving`` (what a
connection may cost), ``arena.people.accounts`` (how many are hashed at once) and
``referee.reading.validation`` (how many mistakes are worded).
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Hashable
from contextlib import ExitStack
from http import HTTPStatus
from math import ceil
from typing import NamedTuple

from fastapi import HTTPException, Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.errors import TooMany
from arena.web.asking import SAFE, credentials_in, look_up
from arena.web.callers import Slots, host_of
from arena.web.context import Web, web_of
from arena.web.problems import answer_http, too_many
from referee.reading.names import is_number

SECONDS = 60.0
"""The length of a window."""


class Counted(NamedTuple):
    """The result of counting a request."""

    allowed: bool
    left: int
    """How many more requests are allowed now."""
    reset: float
    """Seconds until the oldest request no longer counts."""


class Windows:
    """The times of the callers' requests; to be used by one thread.

    The library ``limits`` offers such windows, too, but starts a thread for each request, which takes longer
    than many answers.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._asked: dict[Hashable, deque[float]] = {}
        self._tidied = now()

    def __len__(self) -> int:
        """Return the number of callers with requests on record."""
        return len(self._asked)

    def count(self, caller: Hashable, most: int) -> Counted:
        """Count a request of a caller, unless it made ``most`` in the window; refused ones do not count."""
        now = self._now()
        self._tidy(now)
        times = self._asked.setdefault(caller, deque())
        while times and times[0] <= now - SECONDS:
            times.popleft()
        allowed = len(times) < most
        if allowed:
            times.append(now)
        return Counted(allowed, most - len(times), times[0] + SECONDS - now)

    def _tidy(self, now: float) -> None:
        """Once per window, forget callers without requests in it."""
        if now - self._tidied >= SECONDS:
            self._tidied = now
            self._asked = {
                caller: times for caller, times in self._asked.items() if times[-1] > now - SECONDS
            }


STRANGERS_BODY = 16 << 10
"""Maximum bytes in the body of a request without a valid key or cookie: a ruleset takes a third of that."""

LARGEST_BODY = 1 << 20
"""Maximum bytes in a request's body: a tournament of ten thousand entrants takes half of that."""

LARGE_BODIES = (2, 16)
"""Maximum number of concurrent requests with more than ``STRANGERS_BODY``: of an account, and in total."""

BODY_SECONDS = 20.0
"""Maximum time for a body to arrive."""


class Rate(NamedTuple):
    """The number of requests of a kind that a caller may make per minute."""

    kind: str
    most: int


READS = Rate("reads", 1200)
CHANGES = Rate("changes", 120)
SIGN_INS = Rate("sign-ins", 10)
"""Sign-ins from a host, and whatever else hashes a password for whoever asks."""

SIGNING_IN = (
    *("/api/v1/session", "/api/v1/accounts", "/api/v1/me/password", "/api/v1/password-reset"),
    *("/sign-in", "/sign-up", "/me/password", "/reset-password"),
)


class Limits:
    """Middleware that refuses callers who ask too often or send too much, and tells others what remains.

    A caller is an account, once its key or cookie was seen to be valid, else a host.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._windows = Windows()
        self._large = Slots("large requests", *LARGE_BODIES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, unless its caller has made too many."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        web, headers, rate = web_of(Request(scope)), Headers(scope=scope), _rate(scope)
        counted = self._windows.count((rate.kind, _caller(web, scope, headers, rate)), rate.most)
        if not counted.allowed:
            await too_many(scope, max(1, ceil(counted.reset)))(scope, receive, send)
            return

        async def tell(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["RateLimit-Limit"] = str(rate.most)
                headers["RateLimit-Remaining"] = str(counted.left)
                headers["RateLimit-Reset"] = str(ceil(counted.reset))
            await send(message)

        with ExitStack() as held:
            body = _Body(receive, lambda: self._admit_large(web, headers, held))
            try:
                await body.expect(headers.get("content-length", "0"))
            except RefusedBody as error:
                await answer_http(Request(scope), error)(scope, receive, send)
                return
            await self._app(scope, body.receive, tell)

    async def _admit_large(self, web: Web, headers: Headers, held: ExitStack) -> None:
        """Let a caller send a large body until ``held`` is closed. Raise RefusedBody."""
        key, session = credentials_in(headers)
        account = web.known.account(key or session)
        if account is None:
            actor = await look_up(web, key, session)
            account = actor.account if actor is not None else None
        if account is None:
            raise _too_large(f"{STRANGERS_BODY} bytes, the most without a valid key or a sign-in")
        try:
            held.enter_context(self._large.held(account))
        except TooMany as error:
            later = {"Retry-After": str(error.seconds), "Connection": "close"}
            raise RefusedBody(HTTPStatus.TOO_MANY_REQUESTS, str(error), later) from None


def _rate(scope: Scope) -> Rate:
    if scope["method"] in SAFE:
        return READS
    return SIGN_INS if scope["path"] in SIGNING_IN and scope["method"] != "DELETE" else CHANGES


def _caller(web: Web, scope: Scope, headers: Headers, rate: Rate) -> tuple[str, str]:
    """Return whose request counts: the account's if its credentials are known to be good, else the host's."""
    if rate is not SIGN_INS:
        key, session = credentials_in(headers)
        if (account := web.known.account(key or session)) is not None:
            return "account", account
    return "host", host_of(scope)


class RefusedBody(HTTPException):
    """Raised if a body is too large, or takes too long, or if there are too many large ones."""


def _too_large(most: str) -> RefusedBody:
    detail = f"the body has more than {most}"
    return RefusedBody(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail, {"Connection": "close"})


class _Body:
    """The body of a request, which is refused if it is too large or too slow."""

    def __init__(self, receive: Receive, admit_large: Callable[[], Awaitable[None]]) -> None:
        """``admit_large`` is called once, before more than ``STRANGERS_BODY`` is read. It may raise."""
        self._receive = receive
        self._admit_large = admit_large
        self._most = STRANGERS_BODY
        self._read, self._whole = 0, False
        self._end = asyncio.get_running_loop().time() + BODY_SECONDS

    async def expect(self, length: str) -> None:
        """Raise RefusedBody for a body with a ``Content-Length`` that is refused, before it is read."""
        await self._allow(int(length) if is_number(length, 18) else LARGEST_BODY + 1)

    async def receive(self) -> Message:
        """Return the next message. Raise RefusedBody."""
        if self._whole:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._end):
                message = await self._receive()
        except TimeoutError:
            slow = f"the body took longer than {BODY_SECONDS:g} s"
            raise RefusedBody(HTTPStatus.REQUEST_TIMEOUT, slow, {"Connection": "close"}) from None
        self._whole = not message.get("more_body", False)
        self._read += len(message.get("body", b""))
        await self._allow(self._read)
        return message

    async def _allow(self, size: int) -> None:
        if size > LARGEST_BODY:
            raise _too_large(f"{LARGEST_BODY} bytes")
        if size > self._most:
            await self._admit_large()
            self._most = LARGEST_BODY

"""Refusing text that cannot be stored: PostgreSQL accepts no NUL, and UTF-8 has no lone surrogates.

Only JSON can hold lone surrogates: everywhere else, bytes that are not UTF-8 become U+FFFD.
"""

from http import HTTPStatus

from fastapi import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from arena.errors import SpecError
from arena.web.problems import problem
from referee.errors import Problem
from referee.reading.validation import path_text

NUL = "must not have a NUL character"
HALF = "must not have half of a surrogate pair"


class WithoutNul:
    """Middleware that refuses a NUL in path and query."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, unless it has a NUL."""
        where = _where(scope) if scope["type"] == "http" else ""
        if not where:
            await self._app(scope, receive, send)
            return
        wrong = Problem(where, NUL)
        answer = problem(scope, HTTPStatus.UNPROCESSABLE_ENTITY, "wrong-fields", str(wrong), [wrong])
        await answer(scope, receive, send)


def _where(scope: Scope) -> str:
    """Return the part of a request that has a NUL; empty if none has."""
    if "\0" in scope["path"]:
        return "path"
    return "query" if b"%00" in scope["query_string"] or b"\0" in scope["query_string"] else ""


def unstorable(text: str) -> str:
    """Return why a text cannot be stored; empty if it can."""
    if "\0" in text:
        return NUL
    return HALF if any("\ud800" <= character <= "\udfff" for character in text) else ""


MARKS = (b"\\u", b"\xed", b"\0")
"""Bytes of which JSON that holds such a text has some: an escape, or the character as UTF-8, or UTF-16."""


async def only_text(request: Request) -> None:
    """Raise SpecError for a text in a JSON body, which has been read, that cannot be stored."""
    body: bytes = getattr(request, "_body", b"")
    if not any(mark in body for mark in MARKS):
        return
    rest: list[tuple[tuple[str | int, ...], object]] = [((), getattr(request, "_json", None))]
    while rest:
        path, value = rest.pop()
        if isinstance(value, str) and (reason := unstorable(value)):
            raise SpecError(path_text(path) or "body", reason)
        if isinstance(value, dict):
            rest += [((*path, "a key"), key) for key in value if unstorable(key)]
            rest += [((*path, key), inner) for key, inner in value.items()]
        if isinstance(value, list):
            rest += [((*path, place), inner) for place, inner in enumerate(value)]

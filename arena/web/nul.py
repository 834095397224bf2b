"""Refusing NUL characters in requests: no name has one, and PostgreSQL accepts no text with one."""

from http import HTTPStatus

from starlette.types import ASGIApp, Receive, Scope, Send

from arena.web.problems import problem
from referee.errors import Problem


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
        wrong = Problem(where, "must not have a NUL character")
        answer = problem(scope, HTTPStatus.UNPROCESSABLE_ENTITY, "wrong-fields", str(wrong), [wrong])
        await answer(scope, receive, send)


def _where(scope: Scope) -> str:
    """Return the part of a request that has a NUL; empty if none has."""
    if "\0" in scope["path"]:
        return "path"
    return "query" if b"%00" in scope["query_string"] or b"\0" in scope["query_string"] else ""

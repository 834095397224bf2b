"""The page that a browser is shown for a request that failed."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus

from fastapi.responses import HTMLResponse
from starlette.datastructures import Headers
from starlette.types import Scope

from arena.actors import ANONYMOUS
from arena.web.pages.rendering import fill
from referee.errors import Problem

NOT_PAGES = ("/api/", "/static/")
"""Paths that programs read, even if the program is a browser."""

TITLES = {
    HTTPStatus.UNAUTHORIZED: "Sign in first",
    HTTPStatus.FORBIDDEN: "Not allowed",
    HTTPStatus.NOT_FOUND: "Nothing here",
    HTTPStatus.CONFLICT: "Not now",
    HTTPStatus.UNPROCESSABLE_ENTITY: "Invalid request",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many requests",
    HTTPStatus.INTERNAL_SERVER_ERROR: "Something went wrong",
    HTTPStatus.SERVICE_UNAVAILABLE: "Back in a moment",
}


def wants_page(scope: Scope) -> bool:
    """Return whether a request comes from a person with a browser."""
    return "text/html" in Headers(scope=scope).get("accept", "") and not scope["path"].startswith(NOT_PAGES)


def error_page(
    scope: Scope, status: HTTPStatus, detail: str, problems: Sequence[Problem], headers: Mapping[str, str]
) -> HTMLResponse:
    """Return the page that says why a request failed."""
    title = TITLES.get(status, status.phrase)
    # Who asks is not known here, but nobody has signed in where there is no cookie, or not a good one.
    known = "cookie" in Headers(scope=scope) and status != HTTPStatus.UNAUTHORIZED
    page = fill(
        *("error.html", scope["path"], None if known else ANONYMOUS),
        title=title,
        status=int(status),
        detail=detail,
        problems=problems,
    )
    return HTMLResponse(page, status, dict(headers))

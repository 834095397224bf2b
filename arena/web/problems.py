"""Errors for programs (RFC 9457 problem details) and on pages, from one table of exceptions.

What is wrong in a request is worded as in files and on the command line.
"""

import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.responses import HTMLResponse, JSONResponse, Response
from pydantic import BaseModel, ConfigDict
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute
from starlette.types import Scope

from arena.actors import ANONYMOUS
from arena.errors import (
    ArenaError,
    BrokerError,
    NotAllowed,
    NotSignedIn,
    SpecError,
    StateError,
    StorageError,
    TakenError,
    TooMany,
    UnknownError,
)
from arena.operations.checking import Details, reason
from arena.web.headers import ALWAYS
from arena.web.pages.rendering import fill
from referee.errors import FieldsWrong, Problem, RefereeError
from referee.reading.plain import plain
from referee.reading.validation import Node, first_of, node_at, path_text, short, suggestion

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
    signed_in = "cookie" in Headers(scope=scope) and status != HTTPStatus.UNAUTHORIZED
    page = fill(
        *("error.html", scope["path"], None if signed_in else ANONYMOUS),
        title=title,
        status=int(status),
        detail=detail,
        problems=problems,
        back=_before(scope, status),
    )
    return HTMLResponse(page, status, dict(headers))


def _before(scope: Scope, status: HTTPStatus) -> str | None:
    """Return where a question that found nothing was asked: the page without it; None if there is none."""
    unanswered = status in (HTTPStatus.NOT_FOUND, HTTPStatus.UNPROCESSABLE_ENTITY)
    if scope["method"] != "GET" or not scope["query_string"] or not unanswered:
        return None
    path: str = scope["path"]
    return path.removesuffix("/versus")


_schemas: dict[tuple[str, str], Node] = {}
"""By the path and the name of a route."""


def problems_in(request: Request, error: RequestValidationError) -> list[Problem]:
    """Return the problems of a request, each once; not all of very many."""
    schema = _schema_of(request)
    return first_of(error.errors(), lambda detail: [_problem(detail, schema)])


def _problem(detail: Details, schema: Node) -> Problem:
    where, *path = detail["loc"]
    if detail["type"] == "json_invalid":
        return Problem(str(where), f"is not JSON: {detail['ctx']['error']}, at character {path[0]}")
    return Problem(path_text(tuple(path)) or str(where), reason(detail, schema))


def only_known(request: Request) -> None:
    """Raise SpecError for query parameters that the route does not know."""
    names = dict.fromkeys(request.query_params)
    if not names:
        return
    parameters = list(node_at(_schema_of(request), ("query",))["properties"])  # type: ignore[call-overload]
    if unknown := [name for name in names if name not in parameters]:
        only = f"; allowed: {', '.join(parameters)}" if parameters else "; none are allowed"

        def worded(name: str) -> list[Problem]:
            return [Problem(short(name)[1:-1], f"is not a parameter{suggestion(name, parameters) or only}")]

        raise SpecError.of(first_of(unknown, worded))


def _schema_of(request: Request) -> Node:
    """Return the JSON Schema of a whole request: path, query, headers and body."""
    route = request.scope["route"]
    key = route.path, route.name
    if key not in _schemas:
        _schemas[key] = _schema(route)
    return _schemas[key]


def _schema(route: BaseRoute) -> Node:
    """Return the JSON Schema of requests for a route; the whole OpenAPI document would take a second."""
    document = get_openapi(title="", version="", routes=[route])
    operations = (operation for path in document["paths"].values() for operation in path.values())
    operation: dict[str, Any] = next(operations, {})  # none for a page
    parts: dict[str, Node] = {}
    for place in ("path", "query", "header"):
        parts[place] = {"type": "object", "properties": _parameters(operation.get("parameters", ()), place)}
    content = operation.get("requestBody", {}).get("content", {})
    parts["body"] = content.get("application/json", {}).get("schema", {})
    return {"properties": parts, "$defs": document.get("components", {}).get("schemas", {})}


def _parameters(parameters: Sequence[Any], place: str) -> dict[str, Node]:
    return {parameter["name"]: parameter["schema"] for parameter in parameters if parameter["in"] == place}


log = logging.getLogger(__name__)

PROBLEM = "application/problem+json"


STATUSES: tuple[tuple[type[Exception], HTTPStatus, str], ...] = (
    (NotSignedIn, HTTPStatus.UNAUTHORIZED, "not-signed-in"),
    (NotAllowed, HTTPStatus.FORBIDDEN, "not-allowed"),
    (TooMany, HTTPStatus.TOO_MANY_REQUESTS, "too-many-requests"),
    (UnknownError, HTTPStatus.NOT_FOUND, "unknown"),
    (TakenError, HTTPStatus.CONFLICT, "taken"),
    (StateError, HTTPStatus.CONFLICT, "not-now"),
    (FieldsWrong, HTTPStatus.UNPROCESSABLE_ENTITY, "wrong-fields"),
    (StorageError, HTTPStatus.SERVICE_UNAVAILABLE, "storage"),
    (BrokerError, HTTPStatus.SERVICE_UNAVAILABLE, "broker"),
    (RefereeError, HTTPStatus.UNPROCESSABLE_ENTITY, "wrong-fields"),
)
"""The status and type for each exception; the first matching line applies."""


def status_of(error: Exception) -> HTTPStatus:
    """Return the HTTP status for an error of the arena."""
    return next(status for kind, status, _ in STATUSES if isinstance(error, kind))


class FieldProblem(BaseModel):
    """One thing that is wrong in what was sent."""

    model_config = ConfigDict(defer_build=True)

    field: str
    """Where, as a dotted path."""
    reason: str
    """What was wrong."""


class ProblemDetails(BaseModel):
    """Why a request was not done (RFC 9457)."""

    model_config = ConfigDict(defer_build=True)

    type: str
    """What went wrong, for programs: `/problems/` and a word that does not change."""
    title: str
    """The status in words."""
    status: int
    """The HTTP status."""
    detail: str
    """What went wrong, for people."""
    problems: list[FieldProblem] = []
    """Everything that is wrong in what was sent, where that is the trouble."""
    reasons: list[str] = []
    """A line for each thing that there is not, where that is the trouble."""


def problem(
    scope: Scope,
    status: HTTPStatus,
    kind: str,
    detail: str,
    problems: Sequence[Problem] = (),
    headers: Mapping[str, str] | None = None,
    reasons: Sequence[str] = (),
) -> Response:
    """Return the answer to a request that failed: problem details, or a page for a browser."""
    all_headers = {**ALWAYS, **(headers or {})}  # uncaught errors bypass the middleware
    if wants_page(scope):
        return error_page(scope, status, detail, problems, all_headers)
    fields = [FieldProblem(field=plain(problem.field), reason=plain(problem.reason)) for problem in problems]
    body = ProblemDetails(
        type=f"/problems/{kind}",
        title=status.phrase,
        status=status,
        detail=plain(detail),
        problems=fields,
        reasons=list(map(plain, reasons)),
    )
    return JSONResponse(body.model_dump(), status, all_headers, PROBLEM)


def too_many(scope: Scope, seconds: int) -> Response:
    """Return the answer to a caller that asks too often, and may ask again in ``seconds``."""
    detail, headers = f"too many requests; try again in {seconds} s", {"Retry-After": str(seconds)}
    return problem(scope, HTTPStatus.TOO_MANY_REQUESTS, "too-many-requests", detail, headers=headers)


def answer_error(request: Request, error: Exception) -> Response:
    """Return the answer to a request that raised an error of the arena."""
    for kind, status, name in STATUSES:
        if isinstance(error, kind):
            problems = error.problems if isinstance(error, FieldsWrong) else ()
            reasons = error.reasons if isinstance(error, UnknownError) else ()
            headers = {"WWW-Authenticate": "Bearer"} if status == HTTPStatus.UNAUTHORIZED else {}
            if isinstance(error, TooMany):
                headers["Retry-After"] = str(error.seconds)
            if status == HTTPStatus.SERVICE_UNAVAILABLE:
                log.warning("%s %s: %s", request.method, request.url.path, error)
                headers["Retry-After"] = "5"
            return problem(request.scope, status, name, str(error), problems, headers, reasons)
    log.exception("%s %s failed", request.method, request.url.path, exc_info=error)
    detail = "something went wrong here; it is logged"
    return problem(request.scope, HTTPStatus.INTERNAL_SERVER_ERROR, "internal", detail)


def answer_validation(request: Request, error: Exception) -> Response:
    """Return the answer to a request whose parameters or body are invalid."""
    assert isinstance(error, RequestValidationError)
    details = problems_in(request, error)
    detail = "; ".join(map(str, details))
    return problem(request.scope, HTTPStatus.UNPROCESSABLE_ENTITY, "wrong-fields", detail, details)


def answer_http(request: Request, error: Exception) -> Response:
    """Return the answer to a request without a route, or that the framework refused."""
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    kind = {HTTPStatus.NOT_FOUND: "unknown", HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "too-large"}.get(
        status, status.phrase.lower().replace(" ", "-")
    )
    detail = f"{request.url.path} not found" if status == HTTPStatus.NOT_FOUND else str(error.detail)
    return problem(request.scope, status, kind, detail, headers=error.headers)


def add_handlers(app: FastAPI) -> None:
    """Answer all errors of this application with problem details, or pages."""
    app.add_exception_handler(RequestValidationError, answer_validation)
    app.add_exception_handler(HTTPException, answer_http)
    for kind in (ArenaError, RefereeError, Exception):
        app.add_exception_handler(kind, answer_error)


RESPONSES: dict[int | str, dict[str, object]] = {
    "4XX": {
        "model": ProblemDetails,
        "description": "The request was refused; `problems` lists what is wrong with it.",
    },
    "5XX": {"model": ProblemDetails, "description": "The request cannot be carried out at present."},
}
"""The error responses of every route."""

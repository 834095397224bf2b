"""Errors in requests, worded like those in files and on the command line."""

from collections.abc import Sequence
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.routing import BaseRoute

from arena.errors import SpecError
from arena.operations.checking import Found, reason
from referee.errors import Problem
from referee.validation import Node, first_of, node_at, path_text, shown, suggestion

_schemas: dict[tuple[str, str], Node] = {}
"""By the path and the name of a route."""


def problems_in(request: Request, error: RequestValidationError) -> list[Problem]:
    """Return the problems of a request, each once; not all of very many."""
    schema = _schema_of(request)
    return first_of(error.errors(), lambda one: [_problem(one, schema)])


def _problem(one: Found, schema: Node) -> Problem:
    where, *path = one["loc"]
    if one["type"] == "json_invalid":
        return Problem(str(where), f"is not JSON: {one['ctx']['error']}, at character {path[0]}")
    return Problem(path_text(tuple(path)) or str(where), reason(one, schema))


def only_known(request: Request) -> None:
    """Raise SpecError for query parameters that the route does not know."""
    given = dict.fromkeys(request.query_params)
    if not given:
        return
    known = list(node_at(_schema_of(request), ("query",))["properties"])  # type: ignore[call-overload]
    if unknown := [name for name in given if name not in known]:
        only = f"; there is only {', '.join(known)}" if known else "; there are none"

        def worded(name: str) -> list[Problem]:
            return [Problem(shown(name)[1:-1], f"is not a parameter{suggestion(name, known) or only}")]

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
    return {one["name"]: one["schema"] for one in parameters if one["in"] == place}

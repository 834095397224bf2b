"""Errors in requests, worded like those in files and on the command line."""

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from starlette.routing import BaseRoute

from arena.errors import SpecError
from referee.errors import Problem
from referee.validation import Node, first_of, node_at, path_text, shown, suggestion, wanted

Found = Mapping[str, Any]
"""An error that pydantic found."""

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
    return Problem(path_text(tuple(path)) or str(where), _reason(one, schema))


def _reason(one: Found, schema: Node) -> str:
    kind, limits = one["type"], one.get("ctx", {})
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        known = list(node_at(schema, one["loc"][:-1]).get("properties", {}))  # type: ignore[call-overload]
        return f"is not a field{suggestion(str(one['loc'][-1]), known)}"
    if kind == "string_too_long":
        return f"must have at most {limits['max_length']} characters, not {len(one['input'])}"
    if kind == "string_too_short":
        return f"must have at least {limits['min_length']} characters, not {len(one['input'])}"
    if kind in ("too_short", "too_long"):
        least = kind == "too_short"
        wished = f"at least {limits['min_length']}" if least else f"at most {limits['max_length']}"
        return f"must be there {wished} times, not {limits['actual_length']}"
    if isinstance(one["input"], bytes):
        return "must be JSON, with the header Content-Type: application/json"
    if kind.startswith("datetime_"):
        return f"must be a time like 2026-01-05T18:00:00Z, not {shown(one['input'])}"
    node = node_at(schema, one["loc"])
    if kind == "value_error" or not {"type", "enum", "const"} & node.keys():
        return str(one["msg"]).removeprefix("Value error, ")
    return f"must be {wanted(node)}, not {shown(one['input'])}"


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

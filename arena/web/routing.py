"""What all routes of the API have in common, and its OpenAPI document.

The document is FastAPI's, with errors as they are really sent, and with examples. Applications use the routes
of routers unchanged (see ``arena.web.pages.routing``).
"""

import inspect
import json
from dataclasses import is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_type_hints

from fastapi import APIRouter, Depends, FastAPI
from fastapi.routing import APIRoute
from pydantic import ConfigDict

from arena.web.problems import PROBLEM, RESPONSES, only_known
from arena.web.storable import only_text
from referee.reading.docstrings import tell_fields

EXAMPLES = Path(__file__).with_name("examples.json")
"""A recorded request and answer for each route, written by ``tests.arena.web.examples``."""

JSON = "application/json"


class Application(FastAPI):
    """FastAPI, with problem details as errors and with examples in its OpenAPI document."""

    def openapi(self) -> dict[str, Any]:
        """Return the document."""
        if self.openapi_schema is None:
            examples = json.loads(EXAMPLES.read_text(encoding="utf-8"))
            for path in super().openapi()["paths"].values():
                for route in path.values():
                    _tell_problems(route["responses"])
                    _tell_example(route, examples.get(route["operationId"], {}))
        assert self.openapi_schema is not None
        return self.openapi_schema


CONFIG = ConfigDict(json_schema_extra=lambda schema, kind: _tell_docstrings(schema, kind))


def described(answer: Any) -> Any:
    """Return a type of answers; its dataclasses bring their docstrings to their JSON Schemas."""
    for inner in get_args(answer):
        described(inner)
    if is_dataclass(answer) and isinstance(answer, type) and "__pydantic_config__" not in vars(answer):
        setattr(answer, "__pydantic_config__", CONFIG)  # noqa: B010 unknown to type checkers
        for hint in get_type_hints(answer).values():
            described(hint)
    return answer


def _tell_docstrings(schema: dict[str, Any], kind: type) -> None:
    schema.setdefault("description", inspect.getdoc(kind))
    tell_fields(schema, kind)


def _tell_problems(responses: dict[str, Any]) -> None:
    """Give error responses the content type that they are sent with."""
    for status in ("4XX", "5XX"):
        content = responses[status]["content"]
        _, content[PROBLEM] = content.popitem()  # by the content type of the route's own answers


def _tell_example(route: dict[str, Any], example: dict[str, Any]) -> None:
    """Add a recorded request and answer to a route."""
    if "sent" in example:
        route["requestBody"]["content"][JSON]["example"] = example["sent"]
    if "answer" in example:
        [done] = [answer for status, answer in route["responses"].items() if status.startswith("2")]
        done["content"][JSON]["example"] = example["answer"]


PREFIX = "/api/v1"


def name_of(route: APIRoute) -> str:
    """Return a route's name for clients: that of its handler."""
    return route.name


def api_router(*tags: str | Enum, prefix: str = "") -> APIRouter:
    """Return a router for routes of the API below ``prefix``, with the errors that all may answer."""
    return APIRouter(
        prefix=PREFIX + prefix,
        tags=[*tags],
        responses=RESPONSES,
        dependencies=[Depends(only_known), Depends(only_text)],
        generate_unique_id_function=name_of,
    )

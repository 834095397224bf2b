"""The OpenAPI document: what FastAPI makes of the routes, with errors as they really are sent."""

from typing import Any

from fastapi import FastAPI

from arena.web.problems import PROBLEM


class Application(FastAPI):
    """FastAPI, with errors that are problem details in its OpenAPI document too."""

    def openapi(self) -> dict[str, Any]:
        """Return the document."""
        if self.openapi_schema is None:
            for path in super().openapi()["paths"].values():
                for route in path.values():
                    _tell_problems(route["responses"])
        assert self.openapi_schema is not None
        return self.openapi_schema


def _tell_problems(responses: dict[str, Any]) -> None:
    """Name the content type that errors have."""
    for status in ("4XX", "5XX"):
        content = responses[status]["content"]
        _, content[PROBLEM] = content.popitem()  # by the content type of the route's own answers

"""The OpenAPI document: what FastAPI makes of the routes, with errors as they are sent, and examples."""

import json
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from arena.web.problems import PROBLEM

EXAMPLES = Path(__file__).with_name("examples.json")
"""By route what was sent and answered once, made by ``tests.arena.web.examples``."""

JSON = "application/json"


class Application(FastAPI):
    """FastAPI, with errors that are problem details in its OpenAPI document too, and with examples."""

    def openapi(self) -> dict[str, Any]:
        """Return the document."""
        if self.openapi_schema is None:
            examples = json.loads(EXAMPLES.read_text())
            for path in super().openapi()["paths"].values():
                for route in path.values():
                    _tell_problems(route["responses"])
                    _tell_example(route, examples.get(route["operationId"], {}))
        assert self.openapi_schema is not None
        return self.openapi_schema


def _tell_problems(responses: dict[str, Any]) -> None:
    """Name the content type that errors have."""
    for status in ("4XX", "5XX"):
        content = responses[status]["content"]
        _, content[PROBLEM] = content.popitem()  # by the content type of the route's own answers


def _tell_example(route: dict[str, Any], example: dict[str, Any]) -> None:
    """Tell what was sent to a route and answered once."""
    if "sent" in example:
        route["requestBody"]["content"][JSON]["example"] = example["sent"]
    if "answer" in example:
        [done] = [answer for status, answer in route["responses"].items() if status.startswith("2")]
        done["content"][JSON]["example"] = example["answer"]

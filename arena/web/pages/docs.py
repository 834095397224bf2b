"""The API's page for people, made from its OpenAPI document."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from arena.web.pages.page import Page
from arena.web.pages.rendering import fill
from arena.web.pages.routing import page_router

router = page_router()

Node = Mapping[str, Any]


@router.get("/docs")
def docs(page: Page) -> HTMLResponse:
    """Return the page."""
    return page("docs.html", contents=_contents(page.request.app))


@cache
def _contents(app: FastAPI) -> Markup:
    """Return the contents of the page, which are the same for everybody while the process runs."""
    shapes = sorted(app.openapi()["components"]["schemas"].items())
    return Markup(fill("routes.html", "", app=app, groups=_groups(app), shapes=shapes))  # noqa: S704 a template


def _groups(app: FastAPI) -> list[tuple[str, list[tuple[str, str, Node]]]]:
    """Return the routes by tag: method, path and description."""
    groups: dict[str, list[tuple[str, str, Node]]] = {}
    for path, routes in app.openapi()["paths"].items():
        for method, route in routes.items():
            groups.setdefault(route.get("tags", ["other"])[0], []).append((method.upper(), path, route))
    return sorted(groups.items())

"""The guide, which is the documentation in ``docs/``, and the API's page, made from its OpenAPI document."""

import re
from collections.abc import Mapping
from functools import cache
from mimetypes import guess_type
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Any

from fastapi import FastAPI
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup
from starlette.exceptions import HTTPException

from arena.web.pages.links import install_command, wheel_url
from arena.web.pages.markdown import Document, read_markdown
from arena.web.pages.page import Page
from arena.web.pages.rendering import fill
from arena.web.pages.routing import page_router
from arena.web.wheel import LIGHT

router = page_router()

DOCS = Path(__file__).parents[1] / "docs"
"""The documentation; in a checkout, a link to ``docs/``."""

GUIDE = "/guide"
AUTHORS = "authors/README.md"
"""The table of contents for authors."""

FOR_WHOM: Mapping[str, tuple[str, ...]] = {
    "For authors": (
        AUTHORS,
        "protocol.md",
        "studies.md",
        "languages.md",
        "check.md",
        "rules.md",
        "rulesets.md",
        "vectors.md",
    ),
    "For organisers": ("tournaments.md", "leagues.md", "webhooks.md", "timing.md"),
    "What results mean": ("questions.md", "ratings.md", "fairness.md", "formats.md", "pairings.md"),
    "For programs": ("api.md", "json.md", "pages.md"),
    "For operators": ("running.md", "operations.md", "metrics.md", "security.md", "architecture.md"),
}
"""The documents by their readers; those of the folder ``authors`` are in its table of contents."""

ELSEWHERE = {
    "proto/referee/v1": "/proto",
    "sample_bots": f"{GUIDE}#programs",
    "sample_bots/python": f"{GUIDE}#programs",
    "sample_bots/typescript/proto/google/rpc/details.proto": "/proto/google/rpc/details.proto",
    "docs/schemas": f"{GUIDE}#schemas",
}
"""Pages of what documents link to outside their folder, by its path in a checkout."""

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


@cache
def documents() -> Mapping[str, Document]:
    """Return all documents by their paths."""
    return {name: _read(name) for name in _names() if name.endswith(".md")}


@cache
def _names() -> frozenset[str]:
    """Return the paths of all documents, pictures and schemas."""
    return frozenset(one.relative_to(DOCS).as_posix() for one in DOCS.rglob("*.*") if one.is_file())


def _read(name: str) -> Document:
    text = (DOCS / name).read_text(encoding="utf-8")
    return read_markdown(text, lambda link: address_of(name, link))


def page_of(name: str) -> str:
    """Return the address of a document or another file of the documentation, by its path."""
    return f"{GUIDE}/{name.removesuffix('/README.md').removesuffix('.md')}"


def address_of(name: str, link: str) -> str | None:
    """Return the address to which a link in a document leads; None if it leads to nothing that is here."""
    path, mark, part = link.partition("#")
    if "://" in link or not path:
        return link
    there = normpath(join("docs", dirname(name), path))
    inside = there.removeprefix("docs/")
    if there in ELSEWHERE:
        return ELSEWHERE[there]
    return page_of(inside) + mark + part if inside in _names() else None


INSTALL = re.compile(r"pip install (?:bigtwo-(?:bot|(arena))\b|'bigtwo-bot(\[\w+\])')")
"""A command of the documents that installs a distribution."""


def _installed_here(body: Markup, origin: str) -> Markup:
    """Return a document whose commands install from the arena at this address, as it runs there."""

    def command(match: re.Match[str]) -> str:
        whole, extras = match.groups()
        if extras:
            return f"pip install '{LIGHT}{extras} @ {origin}{wheel_url()}'"
        return install_command(origin, whole=whole is not None)

    return Markup(INSTALL.sub(command, body))  # noqa: S704 our own, and the configured address


@router.get(GUIDE)
def show_guide(page: Page) -> HTMLResponse:
    """Return the table of contents of the guide."""
    found = documents()
    groups = [
        (whom, [(page_of(name), found[name].title) for name in names]) for whom, names in FOR_WHOM.items()
    ]
    schemas = sorted(name for name in _names() if name.startswith("schemas/"))
    return page("guide.html", groups=groups, schemas=schemas)


@router.get(f"{GUIDE}/{{path:path}}")
def show_document(page: Page, path: str) -> Response:
    """Return a document, or a picture or schema that belongs to one."""
    found = documents()
    for name in (f"{path}.md", f"{path}/README.md"):
        if name in found:
            return page(
                "document.html",
                shown=found[name],
                body=_installed_here(found[name].body, page.origin),
                of_authors=name.startswith("authors/") and name != AUTHORS,
            )
    if path not in _names():
        raise HTTPException(404)
    return Response((DOCS / path).read_bytes(), media_type=guess_type(path)[0])

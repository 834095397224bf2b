"""The guide, made from ``docs/``, which is Markdown, and the API's page, made from its OpenAPI document."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from mimetypes import guess_type
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import Any

from fastapi import FastAPI
from fastapi.responses import HTMLResponse, Response
from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup
from starlette.exceptions import HTTPException

from arena.web.pages.links import install_command, wheel_url
from arena.web.pages.page import Page
from arena.web.pages.rendering import fill
from arena.web.pages.routing import page_router
from arena.web.wheel import LIGHT

Resolve = Callable[[str], str | None]
"""Returns the address to which a link leads; None if there is no such page."""

TABLE = '<div class="scroll" tabindex="0"><table class="told">\n'


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a document, under a heading of the second level."""

    id: str
    title: str


@dataclass(frozen=True, slots=True)
class Document:
    """A document as HTML, without its title."""

    title: str
    body: Markup
    parts: Sequence[Part]


def slug_of(title: str) -> str:
    """Return the id of a heading, which links in the documents rely on: ``why-a-call-ends``."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


class _Renderer(RendererHTML):
    """Writes HTML that the security policy allows, and that is read by keyboard, too."""

    def table_open(self, *_: Any) -> str:
        return TABLE

    def table_close(self, *_: Any) -> str:
        return "</table></div>\n"

    def fence(self, tokens: Sequence[Token], index: int, *_: Any) -> str:
        return f'<pre tabindex="0"><code>{escapeHtml(tokens[index].content)}</code></pre>\n'

    def html_block(self, *_: Any) -> str:
        return ""  # comments, which mark what is generated

    def html_inline(self, tokens: Sequence[Token], index: int, *_: Any) -> str:
        return escapeHtml(tokens[index].content)


def read_markdown(text: str, resolve: Resolve) -> Document:
    """Return a document of our own, which begins with its title.

    Links for which ``resolve`` knows no page become plain text.
    """
    markdown = MarkdownIt("commonmark", renderer_cls=_Renderer).enable("table")
    _, title, _, *tokens = markdown.parse(text)
    parts: list[Part] = []
    seen: Counter[str] = Counter()
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            words = _words(tokens[at + 1])
            slug = slug_of(words)
            seen[slug] += 1
            token.attrSet("id", slug if seen[slug] == 1 else f"{slug}-{seen[slug] - 1}")
            if token.tag == "h2":
                parts.append(Part(slug, words))
        elif token.type == "th_open" and not tokens[at + 1].content:
            token.tag = tokens[at + 2].tag = "td"  # it is no heading of anything
        elif token.type == "inline":
            token.children = [*_linked(token.children or (), resolve)]
    body = markdown.renderer.render(tokens, markdown.options, {})
    return Document(_words(title), Markup(body), parts)  # noqa: S704 our own, with everything escaped


def _words(heading: Token) -> str:
    return "".join(child.content for child in heading.children or ())


def _linked(children: Sequence[Token], resolve: Resolve) -> Iterator[Token]:
    """Yield the parts of a paragraph, with links that lead to pages, or without links."""
    linked = True
    for child in children:
        if child.type == "link_open":
            address = resolve(str(child.attrGet("href")))
            linked = address is not None
            if not linked:
                continue
            child.attrSet("href", address or "")
            if "://" in str(address):
                child.attrSet("rel", "noreferrer")
        elif child.type == "link_close" and not linked:
            continue
        elif child.type == "image":
            child.attrSet("src", resolve(str(child.attrGet("src"))) or "")
        yield child


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
    return {name: _read_document(name) for name in _names() if name.endswith(".md")}


@cache
def _names() -> frozenset[str]:
    """Return the paths of all documents, pictures and schemas."""
    return frozenset(file.relative_to(DOCS).as_posix() for file in DOCS.rglob("*.*") if file.is_file())


def _read_document(name: str) -> Document:
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
    pages = documents()
    groups = [
        (whom, [(page_of(name), pages[name].title) for name in names]) for whom, names in FOR_WHOM.items()
    ]
    schemas = sorted(name for name in _names() if name.startswith("schemas/"))
    return page("guide.html", groups=groups, schemas=schemas)


@router.get(f"{GUIDE}/{{path:path}}")
def show_document(page: Page, path: str) -> Response:
    """Return a document, or a picture or schema that belongs to one."""
    pages = documents()
    for name in (f"{path}.md", f"{path}/README.md"):
        if name in pages:
            return page(
                "document.html",
                shown=pages[name],
                body=_installed_here(pages[name].body, page.origin),
                of_authors=name.startswith("authors/") and name != AUTHORS,
            )
    if path not in _names():
        raise HTTPException(404)
    return Response((DOCS / path).read_bytes(), media_type=guess_type(path)[0])

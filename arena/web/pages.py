"""The API's page for people, made from its OpenAPI document; a browser needs nothing else for it."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from html import escape
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response

Node = Mapping[str, Any]

STYLE = """\
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 60rem; padding: 1rem; }
code, pre { font-family: ui-monospace, monospace; font-size: 0.9em; overflow-wrap: anywhere; }
section { border-top: 1px solid #8886; margin-top: 1.5rem; }
h3 { margin-bottom: 0.2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid #8883; padding: 0.2rem 1rem 0.2rem 0; }
th, td { text-align: left; vertical-align: top; }
"""


def add_pages(app: FastAPI) -> None:
    """Serve the page at ``/docs``, and its style."""
    page = cache(_page)

    def docs(request: Request) -> HTMLResponse:
        return HTMLResponse(page(app))

    def style(request: Request) -> Response:
        return Response(STYLE, media_type="text/css")

    app.add_route("/docs", docs)
    app.add_route("/docs.css", style)


def _page(app: FastAPI) -> str:
    document = app.openapi()
    parts = "".join(_groups(document))
    shapes = "".join(_shape(name, node) for name, node in sorted(document["components"]["schemas"].items()))
    title = escape(app.title)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}: the API</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="stylesheet" href="/docs.css"></head><body><h1>{title}: the API</h1>'
        f"<p>{escape(app.description)}</p>"
        "<p>Send a key with <code>Authorization: Bearer …</code>. Errors are problem details "
        "(RFC 9457). A POST with an <code>Idempotency-Key</code> is done once. "
        f'For programs: <a href="{app.openapi_url}">the OpenAPI document</a>.</p>'
        f"{parts}<h2>Objects</h2>{shapes}</body></html>"
    )


def _groups(document: Node) -> Iterator[str]:
    """Yield the routes by tag."""
    groups: dict[str, list[str]] = {}
    for path, routes in document["paths"].items():
        for method, route in routes.items():
            tag = route.get("tags", ["other"])[0]
            groups.setdefault(tag, []).append(_route(method, path, route))
    for tag, parts in sorted(groups.items()):
        yield f"<h2>{escape(tag.capitalize())}</h2>{''.join(parts)}"


def _route(method: str, path: str, route: Node) -> str:
    name = escape(route["operationId"])
    asked = [
        (one["name"], f"{_kind(one['schema'])}, {one['in']}", one.get("description", ""))
        for one in route.get("parameters", ())
        if one["in"] != "cookie"
    ]
    body = _contents(route.get("requestBody", {}))
    answers = [
        (status, _contents(one), one.get("description", "")) for status, one in route["responses"].items()
    ]
    sent = f"<p>Send: {body}</p>" if body else ""
    return (
        f'<section id="{name}"><h3><code>{method.upper()} {escape(path)}</code></h3>'
        f"<p>{escape(route.get('description', ''))}</p>"
        f"{_table('parameter', asked)}{sent}{_table('answer', answers)}</section>"
    )


def _contents(node: Node) -> str:
    """Return what a body is, as HTML."""
    return ", ".join(
        f"{_kind(one.get('schema', {}))} <code>{escape(kind)}</code>"
        for kind, one in node.get("content", {}).items()
    )


def _shape(name: str, node: Node) -> str:
    needed = node.get("required", ())
    lines = [
        (key, _kind(one) + ("" if key in needed else ", optional"), one.get("description", ""))
        for key, one in node.get("properties", {}).items()
    ]
    told = escape(node.get("description", ""))
    values = f"<p>One of {escape(', '.join(map(str, node['enum'])))}.</p>" if "enum" in node else ""
    name = escape(name)
    return f'<section id="{name}"><h3>{name}</h3><p>{told}</p>{values}{_table("key", lines)}</section>'


def _table(first: str, lines: list[tuple[str, str, str]]) -> str:
    """Return a table; the middle column is HTML already."""
    if not lines:
        return ""
    rows = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{kind}</td><td>{escape(told)}</td></tr>"
        for name, kind, told in lines
    )
    head = f"<tr><th>{first}</th><th>kind</th><th>meaning</th></tr>"
    return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"


def _kind(node: Node) -> str:
    """Return what a JSON Schema asks for, as HTML."""
    if "$ref" in node:
        name = escape(node["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in node:
        return " or ".join(map(_kind, node["anyOf"]))
    if "enum" in node:
        return escape(" or ".join(map(json.dumps, node["enum"])))
    if "items" in node:
        return f"list of {_kind(node['items'])}"
    limits = [f"{word} {node[key]}" for key, word in (("minimum", "from"), ("maximum", "to")) if key in node]
    return escape(" ".join([str(node.get("type", "anything")), *limits]))

"""The documentation, which is written in Markdown, as parts of pages."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup

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
    return "".join(one.content for one in heading.children or ())


def _linked(children: Sequence[Token], resolve: Resolve) -> Iterator[Token]:
    """Yield the parts of a paragraph, with links that lead to pages, or without links."""
    linked = True
    for one in children:
        if one.type == "link_open":
            address = resolve(str(one.attrGet("href")))
            linked = address is not None
            if not linked:
                continue
            one.attrSet("href", address or "")
            if "://" in str(address):
                one.attrSet("rel", "noreferrer")
        elif one.type == "link_close" and not linked:
            continue
        elif one.type == "image":
            one.attrSet("src", resolve(str(one.attrGet("src"))) or "")
        yield one

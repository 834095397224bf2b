"""Rendering templates: text is escaped, and unprintable characters are written out."""

from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from arena.actors import ANONYMOUS, Actor
from arena.core.luck import luck_told, share_told
from arena.queries.replays.faces import face, spoken
from arena.queries.replays.words import lasted
from arena.results.strength.scale import about
from arena.web.pages import figures, links
from arena.web.pages.statics import static_url
from referee.plain import plain

KEPT = f"\n{figures.SPACE}"
"""Characters that are kept although they are not printable."""


@cache
def environment() -> Environment:
    """Return the environment that renders templates."""
    made = Environment(
        loader=PackageLoader("arena.web"),
        autoescape=True,
        finalize=_printable,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.globals.update(static=static_url, luck_told=luck_told, share_told=share_told, **_functions(links))
    made.filters.update(
        _functions(figures), face=face, spoken=spoken, lasted=lasted, about=about, as_typed=escape
    )
    return made


def _functions(module: ModuleType) -> dict[str, Callable[..., Any]]:
    return {name: getattr(module, name) for name in module.__all__}


def _printable(value: object) -> object:
    """Return a value for output: text without characters that move or hide other text, markup unchanged."""
    return plain(value, KEPT) if isinstance(value, str) and not isinstance(value, Markup) else value


def fill(template: str, path: str, actor: Actor | None = ANONYMOUS, **values: object) -> str:
    """Return a page; ``path`` is its address, and ``actor`` its reader, None if unknown."""
    return environment().get_template(template).render(path=path, actor=actor, **values)

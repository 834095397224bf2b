"""Rendering templates, whose text is escaped; and the files that pages load, under a hash of them all."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from mimetypes import guess_type
from types import ModuleType
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.exceptions import HTTPException

from arena.actors import ANONYMOUS, Actor
from arena.core.luck import luck_told, share_told
from arena.queries.replays.steps import face, spoken
from arena.queries.replays.words import lasted
from arena.results.strength.scale import about
from arena.web.pages import figures, links
from referee.reading.plain import plain

router = APIRouter(include_in_schema=False)

FOR_EVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Statics:
    """All these files."""

    hash: str
    """One hash for all files, so that scripts and styles can refer to each other by relative addresses."""
    contents: dict[str, bytes]
    """The files' contents by name."""


@cache
def statics() -> Statics:
    """Read the files."""
    folder = files("arena.web") / "static"
    contents = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    whole = sha256()
    for name, content in sorted(contents.items()):
        whole.update(f"{name}\0{len(content)}\0".encode() + content)
    return Statics(whole.hexdigest()[:16], contents)


def static_url(name: str) -> str:
    """Return the address of a file. Raise KeyError if there is no such file."""
    files = statics()
    if name not in files.contents:
        raise KeyError(name)
    return f"/static/{files.hash}/{name}"


@router.get("/static/{hash}/{name}")
def static_file(hash: str, name: str) -> Response:
    """Return a file."""
    files = statics()
    if hash != files.hash or name not in files.contents:
        raise HTTPException(404)
    kind = guess_type(name)[0] or "application/octet-stream"
    return Response(files.contents[name], media_type=kind, headers={"Cache-Control": FOR_EVER})


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

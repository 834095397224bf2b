"""Files that pages load. Their address changes with their contents, so browsers can cache them."""

from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from mimetypes import guess_type

from fastapi import APIRouter
from fastapi.responses import Response
from starlette.exceptions import HTTPException

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
    contents = {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()}
    whole = sha256()
    for name, content in sorted(contents.items()):
        whole.update(f"{name}\0{len(content)}\0".encode() + content)
    return Statics(whole.hexdigest()[:16], contents)


def static_url(name: str) -> str:
    """Return the address of a file. Raise KeyError if there is no such file."""
    found = statics()
    if name not in found.contents:
        raise KeyError(name)
    return f"/static/{found.hash}/{name}"


@router.get("/static/{hash}/{name}")
def static_file(hash: str, name: str) -> Response:
    """Return a file."""
    found = statics()
    if hash != found.hash or name not in found.contents:
        raise HTTPException(404)
    kind = guess_type(name)[0] or "application/octet-stream"
    return Response(found.contents[name], media_type=kind, headers={"Cache-Control": FOR_EVER})

"""What authors download: the library as a wheel with its index, the proto files, programs to begin with."""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated

from fastapi import Header
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup
from starlette.exceptions import HTTPException

from arena.web.pages.page import Page
from arena.web.pages.routing import page_router
from arena.web.wheel import PROJECTS, make_wheel, wheel_file, zipped
from referee.samples import FROM_SAMPLES, sample_bots, starter
from referee.vectors import vector_files

router = page_router()

INDEX = "/simple"
"""The index of packages (PEP 503 and 691): the distributions that run here."""

AS_JSON = "application/vnd.pypi.simple.v1+json"
VERSION = "1.1"
"""Of the index's format."""

STARTER = "my-bot"
"""What a starter is called that is downloaded."""

PROTOS = Path(__file__).parents[1] / "proto"
"""The proto files; in a checkout, folders with links to ``proto/``."""

PROTO_FOLDERS = ("referee/v1", "google/rpc")

LIST = Markup(
    '<!DOCTYPE html><html><head><meta name="pypi:repository-version" content="{}"><title>{}</title></head>'
    "<body>{}</body></html>"
)
LINK = Markup('<a href="{}">{}</a> ')
WHEEL = Markup('<a href="{}#sha256={}" data-requires-python="{}">{}</a>')


def _index(accept: str, html: Markup, values: Mapping[str, object]) -> Response:
    """Return a page of the index, in the format that is accepted."""
    if AS_JSON in accept:
        fields = {"meta": {"api-version": VERSION}, **values}
        answer = Response(json.dumps(fields), media_type=AS_JSON)
    else:
        answer = HTMLResponse(html)
    answer.headers["Vary"] = "Accept"
    return answer


Accept = Annotated[str, Header()]


@router.get(f"{INDEX}/")
def list_projects(accept: Accept = "") -> Response:
    """Return the projects of the index."""
    links = Markup().join(LINK.format(f"{INDEX}/{name}/", name) for name in PROJECTS)
    html = LIST.format(VERSION, "Projects", links)
    return _index(accept, html, {"projects": [{"name": name} for name in PROJECTS]})


@router.get(f"{INDEX}/{{project}}/")
def list_files(project: str, accept: Accept = "") -> Response:
    """Return the files of a project: the wheel of the version that runs here."""
    project = re.sub(r"[-_.]+", "-", project).lower()
    if project not in PROJECTS:
        raise HTTPException(404)
    wheel, name = make_wheel(project), wheel_file(project)
    url = f"{INDEX}/{project}/{name}"
    html = LIST.format(VERSION, project, WHEEL.format(url, wheel.sha256, wheel.requires_python, name))
    file = {
        "filename": name,
        "url": url,
        "hashes": {"sha256": wheel.sha256},
        "requires-python": wheel.requires_python,
        "size": len(wheel.content),
    }
    return _index(accept, html, {"name": project, "versions": [wheel.version], "files": [file]})


@router.get(f"{INDEX}/{{project}}/{{name}}")
def send_wheel(project: str, name: str) -> Response:
    """Return a wheel."""
    if project not in PROJECTS or name != wheel_file(project):
        raise HTTPException(404)
    return Response(make_wheel(project).content, media_type="application/zip")


@cache
def protos() -> Mapping[str, bytes]:
    """Return the proto files by their names, as they import each other; those of bots come first."""
    return {
        path.relative_to(PROTOS).as_posix(): path.read_bytes()
        for folder in PROTO_FOLDERS
        for path in sorted((PROTOS / folder).glob("*.proto"))
    }


@router.get("/proto")
def show_protos(page: Page) -> HTMLResponse:
    """Return the page of the proto files."""
    return page("proto.html", files={name: text.decode() for name, text in protos().items()})


@router.get("/proto.zip")
def send_protos() -> Response:
    """Return all proto files."""
    return _zip("proto", zipped(protos()))


@router.get("/proto/{name:path}")
def send_proto(name: str) -> Response:
    """Return a proto file."""
    if name not in protos():
        raise HTTPException(404)
    return Response(protos()[name], media_type="text/plain; charset=utf-8")


@router.get("/starters/{language}.zip")
def send_starter(language: str) -> Response:
    """Return a program to begin with."""
    if language not in FROM_SAMPLES:
        raise HTTPException(404)
    files = {f"{STARTER}/{name}": content for name, content in starter(language, STARTER).items()}
    return _zip(f"{STARTER}-{language}", zipped(files))


@router.get("/samples.zip")
def send_samples() -> Response:
    """Return the sample bots in Python."""
    return _zip("samples", zipped({path.name: path.read_bytes() for path in sample_bots().values()}))


@router.get("/vectors.zip")
def send_vectors() -> Response:
    """Return the test vectors."""
    return _zip("vectors", zipped(vector_files()))


def _zip(name: str, content: bytes) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}.zip"'}
    return Response(content, media_type="application/zip", headers=headers)

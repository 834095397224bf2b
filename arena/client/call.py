"""A request to an arena over HTTP as a value, and the addresses of arenas."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from enum import Enum
from ipaddress import ip_address
from typing import Any, Generic, ParamSpec, TypeVar
from urllib.parse import quote, urlsplit

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from arena.errors import SpecError
from arena.operations.operation import Operation

PREFIX = "/api/v1"


def address_of(url: str) -> str:
    """Return the normalised address of an arena: ``https://host``, perhaps with port and path.

    Raise SpecError if it cannot be one.
    """
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise SpecError("server", f"{url!r} is not a valid URL: {error}") from None
    if parts.scheme not in ("http", "https") or not host:
        raise SpecError("server", f"{url!r} is not a URL like https://arena.example.org")
    if parts.username is not None or parts.query or parts.fragment:
        raise SpecError("server", "it must have no user, no query and no fragment")
    bracketed = f"[{host}]" if ":" in host else host
    place = f"{bracketed}:{port}" if port is not None else bracketed
    path = parts.path.rstrip("/").removesuffix(PREFIX)
    return f"{parts.scheme}://{place}{path}"


def host_of(address: str) -> str:
    """Return the host of an arena's address."""
    return urlsplit(address).hostname or ""


def require_secret(address: str) -> None:
    """Raise SpecError if a key would be sent to another machine without encryption."""
    parts = urlsplit(address)
    if parts.scheme == "http" and not _is_here(parts.hostname or ""):
        raise SpecError(
            "server", f"{address} is not encrypted, so anybody on the way could read the key: use https://"
        )


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


P = ParamSpec("P")
T = TypeVar("T")

LARGEST_PAGE = 200
"""The API's maximum number of lines in a page."""


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """A request and the type of its answer."""

    method: str
    path: str
    """The path as in the OpenAPI document, with its parameters in braces."""
    answer: type[T]
    """The type that the answer is decoded into."""
    named: Mapping[str, object] = field(default_factory=dict)
    """The values of the path parameters."""
    query: Mapping[str, object] = field(default_factory=dict)
    """The query; parameters that are None are left out."""
    body: Mapping[str, object] | None = None
    """The JSON object to send; None if there is none."""
    lines: str = ""
    """The field of the answer whose lines ``limit`` counts; empty if there is none."""

    @property
    def place(self) -> str:
        """Return the path with its parameters filled in."""
        return self.path.format_map({name: quote(str(value), safe="") for name, value in self.named.items()})

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """Return the query as it is sent."""
        return tuple(
            (name, _text(item))
            for name, value in self.query.items()
            if value is not None
            for item in (value if isinstance(value, list | tuple) else [value])
        )

    def with_query(self, **changed: object) -> "Call[T]":
        """Return the call with these parameters in its query."""
        return replace(self, query={**self.query, **changed})


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Enum):
        return str(value.value)
    return value.isoformat() if isinstance(value, date) else str(value)


def call_of(operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> Call[T]:
    """Return the request for an operation with these parameters."""
    in_path: dict[str, object] = {}
    in_query: dict[str, object] = {}
    in_body: dict[str, object] = {}
    body: Any = None
    arguments = operation.bind(*args, **kwargs)
    for name, parameter in operation.parameters.items():
        if parameter.parts is not None:
            parts = parameter.parts.split(arguments[name])
            number = parts.pop(parameter.parts.query, None)
            in_path |= parts
            in_query |= {parameter.parts.query: number} if number else {}
        elif operation.in_path(parameter):
            in_path[name] = arguments[name]
        elif name == operation.body:
            body = arguments[name]
        elif operation.has_body:
            in_body[name] = arguments[name]
        else:
            in_query[name] = arguments[name]
    if isinstance(body, BaseModel):
        body = body.model_dump(mode="json", exclude_unset=True)
    body = to_jsonable_python(in_body or None if body is None else body)
    return Call(operation.method, operation.path, operation.answer, in_path, in_query, body, operation.lines)


def following(call: Call[T], page: Any) -> Call[T] | None:
    """Return the call for the page after this one; None if it is the last."""
    return None if page.next is None else call.with_query(cursor=page.next)


def in_one(call: Call[T]) -> Generator[Call[T], T, T]:
    """Yield calls for as many pages as the limit of a call requires, and return their answers as one."""
    lines: list[Any] = []
    limit: Any = call.query["limit"]
    request: Call[T] | None = call
    while request is not None:
        page: Any = yield request.with_query(limit=min(limit - len(lines), LARGEST_PAGE))
        values = getattr(page, call.lines)
        lines += values
        request = following(request, page) if len(lines) < limit else None
    joined: T = replace(page, **{call.lines: type(values)(lines)})
    return joined

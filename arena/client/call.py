"""A request to an arena over HTTP as a value; each route has a function that makes one."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from enum import Enum
from importlib import import_module
from typing import Any, Generic, TypeVar
from urllib.parse import quote

T = TypeVar("T")

LARGEST_PAGE = 200
"""The API's maximum number of lines in a page."""


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """A request and the type of its answer."""

    method: str
    path: str
    """The path as in the OpenAPI document, with its parameters in braces."""
    kind: type[T] | str
    """The dataclass that the answer is decoded into, or its place as ``module:name`` if it takes long to
    load."""
    named: Mapping[str, object] = field(default_factory=dict)
    """The values of the path parameters."""
    query: Mapping[str, object] = field(default_factory=dict)
    """The query; parameters that are None are left out."""
    body: Mapping[str, object] | None = None
    """The JSON object to send; None if there is none."""
    lines: str = ""
    """The field of the answer whose lines ``limit`` counts; empty if there is none."""

    @property
    def answer(self) -> type[T]:
        """Return the dataclass that the answer is decoded into."""
        if not isinstance(self.kind, str):
            return self.kind
        module, _, name = self.kind.partition(":")
        found: type[T] = getattr(import_module(module), name)
        return found

    @property
    def place(self) -> str:
        """Return the path with its parameters filled in."""
        return self.path.format_map({name: quote(str(value), safe="") for name, value in self.named.items()})

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """Return the query as it is sent."""
        return tuple(
            (name, _text(one))
            for name, value in self.query.items()
            if value is not None
            for one in (value if isinstance(value, list | tuple) else [value])
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


def of_bot(bot: str) -> dict[str, object]:
    """Return the path parameters for ``owner/bot``."""
    owner, _, name = bot.partition("/")
    return {"owner": owner, "bot": name}


def of_version(version: str) -> dict[str, object]:
    """Return the path parameters for ``owner/bot@number``."""
    bot, _, number = version.partition("@")
    return {**of_bot(bot), "number": number}


def following(call: Call[T], page: Any) -> Call[T] | None:
    """Return the call for the page after this one; None if it is the last."""
    return None if page.next is None else call.with_query(cursor=page.next)


def in_one(call: Call[T]) -> Generator[Call[T], T, T]:
    """Yield calls for as many pages as the limit of a call requires, and return their answers as one."""
    lines: list[Any] = []
    limit: Any = call.query["limit"]
    wanted: Call[T] | None = call
    while wanted is not None:
        page: Any = yield wanted.with_query(limit=min(limit - len(lines), LARGEST_PAGE))
        found = getattr(page, call.lines)
        lines += found
        wanted = following(wanted, page) if len(lines) < limit else None
    joined: T = replace(page, **{call.lines: type(found)(lines)})
    return joined

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
"""Most lines of a page that the API has."""


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """A request, and what it is answered with."""

    method: str
    path: str
    """As the OpenAPI document has it, with names in braces."""
    kind: type[T] | str
    """The dataclass that the answer is decoded into; or where it is, ``module:name``, if it takes long to
    load."""
    named: Mapping[str, object] = field(default_factory=dict)
    """What stands in the path for each name in braces."""
    query: Mapping[str, object] = field(default_factory=dict)
    """What is None is left out."""
    body: Mapping[str, object] | None = None
    """A JSON object; None: nothing is sent."""
    lines: str = ""
    """Field of the answer with the lines that ``limit`` counts; empty if there is none."""

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
        """Return the path with its names filled in."""
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
        """Return the call with other parameters in its query."""
        return replace(self, query={**self.query, **changed})


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Enum):
        return str(value.value)
    return value.isoformat() if isinstance(value, date) else str(value)


def of_bot(bot: str) -> dict[str, object]:
    """Return the names of ``owner/bot`` in a path."""
    owner, _, name = bot.partition("/")
    return {"owner": owner, "bot": name}


def of_version(version: str) -> dict[str, object]:
    """Return the names of ``owner/bot@number`` in a path."""
    bot, _, number = version.partition("@")
    return {**of_bot(bot), "number": number}


def following(call: Call[T], page: Any) -> Call[T] | None:
    """Return the call for the page after this one; None if it is the last."""
    return None if page.next is None else call.with_query(cursor=page.next)


def in_one(call: Call[T]) -> Generator[Call[T], T, T]:
    """Yield the calls of as many pages as the limit of a call takes, and return them as one."""
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

"""What pydantic found wrong, told for people: one problem for each field, all of a value at once.

This module does not load pydantic: whoever only connects a bot has no need of it.
"""

import datetime
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from reprlib import Repr
from typing import TYPE_CHECKING

from referee.errors import Problem

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

Path = tuple[str | int, ...]
"""The way to a value, by names of fields and indices of lists."""

Node = Mapping[str, object]
"""A JSON Schema, or a part of one."""

_SHORT = Repr()
_SHORT.maxstring = 60
_SHORT.maxother = 60
_SHORT.maxlevel = 2


class Refused(ValueError):
    """What a validator has to say about parts of its value: ``problems``, with paths from there."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems


def shown(value: object) -> str:
    """Return a short, one-line form of any value."""
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    try:
        return _SHORT.repr(value)
    except ValueError:  # a whole number with more digits than Python writes
        return "a number with thousands of digits"


def suggestion(name: str, options: Sequence[str]) -> str:
    """Return "; did you mean …?" for the option nearest to ``name``, or nothing."""
    near = get_close_matches(name[:80], options, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def path_text(path: Path) -> str:
    """Return a path as messages have it: ``multipliers[0].times``."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{shown(step)[1:-1]}" for step in path)
    return text.removeprefix(".")


def problems(
    error: "ValidationError",
    schema: Node,
    thing: str,
    *,
    told: Callable[[Path], str] = path_text,
    keys_at_parent: bool = False,
) -> tuple[Problem, ...]:
    """Return what is wrong with a value, in the order of its fields.

    ``schema`` is the JSON Schema of what was to be read, ``thing`` what that is called, as ``a ruleset``;
    ``told`` turns paths into text. With ``keys_at_parent`` an unknown or missing key of an inner object is a
    problem of that object; else the key itself is the field.
    """
    found: dict[Problem, None] = {}
    for one in error.errors(include_url=False):
        path, kind = one["loc"], one["type"]
        if kind == "missing" or kind in _UNKNOWN:
            parent = node_at(schema, path[:-1])
            inner = keys_at_parent and len(path) > 1
            reason = (_entry_reason if inner else _key_reason)(str(path[-1]), kind, parent, thing)
            found[Problem(told(path[:-1] if inner else path), reason)] = None
        else:
            found |= dict.fromkeys(_value_problems(one, schema, told))
    return tuple(found)


_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")


def _key_reason(key: str, kind: str, parent: Node, thing: str) -> str:
    if kind not in _UNKNOWN:
        return "is missing"
    known = _keys(parent)
    return f"is no field of {thing}{suggestion(key, known) or f'; there is only {_listed(known)}'}"


def _entry_reason(key: str, kind: str, parent: Node, _thing: str) -> str:
    if kind not in _UNKNOWN:
        return f"lacks an entry for {key!r}"
    return f"has the unknown entry {shown(key)}{suggestion(key, _keys(parent))}"


def _value_problems(error: "ErrorDetails", schema: Node, told: Callable[[Path], str]) -> Sequence[Problem]:
    path, given = error["loc"], error["input"]
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, Refused):
        return [Problem(told(path) + one.field, one.reason) for one in cause.problems]
    if isinstance(cause, ValueError):
        return [Problem(told(path), str(cause))]
    node = node_at(schema, path)
    if "enum" in node and isinstance(path[-1], int):
        path = path[:-1]  # the value says which of the list is meant
    hint = suggestion(given, _options(node)) if isinstance(given, str) else ""
    return [Problem(told(path), f"must be {wanted(node)}, not {shown(given)}{hint}")]


def node_at(schema: Node, path: Path) -> Node:
    """Return the part of a JSON Schema that is about the value at ``path``."""
    node = _plain(schema, schema)
    for step in path:
        inner = node.get("items") if isinstance(step, int) else _properties(node).get(step)
        inner = node.get("additionalProperties") if inner is None else inner
        node = _plain(schema, inner) if isinstance(inner, Mapping) else {}
    return node


def _plain(schema: Node, node: Node) -> Node:
    """Return what a reference or "this or null" stands for."""
    while "$ref" in node or "anyOf" in node:
        if "$ref" in node:
            definitions = schema["$defs"]
            assert isinstance(definitions, Mapping)
            node = definitions[str(node["$ref"]).rpartition("/")[2]]
        else:
            branches = node["anyOf"]
            assert isinstance(branches, list)
            node = next(branch for branch in branches if branch != {"type": "null"})
    return node


def _properties(node: Node) -> Mapping[object, Node]:
    properties = node.get("properties", {})
    assert isinstance(properties, Mapping)
    return properties


def _keys(node: Node) -> list[str]:
    return [str(key) for key in _properties(node)]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names)


def _options(node: Node) -> list[str]:
    options = node.get("enum", [])
    assert isinstance(options, list)
    return options


def wanted(node: Node) -> str:
    """Return what a JSON Schema asks for, in words: ``a whole number from 1 to 8``."""
    if "enum" in node:
        return f"one of {', '.join(map(str, _options(node)))}"
    kind = str(node.get("type"))
    if kind in ("integer", "number"):
        return f"a {'whole ' if kind == 'integer' else ''}number{_range(node)}"
    return _KINDS.get(kind, "something else")


_KINDS = {"boolean": "true or false", "string": "a text", "array": "a list", "object": "an object"}


def _range(node: Node) -> str:
    low, high = node.get("minimum"), node.get("maximum")
    if high is not None:
        return f" from {low} to {high}"
    return "" if low is None else f" from {low} on"

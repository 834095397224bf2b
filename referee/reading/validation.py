"""What pydantic found wrong, worded for people: one problem for each field, all of a value at once.

This module does not load pydantic, which a program that only connects a bot does not need.
"""

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from heapq import nlargest
from reprlib import Repr
from typing import TYPE_CHECKING, TypeVar

from referee.errors import Problem

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

Path = tuple[str | int, ...]
"""The way to a value, by names of fields and indices of lists."""

Node = Mapping[str, object]
"""A JSON Schema, or a part of one."""


class _Plain(Repr):
    """Short forms of values as files write them, not as Python does, even inside others."""

    def repr_bool(self, value: bool, _level: int) -> str:
        return "true" if value else "false"

    def repr_NoneType(self, _value: None, _level: int) -> str:
        return "null"

    def repr_date(self, value: datetime.date, _level: int) -> str:
        return value.isoformat()

    def repr_time(self, value: datetime.time, _level: int) -> str:
        return value.isoformat()

    repr_datetime = repr_date


_SHORT = _Plain()
_SHORT.maxstring = 60
_SHORT.maxother = 60
_SHORT.maxlevel = 2


class Refused(ValueError):
    """Raised by a validator for parts of its value: ``problems`` have paths that start from the value."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems


def short(value: object) -> str:
    """Return a short, one-line form of any value."""
    try:
        return _SHORT.repr(value)
    except ValueError:  # a whole number with more digits than Python writes
        return "a number with thousands of digits"


LONGEST = 80
"""Characters of a name that are compared with others."""

NEAR = 0.6
"""The least similarity of an option that is suggested."""

COMPARED = 8
"""Options that are compared closely, which takes a hundred times as long as a first estimate."""


def suggestion(name: str, options: Sequence[str]) -> str:
    """Return "; did you mean …?" with an option that is near to ``name``, or an empty string.

    Of many options that may be near, only the likeliest are compared closely, as strangers choose names.
    """
    matcher = SequenceMatcher(b=name[:LONGEST], autojunk=False)
    likely = []
    for option in options:
        matcher.set_seq1(option[:LONGEST])
        if matcher.real_quick_ratio() >= NEAR and (ratio := matcher.quick_ratio()) >= NEAR:
            likely.append((ratio, option))
    best, near = NEAR, ""
    for _, option in nlargest(COMPARED, likely):
        matcher.set_seq1(option[:LONGEST])
        if (ratio := matcher.ratio()) >= best:
            best, near = ratio, option
    return f"; did you mean {near!r}?" if near else ""


MOST_PROBLEMS = 20
"""The most problems that are worded; others are only counted."""

Wrong = TypeVar("Wrong")


def first_of(wrong: Sequence[Wrong], word: Callable[[Wrong], Iterable[Problem]]) -> list[Problem]:
    """Return the problems of the first things that are wrong, each once, and how many others there are."""
    listed = dict.fromkeys(problem for error in wrong[:MOST_PROBLEMS] for problem in word(error))
    left = len(wrong) - MOST_PROBLEMS
    return (
        [*listed, Problem("further problems", f"{left:,}, which are not listed")] if left > 0 else [*listed]
    )


def path_text(path: Path) -> str:
    """Return a path as messages write it: ``multipliers[0].times``."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{short(step)[1:-1]}" for step in path)
    return text.removeprefix(".")


@dataclass(frozen=True, slots=True)
class Wording:
    """How problems of one kind of value are worded."""

    thing: str
    """What is read: ``a ruleset``."""
    table: str = "an object"
    """What its authors call a value that has keys."""
    keys_at_parent: bool = False
    """Whether an unknown or missing key of an inner object is reported for that object, not for the key."""
    path: Callable[[Path], str] = path_text
    """Turns paths into text."""


def problems(error: "ValidationError", schema: Node, wording: Wording) -> tuple[Problem, ...]:
    """Return what is wrong with a value: first unknown keys, then its fields in order; not all of very many.

    ``schema`` is the JSON Schema of the value.
    """
    errors = error.errors(include_url=False)

    def worded(each: "ErrorDetails") -> Iterable[Problem]:
        if each["type"] == "too_short" and any(_is_inside(other["loc"], each["loc"]) for other in errors):
            return ()  # the items that are wrong were not counted
        if each["type"] == "missing" and wording.keys_at_parent and len(each["loc"]) > 1:
            return (_lacking(each["loc"][:-1], errors, wording),)
        if each["type"] == "missing" or each["type"] in _UNKNOWN:
            return (_key_problem(each["loc"], each["type"], schema, wording),)
        return _value_problems(each, schema, wording)

    return tuple(first_of(sorted(errors, key=lambda each: each["type"] not in _UNKNOWN), worded))


def _key_problem(path: Path, kind: str, schema: Node, wording: Wording) -> Problem:
    parent, key, unknown = path[:-1], str(path[-1]), kind in _UNKNOWN
    fields = [str(name) for name in _properties(node_at(schema, parent))]
    if wording.keys_at_parent and parent:
        reason = f"has the unknown entry {short(key)}{suggestion(key, fields)}"
        return Problem(wording.path(parent), reason)
    if not unknown:
        return Problem(wording.path(path), "is missing")
    only = f"; valid fields: {', '.join(fields)}" if len(fields) <= FEW else ""
    thing = f" of {wording.thing}" if not parent else ""
    return Problem(wording.path(path), f"is not a field{thing}{suggestion(key, fields) or only}")


def _lacking(parent: Path, errors: "Sequence[ErrorDetails]", wording: Wording) -> Problem:
    """Return one problem for all keys that an object lacks."""
    missing = [error["loc"] for error in errors if error["type"] == "missing"]
    keys = [str(loc[-1]) for loc in missing if loc[:-1] == parent]
    return Problem(wording.path(parent), f"lacks {', '.join(keys)}")


def _is_inside(path: Path, whole: Path) -> bool:
    return len(path) > len(whole) and path[: len(whole)] == whole


FEW = 30
"""The most fields that are listed if none is similar to the one that was given."""

_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")


def _value_problems(error: "ErrorDetails", schema: Node, wording: Wording) -> Sequence[Problem]:
    path, value = error["loc"], error["input"]
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, Refused):
        return [problem.within(wording.path(path)) for problem in cause.problems]
    if isinstance(cause, ValueError):
        return [Problem(wording.path(path), str(cause))]
    node = node_at(schema, path)
    if "enum" in node and isinstance(path[-1], int):
        path = path[:-1]  # the value says which of the list is meant
    hint = suggestion(value, _options(node)) if isinstance(value, str) else ""
    expected = wording.table if node.get("type") == "object" else requirement(node)
    return [Problem(wording.path(path), f"must be {expected}, not {short(value)}{hint}")]


def node_at(schema: Node, path: Path) -> Node:
    """Return the part of a JSON Schema that is about the value at ``path``."""
    node = _plain(schema, schema)
    for step in path:
        inner = node.get("items") if isinstance(step, int) else _properties(node).get(step)
        inner = node.get("additionalProperties") if inner is None else inner
        node = _plain(schema, inner) if isinstance(inner, Mapping) else {}
    return node


def _plain(schema: Node, node: Node) -> Node:
    """Resolve references and "this or null"."""
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


def _options(node: Node) -> list[str]:
    options = node.get("enum", [node["const"]] if "const" in node else [])
    assert isinstance(options, list)
    return options


def requirement(node: Node) -> str:
    """Return what a JSON Schema requires, in words: ``a whole number from 1 to 8``."""
    options, kind = [str(option) for option in _options(node)], str(node.get("type"))
    if options:
        return " or ".join(options) if len(options) <= 2 else f"one of {', '.join(options)}"
    if kind == "array":
        return f"a list{_items(node)}"
    if kind in ("integer", "number"):
        return f"a {'whole ' if kind == 'integer' else ''}number{_range(node)}"
    return _KINDS.get(kind, "an object")


_KINDS = {"boolean": "true or false", "string": "a text"}


def _items(node: Node) -> str:
    items, least, most = node.get("items"), node.get("minItems"), node.get("maxItems")
    kind = items.get("type") if isinstance(items, Mapping) and "enum" not in items else None
    count = f"{least} " if least is not None and least == most else ""
    return f" of {count}{_PLURALS[kind]}" if kind in _PLURALS else ""


_PLURALS = {"string": "texts", "integer": "whole numbers"}


def _range(node: Node) -> str:
    low, high = node.get("minimum"), node.get("maximum")
    if high is not None:
        return f" from {low} to {high}"
    return "" if low is None else f" from {low} on"

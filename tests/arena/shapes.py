"""The form of answers as JSON, by their types: a table of keys for people, and a comparison for tests."""

import dataclasses
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from pydantic import BaseModel

from arena.jsonvalues import is_internal
from referee.reading.docstrings import field_docstrings

SIMPLE = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    datetime: "time",
    date: "day",
}
"""What JSON values of a type are called."""

JSON: Mapping[type, Any] = {int: int, float: int | float, bool: bool}
"""The types of JSON values in Python, other than texts."""


@dataclasses.dataclass(frozen=True, slots=True)
class Key:
    """A key of an object."""

    name: str
    kind: Any
    """The type of its value."""
    told: str
    """Its docstring; empty if there is none."""


def is_object(kind: Any) -> bool:
    """Return whether values of a type are objects with certain keys."""
    if not isinstance(kind, type):
        return False
    return dataclasses.is_dataclass(kind) or issubclass(kind, BaseModel) or is_typeddict(kind)


def keys_of(kind: type) -> Sequence[Key]:
    """Return the keys of objects of a type, in their order."""
    hints = get_type_hints(kind, include_extras=True)
    told, left_out = field_docstrings(kind), getattr(kind, "LEFT_OUT", ())
    if dataclasses.is_dataclass(kind):
        names = [one.name for one in dataclasses.fields(kind)]
    else:
        names = list(getattr(kind, "model_fields", hints))
    return [
        Key(name, hints[name], worded(told.get(name, "")))
        for name in names
        if name not in left_out and not is_internal(hints[name])
    ]


def worded(docstring: str) -> str:
    """Return a docstring as the documentation has it, in one line."""
    text = " ".join(docstring.replace("``", "`").replace("None", "null").split()).replace("|", r"\|")
    return re.sub(r"\bdocs/(\w+\.md)", r"[\1](\1)", text)


def parts_of(kind: Any) -> tuple[Any, bool, bool, bool]:
    """Return the type of the values in a type; whether it can be null, is a list, and has any keys."""
    null = many = free = False
    while True:
        origin, inner = get_origin(kind), get_args(kind)
        if origin is Annotated:
            kind = inner[0]
        elif origin in (Union, UnionType) and NoneType in inner and not many:
            null = True
            [kind] = [one for one in inner if one is not NoneType]
        elif isinstance(origin, type) and issubclass(origin, Mapping):
            return inner[1], null, many, True
        elif isinstance(origin, type) and issubclass(origin, Sequence) and not many:
            many, kind = True, inner[0]
        else:
            return kind, null, many, free


def objects_in(kind: Any) -> Iterator[type]:
    """Yield the types of the objects in a type: itself, or those of its lists and dicts."""
    if is_object(kind):
        yield kind
    for inner in get_args(kind):
        yield from objects_in(inner)


def form(kind: Any) -> str:
    """Return in words what the JSON values of a type are."""
    found, null, many, free = parts_of(kind)
    if free:
        text = "object"
    elif get_origin(found) is Literal or (isinstance(found, type) and issubclass(found, Enum)):
        options = get_args(found) or [one.value for one in found]
        text = " or ".join(", ".join(f"`{one}`" for one in options).rsplit(", ", 1))
    elif names := getattr(found, "_fields", ()):
        text = f"list: {', '.join(names)}"
    elif isinstance(get_origin(found), type) and issubclass(get_origin(found), Sequence):
        text = "list"
    else:
        text = "object" if is_object(found) else SIMPLE.get(found, "any value")
    if many:
        plural = {"any value": "values", "true or false": "truths"}.get(text, f"{text}s")
        text = f"list of {plural}" if "`" not in text else f"list of {text}"
    return f"{text}, or null" if null else text


def differences(value: Any, kind: Any, at: str = "") -> Iterator[str]:
    """Yield where a JSON value is not what its type says: its keys, what is a list, a text or null."""
    found, null, many, free = parts_of(kind)
    if value is None:
        yield from () if null or found in (Any, object) else (f"{at} is null",)
    elif many or free:
        if not isinstance(value, list if many else dict):
            yield f"{at} is {value!r}"
            return
        inside = Mapping[str, found] if many and free else found  # type: ignore[valid-type]
        for one in value.values() if isinstance(value, dict) else value:
            yield from differences(one, inside, f"{at}[]" if many else f"{at}.*")
    elif is_object(found):
        keys = {one.name: one.kind for one in keys_of(found)}
        yield from (f"{at}.{name} is missing" for name in keys.keys() - value.keys())
        yield from (f"{at}.{name} is no key of {found.__name__}" for name in value.keys() - keys.keys())
        for name in keys.keys() & value.keys():
            yield from differences(value[name], keys[name], f"{at}.{name}")
    elif found in SIMPLE and not isinstance(value, JSON.get(found, str)):
        yield f"{at} is {value!r}"


def title_of(kind: type) -> str:
    """Return the title of a type: the beginning of its docstring."""
    return re.split(r"[,;:.](?: |$)|, ", inspect.getdoc(kind) or "", maxsplit=1)[0]

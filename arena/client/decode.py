"""Decoding JSON of the API into the values that use cases return; ``arena.web.shapes`` is the inverse."""

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import date
from enum import Enum
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from arena.jsonnames import names_of

T = TypeVar("T")

Decode = Callable[[Any, str], Any]
"""Decodes the JSON value at a path."""


class NotDecoded(ValueError):
    """Raised if an answer does not have the expected form; the text names the place."""


def decode(kind: type[T], found: object) -> T:
    """Decode a value of a type from its JSON form. Raise NotDecoded.

    Unknown keys are ignored, since later versions of the arena may send more.
    """
    hint: Any = kind
    made: T = _decoder(hint)(found, "")
    return made


@cache
def _decoder(hint: Any) -> Decode:
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _either([_decoder(one) for one in inner if one is not type(None)], type(None) in inner)
    if origin is Literal or hint in (Any, object):
        return lambda found, at: found
    if origin is tuple and inner[-1:] != (...,):
        return _several([_decoder(one) for one in inner])
    if origin in (list, tuple, Sequence):
        return _list(tuple if origin is tuple else list, _decoder(inner[0]))
    if origin in (dict, Mapping) or hint is dict:
        return _mapping(*inner) if inner else _plain(dict)
    return _of_type(hint)


def _of_type(kind: Any) -> Decode:
    if is_dataclass(kind):
        return _dataclass(kind)
    if hasattr(kind, "_fields"):  # a named tuple
        parts = _several([_decoder(one) for one in get_type_hints(kind).values()])
        return lambda found, at: kind(*parts(found, at))
    if issubclass(kind, Enum):
        return _parsed(kind)
    if issubclass(kind, date):
        return _parsed(kind.fromisoformat)
    if hasattr(kind, "model_validate"):  # a model of Pydantic
        return _parsed(kind.model_validate)
    if kind is float:
        return _number
    return _plain(kind)


def _dataclass(kind: Any) -> Decode:
    names, hints = names_of(kind), get_type_hints(kind)
    parts = [(one, names.get(one.name, one.name), hints[one.name]) for one in fields(kind)]

    def made(found: Any, at: str) -> Any:
        whole = _plain(dict)(found, at)
        values = {}
        for field, key, hint in parts:
            if key in whole:
                values[field.name] = _decoder(hint)(whole[key], f"{at}.{key}".lstrip("."))
            elif not _has_default(field):
                values[field.name] = _left_out(key, hint, at)
        return kind(**values)

    return made


def _has_default(field: "Field[Any]") -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING


def _left_out(key: str | None, hint: Any, at: str) -> Any:
    """Return the value of a field that was not sent: None, an empty value, or 0 for an internal number."""
    if type(None) in get_args(hint):
        return None
    if key is None:
        return hint()
    raise NotDecoded(f"{at}.{key}".lstrip(".") + " is missing")


def _either(decoders: Sequence[Decode], none: bool) -> Decode:
    def made(found: Any, at: str) -> Any:
        if found is None and none:
            return None
        for decoder in decoders[:-1]:
            try:
                return decoder(found, at)
            except NotDecoded:
                continue
        return decoders[-1](found, at)

    return made


def _list(kind: Callable[[Any], Any], decoder: Decode) -> Decode:
    def made(found: Any, at: str) -> Any:
        listed = _plain(list)(found, at)
        return kind([decoder(one, f"{at}[{place}]") for place, one in enumerate(listed)])

    return made


def _several(decoders: Sequence[Decode]) -> Decode:
    def made(found: Any, at: str) -> Any:
        listed = _plain(list)(found, at)
        if len(listed) != len(decoders):
            raise NotDecoded(f"{at} has {len(listed)} parts, not {len(decoders)}")
        return tuple(decoder(one, at) for decoder, one in zip(decoders, listed, strict=True))

    return made


def _mapping(key: Any, value: Any) -> Decode:
    decoder, parse = _decoder(value), int if key is int else str

    def made(found: Any, at: str) -> Any:
        whole = _plain(dict)(found, at)
        try:
            return {parse(name): decoder(one, f"{at}.{name}".lstrip(".")) for name, one in whole.items()}
        except ValueError as error:
            raise NotDecoded(f"{at}: {error}") from None

    return made


def _parsed(parse: Callable[[Any], Any]) -> Decode:
    def made(found: Any, at: str) -> Any:
        try:
            return parse(found)
        except (ValueError, TypeError) as error:
            raise NotDecoded(f"{at}: {str(error).splitlines()[0]}") from None

    return made


def _number(found: Any, at: str) -> float:
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise NotDecoded(f"{at or 'it'} is {type(found).__name__}, not a number")
    return float(found)


def _plain(kind: type) -> Decode:
    def made(found: Any, at: str) -> Any:
        if not isinstance(found, kind) or (kind is int and isinstance(found, bool)):
            raise NotDecoded(f"{at or 'it'} is {type(found).__name__}, not {kind.__name__}")
        return found

    return made

"""Values as JSON objects and back: what use cases return, as the API, the command line and clients have it.

The keys are the fields (docs/json.md lists them).
"""

from functools import cache
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

T = TypeVar("T")

Internal: TypeAlias = Annotated[T, Field(exclude=True)]
"""A field that is left out of JSON; it needs a default."""


class NotDecoded(ValueError):
    """Raised if JSON does not have the expected form; the text names the place."""


def is_internal(hint: object) -> bool:
    """Return whether a field of this type is left out of JSON."""
    return any(getattr(note, "exclude", None) for note in getattr(hint, "__metadata__", ()))


def to_json(value: object) -> Any:
    """Return a value as JSON has it: of dicts, lists, texts, numbers and None."""
    kind: Any = type(value)
    return _adapter(kind).dump_python(value, mode="json")


def from_text(kind: type[T], text: bytes | str) -> T:
    """Read a value of a type from JSON. Raise NotDecoded, or another ValueError if it is no JSON.

    Unknown keys are ignored, since later versions of the arena may send more.
    """
    hashed: Any = kind
    try:
        value: T = _adapter(hashed).validate_json(text, strict=True)
    except ValidationError as error:
        [first, *_] = error.errors(include_url=False, include_context=False, include_input=False)
        if first["type"] == "json_invalid":
            raise ValueError(first["msg"]) from None
        place = "".join(f"[{at}]" if isinstance(at, int) else f".{at}" for at in first["loc"]).lstrip(".")
        raise NotDecoded(f"{place}: {first['msg']}" if place else first["msg"]) from None
    return value


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)

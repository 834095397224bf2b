"""The JSON objects of the API, derived from the dataclasses of the use cases, with the same keys everywhere.

docs/json.md lists them, since the command line prints the same objects.
"""

import inspect
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model

from arena.jsonnames import names_of
from referee.docstrings import tell_fields


@cache
def shape(kind: type) -> type[BaseModel]:
    """Return the model of the JSON object for a dataclass, and for all dataclasses within it.

    Keys are those of ``arena.jsonnames``; the fields' docstrings become descriptions.
    """
    if not is_dataclass(kind):
        raise TypeError(f"{kind.__name__} is no dataclass")
    hints, names = get_type_hints(kind), names_of(kind)
    made: dict[str, Any] = {}
    for field in fields(kind):
        name = names.get(field.name, field.name)
        if name is None:
            continue
        default = ... if field.default is MISSING else field.default
        info = Field(default, validation_alias=field.name)
        made[name] = (_inner(hints[field.name]), info)
    config = ConfigDict(
        from_attributes=True,
        defer_build=True,  # until a route first answers
        json_schema_extra=lambda schema: tell_fields(schema, kind, names),
    )
    return create_model(
        kind.__name__, __config__=config, __doc__=inspect.getdoc(kind), __module__=kind.__module__, **made
    )


def _inner(hint: Any) -> Any:
    """Return a type with the dataclasses in it replaced by their models."""
    if isinstance(hint, type) and is_dataclass(hint):
        return shape(hint)
    origin, inner = get_origin(hint), get_args(hint)
    if origin is None or not inner:
        return hint
    replaced = tuple(one if one is ... else _inner(one) for one in inner)
    return Union[replaced] if origin in (Union, UnionType) else origin[replaced]  # noqa: UP007

"""The JSON objects of the API, made from what the use cases return; a key is called the same everywhere.

docs/json.md has them, as the command line prints the same ones.
"""

import ast
import inspect
import textwrap
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model

from arena.jsonnames import names_of


@cache
def shape(kind: type) -> type[BaseModel]:
    """Return the model of the JSON object of a dataclass, and of all those within it.

    Keys are those of ``arena.jsonnames``; the fields' docstrings become descriptions.
    """
    if not is_dataclass(kind):
        raise TypeError(f"{kind.__name__} is no dataclass")
    hints, told, names = get_type_hints(kind), _docstrings(kind), names_of(kind)
    made: dict[str, Any] = {}
    for field in fields(kind):
        name = names.get(field.name, field.name)
        if name is None:
            continue
        default = ... if field.default is MISSING else field.default
        info = Field(default, description=told.get(field.name), validation_alias=field.name)
        made[name] = (_inner(hints[field.name]), info)
    config = ConfigDict(from_attributes=True)
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


def _docstrings(kind: type) -> dict[str, str]:
    """Return the lines under the fields of a class, by field."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if not is_dataclass(base):
            continue
        [tree] = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        assert isinstance(tree, ast.ClassDef)
        for field, text in zip(tree.body, tree.body[1:], strict=False):
            told = isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant) and text.value.value
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and isinstance(told, str)
            ):
                found[field.target.id] = inspect.cleandoc(told)
    return found

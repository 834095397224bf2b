"""What fields of classes say about themselves: docstrings, and how forms show them.

Docstrings are read from the source only when they are shown: with ``use_attribute_docstrings`` pydantic
would read them whenever a class is loaded, which takes a tenth of a process's start-up time.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any


@dataclass(frozen=True, slots=True)
class FormField:
    """How forms show a field, as an annotation of its type."""

    group: str
    """The title of the fields among which it stands."""
    label: str = ""
    """Its name for people; empty for one made of the field's name."""
    rare: bool = False
    """Whether it is folded away at first."""
    choices: tuple[tuple[str, str], ...] = ()
    """Values to choose from, and the words for each; empty if the type says it all."""


@cache
def field_docstrings(kind: type) -> Mapping[str, str]:
    """Return the docstrings of a class's fields, inherited ones too, by field."""
    return dict(line for base in reversed(kind.__mro__) if _is_ours(base) for line in _under_fields(base))


def tell_fields(schema: dict[str, Any], kind: type, names: Mapping[str, str | None] | None = None) -> None:
    """Describe the fields in a class's JSON Schema that have no description yet.

    This is for pydantic's ``json_schema_extra``; ``names`` maps fields that have another name in the schema.
    """
    properties = schema.get("properties", {})
    for field, text in field_docstrings(kind).items():
        schema_of = properties.get((names or {}).get(field, field))
        if schema_of is not None:
            schema_of.setdefault("description", text)


def _is_ours(base: type) -> bool:
    """Return whether a class may have fields of ours, and is not one of pydantic's own."""
    return "__annotations__" in vars(base) and base.__module__.partition(".")[0] != "pydantic"


def _under_fields(kind: type) -> Iterator[tuple[str, str]]:
    """Yield the names and docstrings of the fields that a class itself declares."""
    import ast
    import inspect
    import textwrap

    [tree] = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(tree, ast.ClassDef)
    for field, text in zip(tree.body, tree.body[1:], strict=False):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(docstring))):
                yield name, inspect.cleandoc(docstring)

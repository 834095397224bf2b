"""How to read fields of a ruleset whose types do not say enough; pydantic calls these objects."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Interval

from referee.reading.docstrings import tell_fields
from referee.reading.validation import short

if TYPE_CHECKING:
    from pydantic import ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic_core import CoreSchema
    from pydantic_core.core_schema import ValidationInfo

Fields = Mapping[str, Any]
"""Fields of the same object that come before this one and are valid."""

ALIASES = {"start": "from"}
"""Fields that have another name in an object: ``from`` is a Python keyword."""

CONFIG: "ConfigDict" = {
    "extra": "forbid",
    "json_schema_extra": lambda schema, kind: tell_fields(schema, kind, ALIASES),
    "alias_generator": lambda name: ALIASES.get(name, name),
}
"""How pydantic reads a ruleset and its parts."""


@dataclass(frozen=True, slots=True)
class Step:
    """A function that takes part in reading a field, and raises ValueError for what it refuses."""

    function: Callable[[Any, Fields], object]
    when: Literal["before", "instead", "after"]
    """Before, after or instead of what the field's type requires."""
    schema: Mapping[str, object] | None = None
    """The JSON Schema of what is read; None for the one of the field's type."""

    def __get_pydantic_core_schema__(self, source: object, handler: "GetCoreSchemaHandler") -> "CoreSchema":
        from pydantic_core import core_schema

        def call(value: Any, info: "ValidationInfo") -> object:
            return self.function(value, info.data)

        if self.when == "instead":
            return core_schema.with_info_plain_validator_function(call)
        make = (
            core_schema.with_info_before_validator_function
            if self.when == "before"
            else core_schema.with_info_after_validator_function
        )
        return make(call, handler(source))

    def __get_pydantic_json_schema__(
        self, core: "CoreSchema", handler: "GetJsonSchemaHandler"
    ) -> dict[str, Any]:
        return handler(core) if self.schema is None else dict(self.schema)


class Exactly:
    """Accept nothing but the field's type: no text as a number, no number as true or false."""

    def __get_pydantic_core_schema__(self, source: object, handler: "GetCoreSchemaHandler") -> "CoreSchema":
        return {**handler(source), "strict": True}


def distinct(value: Sequence[str], _: Fields) -> Sequence[str]:
    """Return the names. Raise ValueError if there is one of them twice."""
    for name in value:
        if value.count(name) > 1:
            raise ValueError(f"has {name!r} twice")
    return value


distinct_names = Step(distinct, "after")
null_by_name = Step(lambda value, _: None if value == "none" else value, "before")
"""For fields that are ``"none"`` in a TOML file, which has no null."""

LARGEST = 1_000_000
"""The largest absolute value in a ruleset; ``axes.scoring`` bounds what the values may add up to."""

Whole = Annotated[int, Exactly()]


def whole_or_all(most: int) -> Step:
    """Return how to read a whole number from 1 to ``most``, or ``all``."""

    def read(value: object, _: Fields) -> object:
        if value == "all" or (type(value) is int and 1 <= value <= most):
            return value
        raise ValueError(f"must be a whole number from 1 to {most}, or 'all', not {short(value)}")

    schema = {"anyOf": [{"type": "integer", "minimum": 1, "maximum": most}, {"const": "all"}]}
    return Step(read, "instead", schema)


Positive = Annotated[Whole, Interval(ge=1, le=LARGEST)]
Points = Annotated[Whole, Interval(ge=-LARGEST, le=LARGEST)]
Flag = Annotated[bool, Exactly()]

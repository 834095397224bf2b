"""How to read fields of a ruleset whose types do not say enough; pydantic calls these objects."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from referee.reading.docstrings import tell_fields

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

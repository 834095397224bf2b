"""Fields of forms: an empty one counts as not given."""

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator

from arena.errors import SpecError
from arena.web.storable import NUL


class FromForm(BaseModel):
    """Fields of a form, in the query of an address."""

    model_config = ConfigDict(frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _without_empty(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        if wrong := [name for name, value in given.items() if isinstance(value, str) and "\0" in value]:
            raise SpecError(wrong[0], NUL)
        return {name: value for name, value in given.items() if not isinstance(value, str) or value.strip()}

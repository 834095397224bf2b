"""Reading a whole ruleset object with pydantic, which is loaded only here."""

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from referee.errors import RulesetError
from referee.reading.validation import Wording, problems
from referee.ruleset.model import Ruleset

ADAPTER = TypeAdapter(Ruleset)

_WORDING = Wording("a ruleset", keys_at_parent=True)


def read_ruleset(value: Mapping[str, object]) -> Ruleset:
    """Return the ruleset in a resolved object, with each field checked on its own.

    Raise RulesetError for unknown and missing fields, and for values outside their field's type or range.
    """
    try:
        return ADAPTER.validate_python(value)
    except ValidationError as error:
        raise RulesetError.of(problems(error, json_schema(), _WORDING)) from None


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a resolved ruleset object."""
    return ADAPTER.json_schema()

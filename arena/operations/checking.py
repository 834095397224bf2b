"""The limits of parameters: checked for callers in this process, and worded for all."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Any, get_origin

from pydantic import TypeAdapter, ValidationError

from arena.errors import SpecError
from arena.operations.operation import Operation, Parameter
from referee.errors import Problem
from referee.reading.validation import Node, first_of, node_at, requirement, short, suggestion

Details = Mapping[str, Any]
"""An error that pydantic found."""


def require_valid(operation: Operation[..., Any], values: Mapping[str, object]) -> None:
    """Raise SpecError for parameters that are not within their limits.

    The limit of a page is not checked, since it is one of what is sent.
    """
    wrong: list[Problem] = []
    for name, parameter in operation.parameters.items():
        paged = bool(operation.lines) and name == "limit"
        if not paged and get_origin(parameter.kind) is Annotated and values[name] != parameter.default:
            _checked(parameter, values[name], wrong)
    if wrong:
        raise SpecError.of(wrong)


def read_texts(
    operation: Operation[..., Any], texts: Mapping[str, Sequence[str]], fixed: Mapping[str, object]
) -> dict[str, Any]:
    """Return the parameters of an operation that are given as texts, as forms have them.

    Those in ``fixed`` are left out. A list is given as several texts, with an item in each line; an object,
    as JSON. Raise SpecError, which names every parameter that is missing or wrong.
    """
    values: dict[str, Any] = {}
    wrong: list[Problem] = []
    for name, parameter in operation.parameters.items():
        if name in fixed:
            continue
        if name in texts:
            kind = schema_of(parameter.kind).get("type")
            value = _lines(texts[name]) if kind == "array" else texts[name][-1]
            values[name] = _checked(parameter, value, wrong, is_json=kind == "object")
        elif parameter.required:
            wrong.append(Problem(name, "is missing"))
    if wrong:
        raise SpecError.of(wrong)
    return values


def _lines(texts: Sequence[str]) -> list[str]:
    """Return all lines that are not empty."""
    return [line.strip() for text in texts for line in text.splitlines() if line.strip()]


def _checked(parameter: Parameter, value: Any, wrong: list[Problem], is_json: bool = False) -> Any:
    """Return a value as a parameter has it; if it is not within its limits, add to ``wrong`` why not."""
    adapter, schema = _adapter(parameter.kind)
    try:
        return adapter.validate_json(value) if is_json else adapter.validate_python(value)
    except ValidationError as error:
        problems = [Problem(parameter.name, reason(each, schema)) for each in error.errors(include_url=False)]
        wrong += first_of(problems, lambda each: [each])
        return None


def schema_of(kind: Any, *path: str | int) -> Node:
    """Return the JSON Schema of a parameter's type, or of what is at a path in it, without null."""
    return node_at(_adapter(kind)[1], path)


@cache
def _adapter(kind: Any) -> tuple[TypeAdapter[Any], Node]:
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    return adapter, adapter.json_schema()


def reason(error: Details, schema: Node) -> str:
    """Return what is wrong with a value, by pydantic's error and the JSON Schema of the whole."""
    kind, limits = error["type"], error.get("ctx", {})
    if kind == "missing":
        return "is missing"
    if kind == "json_invalid":
        return f"is not JSON: {limits['error']}"
    if kind == "extra_forbidden":
        fields = list(node_at(schema, error["loc"][:-1]).get("properties", {}))  # type: ignore[call-overload]
        return f"is not a field{suggestion(str(error['loc'][-1]), fields)}"
    if kind == "string_too_long":
        return f"must have at most {limits['max_length']} characters, not {len(error['input'])}"
    if kind == "string_too_short":
        return f"must have at least {limits['min_length']} characters, not {len(error['input'])}"
    if kind in ("too_short", "too_long"):
        bound, number = ("least", "min_length") if kind == "too_short" else ("most", "max_length")
        items = "item" if limits[number] == 1 else "items"
        return f"must have at {bound} {limits[number]} {items}, not {limits['actual_length']}"
    if isinstance(error["input"], bytes):
        return "must be JSON, with the header Content-Type: application/json"
    if kind.startswith("datetime_"):
        return f"must be a time like 2026-01-05T18:00:00Z, not {short(error['input'])}"
    node = node_at(schema, error["loc"])
    if kind == "value_error" or not {"type", "enum", "const"} & node.keys():
        return str(error["msg"]).removeprefix("Value error, ")
    return f"must be {requirement(node)}, not {short(error['input'])}"

"""What applying a league would change, field by field."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard


@dataclass(frozen=True, slots=True)
class Change:
    """A field that would change."""

    field: str
    """Its path, as ``divisions.first.size``."""
    before: object
    """The old value; None if there was none."""
    after: object
    """The new value; None if there will be none."""


def changes(before: Mapping[str, object], after: Mapping[str, object]) -> list[Change]:
    """Return the differences between two leagues as objects; tables in a list are matched by name."""
    old, new = dict(_flat("", before)), dict(_flat("", after))
    return [
        Change(field, old.get(field), new.get(field))
        for field in [*new, *(field for field in old if field not in new)]
        if old.get(field) != new.get(field)
    ]


def _flat(prefix: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(f"{prefix}.{key}" if prefix else str(key), inner)
    elif _is_tables(value):
        yield prefix, [table["name"] for table in value]
        for table in value:
            rest = {key: inner for key, inner in table.items() if key != "name"}
            yield from _flat(f"{prefix}.{table['name']}", rest)
    elif value is not None:
        yield prefix, value


def _is_tables(value: object) -> TypeGuard[Sequence[Mapping[str, object]]]:
    return isinstance(value, list) and all(isinstance(one, Mapping) and "name" in one for one in value)

"""Comma-separated values, as RFC 4180 has them, for spreadsheets and scripts."""

import csv
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date
from enum import Enum
from typing import TYPE_CHECKING, Any, TextIO, get_args

from referee.plain import plain

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

FORMULA = ("=", "+", "-", "@")
"""What texts begin with that spreadsheets take for formulas."""


def write_lines(
    file: TextIO,
    kind: "type[DataclassInstance]",
    lines: Sequence["DataclassInstance"],
    names: Mapping[str, str] = {},
    without: Collection[str] = (),
) -> None:
    """Write lines of one kind, as ``write_rows`` does; columns within others are named with a dot.

    ``names`` has the fields that are called otherwise there.
    """
    paths = [path for path in _columns(kind) if path[0] not in without]
    columns = [".".join([names.get(path[0], path[0]), *path[1:]]) for path in paths]
    write_rows(file, columns, ([_at(line, path) for path in paths] for line in lines))


def write_rows(file: TextIO, columns: Sequence[str], rows: Iterable[Iterable[object]]) -> None:
    """Write a header and rows, with commas, and lines that end with CR and LF.

    Columns are named as the keys of JSON. What consists of several values has spaces between them. Control
    characters are written out, and texts, other than numbers, that a spreadsheet would take for formulas
    begin with an apostrophe.
    """
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(value) for value in row])


def _columns(kind: Any) -> Iterator[tuple[str, ...]]:
    """Yield the paths of the fields of a dataclass, and of those that it has within."""
    for field in fields(kind):
        within = [one for one in (field.type, *get_args(field.type)) if is_dataclass(one)]
        if within:
            yield from ((field.name, *path) for path in _columns(within[0]))
        else:
            yield (field.name,)


def _at(value: object, path: Sequence[str]) -> object:
    for name in path:
        value = None if value is None else getattr(value, name)
    return value


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, (list, tuple)):
        numbers = all(isinstance(part, (int, float)) for part in value)
        text = " ".join(map(_raw, value))
        return text if numbers else _text(text)
    return _raw(value) if isinstance(value, (int, float)) else _text(_raw(value))


def _raw(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Enum):
        return str(value.value)
    return value.isoformat() if isinstance(value, date) else str(value)


def _text(text: str) -> str:
    text = plain(text)
    return f"'{text}" if text.startswith(FORMULA) else text

"""The columns of answers, and lines as comma-separated values (RFC 4180) for spreadsheets and scripts."""

import csv
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import date
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, Literal, TextIO, TypeVar, get_args

from arena.jsonvalues import is_internal
from referee.reading.plain import plain

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Line = TypeVar("Line")

Form = Literal["text", "bot", "whole", "number", "signed", "share", "date", "change", "sum", "mean"]
"""How values are written that are not texts: ``number`` has up to two decimals, ``signed`` two and a sign;
``change`` is a pair of a value and the one before; ``sum`` and ``mean`` are a number, or a signed
one, with a 95 % margin."""


@dataclass(frozen=True, slots=True)
class Column(Generic[Line]):
    """A column of lines on terminals and pages; as comma-separated values, lines have all fields."""

    head: str
    value: Callable[[Line], Any]
    """What a line has in it; None if nothing."""
    form: Form = "whole"
    about: str = ""
    """What it means, as part of a sentence."""
    terminal: bool = True
    """Whether terminals show it."""
    mark: Callable[[Line], str] = lambda _: ""
    """What terminals show behind the value."""
    page: Literal["", "p1", "p2", "p3"] | None = ""
    """The class of screens too narrow for it; empty: all pages show it; None: none does."""

    @property
    def numeric(self) -> bool:
        """Whether its values are aligned to the right."""
        return self.form not in ("text", "bot", "date")


FORMULA = ("=", "+", "-", "@")
"""The first characters of texts that spreadsheets take for formulas."""


def write_lines(
    file: TextIO,
    kind: "type[DataclassInstance]",
    lines: Sequence["DataclassInstance"],
    without: Collection[str] = (),
) -> None:
    """Write dataclasses of one kind as ``write_rows`` does; nested fields are named with a dot."""
    paths = [path for path in _columns(kind) if path[0] not in without]
    write_rows(
        file, [".".join(path) for path in paths], ([_at(line, path) for path in paths] for line in lines)
    )


def write_rows(file: TextIO, columns: Sequence[str], rows: Iterable[Iterable[object]]) -> None:
    """Write a header and rows, separated by commas, with lines that end with CR and LF.

    Columns are named like the keys in JSON. Several values in a column are separated by spaces. Control
    characters are escaped, and texts, other than numbers, that a spreadsheet would take for formulas get an
    apostrophe at the beginning.
    """
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(value) for value in row])


def _columns(kind: Any) -> Iterator[tuple[str, ...]]:
    """Yield the paths of the fields of a dataclass, including nested ones."""
    for field in fields(kind):
        if is_internal(field.type):
            continue
        within = [type_ for type_ in (field.type, *get_args(field.type)) if is_dataclass(type_)]
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
    return value.isoformat().replace("+00:00", "Z") if isinstance(value, date) else str(value)


def _text(text: str) -> str:
    text = plain(text)
    return f"'{text}" if text.startswith(FORMULA) else text

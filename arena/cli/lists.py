"""Lists in pages, for people and for scripts: JSON, CSV, and where the next page begins."""

import csv
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from datetime import UTC, date, datetime
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from arena.cli.output import print_json, say
from referee.plain import plain

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

AsCsv = Annotated[bool, typer.Option("--csv", help="Print comma-separated values, with a header line.")]

Cursor = Annotated[
    str | None,
    typer.Option(help="Continue after the page that ended with this cursor; repeat the other options."),
]

LARGEST_PAGE = 10_000
"""Most lines of a page."""

FORMULA = ("=", "+", "-", "@")
"""What texts begin with that spreadsheets take for formulas."""


def print_list(
    key: str,
    kind: "type[DataclassInstance]",
    lines: Sequence["DataclassInstance"],
    *,
    as_json: bool,
    as_csv: bool,
    next: str | None = None,
    paged: bool = True,
    names: Mapping[str, str] = {},
) -> bool:
    """Print lines of one kind for scripts, if that is asked for; return whether it was.

    ``names`` has the fields that are called otherwise there; ``paged`` tells whether there may be more pages.
    Raise BadParameter if both forms are asked for.
    """
    check_form(as_json, as_csv)
    if as_json:
        found = {key: [objected(line, names) for line in lines]}
        print_json(found | {"next": next} if paged else found)
    elif as_csv:
        print_csv(kind, lines, names)
        if next is not None:
            print(f"more: --cursor {next}", file=sys.stderr)
    return as_json or as_csv


def check_form(as_json: bool, as_csv: bool) -> None:
    """Raise BadParameter if both forms are asked for."""
    if as_json and as_csv:
        raise typer.BadParameter("JSON or CSV, not both", param_hint="'--csv'")


def say_next(next: str | None) -> None:
    """Tell how the next page is shown, if there is one."""
    if next is not None:
        say(f"more: --cursor {next}")


def objected(value: "DataclassInstance", names: Mapping[str, str]) -> dict[str, object]:
    """Return a dataclass for scripts."""
    return {names.get(name, name): part for name, part in asdict(value).items()}


def print_csv(
    kind: "type[DataclassInstance]",
    lines: Sequence["DataclassInstance"],
    names: Mapping[str, str] = {},
    without: Collection[str] = (),
) -> None:
    """Print lines of one kind, as ``print_rows`` does; columns within others are named with a dot."""
    paths = [path for path in _columns(kind) if path[0] not in without]
    columns = [".".join([names.get(path[0], path[0]), *path[1:]]) for path in paths]
    print_rows(columns, ([_at(line, path) for path in paths] for line in lines))


def print_rows(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> None:
    """Print rows as RFC 4180 has it: a header, commas, lines that end with CR and LF.

    Columns are named as the keys of JSON. What consists of several values has spaces between them. Control
    characters are written out, and texts, other than numbers, that a spreadsheet would take for formulas
    begin with an apostrophe.
    """
    writer = csv.writer(sys.stdout, lineterminator="\r\n")
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


def moment_of(given: str, option: str) -> datetime:
    """Return the time that a text means: a date, at its beginning, or a time in ISO 8601.

    Without a zone it is in UTC, as all dates of scripts are. Raise BadParameter for anything else.
    """
    try:
        found = datetime.fromisoformat(given)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        text = f"{given[:40]!r} is no date: 2026-01-31, or 2026-01-31T18:00 (UTC)"
        raise typer.BadParameter(text, param_hint=f"'{option}'") from None

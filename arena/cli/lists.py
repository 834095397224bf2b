"""Lists in pages, for people and for scripts: JSON, CSV, and the cursor of the next page."""

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from arena.tabular import write_lines, write_rows
from referee.cli.output import print_json, say

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

AsCsv = Annotated[bool, typer.Option("--csv", help="Print comma-separated values, with a header line.")]

Cursor = Annotated[
    str | None,
    typer.Option(help="Continue after the page that ended with this cursor; repeat the other options."),
]

LARGEST_PAGE = 10_000
"""Maximum number of lines in a page."""


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
    """Print lines of one kind as JSON or CSV, if that is requested; return whether it was.

    ``names`` has the fields that have other names there; ``paged`` says whether there may be more pages.
    Raise BadParameter if both forms are requested.
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
    """Raise BadParameter if both forms are requested."""
    if as_json and as_csv:
        raise typer.BadParameter("JSON or CSV, not both", param_hint="'--csv'")


def say_next(next: str | None) -> None:
    """Say how to get the next page, if there is one."""
    if next is not None:
        say(f"more: --cursor {next}")


def say_cut(shown: int, limit: int, how: str) -> None:
    """Say how to see what may follow a list without cursors, if it is as long as its limit."""
    if shown == limit:
        say(f"at most {limit} are shown; there may be more: {how}")


def objected(value: "DataclassInstance", names: Mapping[str, str]) -> dict[str, object]:
    """Return a dataclass as an object for JSON."""
    return {names.get(name, name): part for name, part in asdict(value).items()}


def print_csv(
    kind: "type[DataclassInstance]",
    lines: Sequence["DataclassInstance"],
    names: Mapping[str, str] = {},
    without: Collection[str] = (),
) -> None:
    """Print lines of one kind as comma-separated values (``arena.tabular``)."""
    write_lines(sys.stdout, kind, lines, names, without)


def print_rows(columns: Sequence[str], rows: Iterable[Iterable[object]]) -> None:
    """Print rows as comma-separated values."""
    write_rows(sys.stdout, columns, rows)


def moment_of(given: str, option: str) -> datetime:
    """Parse a time: a date, which means its beginning, or a time in ISO 8601.

    Without a zone it is in UTC. Raise BadParameter for anything else.
    """
    try:
        found = datetime.fromisoformat(given)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        text = f"{given[:40]!r} is not a date: write 2026-01-31, or 2026-01-31T18:00 (UTC)"
        raise typer.BadParameter(text, param_hint=f"'{option}'") from None

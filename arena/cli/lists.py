"""Lists in pages, for people and for scripts: JSON, CSV, and the cursor of the next page."""

import sys
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.tabular import write_lines
from referee.cli.output import say

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

AsCsv = Annotated[bool, typer.Option("--csv", help="Print comma-separated values, with a header line.")]

Cursor = Annotated[
    str | None,
    typer.Option(help="Continue after the page that ended with this cursor; repeat the other options."),
]

LARGEST_PAGE = 10_000
"""Maximum number of lines in a page."""


def check_form(as_json: bool, as_csv: bool) -> None:
    """Raise BadParameter if both forms are requested."""
    if as_json and as_csv:
        raise typer.BadParameter("JSON or CSV, not both", param_hint="'--csv'")


def say_next(next: str | None) -> None:
    """Say how to get the next page, if there is one."""
    if next is not None:
        say(f"more: --cursor {next}")


def more_of(found: Any) -> Iterator[str]:
    """Yield how to go on after a page, or after the beginnings of several lists that were cut."""
    for one in getattr(found, "cut", ()):
        of_which = "" if found.next else f" of {one.ruleset}, tables of {one.table_size}"
        yield f"more{of_which}: --cursor {one.next}"
    if not hasattr(found, "cut") and getattr(found, "next", None) is not None:
        yield f"more: --cursor {found.next}"


def print_csv(
    kind: "type[DataclassInstance]",
    lines: Sequence["DataclassInstance"],
    without: Collection[str] = (),
) -> None:
    """Print lines of one kind as comma-separated values (``arena.tabular``)."""
    write_lines(sys.stdout, kind, lines, without)


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

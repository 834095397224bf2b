"""How results are shown: tables for people, JSON for scripts."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from referee.reading.plain import plain

if TYPE_CHECKING:
    from rich.console import Console

OUTPUT = "bigtwo-cli/1"
"""Version of what ``--json`` prints: keys may be added, but change or disappear only with a new version."""

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]

MOST = 2**31 - 1
"""Largest number that an option accepts unless something else limits it; it fits an integer column."""

WIDE = 1_000_000
"""Width without a terminal: what goes into a file or a pipe is neither cut nor folded."""


def console() -> "Console":
    """Return a console on the current standard output; printable text is shown as it is, brackets too."""
    # Rich takes as long to load as everything else together, and JSON does not need it.
    from referee.cli.tables import PlainConsole

    width = None if sys.stdout.isatty() else WIDE
    return PlainConsole(width=width, markup=False, highlight=False, emoji=False)


def say(*lines: str) -> None:
    """Print lines for people."""
    for line in lines:
        console().print(line, soft_wrap=True)


def note(*lines: str) -> None:
    """Print lines that explain the table above them; on terminals they are broken between words."""
    for line in lines:
        console().print(line)


def warn(*lines: str) -> None:
    """Print lines of warning on standard error."""
    for line in lines:
        print(f"warning: {plain(line)}", file=sys.stderr)


def headline(text: str) -> None:
    """Print a line that stands above a table."""
    console().print(text, style="bold", soft_wrap=True)


def show(columns: Sequence[str], rows: Sequence[Sequence[object]], empty: str) -> None:
    """Print a table, or the line ``empty`` if there are no rows."""
    if rows:
        from referee.cli.tables import table

        console().print(table(columns, rows))
    else:
        say(empty)


def print_json(fields: Mapping[str, object]) -> None:
    """Print one JSON document in ASCII (docs/json.md); dataclasses are objects, times are in ISO 8601."""
    print(json_text(fields))


def json_text(fields: Mapping[str, object]) -> str:
    """Return the JSON document that ``print_json`` prints."""
    return json.dumps({"output": OUTPUT, **fields}, default=_plain, indent=2)


def print_json_line(fields: Mapping[str, object]) -> None:
    """Print one JSON document in a line of its own, at once."""
    print(json.dumps({"output": OUTPUT, **fields}, default=_plain), flush=True)


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, date):  # or a datetime, which is a date too
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def moment(time: datetime | None) -> str:
    """Format a time for people, in the local time zone and with its name."""
    return time.astimezone().strftime("%Y-%m-%d %H:%M %Z") if time else ""


def change(value: float) -> str:
    """Format a change as a whole number with its sign: +3, -12, +0 but never -0."""
    return f"{round(value):+d}"


def number(value: float) -> str:
    """Format a number with at most two decimals and no trailing zeros: 3, 2.5, -1234567.25."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text

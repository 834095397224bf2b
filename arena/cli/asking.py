"""Asking for confirmation before something that cannot be undone."""

import sys
from typing import Annotated

import typer

from arena.errors import StateError

Force = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]


def confirm(what: str, yes: bool) -> None:
    """Ask on the terminal for confirmation of ``what``, a sentence without its question mark.

    Return if it is confirmed, or with ``yes``. Raise StateError if not, or if nobody can be asked.
    """
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise StateError(f"{what}: not confirmed; without a terminal, add --yes")
    print(f"{what}? [y/N] ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline()
    if not answer:
        raise typer.Abort
    if answer.strip().lower() not in ("y", "yes"):
        raise StateError("nothing was changed")

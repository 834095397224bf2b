"""``arena export``: a tournament as one file."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from arena.cli.context import Force, ask, client_of, is_here, storage_of
from arena.cli.linefiles import progress, write_lines
from arena.operations import tournaments
from arena.trust.exports.write import export_lines, export_records
from referee.cli.output import say
from referee.cli.tables import PlainConsole
from referee.processes.interrupts import unwound_on_signals
from referee.records.record import FORMAT

DEAL, FIRST = f'{{"format":"{FORMAT}"', '"deal":1,'
"""The beginning of all deal records in exports, and what only the first deal of a session contains."""


def export(
    ctx: typer.Context,
    tournament: Annotated[str, typer.Argument(help="The tournament's name.")],
    output: Annotated[
        Path | None, typer.Option(help="File to write; the default is standard output.")
    ] = None,
    deals: Annotated[bool, typer.Option("--deals", help="Write the deal records only.")] = False,
    force: Force = False,
) -> None:
    """Write a tournament as JSON lines: all that `arena verify` needs, including every deal record.

    The file appears whole or not at all; an existing file is replaced only with --force.
    """
    if output is None:
        with _exported(ctx, tournament, deals) as lines:
            for line in lines:
                print(line)
        return
    with unwound_on_signals(), _exported(ctx, tournament, deals) as lines:
        count = write_lines(output, _watched(ctx, tournament, lines), force=force)
    say(f"{count} {'deals' if deals else 'lines'} written to {output}")


@contextmanager
def _exported(ctx: typer.Context, tournament: str, deals: bool) -> Iterator[Iterator[str]]:
    if is_here(ctx):
        with storage_of(ctx) as storage:
            yield (export_records if deals else export_lines)(storage, tournament)
    else:
        with client_of(ctx) as arena:
            yield arena.export(tournament, deals=deals)


def _watched(ctx: typer.Context, tournament: str, lines: Iterator[str]) -> Iterator[str]:
    """Yield the lines of an export, and show the progress on a terminal."""
    out = PlainConsole(stderr=True)
    total = ask(ctx, tournaments.show_tournament, tournament).sessions_done if out.is_terminal else 0
    with progress(tournament, total, out) as show:
        yield from seen(lines, show)


def seen(lines: Iterator[str], show: Callable[[int, int], None]) -> Iterator[str]:
    """Yield the lines of an export, and call ``show`` with the numbers of sessions begun and deals passed."""
    sessions = deals = 0
    for line in lines:
        yield line
        if line.startswith(DEAL):
            deals += 1
            sessions += FIRST in line
            show(sessions, deals)

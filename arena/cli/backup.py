"""``arena backup`` and ``arena restore``: the database as one file."""

from pathlib import Path
from typing import Annotated

import typer

from arena.cli.asking import Force, Yes, confirm
from arena.cli.context import settings_of
from arena.migrations import HEAD
from arena.operations import backups
from referee.cli.output import AsJson, print_json, say
from referee.interrupts import unwound_on_signals


def backup(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="The file to write.")],
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write the database to a file; the arena may be running.

    It holds the seeds of tournaments that have not ended, so it is as secret as the arena. For PostgreSQL use
    pg_dump. A file that is there already is replaced with --force only.
    """
    with unwound_on_signals():
        revision = backups.backup(settings_of(ctx), file, force=force)
    if as_json:
        print_json({"file": str(file), "schema": revision})
    else:
        say(f"{file} holds the database, schema {revision}")


def restore(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(help="The backup.")],
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Replace the database with a backup; its contents are lost. Stop everything first.

    The backup is checked first, and nothing is changed if it is damaged or something has the database open.
    """
    settings = settings_of(ctx)
    if replaced := backups.find_replaced(settings, file):
        confirm(f"Replace {replaced} with {file}, and lose what it holds", yes)
    revision = backups.restore(settings, file)
    if as_json:
        print_json({"file": str(file), "schema": revision})
        return
    say(f"{settings.shown()['database_url']} is as it was backed up, schema {revision}")
    if revision != HEAD:
        say(f"schema {HEAD} is needed; run: arena migrate")

"""``arena backup`` and ``arena restore``: the database as one file."""

from pathlib import Path
from typing import Annotated

import typer

from arena.cli.context import settings_of
from arena.cli.output import say
from arena.migrations import HEAD
from arena.operations import backups


def backup(ctx: typer.Context, file: Annotated[Path, typer.Argument(help="File to make.")]) -> None:
    """Write the database into a file, while everything may run.

    It holds the seeds of tournaments that have not ended: it is as secret as the arena. A database that is a
    server has tools of its own.
    """
    revision = backups.backup(settings_of(ctx), file)
    say(f"{file} holds the database, schema {revision}")


def restore(ctx: typer.Context, file: Annotated[Path, typer.Argument(help="What was backed up.")]) -> None:
    """Put a backup into the place of the database, which is gone afterwards. Stop everything before.

    The backup is checked first, and nothing is changed if it is damaged or something has the database open.
    """
    settings = settings_of(ctx)
    revision = backups.restore(settings, file)
    say(f"{settings.shown()['database_url']} is as it was backed up, schema {revision}")
    if revision != HEAD:
        say(f"schema {HEAD} is needed; run: arena migrate")

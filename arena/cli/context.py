"""What every command starts from: the options before it, the settings, the storage."""

import getpass
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from arena.actors import Actor
    from arena.database import Database
    from arena.settings import Settings
    from arena.storage import Storage


@dataclass(frozen=True, slots=True)
class Given:
    """The options before the command."""

    data: Path | None
    """Data folder; None: as the settings say."""


def settings_of(ctx: typer.Context, **overrides: object) -> "Settings":
    """Return the settings of this call. Raise SettingsError."""
    from arena.settings import load_settings

    given: Given = ctx.obj
    if given.data is not None:
        overrides["data"] = given.data
    return load_settings(overrides)


@contextmanager
def database_of(ctx: typer.Context) -> Iterator["Database"]:
    """Open the database of this call, which loads less than its storage; closed at the end of the block.

    Raise SettingsError, StorageError.
    """
    from arena.database import Database, open_database

    with open_database(settings_of(ctx), Database) as database:
        yield database


@contextmanager
def storage_of(ctx: typer.Context) -> Iterator["Storage"]:
    """Open the storage of this call, closed again at the end of the block.

    Raise SettingsError, StorageError.
    """
    from arena.storage import open_storage

    with open_storage(settings_of(ctx)) as storage:
        yield storage


@cache
def actor_at_terminal() -> "Actor":
    """Return who asks here: whoever can open the database operates the arena, under its name on this host."""
    from arena.actors import Actor, Role

    try:
        return Actor(Role.OPERATOR, getpass.getuser())
    except (KeyError, OSError):  # a container's user may have no name
        return Actor(Role.OPERATOR, f"user {os.getuid()}")

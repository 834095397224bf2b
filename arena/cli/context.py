"""What every command starts from: the options before it, the settings, the storage."""

import getpass
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import typer

from arena.errors import NotSignedIn, StateError

if TYPE_CHECKING:
    from arena.actors import Actor
    from arena.client import Client
    from arena.database import Database
    from arena.settings import Settings
    from arena.storage import Storage


@dataclass(frozen=True, slots=True)
class Given:
    """The options before the command."""

    data: Path | None
    """Data folder; None: as the settings say."""
    server: str | None = None
    """Address of an arena on the network; None: the one here."""


T = TypeVar("T")


def answer(ctx: typer.Context, here: Callable[["Storage"], T], there: Callable[["Client"], T]) -> T:
    """Return what the arena of this call answers: the one here from its storage, or one on the network.

    Raise ArenaError.
    """
    if is_here(ctx):
        with storage_of(ctx) as storage:
            return here(storage)
    with client_of(ctx) as arena:
        return there(arena)


def is_here(ctx: typer.Context) -> bool:
    """Return whether this call is about the arena whose data is here."""
    given: Given = ctx.obj
    return given.server is None


def require_here(ctx: typer.Context) -> None:
    """Raise StateError for what can be done with an arena's own data alone."""
    if not is_here(ctx):
        raise StateError(
            f"`{ctx.command_path}` works where the arena's data is, and not over the network: "
            "leave out --server, and unset ARENA_SERVER"
        )


def require_server(ctx: typer.Context) -> None:
    """Raise StateError for what is about somebody's account, which the terminal of an arena has not."""
    if is_here(ctx):
        raise StateError(
            f"`{ctx.command_path}` is about your account with an arena on the network: "
            "name the arena with --server or ARENA_SERVER"
        )


@contextmanager
def client_of(ctx: typer.Context) -> Iterator["Client"]:
    """Connect to the arena on the network that this call is about, with the key that is kept for it.

    Raise SpecError, StorageError, and NotSignedIn with what to do about that.
    """
    from arena.client import Client
    from arena.client.address import address_of
    from arena.client.logins import check_key, own_logins
    from referee.cli.output import warn

    given: Given = ctx.obj
    address, key = address_of(given.server or ""), os.environ.get("ARENA_KEY")
    if key:
        key = check_key(key)
    elif (login := own_logins().find(address)) is not None:
        key = login.key
    try:
        with Client(address, key or None, told=warn) as client:
            yield client
    except NotSignedIn as error:
        raise NotSignedIn(f"{error}: arena login {address}") from None


def settings_of(ctx: typer.Context, **overrides: object) -> "Settings":
    """Return the settings of the arena here. Raise SettingsError, and StateError if it is not asked for."""
    require_here(ctx)
    return own_settings(ctx, **overrides)


def own_settings(ctx: typer.Context, **overrides: object) -> "Settings":
    """Return the settings of this machine, whichever arena is asked for. Raise SettingsError."""
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

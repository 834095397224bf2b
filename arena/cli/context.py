"""What every command starts from: the global options, the settings, the storage."""

import getpass
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, Protocol, TypeVar

import typer

from arena.errors import NotSignedIn, StateError

if TYPE_CHECKING:
    from arena.actors import Actor
    from arena.client import Client
    from arena.host.settings import Settings
    from arena.operations.operation import Context, Operation
    from arena.store.database import Database
    from arena.store.storage import Storage

import sys
from typing import Annotated

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


@dataclass(frozen=True, slots=True)
class GlobalOptions:
    """The global options, given before the command."""

    data: Path | None
    """The data folder; None for the one in the settings."""
    server: str | None = None
    """The address of an arena on the network; None for the local one."""


P = ParamSpec("P")
T = TypeVar("T")


def ask(ctx: typer.Context, operation: "Operation[P, T]", /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Return the answer of an operation, by the local arena or by one on the network.

    Raise ArenaError.
    """
    with asking(ctx) as call:
        return call(operation, *args, **kwargs)


class Call(Protocol):
    """Does operations, one after another."""

    def __call__(self, operation: "Operation[P, T]", /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Return the answer of an operation. Raise ArenaError."""


@contextmanager
def asking(ctx: typer.Context) -> Iterator[Call]:
    """Return the function that does operations in the arena that this call is about, during the block."""
    if not is_here(ctx):
        with client_of(ctx) as arena:
            yield arena.call
        return
    with storage_of(ctx) as storage:
        from arena.operations.local import call as call_locally

        settings = settings_of(ctx)

        def call(operation: "Operation[P, T]", /, *args: P.args, **kwargs: P.kwargs) -> T:
            with _telling() as tell:
                context = replace(local_context(storage, settings), tell=tell)
                return call_locally(context, operation, *args, **kwargs)

        yield call


@contextmanager
def _telling() -> Iterator[Callable[[str], None]]:
    """Yield a function that shows how far an operation is, on one line of a terminal; elsewhere nothing."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    clear, drawn = "\r\x1b[2K", False

    def tell(text: str) -> None:
        nonlocal drawn
        drawn = True
        print(f"{clear}{text}", end="", file=sys.stderr, flush=True)

    try:
        yield tell
    finally:
        if drawn:
            print(clear, end="", file=sys.stderr, flush=True)


def local_context(storage: "Storage", settings: "Settings") -> "Context":
    """Return the context of the operator at this terminal."""
    from arena.operations.local import make_context

    return make_context(storage, settings, actor_at_terminal())


def is_here(ctx: typer.Context) -> bool:
    """Return whether this call is about the local arena."""
    options: GlobalOptions = ctx.obj
    return options.server is None


def require_here(ctx: typer.Context) -> None:
    """Raise StateError unless this call is about the local arena, whose data the command needs."""
    if not is_here(ctx):
        raise StateError(
            f"`{ctx.command_path}` works where the arena's data is, and not over the network: "
            "leave out --server, and unset ARENA_SERVER"
        )


def require_server(ctx: typer.Context) -> None:
    """Raise StateError unless this call is about an arena on the network, where the user has an account."""
    if is_here(ctx):
        raise StateError(
            f"`{ctx.command_path}` is about your account with an arena on the network: "
            "name the arena with --server or ARENA_SERVER"
        )


@contextmanager
def client_of(ctx: typer.Context) -> Iterator["Client"]:
    """Connect to the arena on the network that this call is about, with the key that is stored for it.

    Raise SpecError, StorageError, and NotSignedIn with advice.
    """
    from arena.client import Client
    from arena.client.call import address_of
    from arena.client.logins import check_key, own_logins
    from referee.cli.output import warn

    options: GlobalOptions = ctx.obj
    address, key = address_of(options.server or ""), os.environ.get("ARENA_KEY")
    if key:
        key = check_key(key)
    elif (login := own_logins().find(address)) is not None:
        key = login.key
    try:
        with Client(address, key or None, report=warn) as client:
            yield client
    except NotSignedIn as error:
        raise NotSignedIn(f"{error}: arena login {address}") from None


def settings_of(ctx: typer.Context, **overrides: object) -> "Settings":
    """Return the local arena's settings. Raise SettingsError, and StateError for a call about another one."""
    require_here(ctx)
    return own_settings(ctx, **overrides)


def own_settings(ctx: typer.Context, **overrides: object) -> "Settings":
    """Return this machine's settings, whichever arena the call is about. Raise SettingsError."""
    from arena.host.settings import load_settings

    options: GlobalOptions = ctx.obj
    if options.data is not None:
        overrides["data"] = options.data
    return load_settings(overrides)


@contextmanager
def database_of(ctx: typer.Context) -> Iterator["Database"]:
    """Open the database of this call during the block; this loads less code than its storage.

    Raise SettingsError, StorageError.
    """
    from arena.store.database import Database, open_database

    with open_database(settings_of(ctx), Database) as database:
        yield database


@contextmanager
def storage_of(ctx: typer.Context) -> Iterator["Storage"]:
    """Open the storage of this call during the block.

    Raise SettingsError, StorageError.
    """
    from arena.store.storage import open_storage

    with open_storage(settings_of(ctx)) as storage:
        yield storage


@cache
def actor_at_terminal() -> "Actor":
    """Return the actor at the terminal: an operator, who can open the database; named as on this host."""
    from arena.actors import Actor, Role

    try:
        return Actor(Role.OPERATOR, getpass.getuser())
    except (KeyError, OSError):  # a container's user may have no name
        return Actor(Role.OPERATOR, f"user {os.getuid()}")

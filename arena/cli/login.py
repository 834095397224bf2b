"""``arena login`` and ``arena logout``: keys for arenas on the network."""

import getpass
import sys
from pathlib import Path
from typing import Annotated

import typer

import arena.client as api
from arena.cli.context import Given
from arena.cli.output import say
from arena.client.address import address_of
from arena.client.logins import Login, check_key, own_logins
from arena.errors import SpecError, UnknownError

Url = Annotated[
    str | None,
    typer.Argument(metavar="URL", help="Its address; by default that of --server."),
]


def login(
    ctx: typer.Context,
    url: Url = None,
    key_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file with the key, in place of asking for it.")
    ] = None,
) -> None:
    """Keep a key for an arena on the network, for `arena --server`.

    The key is asked for on the terminal, or read from standard input where there is none. It is tried first,
    and kept in a file that only you can read, until `arena logout` forgets it.
    """
    address = _address(ctx, url)
    key = check_key(_key(key_file))
    with api.Client(address, key) as client:
        found = client.send(api.accounts.me())
    logins = own_logins()
    logins.keep(address, Login(found.account, key))
    say(
        f"signed in at {address} as {found.account}, an {found.role.value}; the key is kept in {logins.file}",
        f"use it with: export ARENA_SERVER={address}",
    )


def logout(ctx: typer.Context, url: Url = None) -> None:
    """Forget the key for an arena on the network."""
    address = _address(ctx, url)
    if not own_logins().forget(address):
        raise UnknownError(f"no key is kept for {address}")
    say(f"the key for {address} is forgotten; it is good until it is revoked")


def _address(ctx: typer.Context, url: str | None) -> str:
    given: Given = ctx.obj
    if not (url or given.server):
        raise typer.BadParameter("which arena? Give its URL", param_hint="'URL'")
    return address_of(url or given.server or "")


def _key(file: Path | None) -> str:
    if file is not None:
        try:
            return file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no text"
            raise SpecError("key", f"cannot read {file}: {reason}") from None
    return getpass.getpass("key: ") if sys.stdin.isatty() else sys.stdin.readline()

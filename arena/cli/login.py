"""``arena login`` and ``arena logout``: keys for arenas on the network."""

import getpass
import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.actors import KeyScope, Role
from arena.cli.context import GlobalOptions
from arena.client import Client, sessions
from arena.client.call import address_of, require_secret
from arena.client.logins import Login, check_key, own_logins
from arena.errors import ArenaError, NotSignedIn, SpecError, UnknownError
from arena.operations import accounts
from referee.cli.output import moment, say

if TYPE_CHECKING:
    from arena.people.accounts import SignedIn
    from arena.people.apikeys import MadeKey

KEY_DAYS = 90
"""How long a key created by `arena login --account` is valid."""

Url = Annotated[str | None, typer.Argument(metavar="URL", help="Its address; by default that of --server.")]


def login(
    ctx: typer.Context,
    url: Url = None,
    key_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file with the key, instead of asking for it.")
    ] = None,
    account: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Create a key for this account; asks for its password."),
    ] = None,
    sign_up: Annotated[bool, typer.Option("--sign-up", help="Create that account first.")] = False,
    invitation: Annotated[
        str | None, typer.Option(metavar="CODE", help="The invitation's code, if --sign-up needs one.")
    ] = None,
) -> None:
    """Store a key for an arena on the network, for `arena --server`.

    The key is asked for in the terminal, or read from standard input without one. It is tested first, and
    stored in a file that only you can read, until `arena logout` removes it. With --account, the password is
    asked for or read instead, and a new key is created, which expires and which `arena logout` revokes.
    """
    if (sign_up or invitation) and not account:
        raise typer.BadParameter("an account is required", param_hint="'--account'")
    if account and key_file:
        raise typer.BadParameter("a key or an account, not both", param_hint="'--account'")
    address = _address(ctx, url)
    require_secret(address)
    if account:
        with Client(address) as client:
            me, made = _new_key(client, account, sign_up, invitation)
        login, until = Login(me.account, made.key, made.name), f" until {moment(made.expires_at)}"
    else:
        key = check_key(_key(key_file))
        with Client(address, key) as client:
            me = client.call(accounts.me)
        login, until = Login(me.account, key), ""
    logins = own_logins()
    logins.keep(address, login)
    stored = f"the key is stored in {logins.file}{until and f', and valid{until}'}"
    say(
        f"signed in at {address} as {me.account}, an {me.role.value}; {stored}",
        f"use it with: export ARENA_SERVER={address}",
    )


def _new_key(
    client: "Client", account: str, new: bool, invitation: str | None
) -> tuple["SignedIn", "MadeKey"]:
    """Sign in with a password; return the account, and a new key with all of its permissions."""

    password = _hidden("password: ")
    if new:
        if sys.stdin.isatty() and _hidden("again: ") != password:
            raise SpecError("password", "the passwords do not match")
        client.send(sessions.sign_up(account, password, invitation))
    signed_in = client.send(sessions.sign_in(account, password))
    scopes = [scope for scope in KeyScope if scope is not KeyScope.OPERATE or signed_in.role is Role.OPERATOR]
    made = client.call(accounts.create_key, f"login-{secrets.token_hex(4)}", scopes, KEY_DAYS)
    client.send(sessions.sign_out())
    return signed_in, made


def logout(ctx: typer.Context, url: Url = None) -> None:
    """Forget the key for an arena on the network, and revoke it if `arena login --account` made it."""
    address, logins = _address(ctx, url), own_logins()
    login = logins.find(address)
    if login is None:
        raise UnknownError(f"no key is stored for {address}")
    left = _revoke(address, login) if login.name else "it stays valid until it is revoked"
    logins.forget(address)
    say(f"the key for {address} is forgotten; {left or 'it is revoked'}")


def _revoke(address: str, login: Login) -> str:
    """Revoke a key; return why that failed, empty if it did not."""
    try:
        with Client(address, login.key) as client:
            client.call(accounts.revoke_key, login.name)
    except NotSignedIn:
        return "it was no longer valid"
    except ArenaError as error:
        return f"it could not be revoked, and stays valid until it expires: {error}"
    return ""


def _address(ctx: typer.Context, url: str | None) -> str:
    options: GlobalOptions = ctx.obj
    if not (url or options.server):
        raise typer.BadParameter("the URL of an arena is required", param_hint="'URL'")
    return address_of(url or options.server or "")


def _key(file: Path | None) -> str:
    if file is None:
        return _hidden("key: ")
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise SpecError("key", f"cannot read {file}: {reason}") from None


def _hidden(prompt: str) -> str:
    """Read a line from the terminal without echo, or from standard input."""
    return getpass.getpass(prompt) if sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")

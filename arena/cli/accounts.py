"""``arena account …`` and ``arena audit``: people who use the arena over the net, and who changed what."""

import getpass
import sys
from collections.abc import Mapping
from typing import Annotated

import typer

from arena.actors import RANKS, Role
from arena.cli.context import Yes, ask, asking, confirm, require_server
from arena.cli.doors import command_of
from arena.errors import SpecError
from arena.jsonvalues import to_json
from arena.operations import accounts, operator
from arena.people.accounts import AccountInfo, Accounts, MadeReset
from arena.people.apikeys import KeyInfo, Keys
from arena.people.invitations import InvitationInfo, Invitations, Invited
from arena.queries.operator import ChangePage
from referee.cli.output import AsJson, console, moment, print_json, say, show
from referee.cli.tables import table
from referee.reading.names import LONGEST_NAME

WIDTH = 120
"""Width of the table even without a terminal, since details can be long."""


@command_of(operator.list_changes, arguments=["subject"])
def audit(page: ChangePage) -> None:
    """Show who changed what, the latest change first."""
    rows = [
        (moment(line.at), line.actor, line.action, line.subject, _in_words(line.details))
        for line in page.entries
    ]
    columns = ["time", "who", "change", "of", "details"]
    if rows:
        console().print(table(columns, rows), width=min(console().width, WIDTH))
    else:
        say("nothing has been changed yet")


def _in_words(details: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {_text(value)}" for name, value in details.items())


def _text(value: object) -> str:
    return " and ".join(map(str, value)) if isinstance(value, list) else str(value)


app = typer.Typer(
    no_args_is_help=True, help="Create and change accounts of people who use the arena over the network."
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The account's name.")]

ROLES = ", ".join(RANKS[1:])

AnyRole = Annotated[
    Role,
    typer.Option(metavar="ROLE", help=f"What it may do: {ROLES}. Each role includes those before it."),
]

FromInput = Annotated[
    bool, typer.Option("--password-stdin", help="Read the password from a line of standard input.")
]


@app.command()
def create(
    ctx: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help=f"Its name: 1 to {LONGEST_NAME} of a-z, 0-9 and -.")
    ],
    role: AnyRole = Role.AUTHOR,
    password_stdin: FromInput = False,
    as_json: AsJson = False,
) -> None:
    """Create an account, and an owner of the same name. Asks for the password in the terminal."""
    with asking(ctx) as call:
        made = call(accounts.create_account, name, role, _password(password_stdin))
    _tell(made, as_json, f"{made.account} is an {made.role}")


@app.command("list")
@command_of(accounts.list_accounts, metavars={"after": "NAME"})
def list_(page: Accounts) -> None:
    """List accounts by name."""
    rows = [(line.account, line.role, " ".join(line.owners), _state(line)) for line in page.accounts]
    show(["account", "role", "owners", "state"], rows, "no accounts yet: arena account create NAME --role …")


@app.command()
def role(
    ctx: typer.Context,
    name: Name,
    new: Annotated[Role, typer.Argument(metavar="ROLE", help=f"One of {ROLES}.")],
    as_json: AsJson = False,
) -> None:
    """Change what an account may do."""
    _tell(ask(ctx, accounts.change_account, name, role=new), as_json, f"{name} is an {new} now")


@app.command()
def password(
    ctx: typer.Context, name: Name, password_stdin: FromInput = False, as_json: AsJson = False
) -> None:
    """Give an account a new password, and sign it out everywhere."""
    with asking(ctx) as call:
        changed = call(accounts.change_account, name, password=_password(password_stdin))
    _tell(changed, as_json, f"{name} has a new password, and is signed out everywhere")


@app.command()
@command_of(accounts.offer_reset)
def reset(made: MadeReset) -> None:
    """Make a link with which somebody who forgot their password sets a new one, once."""
    say(f"{made.account} can set a new password, once, until {moment(made.expires_at)}:", made.link)


@app.command()
def disable(ctx: typer.Context, name: Name, yes: Yes = False, as_json: AsJson = False) -> None:
    """Refuse an account and its keys from now on. Its bots go on playing."""
    confirm(f"Disable the account {name}", yes)
    _tell(ask(ctx, accounts.change_account, name, disabled=True), as_json, f"{name} is disabled")


@app.command()
def enable(ctx: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Let a disabled account be used again."""
    _tell(ask(ctx, accounts.change_account, name, disabled=False), as_json, f"{name} is enabled")


@app.command()
@command_of(accounts.invite)
def invite(made: Invited) -> None:
    """Create an invitation: a code with which one person can create an account."""
    until = moment(made.expires_at)
    text = f"invitation {made.number}, for an {made.role}, until {until}. It cannot be shown again:"
    say(text, made.code)


@app.command("invitations")
@command_of(accounts.list_invitations)
def list_invitations(page: Invitations) -> None:
    """List the invitations that can still be used, without their codes."""
    rows = [
        (line.number, line.role, line.owner or "", line.invited_by, moment(line.expires_at))
        for line in page.invitations
    ]
    show(["number", "role", "joins", "invited by", "expires"], rows, "no unused invitations")


@app.command("revoke-invitation")
@command_of(accounts.revoke_invitation, sure="Revoke the invitation {number}")
def revoke_invitation(revoked: InvitationInfo) -> None:
    """Revoke an invitation that was not used yet."""
    say(f"the invitation {revoked.number} is revoked")


def _password(from_input: bool) -> str:
    """Return a password that was typed twice, or a line of standard input. Raise SpecError."""
    if from_input:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise SpecError("password", "cannot prompt for it without a terminal; use --password-stdin")
    first = getpass.getpass("password: ")
    if getpass.getpass("again: ") != first:
        raise SpecError("password", "the passwords do not match")
    return first


def _tell(account: AccountInfo, as_json: bool, line: str) -> None:
    if as_json:
        print_json(to_json(account))
    else:
        say(line)


def _state(account: AccountInfo) -> str:
    disabled = account.disabled_at and f", disabled {moment(account.disabled_at)}"
    return f"since {moment(account.created_at)}{disabled or ''}"


@app.command()
@command_of(accounts.list_keys, first=lambda ctx, _: require_server(ctx))
def keys(page: Keys) -> None:
    """List your keys for an arena on the network, without the keys themselves."""
    rows = [
        (
            line.name,
            ", ".join(line.scopes),
            moment(line.created_at),
            moment(line.expires_at) or "never",
            line.last_used_on or "never",
            moment(line.revoked_at),
        )
        for line in page.keys
    ]
    show(["key", "good for", "made", "expires", "last used", "revoked"], rows, "no keys yet")


@app.command("revoke-key")
@command_of(accounts.revoke_key, first=lambda ctx, _: require_server(ctx), sure="Revoke the key {name}")
def revoke_key(_: KeyInfo, name: str) -> None:
    """Revoke a key of yours for an arena on the network, for good."""
    say(f"the key {name} is revoked")

"""``arena account …``: accounts of people who use the arena over the network."""

import getpass
import sys
from typing import TYPE_CHECKING, Annotated

import typer

import arena.client as api
from arena.accounts import accounts, invitations
from arena.accounts.accounts import AccountInfo
from arena.actors import RANKS, Role
from arena.cli.asking import Yes, confirm
from arena.cli.context import actor_at_terminal, answer, client_of, require_server
from arena.cli.lists import LARGEST_PAGE, say_cut
from arena.errors import SpecError
from arena.models import utc_now
from arena.storage import Storage
from referee.cli.output import AsJson, moment, print_json, renamed, say, show
from referee.names import LONGEST_NAME

if TYPE_CHECKING:
    from arena.client import Client

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

    def here(storage: Storage) -> AccountInfo:
        password = _password(password_stdin)
        return accounts.create_account(storage, actor_at_terminal(), name, role, utc_now(), password)

    def there(arena: "Client") -> AccountInfo:
        return arena.send(api.operator.create_account(name, role, _password(password_stdin)))

    made = answer(ctx, here, there)
    _tell(made, as_json, f"{made.account} is an {made.role}")


@app.command("list")
def list_(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option(min=1, max=LARGEST_PAGE, help="Show at most this many.")] = 100,
    after: Annotated[str, typer.Option(metavar="NAME", help="Show those that follow this name.")] = "",
    as_json: AsJson = False,
) -> None:
    """List accounts by name."""
    found = answer(
        ctx,
        lambda storage: accounts.list_accounts(storage, actor_at_terminal(), limit, after),
        lambda arena: arena.send(api.operator.list_accounts(limit, after)).accounts,
    )
    if as_json:
        print_json({"accounts": found})
    else:
        rows = [(one.account, one.role, " ".join(one.owners), _state(one)) for one in found]
        empty = "no accounts yet: arena account create NAME --role …"
        show(["account", "role", "owners", "state"], rows, empty)
        say_cut(len(rows), limit, f"--after {rows[-1][0]}" if rows else "")


@app.command()
def role(
    ctx: typer.Context,
    name: Name,
    new: Annotated[Role, typer.Argument(metavar="ROLE", help=f"One of {ROLES}.")],
    as_json: AsJson = False,
) -> None:
    """Change what an account may do."""
    changed = answer(
        ctx,
        lambda storage: accounts.change_role(storage, actor_at_terminal(), name, new, utc_now()),
        lambda arena: arena.send(api.operator.change_account(name, role=new)),
    )
    _tell(changed, as_json, f"{name} is an {new} now")


@app.command()
def password(
    ctx: typer.Context, name: Name, password_stdin: FromInput = False, as_json: AsJson = False
) -> None:
    """Give an account a new password, and sign it out everywhere."""

    def here(storage: Storage) -> AccountInfo:
        new, actor = _password(password_stdin), actor_at_terminal()
        accounts.reset_password(storage, actor, name, new, utc_now())
        return accounts.show_account(storage, actor, name)

    def there(arena: "Client") -> AccountInfo:
        return arena.send(api.operator.change_account(name, password=_password(password_stdin)))

    changed = answer(ctx, here, there)
    _tell(changed, as_json, f"{name} has a new password, and is signed out everywhere")


@app.command()
def disable(ctx: typer.Context, name: Name, yes: Yes = False, as_json: AsJson = False) -> None:
    """Refuse an account and its keys from now on. Its bots go on playing."""
    confirm(f"Disable the account {name}", yes)
    changed = answer(
        ctx,
        lambda storage: accounts.disable_account(storage, actor_at_terminal(), name, utc_now()),
        lambda arena: arena.send(api.operator.change_account(name, disabled=True)),
    )
    _tell(changed, as_json, f"{name} is disabled")


@app.command()
def enable(ctx: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Let a disabled account be used again."""
    changed = answer(
        ctx,
        lambda storage: accounts.enable_account(storage, actor_at_terminal(), name, utc_now()),
        lambda arena: arena.send(api.operator.change_account(name, disabled=False)),
    )
    _tell(changed, as_json, f"{name} is enabled")


@app.command()
def invite(
    ctx: typer.Context,
    role: AnyRole = Role.AUTHOR,
    owner: Annotated[
        str | None, typer.Option(metavar="OWNER", help="Whoever uses it becomes a member of this owner.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Create an invitation: a code with which one person can create an account."""
    made = answer(
        ctx,
        lambda storage: invitations.invite(storage, actor_at_terminal(), role, utc_now(), owner),
        lambda arena: arena.send(api.accounts.invite(role, owner)),
    )
    if as_json:
        print_json(renamed(made))
    else:
        until = moment(made.expires_at)
        told = f"invitation {made.number}, for an {made.role}, until {until}. It cannot be shown again:"
        say(told, made.code)


@app.command("invitations")
def list_invitations(ctx: typer.Context, as_json: AsJson = False) -> None:
    """List the invitations that can still be used, without their codes."""
    found = answer(
        ctx,
        lambda storage: invitations.list_invitations(storage, actor_at_terminal(), utc_now()),
        lambda arena: arena.send(api.accounts.list_invitations()).invitations,
    )
    if as_json:
        print_json({"invitations": found})
    else:
        rows = [
            (one.number, one.role, one.owner or "", one.invited_by, moment(one.expires_at)) for one in found
        ]
        empty = "no unused invitations"
        show(["number", "role", "joins", "invited by", "expires"], rows, empty)


@app.command("revoke-invitation")
def revoke_invitation(
    ctx: typer.Context,
    number: Annotated[
        int,
        typer.Argument(metavar="NUMBER", min=1, max=2**31 - 1, help="Its number, as `invitations` lists it."),
    ],
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Revoke an invitation that was not used yet."""
    confirm(f"Revoke the invitation {number}", yes)
    revoked = answer(
        ctx,
        lambda storage: invitations.revoke_invitation(storage, actor_at_terminal(), number, utc_now()),
        lambda arena: arena.send(api.accounts.revoke_invitation(number)),
    )
    if as_json:
        print_json(renamed(revoked))
    else:
        say(f"the invitation {number} is revoked")


def _password(from_input: bool) -> str:
    """Return a password that was typed twice, or a line of standard input. Raise SpecError."""
    if from_input:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise SpecError("password", "nobody can be asked for it here; use --password-stdin")
    first = getpass.getpass("password: ")
    if getpass.getpass("again: ") != first:
        raise SpecError("password", "the two entries are not the same")
    return first


def _tell(account: AccountInfo, as_json: bool, line: str) -> None:
    if as_json:
        print_json(renamed(account))
    else:
        say(line)


def _state(account: AccountInfo) -> str:
    disabled = account.disabled_at and f", disabled {moment(account.disabled_at)}"
    return f"since {moment(account.created_at)}{disabled or ''}"


@app.command()
def keys(ctx: typer.Context) -> None:
    """List your keys for an arena on the network, without the keys themselves."""
    require_server(ctx)
    with client_of(ctx) as arena:
        found = arena.send(api.accounts.list_keys())
    rows = [
        (
            one.name,
            ", ".join(one.scopes),
            moment(one.created_at),
            moment(one.expires_at) or "never",
            one.last_used_on or "never",
            moment(one.revoked_at),
        )
        for one in found.keys
    ]
    show(["key", "good for", "made", "expires", "last used", "revoked"], rows, "no keys yet")


@app.command("revoke-key")
def revoke_key(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The key's name, as `keys` lists it.")],
    yes: Yes = False,
) -> None:
    """Revoke a key of yours for an arena on the network, for good."""
    require_server(ctx)
    confirm(f"Revoke the key {name}", yes)
    with client_of(ctx) as arena:
        arena.send(api.accounts.revoke_key(name))
    say(f"the key {name} is revoked")

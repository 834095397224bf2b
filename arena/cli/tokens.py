"""``arena token …``: tokens of workers, organisers and spectators."""

from typing import TYPE_CHECKING, Annotated

import typer

import arena.client as api
from arena.cli.asking import Yes, confirm
from arena.cli.context import actor_at_terminal, answer
from arena.cli.expiring import ExpiresIn, token_text
from arena.models import utc_now
from arena.operations import tokens
from arena.storage import Storage
from referee.cli.output import AsJson, moment, print_json, renamed, say, show
from referee.matches.auth import Scope
from referee.names import LONGEST_NAME

if TYPE_CHECKING:
    from arena.client import Client

app = typer.Typer(
    no_args_is_help=True,
    help="Create, list, replace and revoke tokens of workers, organisers and spectators. Bots get theirs with"
    " `arena bot register`.",
)

Name = Annotated[
    str, typer.Argument(metavar="NAME", help=f"The token's name: 1 to {LONGEST_NAME} of a-z, 0-9 and -.")
]


@app.command()
def create(
    ctx: typer.Context,
    name: Name,
    scope: Annotated[
        Scope,
        typer.Option(help="worker: run matches; organiser: read any bot's log, and watch; spectator: watch."),
    ],
    expires_in: ExpiresIn = None,
    as_json: AsJson = False,
) -> None:
    """Create a token and print it. It is shown only once."""
    actor, now = actor_at_terminal(), utc_now()
    made = answer(
        ctx,
        lambda storage: tokens.create_token(storage, actor, name, scope, now, expires_in),
        lambda arena: arena.send(api.operator.create_token(name, scope, expires_in)),
    )
    if as_json:
        print_json(renamed(made))
    else:
        say(f"{made.name} is a token of scope {made.scope}. It cannot be shown again:", made.token)


@app.command("list")
def list_(ctx: typer.Context, as_json: AsJson = False) -> None:
    """List all tokens, without their secret parts."""
    found = answer(
        ctx,
        lambda storage: tokens.list_tokens(storage, actor_at_terminal()),
        lambda arena: arena.send(api.operator.list_tokens()).tokens,
    )
    if as_json:
        print_json({"tokens": found})
    else:
        rows = [(one.name, one.scope, moment(one.created_at), token_text(one)) for one in found]
        columns = ["token", "scope", "made", "state"]
        show(columns, rows, "no tokens yet: arena token create NAME --scope …")


@app.command()
def rotate(
    ctx: typer.Context, name: Name, expires_in: ExpiresIn = None, yes: Yes = False, as_json: AsJson = False
) -> None:
    """Replace a token with a new one, and print it. The old one is refused at once."""

    def sure() -> None:
        confirm(f"Replace the token {name}, so that the old one is refused at once", yes)

    def here(storage: Storage) -> tokens.MadeToken:
        tokens.token_to_rotate(storage, name)
        sure()
        return tokens.rotate_token(storage, actor_at_terminal(), name, utc_now(), expires_in)

    def there(arena: "Client") -> tokens.MadeToken:
        sure()
        return arena.send(api.operator.rotate_token(name, expires_in))

    made = answer(ctx, here, there)
    if as_json:
        print_json(renamed(made))
    else:
        say(f"{made.name} is a new token of scope {made.scope}. It cannot be shown again:", made.token)


@app.command()
def revoke(ctx: typer.Context, name: Name, yes: Yes = False, as_json: AsJson = False) -> None:
    """Revoke a token for good."""

    def here(storage: Storage) -> tokens.TokenInfo:
        token = tokens.token_to_revoke(storage, name)
        confirm(f"Revoke the token {token.name} of scope {token.scope} for good", yes)
        return tokens.revoke_token(storage, actor_at_terminal(), name, utc_now())

    def there(arena: "Client") -> tokens.TokenInfo:
        confirm(f"Revoke the token {name} for good", yes)
        return arena.send(api.operator.revoke_token(name))

    revoked = answer(ctx, here, there)
    if as_json:
        print_json(renamed(revoked))
    else:
        say(f"the token {revoked.name} is revoked")

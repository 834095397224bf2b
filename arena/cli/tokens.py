"""``arena token …``: tokens of workers, organisers and spectators."""

from datetime import date, datetime
from typing import Annotated, Protocol

import typer

from arena.cli.context import Call, Yes, asking, confirm
from arena.cli.doors import command_of
from arena.jsonvalues import to_json
from arena.operations import operator
from arena.people.tokens import MadeToken, TokenInfo, Tokens
from referee.cli.output import AsJson, moment, print_json, say, show

ExpiresIn = Annotated[
    int | None, typer.Option(metavar="DAYS", help="Days until the token expires; by default it never does.")
]


class Dated(Protocol):
    """A token as it is listed."""

    @property
    def revoked_at(self) -> datetime | None: ...
    @property
    def expires_at(self) -> datetime | None: ...
    @property
    def last_used_on(self) -> date | None: ...


def token_text(token: Dated) -> str:
    """Return in words when a token was last used, when it expires and when it was revoked, as applicable."""
    used = f"used {token.last_used_on}" if token.last_used_on else "never used"
    until = f"until {moment(token.expires_at)}" if token.expires_at else ""
    revoked = f"revoked {moment(token.revoked_at)}" if token.revoked_at else ""
    return ", ".join(part for part in (used, revoked or until) if part)


app = typer.Typer(
    no_args_is_help=True,
    help="Create, list, replace and revoke tokens of workers, organisers and spectators. Bots get theirs with"
    " `arena bot register`.",
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The token's name.")]


@app.command()
@command_of(operator.create_token, options=["scope"], metavars={"expires_in": "DAYS"})
def create(made: MadeToken) -> None:
    """Create a token and print it. It is shown only once."""
    say(f"{made.name} is a token of scope {made.scope}. It cannot be shown again:", made.token)


@app.command("list")
@command_of(operator.list_tokens)
def list_(page: Tokens) -> None:
    """List all tokens, without their secret parts."""
    rows = [(line.name, line.scope, moment(line.created_at), token_text(line)) for line in page.tokens]
    columns = ["token", "scope", "made", "state"]
    show(columns, rows, "no tokens yet: arena token create NAME --scope …")


@app.command()
def rotate(
    ctx: typer.Context, name: Name, expires_in: ExpiresIn = None, yes: Yes = False, as_json: AsJson = False
) -> None:
    """Replace a token with a new one, and print it. The old one is refused at once."""
    with asking(ctx) as call:
        if _valid(call, name):
            confirm(f"Replace the token {name}, so that the old one is refused at once", yes)
        made = call(operator.rotate_token, name, expires_in)
    if as_json:
        print_json(to_json(made))
    else:
        say(f"{made.name} is a new token of scope {made.scope}. It cannot be shown again:", made.token)


@app.command()
def revoke(ctx: typer.Context, name: Name, yes: Yes = False, as_json: AsJson = False) -> None:
    """Revoke a token for good."""
    with asking(ctx) as call:
        if token := _valid(call, name):
            confirm(f"Revoke the token {name} of scope {token.scope} for good", yes)
        revoked = call(operator.revoke_token, name)
    if as_json:
        print_json(to_json(revoked))
    else:
        say(f"the token {revoked.name} is revoked")


def _valid(call: Call, name: str) -> TokenInfo | None:
    """Return the token of this name that can be revoked; None if there is none, and nothing to ask."""
    listed = call(operator.list_tokens).tokens
    return next((token for token in listed if token.name == name and token.revoked_at is None), None)

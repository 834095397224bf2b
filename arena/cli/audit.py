"""``arena audit``: who changed what."""

from typing import Annotated

import typer

import arena.client as api
from arena.audit import list_changes
from arena.cli.context import actor_at_terminal, answer
from arena.cli.lists import say_cut
from referee.cli.output import AsJson, console, moment, print_json, say
from referee.cli.tables import table

WIDTH = 120
"""Width of the table even without a terminal, since details can be long."""


def audit(
    ctx: typer.Context,
    subject: Annotated[
        str | None,
        typer.Argument(
            help="Only changes of this tournament, league, bot (with its versions) or version, or token."
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Show at most this many entries.")] = 50,
    as_json: AsJson = False,
) -> None:
    """Show who changed what, the latest change first."""
    changes = answer(
        ctx,
        lambda storage: list_changes(storage, actor_at_terminal(), subject=subject, limit=limit),
        lambda arena: arena.send(api.operator.list_changes(subject, limit=limit)).entries,
    )
    if as_json:
        print_json({"entries": changes})
        return
    rows = [(moment(one.at), one.actor, one.action, one.subject, _in_words(one.details)) for one in changes]
    columns = ["time", "who", "change", "of", "details"]
    if rows:
        console().print(table(columns, rows), width=min(console().width, WIDTH))
        say_cut(len(rows), limit, "--limit")
    else:
        say("nothing has been changed yet")


def _in_words(details: dict[str, object]) -> str:
    return ", ".join(f"{name} {_text(value)}" for name, value in details.items())


def _text(value: object) -> str:
    return " and ".join(map(str, value)) if isinstance(value, list) else str(value)

"""``arena audit``: who changed what."""

from collections.abc import Mapping

from arena.cli.doors import command_of
from arena.operations import operator
from arena.queries.changes import ChangePage
from referee.cli.output import console, moment, say
from referee.cli.tables import table

WIDTH = 120
"""Width of the table even without a terminal, since details can be long."""


@command_of(operator.list_changes, arguments=["subject"])
def audit(found: ChangePage) -> None:
    """Show who changed what, the latest change first."""
    rows = [
        (moment(one.at), one.actor, one.action, one.subject, _in_words(one.details)) for one in found.entries
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

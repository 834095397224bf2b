"""``arena config``: the settings."""

import typer

from arena.cli.context import settings_of
from arena.host.settings import PREFIX
from referee.cli.output import AsJson, console, print_json
from referee.cli.tables import table


def config(ctx: typer.Context, as_json: AsJson = False) -> None:
    """Show the settings; secrets are hidden."""
    shown = settings_of(ctx).shown()
    if as_json:
        print_json({"settings": shown})
    else:
        rows = [(name, text, f"{PREFIX}{name.upper()}") for name, text in shown.items()]
        console().print(table(["setting", "value", "variable"], rows))

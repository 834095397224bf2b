"""All commands together, and how each of them ends."""

import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from arena.cli import INTERRUPTED, bots, demo, doctor, leagues, results, system, tokens, tournaments
from arena.cli.context import Given
from arena.cli.rules import rules_app
from arena.errors import ArenaError
from referee.errors import RefereeError

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
app.add_typer(system.app)
app.add_typer(demo.app)
app.add_typer(bots.app, name="bot")
app.add_typer(tokens.app, name="token")
app.add_typer(tournaments.app, name="tournament")
app.add_typer(leagues.app, name="league")
app.add_typer(results.app)
app.add_typer(rules_app, name="rules")
app.command()(doctor.doctor)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"arena {version('bigtwo-arena')}")
        raise typer.Exit


@app.callback(no_args_is_help=True)
def arena(
    ctx: typer.Context,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of the arena's data; before ARENA_DATA and the default, .arena here."),
    ] = None,
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """A tournament arena for bots that play Big Two."""
    ctx.obj = Given(data)


def run(arguments: Sequence[str]) -> int:
    """Run one command; gives the exit status: 0, 1 for errors, 2 for wrong usage, 130 after Ctrl-C.

    Every error is one line on standard error.
    """
    try:
        status = app(args=list(arguments), prog_name="arena", standalone_mode=False)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except typer.TyperException as error:
        return _fail(_with_help(error), error.exit_code)
    except (ArenaError, RefereeError) as error:
        return _fail(str(error), 1)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left goes nowhere
        return 1


def _with_help(error: typer.TyperException) -> str:
    """What was wrong with the usage, and where the right one is told; nothing where help has been shown."""
    context, message = getattr(error, "ctx", None), error.format_message()
    return f"{message} (see {context.command_path} --help)" if context and message else message


def _fail(reason: str, status: int) -> int:
    if reason:
        print(f"error: {' '.join(reason.split())}", file=sys.stderr)
    return status

"""The command line, and how each of its commands ends."""

import codecs
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Annotated, Any

import typer

from referee.cli import INTERRUPTED
from referee.cli.later import ARENA_COMMANDS, Later, MissingCommand, OnlyInArena, Whole
from referee.errors import ShownError
from referee.reading.plain import plain

SPELLED = {"…": "...", "–": "-", "—": "-", "→": "->", "±": "+/-", "·": ".", "×": "x", "─": "-"}
"""Replacements for characters of our texts that an encoding lacks."""

_ERRORS = "arena.spelled"


def spell_out() -> None:
    """Let standard output replace characters that its encoding lacks."""
    codecs.register_error(_ERRORS, _spelled)
    # Under LC_ALL=C the handler is surrogateescape, which knows no other missing characters either.
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors in ("strict", "surrogateescape"):
        sys.stdout.reconfigure(errors=_ERRORS)


def _spelled(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    missing = error.object[error.start : error.end]
    return "".join(SPELLED.get(name, "?") for name in missing), error.end


def discard_output() -> None:
    """Discard what is still to be written to standard output, so that the process ends quietly."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


ARENA = "arena.cli.commands"
"""The module of the whole arena's command line, whose ``WHOLE`` replaces the one here.

It is found by name, not by an entry point: reading those would take a quarter of every start.
"""

VERIFIER = "bigtwo_verify"
"""The package of the distribution that adds ``arena verify`` to the commands here."""

VERIFY = Later(
    "verify",
    f"{VERIFIER}:verify",
    "Check tournaments from their exports alone: seeds, hands, play, points, standings, ratings.",
)

COMMANDS = (
    Later("bot", "referee.cli.bot:app", "Write, check and run bots, and read what they did."),
    Later(
        "play",
        "referee.cli.play:play",
        "Let bots play each other on this machine, and say which is better. Nothing is registered or rated.",
    ),
    Later(
        "compare",
        "referee.cli.play:compare",
        "Find out whether bot B is better than bot A, and play only as long as that takes.",
    ),
    Later("rules", "referee.cli.rules:rules_app", "Show, check and try rulesets."),
    Later(
        "vectors", "referee.cli.vectors:vectors_app", "Write the test vectors for programs in any language."
    ),
)
"""The commands for authors of bots, in the order of the help.

Their texts are the first paragraphs of the commands' own help.
"""

HELP_OPTIONS = {"help_option_names": ["--help", "-h"]}
"""The help options of all commands, which inherit them."""

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, context_settings=HELP_OPTIONS)


def version_shown(distribution: str) -> Any:
    """Return the option ``--version``, which shows the version of a distribution."""

    def show(requested: bool) -> None:
        if requested:
            from importlib.metadata import version

            from referee.native import build

            typer.echo(f"arena {version(distribution)} ({build()})")
            raise typer.Exit

    return typer.Option("--version", callback=show, is_eager=True, help="Show the version and the build.")


def _elsewhere(address: str | None) -> None:
    """Raise OnlyInArena for the option ``--server``."""
    if address is not None:
        raise OnlyInArena("arena --server")


@app.callback(no_args_is_help=True)
def arena(
    _version: Annotated[bool, version_shown("bigtwo-bot")] = False,
    _server: Annotated[str | None, typer.Option("--server", hidden=True, callback=_elsewhere)] = None,
) -> None:
    """Write bots that play Big Two: rules, local play, and the way into an arena."""


def whole() -> Whole:
    """Return the command line of the whole arena if that is installed, else the one for authors."""
    try:
        commands: Whole = import_module(ARENA).WHOLE
    except ModuleNotFoundError as error:
        if error.name is None or not f"{ARENA}.".startswith(f"{error.name}."):
            raise
        added = (VERIFY,) if find_spec(VERIFIER) else ()
        hidden = (MissingCommand(name) for name in ARENA_COMMANDS if not added or name != VERIFY.name)
        return Whole(app, (*COMMANDS, *added, *hidden))
    return commands


@cache
def arena_group() -> Any:
    """Return the group of all commands."""
    root, commands = whole()
    group: Any = typer.main.get_command(root)
    for command in commands:
        group.add_command(command)
    return group


def run(arguments: Sequence[str]) -> int:
    """Run one command and return the exit status.

    It is 0, 1 after an error, 2 after wrong usage, and 128 plus its number after a signal (130 after Ctrl-C).
    Every problem is one line on standard error.
    """
    spell_out()
    try:
        status = arena_group().main(args=list(arguments), prog_name="arena", standalone_mode=False)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except typer.TyperException as error:
        return _fail(_with_help(error), status=error.exit_code)
    except ShownError as error:
        return _fail(*error.lines)
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except SystemExit as error:  # after another signal
        return error.code if isinstance(error.code, int) else 1
    except BrokenPipeError:
        discard_output()
        return 1
    except OSError as error:  # of standard output; commands say what is wrong with files
        discard_output()
        return _fail(f"cannot write {error.filename or 'the output'}: {error.strerror}")


def _with_help(error: typer.TyperException) -> str:
    """Return what was wrong with the usage, and which help to read unless it was just shown."""
    context, message = getattr(error, "ctx", None), _reworded(error.format_message())
    return f"{message} (see {context.command_path} --help)" if context and message else message


def _reworded(message: str) -> str:
    """Return what Typer says about a value in the words of our own messages."""
    message = message.replace("Value error, ", "")
    return message.replace("Input should be ", "must be ").partition(", unable to parse")[0]


def _fail(*reasons: str, status: int = 1) -> int:
    with suppress(OSError):  # nobody can be told
        for reason in filter(None, reasons):
            print(f"error: {plain(' '.join(reason.split()))}", file=sys.stderr)
    return status

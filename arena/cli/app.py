"""All commands together, and how each of them ends."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer

from arena.cli import INTERRUPTED
from arena.cli.context import Given
from arena.cli.later import Later
from arena.cli.streams import discard_output, spell_out
from arena.errors import ArenaError, UnknownError
from referee.errors import FieldsWrong, RefereeError
from referee.plain import plain

COMMANDS = (
    Later(
        "doctor",
        "arena.cli.doctor:doctor",
        "Check this arena: settings, versions, database, broker, referees, clocks, disk, leases, queue.",
    ),
    Later(
        "up",
        "arena.cli.up:up",
        "Run a whole arena in this terminal: referees, a worker, the beat and the API. Ctrl-C stops it.",
    ),
    Later(
        "migrate",
        "arena.cli.migrate:migrate",
        "Upgrade the database to the schema of this version, or create its tables.",
    ),
    Later("referee", "arena.cli.referee:referee", "Run a referee: bots and workers connect to it."),
    Later(
        "worker",
        "arena.cli.worker:worker",
        "Run a worker: it has referees play matches, and stores the results.",
    ),
    Later("web", "arena.cli.web:web", "Serve the API of this arena over HTTP."),
    Later(
        "beat",
        "arena.cli.beat:beat",
        "Run the beat: it advances tournaments and starts seasons. One is enough.",
    ),
    Later("config", "arena.cli.config:config", "Show the settings; secrets are hidden."),
    Later(
        "demo",
        "arena.cli.demo:demo",
        "Run a whole arena here for half a minute: eight bots, three tournaments, standings and ratings.",
    ),
    Later(
        "bot",
        "arena.cli.bot:app",
        "Register, list, check and run bots, practise, and read their log and deals.",
    ),
    Later(
        "play",
        "arena.cli.play:play",
        "Have bots play each other here, and tell who is better. Nothing is registered, rated or kept.",
    ),
    Later(
        "compare",
        "arena.cli.compare:compare",
        "Find out whether bot B is better than bot A; play until that is known, and no longer.",
    ),
    Later(
        "account",
        "arena.cli.accounts:app",
        "Make and change accounts of people, who use the arena over the network.",
    ),
    Later(
        "token",
        "arena.cli.tokens:app",
        "Create, list, replace and revoke tokens of workers, organisers and spectators. Bots get theirs with"
        " `arena bot register`.",
    ),
    Later("tournament", "arena.cli.tournaments:app", "Create, start, follow and end tournaments."),
    Later("webhook", "arena.cli.webhooks:app", "Be told over HTTP what happens in tournaments."),
    Later(
        "league",
        "arena.cli.leagues:app",
        "Manage leagues: divisions, seasons that start by themselves, promotion and relegation.",
    ),
    Later(
        "verify",
        "arena.cli.verify:verify",
        "Check tournaments from their exports alone: seeds, hands, play, points, standings, ratings.",
    ),
    Later(
        "leaderboard",
        "arena.cli.leaderboard:leaderboard",
        "Show the ratings: a leaderboard for each ruleset and table size.",
    ),
    Later(
        "crosstable",
        "arena.cli.botresults:crosstable_",
        "Show how often these bots finished ahead of each other, in each pool in which they met.",
    ),
    Later(
        "export",
        "arena.cli.results:export",
        "Write a tournament as JSON lines: all that `arena verify` needs, including every deal record.",
    ),
    Later("backup", "arena.cli.backup:backup", "Write the database to a file; the arena may be running."),
    Later(
        "restore",
        "arena.cli.backup:restore",
        "Replace the database with a backup; its contents are lost. Stop everything first.",
    ),
    Later("match", "arena.cli.results:match", "List and show matches, and their seatings."),
    Later("deal", "arena.cli.finds:deal", "Find remarkable deals."),
    Later("rating", "arena.cli.results:rating", "Recompute and check the ratings."),
    Later("login", "arena.cli.login:login", "Keep a key for an arena on the network, for `arena --server`."),
    Later("logout", "arena.cli.login:logout", "Forget the key for an arena on the network."),
    Later("audit", "arena.cli.audit:audit", "Show who changed what, the latest change first."),
    Later("rules", "arena.cli.rules:rules_app", "Show, check and try rulesets."),
)
"""All commands and groups in the order of the help, which is the first paragraph of their own."""

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},  # of all commands, which inherit it
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"arena {version('bigtwo-arena')}")
        raise typer.Exit


@app.callback(no_args_is_help=True)
def arena(
    ctx: typer.Context,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of the arena's data; overrides ARENA_DATA and the default, .arena here."),
    ] = None,
    server: Annotated[
        str | None,
        typer.Option(metavar="URL", help="An arena on the network, as ARENA_SERVER. See `arena login`."),
    ] = None,
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """A tournament arena for bots that play Big Two."""
    if data is not None and server:
        raise typer.BadParameter("an arena here or one on the network, not both", param_hint="'--server'")
    named = server if data is not None or server else os.environ.get("ARENA_SERVER")
    ctx.obj = Given(data, named or None)


@cache
def arena_group() -> Any:
    """Return the group of all commands."""
    group: Any = typer.main.get_command(app)
    for command in COMMANDS:
        group.add_command(command)
    return group


def run(arguments: Sequence[str]) -> int:
    """Run one command and return the exit status: 0, 1 for errors, 2 for wrong usage, 130 after Ctrl-C,
    and likewise 128 and the signal's number after others.

    Every problem is one line on standard error.
    """
    spell_out()
    try:
        status = arena_group().main(args=list(arguments), prog_name="arena", standalone_mode=False)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except typer.TyperException as error:
        return _fail(_with_help(error), status=error.exit_code)
    except FieldsWrong as error:
        return _fail(*map(str, error.problems))
    except UnknownError as error:
        return _fail(*error.reasons)
    except (ArenaError, RefereeError) as error:
        return _fail(str(error))
    except (KeyboardInterrupt, typer.Abort) as error:
        return getattr(
            error.__cause__ or error, "status", INTERRUPTED
        )  # of the signal, if it was another one
    except BrokenPipeError:
        discard_output()
        return 1
    except OSError as error:  # of standard output; commands say what is wrong with files
        discard_output()
        return _fail(f"cannot write {error.filename or 'the output'}: {error.strerror}")


def _with_help(error: typer.TyperException) -> str:
    """Return what was wrong with the usage, and which help to read unless that was just shown."""
    context, message = getattr(error, "ctx", None), _reworded(error.format_message())
    return f"{message} (see {context.command_path} --help)" if context and message else message


def _reworded(message: str) -> str:
    """Return what Typer says of a value in the words of our own messages."""
    message = message.replace("Value error, ", "")
    return message.replace("Input should be ", "must be ").partition(", unable to parse")[0]


def _fail(*reasons: str, status: int = 1) -> int:
    with suppress(OSError):  # nobody can be told
        for reason in filter(None, reasons):
            print(f"error: {plain(' '.join(reason.split()))}", file=sys.stderr)
    return status

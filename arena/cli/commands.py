"""The command line of the whole arena."""

import os
from pathlib import Path
from typing import Annotated

import typer

from arena.cli.context import GlobalOptions
from referee.cli.app import HELP_OPTIONS, version_shown
from referee.cli.later import Later, Whole

COMMANDS = (
    Later(
        "doctor",
        "arena.cli.doctor:doctor",
        "Check this arena: settings, versions, database, broker, referees, clocks, disk, leases, queue.",
    ),
    Later(
        "up",
        "arena.cli.up:up",
        "Run a whole arena in this terminal: referees, worker, beat and web server. Ctrl-C stops it.",
    ),
    Later(
        "migrate",
        "arena.cli.backup:migrate",
        "Upgrade the database to the schema of this version, or create its tables.",
    ),
    Later("referee", "arena.cli.referee:referee", "Run a referee: bots and workers connect to it."),
    Later(
        "worker",
        "arena.cli.worker:worker",
        "Run a worker: it has referees play matches, and stores the results.",
    ),
    Later("web", "arena.cli.web:web", "Serve the web pages and the API of this arena over HTTP."),
    Later(
        "beat",
        "arena.cli.beat:beat",
        "Run the beat: it advances tournaments and starts seasons. One is enough.",
    ),
    Later("config", "arena.cli.doctor:config", "Show the settings; secrets are hidden."),
    Later(
        "demo",
        "arena.cli.demo:demo",
        "Run a whole arena here for a minute or two: eight bots, three tournaments, standings and ratings.",
    ),
    Later(
        "bot",
        "arena.cli.bot:app",
        "Register, list, check and run bots, and read their logs and deals.",
    ),
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
    Later(
        "account",
        "arena.cli.accounts:app",
        "Create and change accounts of people who use the arena over the network.",
    ),
    Later(
        "token",
        "arena.cli.tokens:app",
        "Create, list, replace and revoke tokens of workers, organisers and spectators. Bots get theirs with"
        " `arena bot register`.",
    ),
    Later("tournament", "arena.cli.tournaments:app", "Create, start, follow and end tournaments."),
    Later("webhook", "arena.cli.webhooks:app", "Send messages over HTTP about what happens in tournaments."),
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
        "arena.cli.export:export",
        "Write a tournament as JSON lines: all that `arena verify` needs, including every deal record.",
    ),
    Later("backup", "arena.cli.backup:backup", "Write the database to a file; the arena may be running."),
    Later(
        "restore",
        "arena.cli.backup:restore",
        "Replace the database with a backup; its contents are lost. Stop everything first.",
    ),
    Later("match", "arena.cli.results:match", "List and show matches, and their seatings."),
    Later(
        "deal",
        "arena.cli.botresults:deal",
        "Find notable deals, what their cards were worth, and what decisions cost.",
    ),
    Later("rating", "arena.cli.results:rating", "Recompute and check the ratings."),
    Later("login", "arena.cli.login:login", "Store a key for an arena on the network, for `arena --server`."),
    Later(
        "logout",
        "arena.cli.login:logout",
        "Forget the key for an arena on the network, and revoke it if `arena login --account` made it.",
    ),
    Later("audit", "arena.cli.accounts:audit", "Show who changed what, the latest change first."),
    Later("rules", "arena.cli.rules:rules_app", "Show, check and try rulesets."),
    Later(
        "vectors", "referee.cli.vectors:vectors_app", "Write the test vectors for programs in any language."
    ),
)
"""All commands and groups in the order of the help; each line is the first paragraph of the
command's own help."""

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, context_settings=HELP_OPTIONS)


@app.callback(no_args_is_help=True)
def arena(
    ctx: typer.Context,
    data: Annotated[
        Path | None,
        typer.Option(help="Folder of the arena's data; overrides ARENA_DATA and the default, ./.arena."),
    ] = None,
    server: Annotated[
        str | None,
        typer.Option(
            metavar="URL", help="An arena on the network; overrides ARENA_SERVER. See `arena login`."
        ),
    ] = None,
    _version: Annotated[bool, version_shown("bigtwo-arena")] = False,
) -> None:
    """A tournament arena for bots that play Big Two."""
    if data is not None and server:
        raise typer.BadParameter("an arena here or one on the network, not both", param_hint="'--server'")
    named = server if data is not None or server else os.environ.get("ARENA_SERVER")
    ctx.obj = GlobalOptions(data, named or None)


WHOLE = Whole(app, COMMANDS)

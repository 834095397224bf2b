"""``arena bot run`` and ``doctor`` of the whole arena, which find its referees through the settings."""

from typing import Annotated

import typer

from arena.cli.context import own_settings
from referee.bot.program import tls_of_environment
from referee.cli.botdoctor import examine_bot
from referee.cli.botrun import Program, Token, run_program

Referee = Annotated[
    str | None,
    typer.Option(
        envvar="ARENA_REFEREE",
        help="Addresses of the referees, separated by commas; by default those of the arena here.",
    ),
]


def run(ctx: typer.Context, program: Program, token: Token, referee: Referee = None) -> None:
    """Run a bot written in Python until Ctrl-C."""
    run_program(program, token, referee or _own(ctx), own_settings(ctx).client_tls())


def doctor(ctx: typer.Context, referee: Referee = None) -> None:
    """Check a bot's token, addresses, TLS, protocol version, clock and number of sessions.

    It reads the same variables as bots: ARENA_TOKEN, ARENA_REFEREE, ARENA_TLS_CA,
    ARENA_TLS_CLIENT_CERTIFICATE and ARENA_TLS_CLIENT_KEY. A bot that is playing is not disturbed. Exits with
    status 1 if anything is wrong.
    """
    examine_bot(referee or _own(ctx), tls_of_environment())


def _own(ctx: typer.Context) -> str:
    return ",".join(own_settings(ctx).referees)

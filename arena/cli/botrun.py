"""``arena bot run`` of the whole arena: reaches its referees as the settings say."""

import typer

from arena.cli.context import own_settings
from referee.bot.program import DEFAULT_REFEREE
from referee.cli.botrun import Program, Referee, Token, run_program


def run(ctx: typer.Context, program: Program, token: Token, referee: Referee = DEFAULT_REFEREE) -> None:
    """Run a bot written in Python until Ctrl-C."""
    run_program(program, token, referee, own_settings(ctx).client_tls())

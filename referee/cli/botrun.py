"""``arena bot run``: run a bot written in Python."""

import importlib
from pathlib import Path
from typing import Annotated

import typer

from referee.bot import run as run_bot
from referee.bot.bots import Bot
from referee.bot.program import DEFAULT_REFEREE, tls_of_environment
from referee.cli.starting import good_token
from referee.errors import ProgramError
from referee.local.loading import bot_in, load_file
from referee.net.addresses import read_addresses
from referee.net.tls import ClientTls
from referee.processes.closed import outlast_readers
from referee.processes.console import log_to_console
from referee.reading.validation import suggestion
from referee.samples import sample_bots

Program = Annotated[
    str,
    typer.Argument(
        metavar="BOT",
        help="A sample bot, or a Python file or module with a function choose(turn) "
        "or a class with such a method.",
    ),
]
Token = Annotated[str, typer.Option(envvar="ARENA_TOKEN", help="The bot version's token.")]
Referee = Annotated[
    str, typer.Option(envvar="ARENA_REFEREE", help="Addresses of the referees, separated by commas.")
]


def run(program: Program, token: Token, referee: Referee = DEFAULT_REFEREE) -> None:
    """Run a bot written in Python until Ctrl-C."""
    run_program(program, token, referee, tls_of_environment())


def run_program(program: str, token: str, referee: str, tls: ClientTls | None) -> None:
    """Load a bot, and run it until Ctrl-C. Raise BadParameter, AddressError, ProgramError, and what
    ``run`` raises.
    """
    token = good_token(token, "'--token' / ARENA_TOKEN")
    addresses = read_addresses(referee)
    bot = load_bot(program)
    outlast_readers()
    log_to_console()
    run_bot(bot, token=token, addresses=addresses, tls=tls)


def load_bot(program: str) -> Bot:
    """Load a bot from a Python file or module, or a sample bot by its name.

    Raise ProgramError if there is none, if it cannot be imported, or if it has no bot in it.
    """
    samples = sample_bots()
    if program in samples or program.endswith(".py"):
        return load_file(samples.get(program, Path(program)))
    try:
        module = importlib.import_module(program)
    except Exception as error:  # whatever the author's program raises
        if isinstance(error, ModuleNotFoundError) and program.partition(".")[0] == error.name:
            near = suggestion(program, [*samples]) or f"; the sample bots are {', '.join(samples)}"
            raise ProgramError(program, f"is not a sample bot, Python file or module{near}") from None
        raise ProgramError(program, f"cannot be imported: {type(error).__name__}: {error}") from None
    return bot_in(module, program)

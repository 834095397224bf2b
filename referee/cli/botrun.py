"""``arena bot run``: a bot written in Python, run here."""

import importlib
import importlib.util
import logging
import sys
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from referee.addresses import read_addresses
from referee.bot import run as run_bot
from referee.bot.program import DEFAULT_REFEREE, tls_of_environment
from referee.bot.seat import Bot
from referee.cli.samples import sample_bots
from referee.errors import ProgramError
from referee.tls import ClientTls
from referee.validation import suggestion

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
    """Load a bot, and run it until Ctrl-C. Raise AddressError, ProgramError, and what ``run`` raises."""
    addresses = read_addresses(referee)
    bot = load_bot(program)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    run_bot(bot, token=token.strip(), addresses=addresses, tls=tls)


def load_bot(program: str) -> Bot:
    """Load the bot from a Python file or module: its function ``choose``, else its one class that has one.

    The name of a sample bot is its file. Raise ProgramError where there is no such thing, or if it cannot be
    imported.
    """
    samples = sample_bots()
    try:
        if program in samples:
            module = _import_file(samples[program])
        elif program.endswith(".py"):
            module = _import_file(Path(program))
        else:
            module = importlib.import_module(program)
    except Exception as error:  # whatever the author's program raises
        if isinstance(error, ModuleNotFoundError) and program.partition(".")[0] == error.name:
            near = suggestion(program, [*samples]) or f"; the sample bots are {', '.join(samples)}"
            raise ProgramError(program, f"is no sample bot, Python file or module{near}") from None
        raise ProgramError(program, f"cannot be imported: {type(error).__name__}: {error}") from None
    function: Any = getattr(module, "choose", None)
    classes = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__ and hasattr(value, "choose")
    ]
    if not callable(function) and len(classes) != 1:
        found = f"{len(classes)} classes" if classes else "no class"
        raise ProgramError(program, f"has no function choose(turn), and {found} with a method choose")
    found_bot: Bot = function if callable(function) else classes[0]
    return found_bot


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise FileNotFoundError("no such file")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.parent.absolute()))
    spec.loader.exec_module(module)
    return module

"""``arena bot …``: registering, listing and running bots."""

import importlib
import importlib.util
import logging
import sys
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer

from arena.cli.context import storage_of
from arena.cli.output import AsJson, moment, print_json, say, show
from arena.errors import SpecError
from arena.models import utc_now
from arena.services import bots
from referee.bot import run as run_bot
from referee.bot.client import DEFAULT_REFEREE, Bot

app = typer.Typer(no_args_is_help=True, help="Register, list and run bots.")


@app.command()
def register(
    ctx: typer.Context,
    bot: Annotated[str, typer.Argument(metavar="OWNER/BOT", help="Its owner's name and its own.")],
    as_json: AsJson = False,
) -> None:
    """Register a bot, or the next version of one, and print its token. The token is shown only now."""
    if bot.count("/") != 1:
        raise typer.BadParameter(f"{bot!r} is not of the form OWNER/BOT", param_hint="'OWNER/BOT'")
    with storage_of(ctx) as storage:
        registered = bots.register_version(storage, bot, utc_now())
    if as_json:
        print_json(registered)
    else:
        say(f"{registered.name} is registered. Its token, which cannot be shown again:", registered.token)


@app.command("list")
def list_(
    ctx: typer.Context,
    owner: Annotated[str | None, typer.Option(help="Only the bots of this owner.")] = None,
    as_json: AsJson = False,
) -> None:
    """List all bot versions."""
    with storage_of(ctx) as storage:
        versions = bots.list_versions(storage, owner)
    if as_json:
        print_json(versions)
    else:
        rows = [(one.name, moment(one.created_at), moment(one.revoked_at)) for one in versions]
        show(["bot version", "registered", "revoked"], rows, "no bots yet: arena bot register OWNER/BOT")


@app.command()
def revoke(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="OWNER/BOT@VERSION", help="The bot version.")],
) -> None:
    """Make the token of a bot version worthless, for good."""
    with storage_of(ctx) as storage:
        bots.revoke_version(storage, name, utc_now())
    say(f"the token of {name} is revoked")


@app.command()
def run(
    program: Annotated[
        str,
        typer.Argument(
            metavar="FILE_OR_MODULE", help="Python with a function choose(turn) or a class that has it."
        ),
    ],
    token: Annotated[str, typer.Option(envvar="ARENA_TOKEN", help="The bot version's token.")],
    referee: Annotated[
        str, typer.Option(envvar="ARENA_REFEREE", help="Addresses of the referees, parted by commas.")
    ] = DEFAULT_REFEREE,
) -> None:
    """Run a bot written in Python until Ctrl-C."""
    bot = load_bot(program)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    addresses = [address.strip() for address in referee.split(",") if address.strip()]
    run_bot(bot, token=token.strip(), addresses=addresses)


def load_bot(program: str) -> Bot:
    """The bot in a Python file or module: its function ``choose``, else its one class that has a ``choose``.

    Raises SpecError where there is no such thing, or if it cannot be imported.
    """
    try:
        module = _import_file(Path(program)) if program.endswith(".py") else importlib.import_module(program)
    except Exception as error:  # whatever the author's program raises
        raise SpecError(program, f"cannot be imported: {type(error).__name__}: {error}") from None
    function: Any = getattr(module, "choose", None)
    classes = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__ and hasattr(value, "choose")
    ]
    if not callable(function) and len(classes) != 1:
        found = f"{len(classes)} classes" if classes else "no class"
        raise SpecError(program, f"has no function choose(turn), and {found} with a method choose")
    found_bot: Bot = function if callable(function) else classes[0]
    return found_bot


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise FileNotFoundError("no such file")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.parent.absolute()))
    spec.loader.exec_module(module)
    return module

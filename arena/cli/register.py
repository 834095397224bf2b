"""``arena bot register`` and ``describe``: bots, their descriptions, and files with their tokens."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from arena.bots import bulk
from arena.bots.descriptions import Description
from arena.cli.context import ask, is_here, own_settings
from arena.cli.doors import command_of
from arena.cli.tokens import ExpiresIn
from arena.jsonvalues import to_json
from arena.operations import bots
from referee.cli.output import AsJson, print_json, say, show, warn
from referee.net.addresses import USUAL_PORT

if TYPE_CHECKING:
    from arena.host.settings import Settings

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from arena.bots.versions import Registered
from arena.errors import SpecError
from arena.host.files import make_private, write_private
from arena.people.tokens import new_token
from referee.errors import Problem


def token_file(folder: Path, bot: str) -> Path:
    """Return the file for the token of ``owner/bot``, with or without its version."""
    return folder / f"{bot.partition('@')[0].replace('/', '.')}.token"  # names have no dots


NAMED = 10
"""Up to this many existing files are named."""

BLANK = f"{' ' * len(new_token())}\n"
"""The contents of a file until its token is known: as many bytes, so that the disk has room for it."""


@contextmanager
def token_files(folder: Path, bots: Sequence[str]) -> Iterator[Callable[[Sequence[Registered]], None]]:
    """Create a file for each of these bots, and yield a function that writes the tokens into them.

    All are removed again if the block raises. Raise SpecError, which names files that already exist, or what
    is wrong with the folder.
    """
    taken = [file for bot in bots if (file := token_file(folder, bot)).exists()]
    if taken:
        problems = [Problem("tokens", f"{file} already exists") for file in taken[:NAMED]]
        count = f"all {len(bots)}" if len(taken) == len(bots) else f"{len(taken)} of {len(bots)}"
        text = f"{count} files already exist: were these bots registered before? If not, name another folder"
        raise SpecError.of([*problems, Problem("tokens", text)])
    written: list[Path] = []
    made = [path for path in (folder, *folder.parents) if not path.exists()]

    def write(registered: Sequence[Registered]) -> None:
        for bot in registered:
            with token_file(folder, bot.bot).open("r+") as file:
                file.write(f"{bot.token}\n")

    try:
        make_private(folder)
        for bot in bots:
            file = token_file(folder, bot)
            write_private(file, BLANK)
            written.append(file)
        yield write
    except BaseException as error:
        for file in written:
            file.unlink(missing_ok=True)
        with suppress(OSError):
            for path in made:
                path.rmdir()
        if isinstance(error, OSError):
            raise SpecError("tokens", f"cannot write in {folder}: {error.strerror or error}") from None
        raise


Language = Annotated[str | None, typer.Option(help="The language it is written in: go, c++, …")]
Link = Annotated[str | None, typer.Option(metavar="URL", help="A web page about it: http:// or https://.")]


def register(
    ctx: typer.Context,
    bot: Annotated[
        str | None, typer.Argument(metavar="[OWNER/BOT]", help="The bot: its owner's name and its own.")
    ] = None,
    language: Language = None,
    link: Link = None,
    expires_in: ExpiresIn = None,
    file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.toml", help="Register the bots in this file instead, all or none; see --tokens."
        ),
    ] = None,
    tokens: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Folder for the tokens of --file, a file for each bot."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Register a bot, or a bot's next version, and print its token. The token is shown only once.

    With --file, register bots that are new: those that the file lists as `bots`, each with
    `bot = "owner/bot"` and, if wanted, `language`, `link` and `expires_in`. The token of owner/bot is then in
    FOLDER/owner.bot.token, and is not shown.
    """
    if file is not None or tokens is not None:
        if bot or language or link or expires_in or file is None or tokens is None:
            text = "--file goes with --tokens, and with nothing else that says what to register"
            raise typer.BadParameter(text, param_hint="'--file'")
        _register_all(ctx, file, tokens, as_json)
        return
    if bot is None:
        raise typer.BadParameter("a bot or --file is required", param_hint="'OWNER/BOT'")
    if bot.count("/") != 1:
        raise typer.BadParameter(f"{bot!r} is not of the form OWNER/BOT", param_hint="'OWNER/BOT'")
    registered = ask(ctx, bots.register_bot, bot, language, link, expires_in)
    if as_json:
        print_json(to_json(registered))
    else:
        where = _here(own_settings(ctx)) if is_here(ctx) else f"at {ctx.obj.server}"
        number = int(registered.bot.rpartition("@")[2])
        if number > 1:
            before = f"{bot}@{number - 1}"
            say(
                f"{before} stays as it was, with its token, its rating and its tournaments; "
                f"`arena bot revoke {before}` ends it"
            )
        say(
            f"{registered.bot} is registered {where}. Its token, which cannot be shown again:",
            registered.token,
        )


def _here(settings: "Settings") -> str:
    """Describe the arena in which a bot is registered, and the referees if they are not the SDK's default."""
    referees = ",".join(settings.referees)
    usual = "" if referees == f"127.0.0.1:{USUAL_PORT}" else f", where it plays with ARENA_REFEREE={referees}"
    return f"in {settings.data}{usual}"


def _register_all(ctx: typer.Context, file: Path, folder: Path, as_json: bool) -> None:
    new = bulk.load_bots(file)
    with token_files(folder, [bot.bot for bot in new]) as keep:
        registered = ask(ctx, bots.register_bots, new).bots
        try:
            keep(registered)
        except OSError:
            warn("the bots are registered all the same: give them new tokens with `arena bot rotate`")
            raise
    files = [{"bot": bot.bot, "token_file": str(token_file(folder, bot.bot))} for bot in registered]
    if as_json:
        print_json({"bots": files})
    else:
        rows = [tuple(bot.values()) for bot in files]
        show(["bot version", "its token is in"], rows, "no bots")


@command_of(bots.describe_bot, metavars={"link": "URL", "open_to": "ACCOUNT"})
def describe(description: Description) -> None:
    """Change a bot's description, and which organisers may enter it. An empty text (--link "") removes it.

    A version keeps the description that it was registered with.
    """
    say(
        f"{description.bot}: {description.language or 'language not stated'}, {description.link or 'no link'}"
    )
    if description.open_to:
        say(f"may be entered in rated tournaments by {', '.join(description.open_to)}")

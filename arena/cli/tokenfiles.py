"""A file for each token of bots that are registered together."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

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
        found = [Problem("tokens", f"{file} is there already") for file in taken[:NAMED]]
        count = f"all {len(bots)}" if len(taken) == len(bots) else f"{len(taken)} of {len(bots)}"
        text = (
            f"{count} files are there already: were these bots registered before? If not, name another folder"
        )
        raise SpecError.of([*found, Problem("tokens", text)])
    written: list[Path] = []
    made = [one for one in (folder, *folder.parents) if not one.exists()]

    def write(registered: Sequence[Registered]) -> None:
        for one in registered:
            with token_file(folder, one.bot).open("r+") as file:
                file.write(f"{one.token}\n")

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
            for one in made:
                one.rmdir()
        if isinstance(error, OSError):
            raise SpecError("tokens", f"cannot write in {folder}: {error.strerror or error}") from None
        raise

"""Tokens in files of their own: for bots that are registered together."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from arena.bots.versions import Registered
from arena.errors import SpecError
from arena.files import make_private, write_private
from referee.errors import Problem


def token_file(folder: Path, bot: str) -> Path:
    """Return the file for the token of ``owner/bot``, with or without its version."""
    return folder / f"{bot.partition('@')[0].replace('/', '.')}.token"  # names have no dots


@contextmanager
def token_files(folder: Path, bots: Sequence[str]) -> Iterator[Callable[[Sequence[Registered]], None]]:
    """Yield what writes a file for each of these bots; all are removed again if the block raises.

    Raise SpecError, which names all files that are there already, or what is wrong with the folder.
    """
    taken = [file for bot in bots if (file := token_file(folder, bot)).exists()]
    if taken:
        raise SpecError.of([Problem("tokens", f"{file} is there already") for file in taken])
    written: list[Path] = []
    is_new = not folder.exists()

    def write(registered: Sequence[Registered]) -> None:
        make_private(folder)
        for one in registered:
            file = token_file(folder, one.name)
            write_private(file, f"{one.token}\n")
            written.append(file)

    try:
        yield write
    except BaseException as error:
        for file in written:
            file.unlink(missing_ok=True)
        if is_new:
            with suppress(OSError):
                folder.rmdir()
        if isinstance(error, OSError):
            raise SpecError("tokens", f"cannot write in {folder}: {error.strerror or error}") from None
        raise

"""The bot that a rewind asks: in this process, or a command over a local port."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from referee.errors import ProgramError
from referee.local.desk import commanded
from referee.local.loading import home_of, load_file
from referee.local.programs import Program, program
from referee.local.replayed import Replayed
from referee.local.rewind import Asking, here


def program_of(given: Sequence[str], samples: Mapping[str, Path], folder: Path) -> Program:
    """Return the bot that is named in one text, or by the words of a command. Raise ProgramError.

    An older revision of a file is written into ``folder``.
    """
    if len(given) == 1:
        return program(given[0], samples, folder)
    if shutil.which(given[0]) is None:
        raise ProgramError(given[0], "there is no such program")
    return Program(Path(given[-1]).stem, None, tuple(given))


@contextmanager
def asking(bot: Program, replayed: Replayed) -> Iterator[tuple[Asking, bool]]:
    """Yield a function that asks a bot, and whether the bot may remember and must be asked for all turns."""
    if bot.file is not None:
        found = load_file(bot.file)
        yield here(found, replayed, home_of(bot.file).entered), isinstance(found, type)
    else:
        with commanded(bot, replayed) as ask:
            yield ask, True

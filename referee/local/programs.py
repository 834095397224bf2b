"""The bots that are named on a command line: sample bots, Python files, and commands in any language."""

import re
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from referee.errors import ProgramError
from referee.local.revision import checked_out, revision_of
from referee.validation import suggestion


class Program(NamedTuple):
    """A bot that is to play."""

    name: str
    """As it is shown."""
    file: Path | None
    """Its Python file; None for a command."""
    command: tuple[str, ...]
    """What starts it as a process of its own."""


def program(given: str, samples: Mapping[str, Path], folder: Path) -> Program:
    """Return the bot that somebody names. Raise ProgramError where there is none.

    One of an older revision is written into ``folder``.
    """
    if given in samples:
        return of_file(given, samples[given])
    if (revision := revision_of(given)) is not None:
        into = folder / f"{len([*folder.iterdir()])}"
        return of_file(f"{revision.file.stem}@{revision.name}", checked_out(revision, into))
    if given.endswith(".py") and len(_words(given)) == 1:
        path = Path(given)
        if not path.is_file():
            raise ProgramError(given, "no such file")
        return of_file(path.stem, path.absolute())
    words = _words(given)
    if not words or shutil.which(words[0]) is None:
        near = suggestion(given, [*samples]) or f"; the sample bots are {', '.join(samples)}"
        raise ProgramError(given or "''", f"is no sample bot, Python file or program{near}")
    return Program(given, None, tuple(words))


def of_file(name: str, path: Path) -> Program:
    """Return the bot of a Python file."""
    return Program(name, path, (sys.executable, "-m", "referee", "bot", "run", str(path)))


def told_apart(programs: Sequence[Program], given: Sequence[str]) -> list[Program]:
    """Return programs with names that differ: those of the same name are called as they were given."""
    names = [one.name for one in programs]
    return [
        one._replace(name=text) if names.count(one.name) > 1 else one
        for one, text in zip(programs, given, strict=True)
    ]


def slug(name: str) -> str:
    """Return the name of a bot as names in matches are written."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "bot"


def _words(given: str) -> list[str]:
    try:
        return shlex.split(given)
    except ValueError as error:
        raise ProgramError(given, str(error).lower()) from None

"""The bots named on a command line: sample bots, Python files, and commands in any language."""

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from referee.environment import safely
from referee.errors import ProgramError
from referee.local.revision import checked_out, revision_of
from referee.names import near_name
from referee.validation import suggestion


class Program(NamedTuple):
    """A bot named on a command line."""

    name: str
    """The name that is shown."""
    file: Path | None
    """Its Python file; None for a command."""
    command: tuple[str, ...]
    """What starts it as a process of its own."""


def program(given: str, samples: Mapping[str, Path], folder: Path) -> Program:
    """Return the bot of this name. Raise ProgramError if there is none.

    An older revision of a file is written into ``folder``.
    """
    if given in samples:
        return of_file(given, samples[given])
    if (revision := revision_of(given)) is not None:
        into = folder / f"{len([*folder.iterdir()])}"
        return of_file(f"{revision.file.stem}@{revision.name}", checked_out(revision, into))
    path = Path(given)
    if given.endswith(".py") and path.is_file():
        return of_file(path.stem, path.absolute())
    words = [given] if os.sep in given and path.is_file() else _words(given)
    if given.endswith(".py") and len(words) == 1:
        raise ProgramError(given, "no such file")
    if not words or shutil.which(words[0]) is None:
        if words and (why := why_not_started(words[0])):
            raise ProgramError(given, why)
        near = suggestion(given, [*samples]) or f"; the sample bots are {', '.join(samples)}"
        raise ProgramError(given or "''", f"is not a sample bot, Python file or program{near}")
    return Program(given, None, tuple(words))


def why_not_started(name: str) -> str:
    """Return why the file or folder of this name is not a program; empty if there is none."""
    path = Path(name)
    if path.is_dir():
        return f"{name} is a folder, not a program"
    if path.is_file() and not os.access(path, os.X_OK):
        return f"{name} is not executable: put its interpreter before it, or chmod +x it"
    if path.is_file() and os.sep not in name:
        return f"{name} is not a program on the PATH, but a file here: say ./{name}"
    return ""


def of_file(name: str, path: Path) -> Program:
    """Return the bot of a Python file."""
    return Program(name, path, tuple(safely("referee", "bot", "run", str(path))))


def told_apart(programs: Sequence[Program], given: Sequence[str]) -> list[Program]:
    """Return the programs with distinct names: those that share a name get the text that was given."""
    names = [one.name for one in programs]
    return [
        one._replace(name=text) if names.count(one.name) > 1 else one
        for one, text in zip(programs, given, strict=True)
    ]


def slug(name: str) -> str:
    """Return the name of a bot in the form that names have in matches."""
    return near_name(name) or "bot"


def _words(given: str) -> list[str]:
    try:
        return shlex.split(given)
    except ValueError as error:
        raise ProgramError(given, str(error).lower()) from None

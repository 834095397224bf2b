"""An older version of a bot: its file and the files next to it, at a revision of its git repository."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from referee.errors import ProgramError


class Revision(NamedTuple):
    """A file at a revision."""

    file: Path
    name: str
    """The revision's name: a tag, a branch or a commit."""


def revision_of(given: str) -> Revision | None:
    """Return the file and the revision in a text such as ``my_bot.py@v1``; None if it has another form."""
    file, at, name = given.rpartition(".py@")
    return Revision(Path(f"{file}.py"), name) if at and file and name else None


def checked_out(revision: Revision, into: Path) -> Path:
    """Write a file's folder, as it was at a revision, into a folder, and return the file there.

    The repository and its index stay as they are. Raise ProgramError if there is no such revision or file.
    """
    given = f"{revision.file}@{revision.name}"
    beside = revision.file.absolute().parent
    if not beside.is_dir():
        raise ProgramError(given, f"there is no folder {beside}")
    top = _git(given, beside, "rev-parse", "--show-toplevel")
    commit = _commit(given, beside, revision.name)
    within = _git(given, beside, "rev-parse", "--show-prefix")
    file = f"{within}{revision.file.name}"
    if not _git(given, beside, "ls-tree", "--full-tree", "--name-only", commit, "--", file):
        raise ProgramError(given, f"{file} is not in revision {revision.name}")
    into.mkdir(parents=True)
    index = {"GIT_INDEX_FILE": str(into / "index")}
    files = into / "files"
    _git(given, Path(top), "read-tree", f"{commit}:{within}", environment=index)
    _git(given, Path(top), "checkout-index", "--all", f"--prefix={files}/", environment=index)
    return files / revision.file.name


def _commit(given: str, folder: Path, name: str) -> str:
    try:
        return _git(
            given, folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"
        )
    except ProgramError:
        raise ProgramError(given, f"there is no revision {name!r}") from None


def _git(given: str, folder: Path, *arguments: str, environment: Mapping[str, str] | None = None) -> str:
    """Return what git prints, without the final newline. Raise ProgramError with its message if it fails."""
    inherited = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],  # noqa: S607 as the author's own path has it
            capture_output=True,
            encoding=sys.getfilesystemencoding(),
            errors=sys.getfilesystemencodeerrors(),
            env={**inherited, **(environment or {})},
        )
    except FileNotFoundError:
        raise ProgramError(given, "git is not installed") from None
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"git {arguments[0]} failed"]
        raise ProgramError(given, said[0].removeprefix("fatal: "))
    return done.stdout.rstrip("\n")

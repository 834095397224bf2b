"""Files and folders that are their user's alone, whatever the umask, and files that users name."""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from arena.errors import StateError

PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600
"""Modes."""

FULL = 64 << 10
"""Free bytes below which a disk is full: SQLite writes files in steps of half of that."""

OTHERS = stat.S_IRWXG | stat.S_IRWXO
"""What a mode allows to others than the user."""


def make_private(folder: Path) -> None:
    """Make a folder that only its user may enter, and those above it that are missing.

    One that is there already is left as it is: it may be shared on purpose (``arena doctor`` says so).
    """
    if not folder.is_dir():
        if not folder.parent.is_dir():
            make_private(folder.parent)
        with suppress(FileExistsError):
            folder.mkdir(PRIVATE_FOLDER)
            folder.chmod(PRIVATE_FOLDER)


def keep_private(file: Path) -> None:
    """Make a file that only its user may read, or take the permissions of others away from it.

    If that fails, nothing is done: opening the file will report why.
    """
    with suppress(OSError):
        # One that is there is never opened: to close it would end the locks that SQLite has on it here.
        with suppress(FileExistsError):
            os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE_FILE))
        if stat.S_IMODE(file.stat().st_mode) != PRIVATE_FILE:
            file.chmod(PRIVATE_FILE)


def is_full(folder: Path) -> bool:
    """Return whether hardly anything can be written any more on the disk of a folder."""
    try:
        return shutil.disk_usage(folder).free < FULL
    except OSError:
        return False


def write_private(file: Path, text: str) -> None:
    """Write a new file that only its user may read, whole or not at all.

    Raise FileExistsError if it is there already, and OSError.
    """
    made = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE)
    try:
        with os.fdopen(made, "w") as out:
            os.fchmod(made, PRIVATE_FILE)
            out.write(text)
    except OSError:
        file.unlink(missing_ok=True)
        raise


def open_to_others(path: Path) -> bool:
    """Return whether anybody but its user may do anything with a file or folder."""
    return bool(path.stat().st_mode & OTHERS)


def is_special(path: Path) -> bool:
    """Return whether there is something that is neither a file nor a folder: a pipe, a device.

    It must be written into, never replaced. Raise OSError.
    """
    with suppress(FileNotFoundError):
        mode = path.stat().st_mode
        return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)
    return False


def written_path(path: Path) -> Path:
    """Return the file that is to be written where a user names this one: what a link leads to."""
    return Path(os.path.realpath(path))


def require_free(path: Path) -> None:
    """Raise StateError if there is a file already."""
    if path.is_file():
        raise StateError(f"{path} is there already; give another name, or replace it with --force")


@contextmanager
def draft_beside(file: Path) -> Iterator[Path]:
    """Name a hidden file beside this one, to be moved into its place; what is left of it goes at the end."""
    draft = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        yield draft
    finally:
        draft.unlink(missing_ok=True)

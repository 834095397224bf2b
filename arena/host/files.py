"""Private files and folders, whatever the umask, and files that users name."""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from arena.errors import StateError

PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600
"""Their modes."""

FULL = 64 << 10
"""Free bytes below which a disk is full: SQLite writes files in steps of half of that."""

OTHERS = stat.S_IRWXG | stat.S_IRWXO
"""The permissions of everybody but the user."""


def make_private(folder: Path) -> None:
    """Create a folder that only its user may enter, and the missing ones above it.

    An existing one is left as it is, since it may be shared on purpose (``arena doctor`` reports it).
    """
    if not folder.is_dir():
        if not folder.parent.is_dir():
            make_private(folder.parent)
        with suppress(FileExistsError):
            folder.mkdir(PRIVATE_FOLDER)
            folder.chmod(PRIVATE_FOLDER)


def keep_private(file: Path) -> None:
    """Create a file that only its user may read, or remove the permissions of others from an existing one.

    Failures are ignored: opening the file will report why.
    """
    with suppress(OSError):
        # An existing one is never opened, since closing it would release this process's SQLite locks on it.
        with suppress(FileExistsError):
            os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE_FILE))
        if stat.S_IMODE(file.stat().st_mode) != PRIVATE_FILE:
            file.chmod(PRIVATE_FILE)


def is_full(folder: Path) -> bool:
    """Return whether hardly anything can be written on the disk of a folder."""
    try:
        return shutil.disk_usage(folder).free < FULL
    except OSError:
        return False


def write_private(file: Path, text: str) -> None:
    """Write a new file that only its user may read, completely or not at all.

    Raise FileExistsError if it exists, and OSError.
    """
    made = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE)
    try:
        with os.fdopen(made, "w", encoding="utf-8") as out:
            os.fchmod(made, PRIVATE_FILE)
            out.write(text)
    except OSError:
        file.unlink(missing_ok=True)
        raise


def open_to_others(path: Path) -> bool:
    """Return whether anybody but its user has any permission for a file or folder."""
    return bool(path.stat().st_mode & OTHERS)


def is_special(path: Path) -> bool:
    """Return whether a path exists and is neither a file nor a folder, but a pipe or a device.

    Such things must be written into, never replaced. Raise OSError.
    """
    with suppress(FileNotFoundError):
        mode = path.stat().st_mode
        return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)
    return False


def written_path(path: Path) -> Path:
    """Return the file to write if a user names this one: the target of a symbolic link."""
    return Path(os.path.realpath(path))


def require_free(path: Path) -> None:
    """Raise StateError if the file exists."""
    if path.is_file():
        raise StateError(f"{path} already exists; give another name, or replace it with --force")


@contextmanager
def draft_beside(file: Path) -> Iterator[Path]:
    """Yield a hidden path next to a file, to be moved into its place; if it is left over, it is deleted."""
    draft = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        yield draft
    finally:
        draft.unlink(missing_ok=True)

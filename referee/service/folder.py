"""A folder for a socket that nobody else may open, and which disappears with its process."""

import contextlib
import fcntl
import os
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

from referee.errors import ListenError

assert sys.platform != "win32", "it has no such sockets, and locks no folders"

PREFIX = "referee-"
SYSTEM = ("/tmp", "/var/tmp")  # noqa: S108 the folder in it is private, and has a random name
"""Folders for temporary files with short names."""
_ADDRESSABLE = re.compile(r"[\w./+-]{1,80}", re.ASCII)
"""The names of folders in which gRPC can address a socket: with the rest, the name has 107 bytes at most, and
nothing in it is an escape."""
NEW_SECONDS = 60.0
"""How old a folder must be to be removed: the process of a younger one may be about to lock it."""


class SocketFolder:
    """A private folder that is locked for as long as its process lives, however that ends."""

    def __init__(self) -> None:
        """Make the folder, and remove those that killed processes have left behind. Raise ListenError."""
        parent = _parent()
        remove_abandoned(parent)
        self._path = tempfile.mkdtemp(prefix=PREFIX, dir=parent)
        self._lock = os.open(self._path, os.O_RDONLY)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    @property
    def address(self) -> str:
        """The socket in the folder, as gRPC addresses it."""
        return f"unix:{self._path}/socket"

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self._path, ignore_errors=True)
        os.close(self._lock)


def _parent() -> str:
    """Return the folder for temporary files, or the system's if no socket can be addressed in that."""
    usual = tempfile.gettempdir()
    for folder in (usual, *SYSTEM):
        if _ADDRESSABLE.fullmatch(folder) and os.access(folder, os.W_OK | os.X_OK):
            return folder
    raise ListenError(f"{usual} has too long a name for a socket in it: set TMPDIR to another folder")


def remove_abandoned(parent: str) -> None:
    """Remove the folders in ``parent`` of processes that have ended without doing so."""
    for path in Path(parent).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):  # it is somebody else's, in use, or already gone
            _remove_if_abandoned(path)


def _remove_if_abandoned(path: Path) -> None:
    if time.time() - path.stat().st_mtime < NEW_SECONDS:
        return
    lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if {entry.name for entry in path.iterdir()} <= {"socket"}:
            shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(lock)

"""Backups of an arena whose database is a SQLite file, and their restoring."""

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from sqlalchemy import make_url

from arena.database import NEWER, require_database, sqlite_trouble
from arena.errors import SchemaError, SettingsError, StateError, StorageError
from arena.files import draft_beside, is_special, keep_private, require_free, written_path
from arena.migrations import HEAD
from arena.settings import Settings

BESIDE = ("-wal", "-shm", "-journal")
"""What SQLite puts beside a database: of another one it would be played into what is restored."""


def backup(settings: Settings, to: Path, *, force: bool = False) -> str:
    """Write the database into a file, while everything may run; return its schema.

    Raise NoArena, StateError for a database that is a server and, unless forced, for a file that is there
    already, and StorageError.
    """
    database = _database(settings, "pg_dump")
    require_database(settings)
    if not force:
        require_free(to)
    with _one_line(to):
        if is_special(to):
            raise StorageError(f"{to} is no file; a backup can be written into nothing else")
        target = written_path(to)
        with _draft(target) as draft:
            revision = _copy(database, draft)
            draft.replace(target)
    return revision


def find_replaced(settings: Settings, source: Path) -> Path | None:
    """Return the database that a backup would replace; None if there is none yet.

    Raise StateError for a database that is a server, StorageError if there is no such backup.
    """
    database = _database(settings, "pg_restore")
    if not source.is_file():
        raise StorageError(f"there is no file {source}")
    return database if database.exists() else None


def restore(settings: Settings, source: Path) -> str:
    """Put a backup into the place of the database, which is gone afterwards; return its schema.

    The backup is looked through before anything is changed. Raise StateError while anything has the database
    open, SchemaError for a backup of a newer version, StorageError for what is no sound backup.
    """
    find_replaced(settings, source)
    database = _database(settings, "pg_restore")
    settings.prepare()
    with ExitStack() as stack:
        stack.enter_context(_one_line(source))
        stack.enter_context(_nobody_else(settings.data / "up.lock", database))
        draft = stack.enter_context(_draft(database))
        revision = _copy(source, draft)
        if revision > HEAD:
            raise SchemaError(NEWER)
        _own_like(draft, database if database.exists() else database.parent)
        for suffix in BESIDE:
            Path(f"{database}{suffix}").unlink(missing_ok=True)
        draft.replace(database)
    return revision


def _database(settings: Settings, instead: str) -> Path:
    if not settings.embedded_database:
        raise StateError(f"the database is a server; use {instead} (docs/operations.md)")
    return written_path(Path(make_url(settings.database_url).database or ""))


@contextmanager
def _draft(file: Path) -> Iterator[Path]:
    """Make a private file beside this one, and remove it at the end unless it was moved into place."""
    with draft_beside(file) as draft:
        draft.unlink(missing_ok=True)
        try:
            keep_private(draft)
            yield draft
        finally:
            for suffix in BESIDE:
                Path(f"{draft}{suffix}").unlink(missing_ok=True)


def _copy(source: Path, target: Path) -> str:
    """Copy a database with all that was committed, look through the copy, and return its schema."""
    readable = f"file:{quote(str(source.absolute()))}?mode=ro"
    with closing(sqlite3.connect(readable, uri=True)) as of, closing(sqlite3.connect(target)) as to:
        of.backup(to)
        to.execute("PRAGMA journal_mode = DELETE")  # all of it in one file, until it is opened again
        found = [text for (text,) in to.execute("PRAGMA integrity_check")]
        if found != ["ok"]:
            raise StorageError(f"{source} is damaged: {found[0]}")
        with suppress(sqlite3.OperationalError):
            for (revision,) in to.execute("SELECT version_num FROM alembic_version"):
                return str(revision)
    raise StorageError(f"{source} holds no database of an arena")


@contextmanager
def _nobody_else(lock: Path, database: Path) -> Iterator[None]:
    """Keep ``arena up`` and everyone who has the database open out of it.

    Raise StateError if somebody is there.
    """
    with ExitStack() as stack:
        try:
            fcntl.flock(stack.enter_context(lock.open("a")), fcntl.LOCK_EX | fcntl.LOCK_NB)
            if database.is_file():
                alone = stack.enter_context(closing(sqlite3.connect(database, timeout=0)))
                with suppress(sqlite3.DatabaseError) if not _is_database(database) else ExitStack():
                    alone.execute("PRAGMA locking_mode = EXCLUSIVE")
                    alone.execute("BEGIN EXCLUSIVE")
        except (BlockingIOError, sqlite3.OperationalError):
            raise StateError(
                f"{database} is in use; stop everything first: `arena up`, referees, workers, the beat"
            ) from None
        yield


def _is_database(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(16) == b"SQLite format 3\0"


def _own_like(file: Path, other: Path) -> None:
    """Give a file the owner of another, where somebody else restores for the arena's user."""
    theirs = other.stat()
    if (theirs.st_uid, theirs.st_gid) != (os.geteuid(), os.getegid()):
        try:
            os.chown(file, theirs.st_uid, theirs.st_gid)
        except OSError as error:
            raise SettingsError("data", f"cannot give {other} its owner back: {error.strerror}") from None


@contextmanager
def _one_line(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(f"{file}: {error.strerror or error}") from None
    except sqlite3.Error as error:
        raise StorageError(f"{file}: {sqlite_trouble(error, file)}") from None

"""Backing up and restoring an arena whose database is a SQLite file, and what is lost by that."""

import fcntl
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from sqlalchemy import URL, make_url

from arena.actors import Actor, KeyScope, Role
from arena.errors import SettingsError, StateError, StorageError
from arena.host.files import draft_beside, is_special, keep_private, require_free, written_path
from arena.host.settings import Settings
from arena.people.audit import record
from arena.play.matches import new_cards
from arena.store.database import require_database, sqlite_trouble
from arena.store.models import TournamentState
from arena.store.storage import Storage, migrate

BACK_UP = "back up the arena"
"""What only operators may do."""

ENDED = frozenset({TournamentState.FINISHED.value, TournamentState.CANCELLED.value})


@dataclass(frozen=True, slots=True)
class Lost:
    """The contents of a database that a backup of it lacks."""

    again: tuple[str, ...]
    """Tournaments that have ended since, and continue from their state in the backup."""
    gone: tuple[str, ...]
    """Tournaments that are not in the backup."""
    sessions: int
    """Number of finished sessions, in all tournaments."""
    bots: int
    """Number of bot versions that are not in the backup; their tokens become invalid."""


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of a database that are compared."""

    tournaments: Mapping[str, tuple[str, int]]
    """For each tournament by name, its state and number of finished sessions."""
    bots: frozenset[str]
    """Names of bot versions."""

    def __sub__(self, backup: "Contents") -> Lost:
        """Return what is lost if the backup takes its place."""
        of_backup = backup.tournaments
        return Lost(
            again=tuple(
                name
                for name, (state, _) in self.tournaments.items()
                if state in ENDED and name in of_backup and of_backup[name][0] not in ENDED
            ),
            gone=tuple(name for name in self.tournaments if name not in of_backup),
            sessions=sum(
                max(0, done - of_backup.get(name, ("", 0))[1]) for name, (_, done) in self.tournaments.items()
            ),
            bots=len(self.bots - backup.bots),
        )


def contents(database: Path) -> Contents | None:
    """Return the contents of a database; None if it is missing, unreadable, or has another schema."""
    if not database.is_file():
        return None
    query = (
        "SELECT name, state, coalesce(("
        "SELECT sum(sessions_done) FROM matches WHERE tournament_id = one.id"
        "), 0) FROM tournaments AS one WHERE NOT test ORDER BY id"
    )
    readable = f"file:{quote(str(database.absolute()))}?mode=ro"
    with suppress(sqlite3.Error), closing(sqlite3.connect(readable, uri=True, timeout=0)) as opened:
        states = {name: (state, done) for name, state, done in opened.execute(query)}
        return Contents(
            states, frozenset(name for (name,) in opened.execute("SELECT name FROM bot_versions"))
        )
    return None


def deal_anew(storage: Storage, actor: Actor, now: datetime) -> list[str]:
    """Make sure that everything still to be played gets new cards; return the names of those tournaments."""
    actor.require(Role.OPERATOR, "restore an arena")
    with storage.write() as tx:
        dealt = new_cards.deal_anew(tx, now)
        for tournament in dealt:
            record(tx, actor, "tournament.restore", tournament.name, now)
        return [tournament.name for tournament in dealt if not tournament.test]


BESIDE = ("-wal", "-shm", "-journal")
"""Suffixes of SQLite's auxiliary files; those of a replaced database would corrupt the restored one."""


def backup(settings: Settings, to: Path, *, force: bool = False) -> str:
    """Write the database into a file, even while the arena runs; return the revision of its schema.

    Raise NoArena, StorageError, and StateError if the database is a server or, unless forced, the file
    exists.
    """
    database = _database(settings, "pg_dump")
    require_database(settings)
    if not force:
        require_free(to)
    with _one_line(to):
        if is_special(to):
            raise StorageError(f"{to} is not a regular file; a backup cannot be written to anything else")
        target = written_path(to)
        with _draft(target) as draft:
            revision = _copy(database, draft)
            draft.replace(target)
    return revision


def open_backup(storage: Storage, settings: Settings, actor: Actor, now: datetime) -> BinaryIO:
    """Return a backup as an open file, which nobody else can open and which is gone when it is closed.

    Raise NotAllowed, StorageError, and StateError if the database is a server.
    """
    actor.require(Role.OPERATOR, BACK_UP)
    actor.require_scopes((KeyScope.READ,), BACK_UP)
    with draft_beside(settings.data / "download.db") as file:
        backup(settings, file, force=True)
        opened = file.open("rb")
    try:
        with storage.write() as tx:
            record(tx, actor, "arena.backup", "database", now)
    except BaseException:
        opened.close()
        raise
    return opened


@dataclass(frozen=True, slots=True)
class Restoration:
    """A backup that is ready to replace the database."""

    replaced: Path | None
    """The database that would be replaced; None if there is none yet."""
    lost: Lost | None
    """What it contains and the backup lacks; None if they cannot be compared."""
    redealt: tuple[str, ...]
    """The tournaments whose unfinished sessions are dealt new cards."""
    draft: Path
    database: Path

    def commit(self) -> None:
        """Replace the database. Raise SettingsError, StorageError."""
        with _one_line(self.database):
            there = self.replaced is not None
            _own_like(self.draft, self.database if there else self.database.parent)
            for suffix in BESIDE:
                Path(f"{self.database}{suffix}").unlink(missing_ok=True)
            self.draft.replace(self.database)


@contextmanager
def prepared(settings: Settings, actor: Actor, source: Path, now: datetime) -> Iterator[Restoration]:
    """Check a backup, and create a database of the present schema from it, next to the one to be replaced.

    Nobody else can open the latter until the block ends. Raise StateError if the database is a server or is
    open elsewhere, SchemaError if the backup is of a newer version, and StorageError if it is damaged.
    """
    database = _database(settings, "pg_restore, and then `arena restore` without a file")
    if not source.is_file():
        raise StorageError(f"{source} does not exist or is not a regular file")
    settings.prepare()
    with ExitStack() as stack:
        before = contents(database)
        with _one_line(source):
            stack.enter_context(_nobody_else(settings.data / "up.lock", database))
            draft = stack.enter_context(_draft(database))
            _copy(source, draft)
        with Storage(URL.create("sqlite", database=str(draft)).render_as_string()) as storage:
            migrate(storage)
            redealt = tuple(deal_anew(storage, actor, now))
        with _one_line(source), closing(sqlite3.connect(draft)) as whole:
            whole.execute("PRAGMA journal_mode = DELETE")  # nothing is left in a log that is not moved
        after = contents(draft)
        lost = before - after if before and after else None
        yield Restoration(database if database.exists() else None, lost, redealt, draft, database)


def _database(settings: Settings, instead: str) -> Path:
    if not settings.embedded_database:
        raise StateError(f"the database is a server; use {instead} (docs/operations.md)")
    return written_path(Path(make_url(settings.database_url).database or ""))


@contextmanager
def _draft(file: Path) -> Iterator[Path]:
    """Create a private file next to this one, and remove it at the end unless it was moved into place."""
    with draft_beside(file) as draft:
        draft.unlink(missing_ok=True)
        try:
            keep_private(draft)
            yield draft
        finally:
            for suffix in BESIDE:
                Path(f"{draft}{suffix}").unlink(missing_ok=True)


def _copy(source: Path, target: Path) -> str:
    """Copy a database with everything committed, check the copy, and return the revision of its schema."""
    readable = f"file:{quote(str(source.absolute()))}?mode=ro"
    with closing(sqlite3.connect(readable, uri=True)) as of, closing(sqlite3.connect(target)) as to:
        of.backup(to)
        to.execute("PRAGMA journal_mode = DELETE")  # all of it in one file, until it is opened again
        problems = [text for (text,) in to.execute("PRAGMA integrity_check")]
        if problems != ["ok"]:
            raise StorageError(f"{source} is damaged: {problems[0]}")
        with suppress(sqlite3.OperationalError):
            for (revision,) in to.execute("SELECT version_num FROM alembic_version"):
                return str(revision)
    raise StorageError(f"{source} holds no database of an arena")


@contextmanager
def _nobody_else(lock: Path, database: Path) -> Iterator[None]:
    """Keep everybody else, including ``arena up``, from opening the database during the block.

    Raise StateError if it is in use.
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
    """Give a file the owner of another one, in case the arena belongs to another user."""
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

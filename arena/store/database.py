"""A database and its connections: opening it, what may be wrong with it, and its schema's version.

Commands with a short query need no more than this; ``arena.store.storage`` adds transactions with models.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import DatabaseError, OperationalError, ProgrammingError, SQLAlchemyError

from arena.errors import NoArena, SettingsError, StorageError
from arena.host.files import is_full, keep_private
from arena.host.settings import PREFIX, Settings
from arena.store.schema import check_schema

POOLED = (
    "a pooler gives the transactions of one connection to different connections of the server, which would "
    "execute the wrong prepared statements; let it keep one for each client (PgBouncer: pool_mode = session)"
)

LONGEST_ERROR = 300
"""The most characters of an error that are stored."""

BUSY_SECONDS = 30
"""How long SQLite waits for another writer."""

RETRY_SECONDS = 0.01
"""Wait between attempts if SQLite itself does not wait."""

POSTGRES = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
"""Options of libpq that detect a vanished PostgreSQL host; the URL's query takes precedence."""

FOR_PAGES = ("SET jit = off", "SET max_parallel_workers_per_gather = 0")
"""Statements that are executed on each PostgreSQL connection.

The arena asks for pages, which read few rows in the order of an index. If PostgreSQL overestimates the cost,
because hardly any row meets a condition, it compiles the query or starts workers, which read far ahead before
they return the first rows: hundreds of times what the page needs.
"""

MAPPED = 4 << 30
"""Bytes of a SQLite file that are mapped into memory; SQLite itself may be built for less (2 GiB).

Each write by another process empties SQLite's own cache, so that a query over a large history would read its
pages again, with a system call for each. This reduces the processor time to a third.
"""

WRITING = "arena_writing"
"""Execution option of connections that will write."""

SKEWED = "arena_skewed"
"""Execution option of statements whose best plan depends on what is asked for, as on a filter that few meet.

PostgreSQL plans them each time. Others are prepared there, because to plan them takes longer than the rest
for most statements of a page.
"""


class Database:
    """A database of the arena."""

    def __init__(self, url: str) -> None:
        self._engine = _engine(url)
        self._file = sqlite_file(url)
        self._reader = self._engine
        self._writer = self._engine.execution_options(**{WRITING: True})
        # SQLite has one writer at a time and others try again now and then; threads hand over at once.
        sqlite = self._engine.dialect.name == "sqlite"
        self._turn: AbstractContextManager[object] = threading.Lock() if sqlite else nullcontext()
        self._prepares = not sqlite
        """Whether what was only read is left by COMMIT: at a ROLLBACK psycopg forgets all statements that it
        has prepared on the server, which would then plan each again, often for longer than it takes."""
        self._measured: tuple[datetime, float] | None = None
        """A server's clock, and this process's monotonic one, at the same moment."""
        if not sqlite:  # which shows a transaction one moment anyway
            self._reader = self._engine.execution_options(
                isolation_level="REPEATABLE READ", postgresql_readonly=True
            )

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """Open a connection that sees the database as of its first query."""
        with in_one_line(self._file), self._reader.connect() as connection:
            yield connection
            if self._prepares:
                connection.commit()

    def now(self) -> datetime:
        """Return the time by the database's clock, which is that of all processes on all hosts."""
        if self._measured is None:  # SQLite's is this host's
            return datetime.now(UTC)
        at, then = self._measured
        return at + timedelta(seconds=time.monotonic() - then)

    def measure_clock(self) -> float:
        """Ask a server for its clock, which ``now`` follows; return how far ahead of it this host's is."""
        if not self._prepares:
            return 0.0
        with self.connect() as connection:
            connection.execute(text("SELECT 1"))  # what it takes to connect is over by now
            begun = time.monotonic()
            at = connection.execute(text("SELECT clock_timestamp()")).scalar_one()
            took = time.monotonic() - begun
        now: datetime = at.astimezone(UTC) + timedelta(seconds=took / 2)
        self._measured = now, time.monotonic()
        return (datetime.now(UTC) - now).total_seconds()

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _engine(url: str) -> Engine:
    try:
        parts = make_url(url)
        if parts.get_backend_name() != "sqlite":
            patience = POSTGRES if parts.get_backend_name() == "postgresql" else {}
            options = {name: value for name, value in patience.items() if name not in parts.query}
            engine = create_engine(url, pool_pre_ping=True, connect_args=options)
            if parts.get_backend_name() == "postgresql":
                event.listen(engine, "first_connect", _refuse_shared_connections)
                event.listen(engine, "connect", _set_up_postgres)
            if engine.dialect.driver == "psycopg":
                event.listen(engine, "do_execute", _plan_if_skewed)
            return engine
        file = sqlite_file(url)
        if file is not None and _is_fixed(file):
            engine = create_engine(_fixed_url(file), connect_args={"timeout": BUSY_SECONDS})
            event.listen(engine, "connect", _leave_transactions_to_us)
            event.listen(engine, "begin", _begin_sqlite)
            return engine
        engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS})
    except ModuleNotFoundError as error:
        raise SettingsError("database_url", f"needs the Python package {error.name}") from None
    except SQLAlchemyError as error:
        raise SettingsError("database_url", first_line(error)) from None
    event.listen(engine, "do_connect", _keep_private)
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def sqlite_file(url: str) -> Path | None:
    """Return the file of a SQLite database; None for a server, a database in memory, or an invalid URL."""
    try:
        parts = make_url(url)
    except SQLAlchemyError:
        return None
    if parts.get_backend_name() != "sqlite" or parts.database in (None, "", ":memory:"):
        return None
    return Path(parts.database or "")


def _is_fixed(file: Path) -> bool:
    """Return whether a database exists in a read-only folder, so that it can only be read."""
    return file.is_file() and not os.access(file.parent, os.W_OK)


def _fixed_url(file: Path) -> URL:
    """Return the URL that opens a read-only database.

    SQLite creates files next to a database even to read it, unless it is told that the database is immutable,
    in which case it ignores a write-ahead log.
    """
    log = Path(f"{file}-wal")
    unchanged = {} if log.is_file() and log.stat().st_size else {"immutable": "1"}
    name = f"file:{quote(str(file.absolute()))}"
    return URL.create("sqlite", database=name, query={"mode": "ro", **unchanged, "uri": "true"})


def _keep_private(_dialect: object, _record: object, arguments: list[str], _options: object) -> None:
    """Make the file private before SQLite opens it; SQLite's auxiliary files get the same mode."""
    keep_private(Path(arguments[0]))


def _leave_transactions_to_us(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # the driver's own BEGIN comes too late; see _begin_sqlite


def _set_up_sqlite(connection: Any, record: object) -> None:
    _leave_transactions_to_us(connection, record)
    _use_wal(connection)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA mmap_size = {MAPPED}")


def _refuse_shared_connections(connection: Any, _record: object) -> None:
    """Raise SettingsError if a pooler is in between that gives each transaction any connection of the server.

    Statements are prepared on the server's connections, under names that all clients use.
    """
    first = _server_process(connection)
    if first == connection.info.backend_pid:
        return  # a pooler would have given a number of its own
    with connection.connect(connection.info.dsn, password=connection.info.password or None) as other:
        shared = _server_process(other, keep=True) == first or _server_process(connection) != first
    if shared:
        connection.close()
        raise SettingsError("database_url", POOLED)


def _server_process(connection: Any, *, keep: bool = False) -> int:
    """Return the process of the server that executes a transaction; ``keep`` leaves the transaction open."""
    (process,) = connection.execute("SELECT pg_backend_pid()").fetchone()
    if not keep:
        connection.commit()
    return int(process)


def _set_up_postgres(connection: Any, _record: object) -> None:
    for setting in FOR_PAGES:
        connection.execute(setting)
    connection.commit()  # else they would be taken back with the first transaction that is


def _plan_if_skewed(cursor: Any, statement: str, parameters: object, context: Any) -> bool:
    """Execute a skewed statement; leave others to SQLAlchemy."""
    if not context.execution_options.get(SKEWED):
        return False
    cursor.execute(statement, parameters, prepare=False)
    return True


def _use_wal(connection: sqlite3.Connection) -> None:
    # Here alone SQLite does not wait for others: those who open a new file at the same time.
    end = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
        time.sleep(RETRY_SECONDS)


def _begin_sqlite(connection: Connection) -> None:
    # A transaction that reads first and writes later could not wait for another writer: SQLite refuses it.
    writing = connection.get_execution_options().get(WRITING)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


@contextmanager
def in_one_line(file: Path | None) -> Iterator[None]:
    """Report failures of the database itself as StorageError, in one line; ``file`` is SQLite's."""
    try:
        yield
    except DatabaseError as error:
        if type(error) not in (DatabaseError, OperationalError):  # the others are answers to what was asked
            raise
        if file is not None and isinstance(error.orig, sqlite3.Error):
            raise StorageError(f"database: {sqlite_trouble(error.orig, file)}") from error
        raise StorageError(f"database: {first_line(error)}") from error


def sqlite_trouble(error: sqlite3.Error, file: Path) -> str:
    """Describe a failure of a SQLite database, in clearer words than its own."""
    kind = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the rest is more detail
    unwritable = kind in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)
    if kind == sqlite3.SQLITE_FULL or (unwritable and is_full(file.parent)):
        return f"no space left on the disk of {file}"
    if kind == sqlite3.SQLITE_READONLY:
        return f"{file} can only be read: it, its folder or its disk is read-only"
    if kind == sqlite3.SQLITE_CORRUPT:
        return f"{file} is damaged ({error}); restore a backup"
    return str(error).splitlines()[0]


def name_error(error: Exception) -> str:
    """Return an unexpected error in one line, for people who will look for it in a log."""
    return f"{type(error).__name__}: {first_line(error)}"[:LONGEST_ERROR]


def first_line(error: Exception) -> str:
    """Return the first line of an error's message, or of what the driver said."""
    return (str(getattr(error, "orig", None) or error).strip() or type(error).__name__).splitlines()[0]


DatabaseT = TypeVar("DatabaseT", bound=Database)


def open_database(settings: Settings, kind: type[DatabaseT]) -> DatabaseT:
    """Open the database of these settings as a ``Database``, or as another ``kind``.

    Nothing is created: raise NoArena if there is no database. Otherwise raise SettingsError (a wrong URL),
    StorageError, or SchemaError if its schema is not that of this version.
    """
    require_database(settings)
    with ExitStack() as stack, naming_the_database(settings):
        database = kind(settings.database_url)
        stack.callback(database.close)
        with database.connect() as connection:
            check_schema(connection)
        database.measure_clock()
        stack.pop_all()
        return database


def require_database(settings: Settings) -> None:
    """Raise NoArena if the database would be a file, and there is none."""
    file = sqlite_file(settings.database_url)
    if file is None or _exists(file):
        return
    if file == settings.data / "arena.db":
        raise NoArena(f"no arena in {settings.data}: `arena up` makes one, --data names another")
    raise NoArena(f"no database {file}: `arena up` makes it, {PREFIX}DATABASE_URL names another")


def _exists(file: Path) -> bool:
    """Return whether there is a database; True if that is unknown, so that opening it reports the error."""
    try:
        return file.exists()
    except OSError:
        return True


@contextmanager
def naming_the_database(settings: Settings) -> Iterator[None]:
    try:
        yield
    except StorageError as error:
        raise type(error)(f"{error} ({settings.shown()['database_url']})") from error
    except ProgrammingError as error:
        # The driver cannot use the URL, or the server forbids what it asks for.
        raise SettingsError("database_url", first_line(error)) from error

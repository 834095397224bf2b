"""Transactions, and migrating the schema.

Every change is a short transaction; conflicts between two of them are prevented by conditional updates and
unique constraints, never by values read earlier.
"""

import json
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Self

from sqlalchemy import (
    ARRAY,
    BigInteger,
    BindParameter,
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Dialect,
    Executable,
    String,
    TypeDecorator,
    bindparam,
    case,
    func,
    inspect,
    select,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import TypeEngine
from sqlmodel import Session as Transaction
from sqlmodel import SQLModel

from arena.errors import SchemaError, StorageError
from arena.host.settings import Settings
from arena.store.database import (
    Database,
    first_line,
    in_one_line,
    naming_the_database,
    open_database,
)
from arena.store.schema import MIGRATE, check_schema, find_problem, find_revision

__all__ = [
    "Storage",
    "Transaction",
    "add_to_rows",
    "among",
    "changed",
    "hold_row",
    "migrate",
    "migrate_storage",
    "open_storage",
    "put_rows",
]

UPGRADE_LOCK = 8710
"""Number of PostgreSQL's advisory lock under which the schema is changed."""

_one_upgrade = threading.Lock()
"""Alembic works with globals, so two threads cannot use it at once."""


class Storage(Database):
    """A database with transactions that read and write models."""

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """Open a read-only transaction that sees the database as of its beginning."""
        with in_one_line(self._file), Transaction(self._reader) as tx:
            yield tx
            if self._prepares:
                tx.expunge_all()  # nothing is written, whatever was done to what was read
                tx.commit()

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """Open a transaction that is committed at the end of the block, and rolled back if it raises."""
        new = Transaction(self._writer, expire_on_commit=False)
        with in_one_line(self._file), self._turn, new as tx, tx.begin():
            yield tx


def changed(tx: Transaction, statement: Executable, parameters: Mapping[str, object] | None = None) -> int:
    """Execute an UPDATE or DELETE, and return the number of rows that it affected."""
    return tx.connection().execute(statement, parameters).rowcount


def hold_row(tx: Transaction, table: type[Any], key: int | None) -> None:
    """Let no other transaction hold the same row before this one ends, so that both count in turn.

    SQLite has one writer at a time anyway.
    """
    tx.connection().execute(select(table.id).where(table.id == key).with_for_update())


def add_to_rows(
    tx: Transaction,
    table: type[SQLModel],
    rows: Sequence[Mapping[str, object]],
    *,
    greatest: Collection[str] = (),
    latest: Mapping[str, str] = {},  # never changed
) -> None:
    """Add the values of rows to existing rows with the same keys; insert rows with new keys.

    For columns in ``greatest``, the greater value is kept instead of the sum; for those in ``latest``, the
    value that goes with the greater value of the column that is named there.
    """
    adding = _adding(table, _on_postgres(tx), tuple(greatest), tuple(latest.items()))
    tx.connection().execute(adding, rows)


def put_rows(tx: Transaction, table: type[SQLModel], rows: Sequence[Mapping[str, object]]) -> None:
    """Insert rows, or update existing ones with the same keys."""
    insert, keys, others = _upsert(table, _on_postgres(tx))
    new = {column.name: insert.excluded[column.name] for column in others}
    tx.connection().execute(insert.on_conflict_do_update(index_elements=keys, set_=new), rows)


def _on_postgres(tx: Transaction) -> bool:
    return tx.connection().dialect.name == "postgresql"


@cache
def _adding(
    table: type[SQLModel],
    on_postgres: bool,
    greatest: tuple[str, ...],
    latest: tuple[tuple[str, str], ...],
) -> postgresql.Insert | sqlite.Insert:
    """Return the statement of ``add_to_rows``: to make it takes longer than to execute it."""
    insert, keys, others = _upsert(table, on_postgres)
    more: dict[str, ColumnElement[Any]] = {}
    for column in others:
        new = insert.excluded[column.name]
        more[column.name] = column + new
        if column.name in greatest:
            more[column.name] = case((column > new, column), else_=new)
    stored = inspect(table).local_table.columns
    for name, decides in latest:
        later = stored[decides] > insert.excluded[decides]
        more[name] = case((later, stored[name]), else_=insert.excluded[name])
    return insert.on_conflict_do_update(index_elements=keys, set_=more)


def _upsert(
    table: type[SQLModel], on_postgres: bool
) -> tuple[postgresql.Insert | sqlite.Insert, list[Column[Any]], list[Column[Any]]]:
    """Return an INSERT that supports ON CONFLICT, the columns of the key, and the other columns."""
    columns = inspect(table).local_table.columns
    keys = [column for column in columns if column.primary_key]
    others = [column for column in columns if not column.primary_key]
    return postgresql.insert(table) if on_postgres else sqlite.insert(table), keys, others


class Ids(TypeDecorator[Collection[int]]):
    """Ids as one parameter of a statement: an array, or JSON on databases without arrays."""

    impl = String
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        return dialect.type_descriptor(ARRAY(BigInteger()) if dialect.name == "postgresql" else String())

    def process_bind_param(self, value: Collection[int] | None, dialect: Dialect) -> Any:
        ids = [*(value or ())]
        return ids if dialect.name == "postgresql" else json.dumps(ids)


class _Among(FunctionElement[bool]):
    """See ``among``."""

    inherit_cache = True
    type = Boolean()

    def self_group(self, against: Any = None) -> Self:
        return self  # SQLite would be asked whether it is 1, and not use an index


def among(column: Any, ids: Iterable[int] | BindParameter[Any]) -> ColumnElement[bool]:
    """Return the condition that a column has one of these ids, or one of those in a parameter.

    Unlike with ``in_``, they are a single parameter, of type ``Ids``, so that the statement is the same for
    any number of them: it is compiled once, and on PostgreSQL planned once.
    """
    if not isinstance(ids, BindParameter):
        ids = bindparam(None, [*ids], type_=Ids())
    return _Among(column, ids)


@compiles(_Among)
def _in_array(element: _Among, compiler: SQLCompiler, **options: Any) -> str:
    column, ids = (compiler.process(clause, **options) for clause in element.clauses)
    return f"{column} = ANY ({ids})"


@compiles(_Among, "sqlite")
def _in_json(element: _Among, compiler: SQLCompiler, **options: Any) -> str:
    column, ids = element.clauses
    rows = func.json_each(ids).table_valued("value")
    return compiler.process(column.in_(select(rows.c.value)), **options)


def open_storage(settings: Settings) -> Storage:
    """Open the database of these settings. Raise what ``open_database`` raises."""
    return open_database(settings, Storage)


def migrate_storage(settings: Settings) -> str | None:
    """Bring the database of these settings to the present schema; return the revision that it had.

    Raise what ``open_database`` raises, but SchemaError only for a database that cannot be migrated.
    """
    with naming_the_database(settings), Storage(settings.prepare().database_url) as storage:
        with storage.connect() as connection:
            before = find_revision(connection)
        migrate(storage)
        return before


def migrate(storage: Storage) -> None:
    """Upgrade the schema to this version's; several processes may do so at once.

    Raise SchemaError, and change nothing, if the database cannot be brought to it.
    """
    if not _is_older(storage):
        return
    try:
        _upgrade(storage)
    except DBAPIError as error:
        if _is_older(storage):  # otherwise another process was faster
            raise StorageError(f"database: cannot be migrated: {first_line(error)}") from error


def _is_older(storage: Storage) -> bool:
    """Return whether there is something to migrate. Raise SchemaError if that would not help."""
    with storage.connect() as connection:
        problem = find_problem(connection)
    if problem is not None and problem.advice != MIGRATE:
        raise SchemaError(f"database: {problem.what}; {problem.advice}")
    return problem is not None


def _upgrade(storage: Storage) -> None:
    with _one_upgrade, storage.write() as tx:
        if tx.connection().dialect.name == "postgresql":  # SQLite has one writer at a time anyway
            tx.connection().execute(text(f"SELECT pg_advisory_xact_lock({UPGRADE_LOCK})"))
        upgrade(tx.connection())
        check_schema(tx.connection())  # else all of it is undone


def upgrade(connection: Connection, to: str = "head") -> None:
    """Bring a schema up to a revision; nothing else may do so at the same time."""
    from alembic import command  # needed once in a database's life; it takes longer to import than to ask
    from alembic.config import Config

    config = Config()
    scripts = str(Path(__file__).parent / "migrations")
    config.set_main_option("script_location", scripts.replace("%", "%%"))  # % stands for another option
    config.attributes["connection"] = connection
    command.upgrade(config, to)

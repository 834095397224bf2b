"""The schema of a database beside that of this version, and what to do if they differ.

``migrations/schema.txt`` is the schema's fingerprint: a line for each column and index that this version
needs. The revision alone says too little: a database whose tables were changed by hand has one, too.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import Connection, inspect, text

from arena.errors import SchemaError
from arena.store.migrations import HEAD

FINGERPRINT = Path(__file__).parent / "migrations" / "schema.txt"

VERSION = "alembic_version"
"""The table with the revision, which is Alembic's."""

MARK = "session_references"
"""A table of all schemas since the first, which those of development, numbered up to 0046, did not have."""

MIGRATE = "run: arena migrate"
UPDATE = "update the arena on this host"
ANOTHER = "name an empty one, or an arena's"
OPEN_THERE = "use the version that made it, or name another database"
REPAIR = "restore a backup; changes by hand or by a version under development cannot be migrated"

COLUMNS = {
    "sqlite": 'SELECT tables.name, columns.name, columns.type, columns."notnull", columns.pk'
    " FROM sqlite_master AS tables JOIN pragma_table_info(tables.name) AS columns"
    " WHERE tables.type = 'table'",
    "postgresql": "SELECT relname, attname, format_type(atttypid, atttypmod), attnotnull,"
    " coalesce(array_position(indkey::int2[], attnum) + 1, 0)"
    " FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid"
    " LEFT JOIN pg_index ON indrelid = attrelid AND indisprimary"
    " WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND attnum > 0"
    " AND NOT attisdropped",
}
"""All columns: table, name, type, whether it is required, and its place in the primary key, from 1, or 0."""

INDEXES = {
    "sqlite": 'SELECT tables.name, indexes.name, indexes."unique", indexes.partial, columns.name'
    " FROM sqlite_master AS tables JOIN pragma_index_list(tables.name) AS indexes"
    " JOIN pragma_index_info(indexes.name) AS columns"
    " WHERE tables.type = 'table' AND indexes.origin != 'pk' ORDER BY indexes.name, columns.seqno",
    "postgresql": "SELECT tables.relname, names.relname, indisunique, indpred IS NOT NULL, attname"
    " FROM pg_index CROSS JOIN unnest(indkey::int2[]) WITH ORDINALITY AS keys (number, place)"
    " JOIN pg_class AS tables ON tables.oid = indrelid JOIN pg_class AS names ON names.oid = indexrelid"
    " LEFT JOIN pg_attribute ON attrelid = indrelid AND attnum = keys.number"
    " WHERE tables.relnamespace = current_schema()::regnamespace AND NOT indisprimary"
    " ORDER BY names.relname, place",
}
"""All indexes but those of primary keys: table, name, unique, partial, and column; a row for each column."""

TYPES = {
    "BIGINT": "whole",
    "INTEGER": "whole",
    "bigint": "whole",
    "BLOB": "bytes",
    "bytea": "bytes",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "DATETIME": "time",
    "timestamp with time zone": "time",
    "FLOAT": "real",
    "double precision": "real",
    "JSON": "json",
    "TEXT": "text",
    "VARCHAR": "text",
    "character varying": "text",
}
"""Names of types that are the same on SQLite and PostgreSQL; others stay as they are."""


class Problem(NamedTuple):
    """Why a database does not fit this version."""

    what: str
    advice: str


@cache
def needed() -> frozenset[str]:
    """Return the lines of the schema of this version."""
    return frozenset(FINGERPRINT.read_text("utf-8").splitlines())


@cache
def fingerprint() -> str:
    """Return the name of this version's schema: its revision, and the beginning of its lines' hash."""
    return f"{HEAD}-{sha256(FINGERPRINT.read_bytes()).hexdigest()[:8]}"


def describe(connection: Connection) -> frozenset[str]:
    """Return the lines of a database's schema."""
    kind = connection.dialect.name
    lines = []
    for table, column, type_, required, place in connection.exec_driver_sql(COLUMNS[kind]):
        name, _, length = type_.partition("(")
        line = f"{table}.{column} {TYPES.get(name, name)}" + (f"({length}" if length else "")
        line += " required" if required or place else ""
        lines.append(line + (f" key {place}" if place else ""))
    columns: dict[tuple[str, str, bool, bool], list[str]] = {}
    for table, index, unique, partial, column in connection.exec_driver_sql(INDEXES[kind]):
        columns.setdefault((table, index, bool(unique), bool(partial)), []).append(column or "…")
    for (table, _, unique, partial), names in columns.items():
        words = ["unique"] * unique + ["partial"] * partial + ["index"]
        lines.append(f"{table} ({', '.join(names)}) {' '.join(words)}")
    return frozenset(line for line in lines if not line.startswith(VERSION))


def find_revision(connection: Connection) -> str | None:
    """Return the revision of the schema, which may be another program's; None if there is none."""
    return read_revision(connection) if inspect(connection).has_table(VERSION) else None


def read_revision(connection: Connection) -> str | None:
    """Return the revision of a schema that has one."""
    revision: str | None = connection.execute(text(f"SELECT version_num FROM {VERSION}")).scalar()  # noqa: S608
    return revision


def find_problem(connection: Connection) -> Problem | None:
    """Return why the schema is not that of this version, and what to do; None if it is."""
    revision = find_revision(connection)
    if revision == HEAD:
        return _difference(describe(connection))
    tables = {*inspect(connection).get_table_names()} - {VERSION}
    if revision is None:
        if not tables:
            return Problem("it has no tables yet", MIGRATE)
        return Problem(f"it belongs to something else than an arena (it has a table {min(tables)})", ANOTHER)
    if not re.fullmatch(r"(?!0000)[0-9]{4}", revision):
        return Problem(f"it belongs to something else than an arena (its schema is {revision})", ANOTHER)
    if MARK not in tables:
        return Problem(f"its schema {revision} is from before the first release", OPEN_THERE)
    if int(revision) > int(HEAD):
        return Problem(f"its schema {revision} is newer than {HEAD}, that of this version", UPDATE)
    return Problem(f"its schema is {revision}, and {HEAD} is needed", MIGRATE)


def _difference(there: frozenset[str]) -> Problem | None:
    """Return what a schema lacks, or requires beyond that of this version; more indexes do no harm.

    Nor do unique ones of columns with a key among them, as PostgreSQL has while it rebuilds that key's.
    """
    for line in sorted(needed() - there):
        return Problem(f"its schema is not that of {HEAD}: it lacks {line}", REPAIR)
    tables = set(map(_table, needed()))
    for line in sorted(there - needed()):
        is_unique = " unique " in line and not any(key <= _indexed(line) for key in _keys()[_table(line)])
        if _table(line) in tables and (" required" in line or is_unique):
            return Problem(f"its schema is not that of {HEAD}: it also has {line}", REPAIR)
    return None


@cache
def _keys() -> Mapping[str, Sequence[frozenset[str]]]:
    """Return the columns of primary keys and unique indexes of this version, by table."""
    keys: dict[str, list[frozenset[str]]] = defaultdict(list)
    primary: dict[str, set[str]] = defaultdict(set)
    for line in needed():
        if line.endswith(" unique index"):
            keys[_table(line)].append(_indexed(line))
        elif " key " in line:
            primary[_table(line)].add(re.split("[. ]", line)[1])
    for table, columns in primary.items():
        keys[table].append(frozenset(columns))
    return keys


def _indexed(line: str) -> frozenset[str]:
    return frozenset(line[line.index("(") + 1 : line.index(")")].split(", "))


def _table(line: str) -> str:
    return re.split("[. ]", line, maxsplit=1)[0]


def check_schema(connection: Connection) -> None:
    """Raise SchemaError, which says what to do, if the schema is not that of this version."""
    if problem := find_problem(connection):
        raise SchemaError(f"database: {problem.what}; {problem.advice}")

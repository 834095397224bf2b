"""Which history the database has: whether it is still the one in which attempts were begun.

A standby that takes over may lack the last commits, and a restored backup lacks more. PostgreSQL then begins
another timeline, or has its tables anew. Of a SQLite file nothing can be told: there, only referees remember
what the database has forgotten.
"""

from sqlalchemy import text, update
from sqlalchemy.exc import NotSupportedError, ProgrammingError
from sqlmodel import col, select

from arena.store.models import DatabaseLineage
from arena.store.storage import Transaction, changed

_ON_POSTGRES = text(
    "SELECT substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)"
    " || '/' || (SELECT system_identifier FROM pg_control_system())"
    " || '/' || CAST('database_lineage' AS regclass)::oid"
)
"""The timeline, the identifier of the cluster, and the number of a table, which is another one after a
restoration from a dump."""


def lineage_changed(tx: Transaction) -> bool:
    """Return whether the database has another history than when attempts were last begun.

    If none have been begun yet, or it could not be told, its present history is noted.
    """
    if tx.connection().dialect.name != "postgresql":
        return False
    before, now = tx.exec(select(DatabaseLineage.lineage)).one(), _lineage(tx)
    if not before:
        return note_lineage(tx)
    return now not in ("", before)


def note_lineage(tx: Transaction) -> bool:
    """Note the database's present history; return whether it had another one before.

    Its row is locked until the transaction ends, so that nobody else notes it at the same time.
    """
    changed(tx, update(DatabaseLineage).values(id=DatabaseLineage.id))
    before = tx.exec(select(DatabaseLineage.lineage)).one()
    now = _lineage(tx) or before
    changed(tx, update(DatabaseLineage).where(col(DatabaseLineage.lineage) != now).values(lineage=now))
    return before not in ("", now)


def _lineage(tx: Transaction) -> str:
    """Return what tells the database's history from another; empty if the database does not say it."""
    if tx.connection().dialect.name != "postgresql":
        return ""
    try:
        with tx.begin_nested():
            return str(tx.connection().execute(_ON_POSTGRES).scalar_one())
    except (ProgrammingError, NotSupportedError):  # its administrator, or its provider, does not let us ask
        return ""

"""SQL that all databases of a test process compile once, where each test has a database of its own."""

from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

KEPT = 2_000
"""Statements that are kept: more than the arena has, for each number of values in a list is another one."""

_compiled: LRUCache[object, object] = LRUCache(KEPT)


class Dialect(SQLiteDialect_pysqlite):
    """SQLite as ever, but what was compiled for one database serves all others, and it waits for no disk."""

    supports_statement_cache = True

    @classmethod
    def engine_created(cls, engine: Engine) -> None:
        engine.update_execution_options(compiled_cache=_compiled)
        event.listen(engine, "connect", _leave_the_disk_alone)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __hash__(self) -> int:
        return hash(type(self))


def _leave_the_disk_alone(connection: Any, _record: object) -> None:
    """Let a database be lost if the machine loses its power: what a test made is of no use without it."""
    connection.execute("PRAGMA synchronous = OFF")


def compile_once() -> None:
    """Let all databases that this process opens from now on share what is compiled for them."""
    registry.register("sqlite", __name__, Dialect.__name__)

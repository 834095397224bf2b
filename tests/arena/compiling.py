"""SQL that all databases of a test process compile once, where each test has a database of its own."""

from sqlalchemy import Engine
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

KEPT = 2_000
"""Statements that are kept: more than the arena has, for each number of values in a list is another one."""

_compiled: LRUCache[object, object] = LRUCache(KEPT)


class Dialect(SQLiteDialect_pysqlite):
    """SQLite as ever, but what was compiled for one database serves all others."""

    supports_statement_cache = True

    @classmethod
    def engine_created(cls, engine: Engine) -> None:
        engine.update_execution_options(compiled_cache=_compiled)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __hash__(self) -> int:
        return hash(type(self))


def compile_once() -> None:
    """Let all databases that this process opens from now on share what is compiled for them."""
    registry.register("sqlite", __name__, Dialect.__name__)

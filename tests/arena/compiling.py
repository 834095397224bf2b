"""SQL that is compiled once for all databases of a test process, since each test has its own database."""

from typing import Any

from sqlalchemy import Engine, event
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

KEPT = 2_000
"""Maximum number of cached statements; more than the arena's, since each length of a list needs one."""

_compiled: LRUCache[object, object] = LRUCache(KEPT)


class Dialect(SQLiteDialect_pysqlite):
    """SQLite, but with statements compiled once for all databases, and without waiting for the disk."""

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
    """Do not wait for the disk: after a power failure, a test's database would be of no use anyway."""
    connection.execute("PRAGMA synchronous = OFF")


def compile_once() -> None:
    """Make all databases that this process opens from now on share their compiled statements."""
    registry.register("sqlite", __name__, Dialect.__name__)

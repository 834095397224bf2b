"""Counting what a database does, so that costs can be compared without measuring time."""

import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import Engine, event


class Work:
    """Counts a database's work for the connections opened while this is listening."""

    def __init__(self) -> None:
        self.instructions = 0
        """Instructions executed by SQLite's virtual machine; each row that is visited takes some."""
        self.statements: dict[str, Any] = {}
        """Every statement that searches rows, with the parameters of its first execution."""

    def connect(self, connection: Any, _record: object) -> None:
        if isinstance(connection, sqlite3.Connection):
            connection.set_progress_handler(self._count, 1)

    def _count(self) -> int:
        self.instructions += 1
        return 0

    def execute(
        self, _connection: object, _cursor: object, statement: str, parameters: Any, *rest: Any
    ) -> None:
        if statement.startswith(("SELECT", "UPDATE", "DELETE")):
            self.statements.setdefault(statement, parameters[0] if rest[-1] else parameters)


@pytest.fixture
def work() -> Iterator[Work]:
    """Yield the counts for every database of the test."""
    counted = Work()
    hooks: dict[str, Callable[..., None]] = {
        "connect": counted.connect,
        "before_cursor_execute": counted.execute,
    }
    for name, hook in hooks.items():
        event.listen(Engine, name, hook)
    yield counted
    for name, hook in hooks.items():
        event.remove(Engine, name, hook)

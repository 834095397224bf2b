"""Rows of each released schema, a file for each; ``python -m tests.arena.schemas`` writes today's."""

import json
import tempfile
import time
from base64 import b64decode, b64encode
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, DateTime, LargeBinary, MetaData
from sqlmodel import SQLModel

from arena.results.luck.references import weigh_due
from arena.store.migrations import HEAD
from arena.store.storage import Storage, migrate
from tests.arena.fakes import Clock
from tests.arena.random_play import play_randomly
from tests.arena.world import World

FOLDER = Path(__file__).parent


def write_rows() -> None:
    """Play a small cup, and write all rows of its database."""
    with tempfile.TemporaryDirectory() as folder, Storage(f"sqlite:///{folder}/arena.db") as storage:
        migrate(storage)
        world = World(storage, Clock())
        world.finish(world.tournament(8, rounds=1).id, play_randomly)
        weigh_due(storage, world.clock, time.monotonic)
        with storage.read() as tx:
            rows = {
                table.name: [
                    {name: _text(value) for name, value in row.items() if value is not None}
                    for row in tx.connection().execute(table.select()).mappings()
                ]
                for table in SQLModel.metadata.sorted_tables
            }
    text = json.dumps({table: found for table, found in rows.items() if found}, indent=1)
    (FOLDER / f"{HEAD}.json").write_text(text + "\n")


def _text(value: object) -> object:
    if isinstance(value, bytes):
        return b64encode(value).decode()
    return value.isoformat() if isinstance(value, datetime) else value


def read_rows(revision: str) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of a schema by table, parents first."""
    found: dict[str, list[dict[str, Any]]] = json.loads((FOLDER / f"{revision}.json").read_text())
    return found


def insert_rows(connection: Connection, rows: dict[str, list[dict[str, Any]]]) -> None:
    """Put rows into a database that has their schema."""
    schema = MetaData()
    schema.reflect(connection)
    for name, found in rows.items():
        table = schema.tables[name]
        connection.execute(table.delete())  # of what the migrations themselves wrote
        types = {column.name: column.type for column in table.columns}
        for row in found:
            connection.execute(table.insert().values({key: _value(types[key], row[key]) for key in row}))


def _value(kind: object, value: Any) -> object:
    if isinstance(kind, DateTime):
        return datetime.fromisoformat(value).astimezone(UTC)
    return b64decode(value) if isinstance(kind, LargeBinary) else value

"""Databases of earlier versions: their rows come along to the present schema."""

import json
import zlib
from base64 import b64encode
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlmodel import SQLModel, col, func, select

from arena.results.ratings.rebuild import mend, rebuild
from arena.store.models import Session, StrengthScore
from arena.store.storage import Storage, migrate, upgrade
from tests.arena.fakes import ROOT, Clock
from tests.arena.schemas import FOLDER, insert_rows, read_rows

RELEASED = sorted(file.stem for file in FOLDER.glob("*.json"))

OLDER = "0001"
"""The first revision."""


def move(storage: Storage, to: str) -> None:
    """Bring the schema up to a revision."""
    with storage.write() as tx:
        upgrade(tx.connection(), to)


def stamp(storage: Storage, revision: str) -> None:
    """Have a database say that it has the schema of another revision."""
    with storage.write() as tx:
        statement = text("UPDATE alembic_version SET version_num = :revision")
        tx.connection().execute(statement, {"revision": revision})


@pytest.mark.parametrize("revision", RELEASED)
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_migration_when_there_are_rows_of_a_released_schema_then_they_stay_and_can_be_mended(
    revision: str, database: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = f"sqlite:///{tmp_path}/arena.db"
    if database == "postgresql":
        url = request.getfixturevalue("postgres").create("released")
    rows = read_rows(revision)
    with Storage(url) as storage:
        move(storage, revision)
        with storage.write() as tx:
            insert_rows(tx.connection(), rows)
        migrate(storage)
        with storage.read() as tx:
            tables = SQLModel.metadata.tables
            counts = {
                name: tx.connection().execute(select(func.count()).select_from(tables[name])).scalar()
                for name in rows
            }
        assert counts == {name: len(found) for name, found in rows.items()}
        with storage.read() as tx:
            scores = tx.exec(select(StrengthScore)).all()
        within = [score.within / (score.deals - score.matches) for score in scores if score.deals]
        assert within
        assert min(within) > 0
        assert max(within) == pytest.approx(min(within))  # all vary alike until they are counted
        with storage.write() as tx:
            tx.connection().execute(
                tables["audit"].delete()
            )  # its next row would have a number that is taken
        mend(storage, ROOT, Clock()())
        found = rebuild(storage)
        assert (found.problem, found.matches) == (None, len(rows["matches"]))


def test_migration_when_bots_forfeited_sessions_then_it_says_who_left_each(tmp_path: Path) -> None:
    rows = read_rows(OLDER)
    records = {row["session_id"]: row for row in rows["session_records"]}
    ends: list[dict[str, object]] = [{"forfeit": 2}, {"forfeit": 1, "absent": [1]}, {"forfeit": 3}]
    for session, end in zip(rows["sessions"], ends, strict=False):
        session["forfeits"] = [end["forfeit"]]
        deals = [json.dumps({"deal": 1} | end)]
        records[session["id"]]["records"] = b64encode(zlib.compress("\n".join(deals).encode())).decode()
    with Storage(f"sqlite:///{tmp_path}/arena.db") as storage:
        move(storage, OLDER)
        with storage.write() as tx:
            insert_rows(tx.connection(), rows)
        migrate(storage)
        with storage.read() as tx:
            leavers = [*tx.exec(select(Session.leaver).order_by(col(Session.id)))]
    assert leavers == [2, None, 3] + [None] * (len(rows["sessions"]) - 3)


def test_released_schemas_begin_with_the_first() -> None:
    assert RELEASED[0] == "0001"

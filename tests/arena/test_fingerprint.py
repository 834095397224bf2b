"""The schema of a database compared with that of this version: what is found, and what is advised."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from sqlalchemy import text

from arena.errors import SchemaError
from arena.host.settings import Settings
from arena.running.doctor import examine
from arena.store.migrations import HEAD
from arena.store.models import utc_now
from arena.store.schema import describe, find_problem, find_revision, needed
from arena.store.storage import Storage, migrate, open_storage
from tests.arena.test_migrations import OLDER, move, stamp

FIXED = {
    "0001": "a8f4d925226090e7",
    "0002": "a8f4d925226090e7",
    "0003": "95bcfde61b45aae4",
    "0004": "a2b5d3a012d9970a",
    "0005": "8855d3918b12253e",
    "0006": "e08e1162669a4d2e",
}
"""What each migration but the latest makes of an empty SQLite database, as the beginning of a hash."""


def execute(storage: Storage, *statements: str) -> None:
    with storage.write() as tx:
        for statement in statements:
            tx.connection().execute(text(statement))


@pytest.fixture(params=["sqlite", "postgresql"])
def empty(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Storage]:
    """Open an empty database of each kind."""
    url = f"sqlite:///{tmp_path}/arena.db"
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres").create("fingerprint")
    with Storage(url) as storage:
        yield storage


def test_fingerprint_is_that_of_the_migrations_on_both_databases(empty: Storage) -> None:
    migrate(empty)
    with empty.connect() as connection:
        assert describe(connection) == needed()  # make schema writes it


@pytest.mark.parametrize(("revision", "digest"), FIXED.items())
def test_migrations_when_others_may_have_run_them_then_they_stay_as_they_are(
    tmp_path: Path, revision: str, digest: str
) -> None:
    with Storage(f"sqlite:///{tmp_path}/arena.db") as storage:
        move(storage, revision)
        with storage.connect() as connection:
            lines = "\n".join(sorted(describe(connection)))
    assert sha256(lines.encode()).hexdigest().startswith(digest)


def test_migrations_but_the_latest_are_all_fixed() -> None:
    assert [*FIXED, HEAD] == [f"{number:04}" for number in range(1, len(FIXED) + 2)]


def test_database_when_it_was_changed_by_hand_then_what_it_lacks_is_said(empty: Storage) -> None:
    migrate(empty)
    execute(empty, "ALTER TABLE rounds DROP COLUMN beta")
    with pytest.raises(
        SchemaError, match=r"is not that of \d{4}: it lacks rounds.beta whole; restore a backup"
    ):
        migrate(empty)


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("DROP INDEX ix_matches_finished_at", "it lacks matches (finished_at) index"),
        ("CREATE INDEX own ON seats (points)", None),
        ("CREATE TABLE notes (id INTEGER NOT NULL)", None),
        ("CREATE UNIQUE INDEX own ON seats (points)", "it also has seats (points) unique index"),
        ("CREATE UNIQUE INDEX own ON seats (id)", None),
        ("CREATE UNIQUE INDEX own ON rounds (number, tournament_id, id)", None),
        ("CREATE UNIQUE INDEX own ON meetings (sums_id)", "it also has meetings (sums_id) unique index"),
        ("ALTER TABLE seats ADD COLUMN more VARCHAR", None),
        (
            "ALTER TABLE seats ADD COLUMN more VARCHAR DEFAULT '' NOT NULL",
            "it also has seats.more text required",
        ),
    ],
)
def test_schema_when_it_differs_then_only_what_does_harm_is_a_problem(
    storage: Storage, statement: str, what: str | None
) -> None:
    execute(storage, statement)
    with storage.connect() as connection:
        problem = find_problem(connection)
    assert (problem and problem.what.partition(": ")[2]) == what


def test_migrate_when_an_older_schema_is_not_as_it_was_then_nothing_is_changed(empty: Storage) -> None:
    move(empty, OLDER)
    execute(empty, "ALTER TABLE rounds DROP COLUMN beta")
    with pytest.raises(SchemaError, match=r"it lacks rounds\.beta whole; restore a backup"):
        migrate(empty)
    with empty.connect() as connection:
        assert find_revision(connection) == OLDER
        assert "rounds.beta whole" not in describe(connection)


@pytest.mark.parametrize(
    ("revision", "statement", "message"),
    [
        (OLDER, "", "its schema is 0001, and .* is needed; run: arena migrate"),
        ("0041", "", "its schema 0041 is newer than .*; update the arena on this host"),
        (
            "0041",
            "DROP TABLE session_references",
            "0041 is from before the first release; use the version that",
        ),
        ("0000", "", "it belongs to something else than an arena .*; name an empty one"),
    ],
)
def test_schema_of_another_revision_then_the_advice_fits_and_doctor_has_the_same(
    migrated: Settings, revision: str, statement: str, message: str
) -> None:
    with Storage(migrated.database_url) as storage:
        stamp(storage, revision)
        if statement:
            execute(storage, statement)
    with pytest.raises(SchemaError, match=message) as caught:
        open_storage(migrated)
    [found] = [
        finding for finding in examine({"data": migrated.data}, utc_now) if finding.check == "migrations"
    ]
    assert f"{found.found}; {found.advice}" in str(caught.value)

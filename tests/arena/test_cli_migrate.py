"""``arena migrate``, and what the other commands do before it has run."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from arena.host.settings import Settings
from arena.store.migrations import HEAD
from arena.store.storage import Storage
from tests.arena.cli import Arena, assert_one_line, make_arena
from tests.arena.test_migrations import OLDER, stamp
from tests.waiting import DEADLINE


@pytest.fixture
def arena(settings: Settings, capsys: pytest.CaptureFixture[str]) -> Arena:
    return make_arena(settings.data, capsys)


def test_migrate_when_there_is_no_database_then_it_is_made(arena: Arena) -> None:
    assert arena("migrate").out == f"the database has schema {HEAD} now\n"
    assert arena("bot", "list").status == 0
    assert arena("migrate").out == f"the database is up to date: schema {HEAD}\n"
    assert arena("migrate", "--json").json == {"output": "bigtwo-cli/1", "before": HEAD, "schema": HEAD}


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_migrate_when_two_processes_do_so_at_once_then_both_end_well(
    settings: Settings, database: str, request: pytest.FixtureRequest
) -> None:
    url = settings.database_url
    if database == "postgresql":
        url = request.getfixturevalue("postgres").create("fresh")
    variables = os.environ | settings.environment() | {"ARENA_DATABASE_URL": url}
    command = [sys.executable, "-m", "arena", "migrate"]
    both = [
        subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for _ in range(2)
    ]
    said = [one.communicate(timeout=DEADLINE)[0] for one in both]
    assert [one.returncode for one in both] == [0, 0], said
    assert {*said} <= {
        f"the database has schema {HEAD} now\n",
        f"the database is up to date: schema {HEAD}\n",
    }


@pytest.mark.parametrize(
    "command",
    [
        ("tournament", "list"),
        ("bot", "register", "ann/a"),
        ("leaderboard",),
        ("worker",),
        ("referee",),
    ],
)
def test_commands_when_the_schema_is_old_then_one_line_says_what_to_run(
    arena: Arena, migrated: Settings, command: tuple[str, ...]
) -> None:
    with Storage(migrated.database_url) as storage:
        stamp(storage, OLDER)
    told = f"its schema is {OLDER}, and {HEAD} is needed; run: arena migrate"
    assert_one_line(arena(*command), 1, told, str(Path(migrated.data) / "arena.db"))


@pytest.mark.parametrize(
    ("statements", "told"),
    [
        ("CREATE TABLE shop (id INTEGER)", "belongs to something else than an arena (it has a table shop)"),
        (
            "CREATE TABLE alembic_version AS SELECT '1a2b3c4d5e6f' AS version_num",
            "belongs to something else than an arena (its schema is 1a2b3c4d5e6f)",
        ),
        (
            "CREATE TABLE alembic_version AS SELECT '9999' AS version_num",
            "its schema 9999 is from before the first release; use the version that made it",
        ),
    ],
    ids=["no revision", "another's revision", "of development"],
)
def test_commands_when_the_database_is_not_theirs_then_one_line_says_so_and_it_stays_as_it_is(
    arena: Arena, settings: Settings, statements: str, told: str
) -> None:
    file = settings.prepare().data / "arena.db"
    with closing(sqlite3.connect(file)) as other:
        other.executescript(statements)
        tables = other.execute("SELECT name FROM sqlite_master").fetchall()
        for command in ("migrate", "worker"):
            assert_one_line(arena(command), 1, told, str(file))
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == tables

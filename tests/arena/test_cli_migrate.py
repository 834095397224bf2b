"""``arena migrate``, and what the other commands do before it has run."""

from pathlib import Path

import pytest

from arena.migrations import HEAD
from arena.settings import Settings
from arena.storage import Storage
from tests.arena.cli import Arena, assert_one_line, make_arena
from tests.arena.test_migrations import move


@pytest.fixture
def arena(settings: Settings, capsys: pytest.CaptureFixture[str]) -> Arena:
    return make_arena(settings.data, capsys)


def test_migrate_when_there_is_no_database_then_it_is_made(arena: Arena) -> None:
    assert arena("migrate").out == f"the database has schema {HEAD} now\n"
    assert arena("bot", "list").status == 0
    assert arena("migrate").out == f"the database is up to date: schema {HEAD}\n"
    assert arena("migrate", "--json").json == {"output": "bigtwo-cli/1", "before": HEAD, "schema": HEAD}


def test_migrate_when_the_schema_is_old_then_it_becomes_the_present_one(
    arena: Arena, migrated: Settings
) -> None:
    with Storage(migrated.database_url) as storage:
        move(storage, "0004")
    assert arena("migrate").out == f"the database has schema {HEAD} now; it had 0004\n"
    assert arena("tournament", "list").status == 0


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
        move(storage, "0004")
    told = f"its schema is 0004, and {HEAD} is needed; run: arena migrate"
    assert_one_line(arena(*command), 1, told, str(Path(migrated.data) / "arena.db"))

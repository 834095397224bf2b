"""Backups made while the arena runs, and restored over whatever is left of it."""

import io
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from sqlmodel import func, select

from arena.host.settings import Settings
from arena.running import backups
from arena.store.models import Session
from arena.store.storage import Storage, open_storage
from tests.arena.cli import Arena, make_arena
from tests.arena.fakes import Clock
from tests.arena.world import World, results

DOCUMENTED = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()

KILLED = """
import os, sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("PRAGMA wal_autocheckpoint = 0")
database.execute("BEGIN IMMEDIATE")
database.execute("DELETE FROM sessions WHERE number = 1")
database.execute("COMMIT")
os.kill(os.getpid(), 9)
"""
"""A process that leaves a write-ahead log next to the database, with changes that are only in the log."""


@pytest.fixture
def arena(migrated: Settings, capsys: pytest.CaptureFixture[str]) -> Arena:
    return make_arena(migrated.data, capsys)


def sessions(settings: Settings) -> int:
    with open_storage(settings) as storage, storage.read() as tx:
        return tx.exec(select(func.count()).select_from(Session)).one()


def play(settings: Settings) -> dict[str, list[tuple[object, ...]]]:
    """Play a cup, and close the database again."""
    with open_storage(settings) as storage:
        world = World(storage, Clock())
        world.finish(world.tournament(8).id)
        return results(storage)


def test_restored_when_a_killed_arena_left_its_log_then_it_is_as_backed_up(
    arena: Arena, migrated: Settings, tmp_path: Path
) -> None:
    before = play(migrated)
    copy = tmp_path / "backup.db"
    assert arena("backup", str(copy)).status == 0
    subprocess.run([sys.executable, "-c", KILLED, str(migrated.data / "arena.db")], check=False)
    assert (migrated.data / "arena.db-wal").stat().st_size > 0
    assert arena("restore", str(copy), "--yes").status == 0
    assert not (migrated.data / "arena.db-wal").exists()
    with open_storage(migrated) as storage:
        assert results(storage) == before
    assert stat.S_IMODE((migrated.data / "arena.db").stat().st_mode) == 0o600


def test_backup_when_changes_are_only_in_the_log_then_it_has_them(
    arena: Arena, storage: Storage, world: World, migrated: Settings, tmp_path: Path
) -> None:
    world.finish(world.tournament(8).id)
    assert (migrated.data / "arena.db-wal").stat().st_size > 0
    copy = tmp_path / "backup.db"
    assert arena("backup", str(copy)).status == 0
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    with sqlite3.connect(copy) as database:
        assert database.execute("SELECT count(*) FROM sessions").fetchone() == (42,)
    assert [name for name in os.listdir(tmp_path) if "backup" in name] == ["backup.db"]


def test_restore_when_the_database_is_in_use_then_it_is_refused(
    arena: Arena, storage: Storage, world: World, migrated: Settings, tmp_path: Path
) -> None:
    copy = tmp_path / "backup.db"
    arena("backup", str(copy))
    world.register(1)
    with storage.read() as tx:
        tx.connection()
        refused = arena("restore", str(copy), "--yes")
    assert (refused.status, "is in use; stop everything first" in refused.err) == (1, True)
    assert len(world.register(2)) == 2


def test_restore_when_the_backup_is_damaged_then_nothing_is_changed(
    arena: Arena, migrated: Settings, tmp_path: Path
) -> None:
    play(migrated)
    copy = tmp_path / "backup.db"
    arena("backup", str(copy))
    content = bytearray(copy.read_bytes())
    content[len(content) // 2 :] = os.urandom(len(content) - len(content) // 2)
    copy.write_bytes(content)
    assert arena("restore", str(copy), "--yes").status == 1
    (tmp_path / "text").write_text("no database")
    assert "not a database" in arena("restore", str(tmp_path / "text"), "--yes").err
    assert arena("restore", str(tmp_path / "missing"), "--yes").status == 1
    assert sessions(migrated) == 42


def test_restore_when_the_database_is_gone_or_broken_then_it_is_there_again(
    arena: Arena, migrated: Settings, tmp_path: Path
) -> None:
    play(migrated)
    copy = tmp_path / "backup.db"
    arena("backup", str(copy))
    (migrated.data / "arena.db").write_text("broken")
    assert arena("restore", str(copy), "--yes").status == 0
    assert sessions(migrated) == 42
    shutil.rmtree(migrated.data)
    assert arena("restore", str(copy)).status == 0
    assert sessions(migrated) == 42


def test_restore_when_there_is_a_database_then_it_is_asked_for(
    arena: Arena, migrated: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "backup.db"
    arena("backup", str(copy))
    play(migrated)
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    database = migrated.data / "arena.db"
    asked = f"Replace {database} with {copy}, and lose what it holds"
    refused = arena("restore", str(copy))
    assert refused.err.splitlines() == [
        "warning: created since the backup, and gone: cup",
        "warning: lost: 42 finished sessions, eight bot versions",
        f"error: {asked}: not confirmed; without a terminal, add --yes",
    ]
    assert sessions(migrated) == 42
    assert arena("restore", str(copy), "--yes").status == 0
    assert sessions(migrated) == 0


def test_backup_when_the_file_is_there_or_the_database_a_server_then_it_is_refused(
    arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "old").write_text("old")
    assert "already exists" in arena("backup", str(tmp_path / "old")).err
    assert (tmp_path / "old").read_text() == "old"
    assert arena("backup", str(tmp_path / "old"), "--force").status == 0
    os.mkfifo(tmp_path / "pipe")
    assert "is not a regular file" in arena("backup", str(tmp_path / "pipe"), "--force").err
    monkeypatch.setenv("ARENA_DATABASE_URL", "postgresql+psycopg://arena@localhost/arena")
    assert "pg_dump" in arena("backup", str(tmp_path / "new")).err


def test_backup_through_a_link_writes_what_it_leads_to(arena: Arena, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "backup.db")
    assert arena("backup", str(tmp_path / "link")).status == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "backup.db").read_bytes().startswith(b"SQLite format 3")


def test_restore_when_the_database_is_a_link_then_it_stays_one(
    arena: Arena, migrated: Settings, tmp_path: Path
) -> None:
    play(migrated)
    assert arena("backup", str(tmp_path / "backup.db")).status == 0
    database, target = migrated.data / "arena.db", tmp_path / "disk" / "arena.db"
    target.parent.mkdir()
    database.rename(target)
    database.symlink_to(target)
    assert arena("restore", str(tmp_path / "backup.db"), "--yes").status == 0
    assert database.readlink() == target
    assert sessions(migrated) == 42


def test_backup_ended_by_a_signal_leaves_no_draft(
    arena: Arena, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(*_: object) -> str:
        signal.raise_signal(signal.SIGTERM)
        return "never"

    monkeypatch.setattr(backups, "_copy", ended)
    assert arena("backup", str(tmp_path / "backup.db")).status == 128 + signal.SIGTERM
    assert [path.name for path in tmp_path.glob("*backup*")] + [
        path.name for path in tmp_path.glob(".*")
    ] == []


def test_guide_when_it_tells_of_backups_then_it_names_these_commands() -> None:
    assert "arena backup /backup/arena.db" in DOCUMENTED
    assert "arena restore /backup/arena.db" in DOCUMENTED

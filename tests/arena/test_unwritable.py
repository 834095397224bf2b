"""A missing arena, a read-only one, a damaged one, and a full disk: each is told apart in one line."""

import errno
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

from arena.errors import NoArena, StorageError
from arena.host.files import is_full
from arena.host.settings import Settings, load_settings
from arena.play.messages import wake
from arena.running import doctor
from arena.store.models import Owner, utc_now
from arena.store.storage import Storage, open_storage
from referee.cli.app import run
from tests.arena.cli import Result, assert_one_line
from tests.arena.everywhere import CALLS, call
from tests.arena.unwritable import first_line_on_full_disk, run_on_full_disk, run_powerless
from tests.arena.world import World

ALONE = {
    *(
        "config",
        "doctor",
        "migrate",
        "restore",
        "verify",
        "match seating",
        "bot check",
        "bot explain",
        "bot new",
        "bot rewind",
        "play",
        "compare",
        "vectors export",
    ),
    *(name for name in CALLS if name.startswith("rules ")),
}
"""Commands that need no arena."""


@pytest.mark.parametrize("name", [name for name in CALLS if name not in ALONE])
def test_command_in_a_folder_without_an_arena_says_so_and_makes_nothing(
    name: str, everything: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = tmp_path / "nowhere" / "data"
    arguments = call(name, everything)
    arguments[1] = str(nowhere)
    status = run(arguments)
    told = f"no arena in {nowhere}: `arena up` makes one, --data names another"
    assert_one_line(Result(status, *capsys.readouterr()), 1, told)
    assert not nowhere.parent.exists()


@pytest.mark.parametrize("name", ["leaderboard", "bot list"])
def test_command_in_a_folder_of_something_else_makes_nothing_there(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    status = run(["--data", str(tmp_path), *name.split()])
    assert_one_line(Result(status, *capsys.readouterr()), 1, f"no arena in {tmp_path}")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_open_when_another_database_is_named_and_missing_then_that_is_said(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/other.db"
    told = rf"^no database {tmp_path}/other.db: `arena up` makes it, ARENA_DATABASE_URL names another$"
    with pytest.raises(NoArena, match=told):
        open_storage(load_settings({"data": tmp_path / "data", "database_url": url}))
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def fixed(migrated: Settings, world: World, tmp_path: Path) -> Iterator[Path]:
    """Copy an arena with a finished tournament to a folder that tests make read-only."""
    world.finish(world.tournament(4).id)
    world.storage.close()  # this ends the write-ahead log
    copy = tmp_path / "copy #1?%"
    shutil.copytree(migrated.data, copy)
    yield copy
    copy.chmod(0o700)


def contents(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize("command", ["leaderboard", "tournament list", "tournament show cup", "export cup"])
def test_arena_when_its_folder_can_only_be_read_then_it_is_read_and_left_as_it_is(
    fixed: Path, command: str
) -> None:
    before = contents(fixed)
    fixed.chmod(0o500)
    shown = run_powerless("--data", fixed, *command.split())
    assert (shown.status, shown.err) == (0, "")
    assert "owner-0/bot-0" in shown.out or "cup" in shown.out
    assert contents(fixed) == before


@pytest.mark.parametrize("name", ["broker", "broker/queue"])
def test_broker_when_its_folder_cannot_be_read_then_each_process_says_so_in_one_line(
    migrated: Settings, name: str
) -> None:
    wake(migrated, 1)
    folder = migrated.data / name
    folder.chmod(0)
    try:
        for command in ("worker", "beat"):
            refused = run_powerless("--data", migrated.data, command)
            told = f"setting broker_url: cannot use {migrated.data}/broker/queue: Permission denied"
            assert_one_line(refused, 1, told)
        found = run_powerless("--data", migrated.data, "doctor")
        [line] = [line for line in found.out.splitlines() if "broker" in line and not line.startswith("ok")]
        assert f"cannot read {migrated.data}/broker/queue: Permission denied → let the arena's user" in line
    finally:
        folder.chmod(0o700)


def test_change_when_the_folder_can_only_be_read_then_one_line_says_so(fixed: Path) -> None:
    fixed.chmod(0o500)
    refused = run_powerless("--data", fixed, "bot", "register", "ann/one")
    assert_one_line(refused, 1, f"database: {fixed}/arena.db can only be read")


@pytest.fixture
def logged(migrated: Settings, world: World, tmp_path: Path) -> Iterator[Path]:
    """Copy an arena that is in use, whose newest changes are only in the write-ahead log."""
    world.finish(world.tournament(4).id)
    copy = tmp_path / "copy"
    shutil.copytree(migrated.data, copy)
    assert (copy / "arena.db-wal").stat().st_size
    yield copy
    copy.chmod(0o700)


def test_arena_when_a_copy_of_it_in_use_can_only_be_read_then_nothing_is_left_out(logged: Path) -> None:
    logged.chmod(0o500)
    shown = run_powerless("--data", logged, "tournament", "list")
    assert (shown.status, shown.err) == (0, "")
    assert "finished" in shown.out


def test_arena_when_changes_in_its_log_cannot_be_read_then_it_is_not_shown_without_them(logged: Path) -> None:
    (logged / "arena.db-shm").unlink()
    logged.chmod(0o500)
    refused = run_powerless("--data", logged, "tournament", "list")
    assert_one_line(refused, 1, "database: ", f"{logged}/arena.db")


def fill(_connection: sqlite3.Connection, _record: object) -> None:
    """Stop a database from growing, as on a full disk."""
    _connection.execute("PRAGMA max_page_count = 1")  # SQLite takes this as the current size


def add_owners(storage: Storage) -> None:
    with storage.write() as tx:
        tx.add_all(Owner(name=f"{number}" * 4000, created_at=utc_now()) for number in range(100))


def test_write_when_the_disk_is_full_then_one_line_calls_it_so(migrated: Settings) -> None:
    event.listen(Engine, "connect", fill)
    try:
        with open_storage(migrated) as storage:
            told = rf"^database: no space left on the disk of {migrated.data}/arena.db$"
            with pytest.raises(StorageError, match=told):
                add_owners(storage)
    finally:
        event.remove(Engine, "connect", fill)


@pytest.mark.parametrize(
    "command",
    [
        "bot register ann/one",
        "tournament start waiting",
        "leaderboard",
        "backup again.db",
        "export cup --output cup.jsonl",
        "token create viewer --scope spectator",
        "referee",
        "worker",
        "up",
        "demo",
        "migrate",
    ],
)
def test_command_on_a_full_disk_calls_it_so_in_one_line(everything: Path, command: str) -> None:
    refused = run_on_full_disk(everything / "data", *command.split())
    begun = [line for line in refused.out.splitlines() if not line.startswith("starting an arena in ")]
    assert (refused.status, begun) == (1, [])
    assert refused.err.count("\n") == 1
    assert "no space left on" in refused.err.lower()


def test_beat_on_a_full_disk_calls_it_so_and_goes_on_trying(everything: Path) -> None:
    line = first_line_on_full_disk(everything / "data", "beat")
    assert "the beat finds no broker now" in line
    assert line.lower().endswith("no space left on device\n")


def test_disk_when_there_is_room_or_nothing_to_ask_then_it_is_not_full(tmp_path: Path) -> None:
    assert not is_full(tmp_path)
    assert not is_full(tmp_path / "missing")


def findings(settings: Settings, check: str) -> list[tuple[str, str, str]]:
    found = doctor.examine({"data": settings.data}, utc_now)
    return [(one.level.value, one.found, one.advice) for one in found if one.check == check]


def damage(file: Path) -> None:
    """Overwrite all pages but the first few, as a failing disk would."""
    size = file.stat().st_size
    with file.open("r+b") as opened:
        opened.seek(size // 4)
        opened.write(os.urandom(size // 2))


def test_doctor_when_the_database_is_damaged_then_it_says_so(migrated: Settings, world: World) -> None:
    world.finish(world.tournament(4).id)
    world.storage.close()
    damage(migrated.data / "arena.db")
    [(level, found, advice)] = findings(migrated, "database")
    assert (level, "damaged" in found) == ("fail", True)
    assert "restore a backup" in advice


def read_all(storage: Storage) -> None:
    with storage.read() as tx:
        for table in Owner.metadata.sorted_tables:
            tx.connection().execute(table.select()).all()


def test_storage_when_the_database_is_damaged_then_one_line_says_so(migrated: Settings, world: World) -> None:
    world.finish(world.tournament(4).id)
    world.storage.close()
    damage(migrated.data / "arena.db")
    told = rf"^database: {migrated.data}/arena.db is damaged \(.*\); restore a backup"
    with pytest.raises(StorageError, match=told), Storage(migrated.database_url) as storage:
        read_all(storage)


@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.EROFS, "read-only"), (errno.ENOSPC, "make room"), (errno.EACCES, "permissions")],
)
def test_doctor_when_nothing_can_be_written_then_it_says_why(
    migrated: Settings, number: int, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    [(level, found, advice)] = findings(migrated, "data folder")
    assert (level, found) == ("fail", f"cannot write in {migrated.data}: {os.strerror(number)}")
    assert words in advice


def test_doctor_when_there_is_no_arena_then_it_says_that_alone(settings: Settings) -> None:
    [(level, found, _)] = findings(settings, "database")
    assert (level, found.endswith("does not exist yet")) == ("warn", True)

"""The database: its schema and history, and the errors when it cannot be used."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text
from sqlmodel import SQLModel, select

from arena.errors import SchemaError, SettingsError, StorageError
from arena.host.settings import Settings, load_settings
from arena.store import migrations
from arena.store.models import Owner
from arena.store.schema import find_revision
from arena.store.storage import Storage, Transaction, migrate, migrate_storage, open_storage
from tests.arena.fakes import Clock
from tests.arena.ports import LOOPBACK, deaf_address
from tests.arena.test_migrations import OLDER, stamp


def test_schema_when_migrated_then_it_is_that_of_the_models(storage: Storage) -> None:
    with storage.read() as tx:
        assert compare_metadata(MigrationContext.configure(tx.connection()), SQLModel.metadata) == []


def test_head_when_compared_with_the_migrations_then_it_is_the_latest() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    assert ScriptDirectory.from_config(config).get_current_head() == migrations.HEAD


def test_migrate_when_several_do_so_at_once_then_all_have_the_schema(settings: Settings) -> None:
    def tables(_: int) -> set[str]:
        migrate_storage(settings)
        with open_storage(settings) as storage, storage.read() as tx:
            return set(inspect(tx.connection()).get_table_names())

    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(tables, range(6)))
    assert all(names == {*SQLModel.metadata.tables, "alembic_version"} for names in found)


def test_open_when_the_schema_is_older_then_one_line_says_what_to_run_and_it_is_left_alone(
    migrated: Settings,
) -> None:
    with Storage(migrated.database_url) as storage:
        stamp(storage, OLDER)
        message = r"its schema is 0001, and \d{4} is needed; run: arena migrate"
        with pytest.raises(SchemaError, match=rf"^database: {message} \(sqlite:.*db\)$"):
            open_storage(migrated)
        with storage.connect() as connection:
            assert find_revision(connection) == OLDER


def test_open_when_the_database_is_empty_then_one_line_says_what_to_run(settings: Settings) -> None:
    (settings.prepare().data / "arena.db").touch()
    with pytest.raises(SchemaError, match="it has no tables yet; run: arena migrate"):
        open_storage(settings)


def test_migrate_when_the_database_is_newer_then_one_line_says_so(migrated: Settings) -> None:
    with Storage(migrated.database_url) as storage, storage.write() as tx:
        tx.connection().execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(
        SchemaError, match=r"its schema 9999 is newer than \d{4}, .*; update the arena on this host \(sq"
    ):
        migrate_storage(migrated)


def test_open_when_the_database_is_newer_then_one_line_says_so_and_it_is_left_alone(
    settings: Settings, storage: Storage
) -> None:
    with storage.write() as tx:
        tx.connection().execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(SchemaError, match=r"9999 is newer than .*; update the arena on this host \(sq"):
        open_storage(settings)
    with storage.read() as tx:
        assert tx.connection().execute(text("SELECT version_num FROM alembic_version")).scalar() == "9999"


def test_open_when_the_file_is_no_database_then_one_line_says_so(settings: Settings) -> None:
    settings.prepare()
    (settings.data / "arena.db").write_text("minutes of the meeting " * 100)
    with pytest.raises(StorageError, match="file is not a database") as caught:
        open_storage(settings)
    assert "\n" not in str(caught.value)


def test_migrate_when_the_folder_cannot_be_written_then_one_line_names_the_setting(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError, match="setting data: cannot write"):
        migrate_storage(load_settings({"data": tmp_path / "file"}))


def test_migrate_when_the_database_is_elsewhere_and_cannot_be_opened_then_one_line_says_where(
    tmp_path: Path,
) -> None:
    url = f"sqlite:///{tmp_path}/nowhere/arena.db"
    with pytest.raises(StorageError, match=r"unable to open database file .*nowhere"):
        migrate_storage(load_settings({"data": tmp_path, "database_url": url}))


def test_open_when_the_driver_is_missing_then_one_line_names_the_setting(tmp_path: Path) -> None:
    url = "mysql+nosuchdriver://host/arena"
    with pytest.raises(SettingsError, match="setting database_url: "):
        open_storage(load_settings({"data": tmp_path, "database_url": url}))


def test_open_when_the_driver_cannot_use_the_url_then_one_line_names_the_setting(tmp_path: Path) -> None:
    url = f"postgresql+psycopg://{LOOPBACK}/arena?colour=blue"
    with pytest.raises(SettingsError, match=r'^setting database_url: invalid connection option "colour"$'):
        open_storage(load_settings({"data": tmp_path, "database_url": url}))


def test_open_when_the_url_has_a_password_in_its_query_then_the_error_does_not_tell_it(
    tmp_path: Path,
) -> None:
    with deaf_address() as address:
        url = f"postgresql+psycopg://{address}/arena?password=hush"
        with pytest.raises(StorageError, match=r"password=\*\*\*\)$") as caught:
            open_storage(load_settings({"data": tmp_path, "database_url": url}))
    assert "hush" not in str(caught.value)


def schema(tx: Transaction) -> list[str]:
    """Return the statements that made what is in a SQLite database."""
    made = tx.connection().execute(text("SELECT sql FROM sqlite_master"))
    return [str(one) for (one,) in made]


def test_migration_when_it_fails_in_the_middle_then_nothing_of_it_stays(tmp_path: Path) -> None:
    file = tmp_path / "arena.db"
    with Storage(f"sqlite:///{file}") as storage:
        with storage.write() as tx:  # conflicts with one of the last tables
            tx.connection().execute(text("CREATE VIEW tournament_heads AS SELECT 1"))
            before = schema(tx)
        with pytest.raises(StorageError, match="already exists"):
            migrate(storage)
        with storage.read() as tx:
            assert schema(tx) == before


def test_write_when_the_block_raises_then_nothing_is_kept(storage: Storage) -> None:
    def fail() -> None:
        with storage.write() as tx:
            tx.add(Owner(name="ann", created_at=Clock()()))
            tx.flush()
            raise LookupError

    with pytest.raises(LookupError):
        fail()
    with storage.read() as tx:
        assert tx.exec(select(Owner)).all() == []


def test_time_when_stored_then_it_comes_back_in_utc(storage: Storage) -> None:
    now = Clock()()
    with storage.write() as tx:
        tx.add(Owner(name="ann", created_at=now))
    with storage.read() as tx:
        assert tx.exec(select(Owner.created_at)).one() == now


def test_reader_when_a_writer_is_at_work_then_it_does_not_wait(storage: Storage) -> None:
    with storage.write() as tx:
        tx.add(Owner(name="ann", created_at=Clock()()))
        tx.flush()
        with storage.read() as reader:
            assert reader.exec(select(Owner)).all() == []

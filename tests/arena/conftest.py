"""Fixtures that the arena's tests share: a database in a file, and tournaments in it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from pathlib import Path
from shutil import copytree

import pytest
from argon2 import PasswordHasher

from arena.host.settings import Settings, load_settings
from arena.people import passwords
from arena.store.storage import Storage, open_storage
from tests.arena import servers
from tests.arena.compiling import compile_once
from tests.arena.databases import empty_sqlite
from tests.arena.everywhere import make_everything
from tests.arena.fakes import Clock
from tests.arena.given_keys import give_arena_key
from tests.arena.pool import open_pool, play_pool
from tests.arena.searching import searched_once
from tests.arena.servers import Postgres
from tests.arena.world import World

compile_once()


NOBODYS = passwords.NOBODYS
"""The arena's own value, hashed at the full cost."""

passwords.hasher = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
passwords.NOBODYS = passwords.hash_password("the password of no account")
"""A cheap hash, since the tests' passwords are not secret and need not be expensive to guess."""


@pytest.fixture(scope="module", autouse=True)
def searches(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run each search for tables only once, except in tests of the search itself."""
    with nullcontext() if request.path.name.startswith("test_pairing_") else searched_once():
        yield


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Return the settings of the test's own arena, unaffected by the environment."""
    monkeypatch.delenv("ARENA_CONFIG", raising=False)
    return load_settings({"data": tmp_path / "arena", "lease_seconds": 30})


@pytest.fixture(scope="session")
def empty_database() -> bytes:
    """Return an empty database of the current schema, as a file."""
    return empty_sqlite()


@pytest.fixture(scope="session")
def everything_once(tmp_path_factory: pytest.TempPathFactory, empty_database: bytes) -> Path:
    folder = tmp_path_factory.mktemp("everything")
    make_everything(folder, empty_database)
    return folder


@pytest.fixture
def everything(everything_once: Path, tmp_path: Path) -> Path:
    """Make a folder with an arena in which every command has something to show, and files for commands."""
    return copytree(everything_once, tmp_path / "everything")


@pytest.fixture
def migrated(settings: Settings, empty_database: bytes) -> Settings:
    """Return the settings of an arena whose database has its tables."""
    (settings.prepare().data / "arena.db").write_bytes(empty_database)
    give_arena_key(settings)
    return settings


@pytest.fixture
def storage(migrated: Settings) -> Iterator[Storage]:
    """Open an empty database of the current schema."""
    with open_storage(migrated) as storage:
        yield storage


@pytest.fixture
def clock() -> Clock:
    """Return a clock that stands still until the test moves it."""
    return Clock()


@pytest.fixture
def world(storage: Storage) -> World:
    """Make an arena whose messages, clock and referee are controlled by the test."""
    return World(storage, Clock())


@pytest.fixture
def make_world(tmp_path: Path, empty_database: bytes) -> Iterator[Callable[[], World]]:
    """Make arenas like ``world``, each with a database of its own."""
    with ExitStack() as stack:

        def make() -> World:
            folder = tmp_path / f"arena-{len(list(tmp_path.iterdir()))}"
            settings = load_settings({"data": folder})
            (settings.prepare().data / "arena.db").write_bytes(empty_database)
            return World(stack.enter_context(open_storage(settings)), Clock())

        yield make


@pytest.fixture(scope="session")
def postgres_once() -> Iterator[Postgres]:
    with servers.postgres() as server:
        yield server


@pytest.fixture
def postgres(postgres_once: Postgres) -> Postgres:
    """Return this process's PostgreSQL server, with an empty database ``arena`` and no others."""
    postgres_once.server.wait()
    postgres_once.begin_anew()
    return postgres_once


@pytest.fixture(scope="session")
def played_pool(tmp_path_factory: pytest.TempPathFactory, empty_database: bytes) -> bytes:
    file = tmp_path_factory.mktemp("pool") / "arena.db"
    file.write_bytes(empty_database)
    play_pool(file)
    return file.read_bytes()


@pytest.fixture
def pool(migrated: Settings, played_pool: bytes) -> Iterator[World]:
    """Open an arena with two tournaments, cup and later, in which nine bots in all have played at random."""
    yield from open_pool(migrated, played_pool)

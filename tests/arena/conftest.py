"""What the arena's tests share: a database in a file, and tournaments in it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from arena.settings import Settings, load_settings
from arena.storage import Storage, open_storage
from tests.arena.fakes import Clock
from tests.arena.world import World


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings of an arena of its own; nothing of the environment gets in."""
    monkeypatch.delenv("ARENA_CONFIG", raising=False)
    return load_settings({"data": tmp_path / "arena", "lease_seconds": 30})


@pytest.fixture
def storage(settings: Settings) -> Iterator[Storage]:
    """An empty database of the present schema."""
    with open_storage(settings) as storage:
        yield storage


@pytest.fixture
def world(storage: Storage) -> World:
    """An arena whose messages, clock and referee are in the test's hands."""
    return World(storage, Clock())


@pytest.fixture
def make_world(tmp_path: Path) -> Iterator[Callable[[], World]]:
    """Makes arenas like ``world``, each with a database of its own."""
    with ExitStack() as stack:

        def make() -> World:
            folder = tmp_path / f"arena-{len(list(tmp_path.iterdir()))}"
            return World(stack.enter_context(open_storage(load_settings({"data": folder}))), Clock())

        yield make

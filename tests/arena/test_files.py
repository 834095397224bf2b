"""The data folder is private to its user, and bots are started without the arena's secrets."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.host.processes import Supervisor
from arena.host.settings import Settings
from arena.store.storage import migrate_storage, open_storage
from referee.check.process import BotProcess
from tests.waiting import wait_for

SECRETS = {
    "ARENA_WORKER_TOKEN": "bt_worker_of_this_arena",
    "ARENA_DATABASE_URL": "postgresql://arena:pass@host/arena",
    "ARENA_BROKER_URL": "redis://:pass@host/0",
    "PGPASSWORD": "pass",
}

OWN = {"ARENA_TOKEN", "ARENA_REFEREE", "ARENA_BOT_LOG"}
"""Variables that the demo sets for its bots."""

PRINT = [sys.executable, "-c", "import os; print(sorted(name for name in os.environ), flush=True)"]


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o777], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, str]:
    """Return the modes of a folder and of its contents."""
    return {str(one.relative_to(folder)): oct(stat.S_IMODE(one.stat().st_mode)) for one in folder.rglob("*")}


@pytest.mark.usefixtures("umask")
def test_data_folder_when_it_is_made_then_it_is_private_whatever_the_umask(settings: Settings) -> None:
    migrate_storage(settings)
    with open_storage(settings) as storage, storage.write():
        assert stat.S_IMODE(settings.data.stat().st_mode) == 0o700
        found = modes(settings.data)
        assert found["logs"] == "0o700"
        files = [name for name in found if name.startswith("arena.db")]
        assert len(files) == 3  # with -wal and -shm
        assert {found[name] for name in files} == {"0o600"}


def test_database_when_others_could_read_it_then_they_cannot_once_it_is_opened(migrated: Settings) -> None:
    file = migrated.data / "arena.db"
    file.chmod(0o644)
    with open_storage(migrated):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.fixture
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in SECRETS.items():
        monkeypatch.setenv(name, text)


@pytest.mark.usefixtures("secrets")
def test_bot_when_started_beside_an_arena_then_it_gets_none_of_its_secrets(tmp_path: Path) -> None:
    log = tmp_path / "bot.log"
    with Supervisor(tmp_path, {"ARENA_WORKER_TOKEN": "also from settings"}) as supervisor:
        supervisor.start("bot", PRINT, {"ARENA_TOKEN": "its own"}, trusted=False)
        wait_for(lambda: log.read_text())
    assert "ARENA_TOKEN" in log.read_text()
    assert not [name for name in SECRETS if repr(name) in log.read_text()]


@pytest.mark.usefixtures("secrets")
async def test_bot_when_checked_then_it_gets_none_of_the_arenas_secrets(tmp_path: Path) -> None:
    log = tmp_path / "bot.log"
    bot = BotProcess(PRINT, "127.0.0.1:1", "its own", log)
    await bot.start()
    assert await bot.ended(60)
    await bot.close()
    printed = log.read_text()
    assert "'ARENA_TOKEN'" in printed
    assert not [name for name in SECRETS if repr(name) in printed]


def test_demo_when_it_runs_then_its_bots_have_only_their_own_variables(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "arena", "--data", str(tmp_path), "demo"]
    given = {**os.environ, **SECRETS}
    with subprocess.Popen(command, env=given, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            bot = next(line for line in process.stdout if line.startswith("  ann/greedy@1"))
            pid = bot.rpartition(" ")[2].strip(")\n")
            environment = Path(f"/proc/{pid}/environ")
            wait_for(environment.read_bytes)  # it is empty for a moment while one program replaces another
            variables = environment.read_bytes().split(b"\0")
        finally:
            process.terminate()
            process.communicate()
    names = {variable.partition(b"=")[0].decode() for variable in variables}
    assert {name for name in names if name.startswith(("ARENA_", "PG"))} == OWN

"""A whole arena of real processes, for tests that kill them: ``arena up``, sample bots, a tournament."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from arena.bots import versions
from arena.cli.local import arena_command
from arena.core.specs import make_spec
from arena.host.settings import Settings, load_settings
from arena.play.messages import wake
from arena.store.models import utc_now
from arena.store.storage import Storage
from arena.tournaments import creation, lifecycle, overview
from arena.tournaments.overview import TournamentStatus
from arena.tournaments.referees import nobody_asked
from tests.arena.databases import open_new
from tests.arena.fakes import LOCKED, ROOT
from tests.arena.given_keys import give_keys
from tests.arena.ports import free_address
from tests.arena.traps import Traps
from tests.tied import tied
from tests.waiting import DEADLINE, wait_for

LATE_BOT = str(Path(__file__).with_name("late_bot.py"))
"""A bot that takes longer than strict limits allow."""
SAMPLE_BOTS = Path(__file__).resolve().parents[2] / "sample_bots" / "python"

Process = subprocess.Popen[str]


class RunningArena:
    """An arena in one terminal, its bots, and its database."""

    def __init__(self, settings: Settings, storage: Storage, up: Process) -> None:
        self.settings = settings
        self.storage = storage
        self._pids = dict(_read_pids(up))

    def kill(self, name: str, number: signal.Signals = signal.SIGKILL) -> None:
        """Send a signal, by default SIGKILL, to the process that ``arena up`` started under this name."""
        os.kill(self._pids.pop(name), number)

    def start_tournament(self, name: str, seed: bytes, **fields: object) -> None:
        """Create a tournament with this seed and start it."""
        now = LOCKED
        status = creation.create(self.storage, ROOT, make_spec({"name": name} | fields), now, seed)
        lifecycle.start(self.storage, ROOT, name, now, nobody_asked)
        wake(self.settings, status.id)

    def status(self, name: str) -> TournamentStatus:
        """Return the tournament's status."""
        return overview.status(self.storage, name)

    def wait(self, name: str, condition: Callable[[TournamentStatus], bool]) -> TournamentStatus:
        """Wait until the tournament's status meets the condition; fail and show it if that takes too long."""
        status = self.status(name)

        def reached() -> bool:
            nonlocal status
            status = self.status(name)
            return condition(status)

        wait_for(reached, seen=lambda: status)
        return status


def _read_pids(up: Process) -> Iterator[tuple[str, int]]:
    assert up.stdout is not None
    for line in up.stdout:
        if found := re.match(r"(\w+) .*\(process (\d+)\)", line):
            yield found[1], int(found[2])
        if line.startswith("Ctrl-C"):
            return
    raise AssertionError("arena up ended before it was up")


def kept_log(settings: Settings, bot: str) -> Path:
    """Return the file in which a bot of a running arena keeps its log of sessions."""
    return settings.data / f"{bot.replace('/', '.')}.jsonl"


@contextmanager
def running_arena(folder: Path, sample_bots: dict[str, str], **settings_: object) -> Iterator[RunningArena]:
    """Run an arena with these settings and these bots, given by name and sample file."""
    address = free_address()
    quick = {"data": folder, "listen": address, "referees": address, "beat_seconds": 1, "lease_seconds": 3}
    settings = load_settings(quick | settings_)
    with ExitStack() as stack:
        storage = stack.enter_context(open_new(settings))
        give_keys(settings, storage)
        environment = os.environ | settings.environment()
        traps = Traps(folder / "traps")
        up = stack.enter_context(_process(list(arena_command("up")), environment, traps.folder))
        arena = RunningArena(settings, storage, up)
        for name, file in sample_bots.items():
            token = versions.register_version(storage, ROOT, name, utc_now()).token
            variables = environment | {"ARENA_TOKEN": token, "ARENA_REFEREE": settings.listen}
            variables["ARENA_BOT_LOG"] = str(kept_log(settings, name))
            stack.enter_context(_process([sys.executable, str(SAMPLE_BOTS / file)], variables))
        yield arena
        assert traps.sprung() == ""


@contextmanager
def _process(
    command: list[str], environment: dict[str, str], folder: Path | None = None
) -> Iterator[Process]:
    """Run a process and stop it at the end of the block; fail if it does not stop cleanly."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(tied(*command), env=environment, cwd=folder, **pipes) as process:  # type: ignore[call-overload]
        try:
            yield process
        finally:
            process.terminate()
            assert process.wait(DEADLINE) == 0, f"{command} did not stop cleanly"

"""An arena on this machine: its processes, started together."""

import fcntl
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from arena.errors import SettingsError, StateError
from arena.processes import Supervisor
from arena.settings import Settings
from referee.errors import ListenError

POLL_SECONDS = 0.1

PROCESSES = ("referee", "worker", "beat")


def start_arena(supervisor: Supervisor, settings: Settings) -> None:
    """Start referee, worker and beat, and wait until the referee listens.

    SettingsError, ListenError, ProcessFailed.
    """
    address = _address(settings.listen)
    _check_free(address)
    for name in PROCESSES:
        supervisor.start(name, arena_command(name))
    while not _listens(address):
        supervisor.check()
        time.sleep(POLL_SECONDS)


@contextmanager
def only_arena(folder: Path) -> Iterator[None]:
    """Keeps a data folder for one ``arena up``; StateError if another has it.

    Two would share the tournaments, but not the referee that the bots are connected to.
    """
    with (folder / "up.lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StateError(f"an arena is running in {folder} already; choose another --data") from None
        yield


def arena_command(*arguments: str) -> Sequence[str]:
    """The command line of ``arena`` with these arguments, for a child process."""
    return [sys.executable, "-m", "arena", *arguments]


def free_address() -> str:
    """An address of this machine on which nobody listens now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"


def watch_over(supervisor: Supervisor, stopped: Callable[[], bool]) -> None:
    """Start processes that die again, until ``stopped``. ProcessFailed."""
    while not stopped():
        supervisor.check()
        time.sleep(POLL_SECONDS)


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if int(port) == 0:
        raise SettingsError("listen", f"{text}: port 0 is any port, and the bots have to know which")
    return host.strip("[]"), int(port)


def _check_free(address: tuple[str, int]) -> None:
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    try:
        socket.create_server(address, family=family).close()
    except OSError as error:
        where, reason = f"{address[0]}:{address[1]}", str(error.strerror).partition(" (")[0]
        raise ListenError(f"cannot listen on {where}: {reason}; set ARENA_LISTEN to another port") from None


def _listens(address: tuple[str, int]) -> bool:
    try:
        socket.create_connection(address, timeout=1).close()
    except OSError:
        return False
    return True

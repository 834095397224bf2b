"""Starting the processes of an arena on this machine."""

import errno
import fcntl
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from arena.errors import SettingsError, StateError
from arena.host.addresses import local_addresses, split_address
from arena.host.presence import LOCK
from arena.host.processes import Supervisor
from arena.host.settings import PREFIX, Settings
from referee.errors import ListenError
from referee.net.addresses import own_host
from referee.processes.environment import safely

LAST_PORT = 65_535
FIRST_PORT = 1024
"""Ports below this need privileges."""

NEARBY = 100
"""How many ports are tried to find one to propose."""

EVERYWHERE = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 compared with, not listened on
"""Hosts that stand for all addresses of this machine."""


def require_free(by_variable: Mapping[str, Sequence[str]]) -> None:
    """Raise ListenError, with a line for each address that is taken, unless all are free.

    ``by_variable`` has, for each variable, the address that it names and those on the following ports.
    """
    lines: list[str] = []
    spoken_for = {address for addresses in by_variable.values() for address in addresses}
    earlier: dict[str, str] = {}
    for variable, addresses in by_variable.items():
        problems = {
            address: error
            for address in addresses
            if (error := _clash(address, earlier) or _problem(address))
        }
        earlier.update(dict.fromkeys(addresses, variable))
        advice = ""
        if any(error.errno in (errno.EADDRINUSE, errno.EACCES) for error in problems.values()):
            instead = _free_near(addresses, spoken_for)
            spoken_for.update(instead)
            advice = f", such as {variable}={instead[0]}" if instead else ""
        lines += [
            f"cannot listen on {address}: {str(error.strerror).partition(' (')[0]}; "
            f"set {variable} to another address{advice}"
            for address, error in problems.items()
        ]
    if lines:
        raise ListenError(*lines)


def _free_near(addresses: Sequence[str], taken: set[str]) -> list[str]:
    """Return as many consecutive free addresses, on higher ports; empty if there are none nearby."""
    host, _, port = addresses[0].rpartition(":")
    first = max(int(port) + 1, FIRST_PORT)
    for start in range(first, min(first + NEARBY, LAST_PORT + 1 - len(addresses))):
        instead = local_addresses(f"{host}:{start}", len(addresses))
        if taken.isdisjoint(instead) and not any(map(_problem, instead)):
            return instead
    return []


def _clash(address: str, earlier: Mapping[str, str]) -> OSError | None:
    """Return why an address conflicts with one of these, given with their variables; None if it does not."""
    host, port = split_address(address)
    for other, variable in earlier.items():
        its_host, its_port = split_address(other)
        if port == its_port and (host == its_host or not EVERYWHERE.isdisjoint((host, its_host))):
            return OSError(errno.EADDRINUSE, f"{variable} has {other} taken already")
    return None


def _problem(address: str) -> OSError | None:
    """Return why it is impossible to listen on an address; None if it is possible."""
    host, port = split_address(address)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        return error
    return None


POLL_SECONDS = 0.1

PROBES = 5
"""How often a held lock is tried again, since commands share it for a moment to see whether it is taken."""


class LocalReferee(NamedTuple):
    """A referee that ``arena up`` starts."""

    name: str
    """The name of its process."""
    listen: str
    address: str
    """The address at which bots and workers reach it."""


def local_referees(settings: Settings) -> list[LocalReferee]:
    """Return the referees of ``arena up``: on the port of ``listen``, and on those that follow.

    Raise SettingsError if the ports run out, or ``referees`` does not fit them.
    """
    _, port = _address(settings.listen)
    count = settings.local_referees
    if port + count - 1 > LAST_PORT:
        raise SettingsError("local_referees", f"{count} ports from {port} on go beyond {LAST_PORT}")
    names = ["referee"] if count == 1 else [f"referee{place}" for place in range(1, count + 1)]
    listening = local_addresses(settings.listen, count)
    return [
        LocalReferee(name, listen, _known_as(settings, listen, place))
        for place, (name, listen) in enumerate(zip(names, listening, strict=True))
    ]


def _known_as(settings: Settings, listen: str, place: int) -> str:
    """Return the address by which ``referees`` knows this local referee."""
    if listen in settings.referees:
        return listen
    if len(settings.referees) != settings.local_referees:
        raise SettingsError(
            "referees",
            f"{listen}, on which a referee would listen here, is not in it, and it has "
            f"{len(settings.referees)} addresses for {settings.local_referees} local referees",
        )
    return settings.referees[place]


def start_arena(
    supervisor: Supervisor, settings: Settings, stopped: Callable[[], bool] = lambda: False
) -> None:
    """Start referees, worker, beat and the API, and wait until the referees and the API listen.

    Return at once when it is ``stopped``. Raise SettingsError, ListenError, ProcessFailed.
    """
    referees, metrics = local_referees(settings), metrics_addresses(settings)
    web = [_address(settings.web_listen, "web_listen")] if settings.web_listen else []
    require_free(
        {
            f"{PREFIX}LISTEN": [referee.listen for referee in referees],
            f"{PREFIX}WEB_LISTEN": [settings.web_listen] if web else [],
            f"{PREFIX}METRICS_LISTEN": [*metrics.values()],
        }
    )
    for name, listen, address in referees:
        command = arena_command("referee", "--listen", listen, "--address", address)
        # Whoever stops an arena waits for it, and open sessions continue the next time.
        supervisor.start(name, command, _metrics_of(name, metrics), stop_with=signal.SIGINT)
    for name in ("worker", "beat"):
        supervisor.start(name, arena_command(name), _metrics_of(name, metrics))
    if web:
        supervisor.start("web", arena_command("web"))
    listening = [*(_address(referee.listen) for referee in referees), *web]
    while not stopped() and not all(map(_listens, listening)):
        supervisor.check()
        time.sleep(POLL_SECONDS)


def metrics_addresses(settings: Settings) -> dict[str, str]:
    """Return the address at which each process of ``arena up`` serves its metrics; empty if that is not set.

    The referees come first, on ``metrics_listen`` and the ports that follow, then the worker, then the beat.
    Raise SettingsError if the ports run out.
    """
    if not settings.metrics_listen:
        return {}
    names = [*(referee.name for referee in local_referees(settings)), "worker", "beat"]
    _, first = split_address(settings.metrics_listen)
    if first + len(names) - 1 > LAST_PORT:
        raise SettingsError("metrics_listen", f"{len(names)} ports from {first} on go beyond {LAST_PORT}")
    return dict(zip(names, local_addresses(settings.metrics_listen, len(names)), strict=True))


def _metrics_of(name: str, metrics: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variable that tells a process where to serve its metrics."""
    return {f"{PREFIX}METRICS_LISTEN": metrics.get(name, "")}


@contextmanager
def only_arena(folder: Path) -> Iterator[None]:
    """Reserve a data folder for one ``arena up``; raise StateError if another process has it.

    Two would share the tournaments, but not the referee that the bots are connected to.
    """
    with ExitStack() as stack:
        try:
            file = stack.enter_context((folder / LOCK).open("a"))
            _lock(file.fileno())
        except BlockingIOError:
            raise StateError(f"an arena is running in {folder} already; choose another --data") from None
        except OSError as error:
            raise SettingsError("data", f"cannot lock {folder / LOCK}: {error.strerror}") from None
        yield


def _lock(file: int) -> None:
    """Lock a file. Raise BlockingIOError if somebody else keeps it locked."""
    for left in reversed(range(PROBES)):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if not left:
                raise
            time.sleep(POLL_SECONDS)
        else:
            return


def arena_command(*arguments: str) -> Sequence[str]:
    """Return the command line of ``arena`` with these arguments, for a child process."""
    return safely("arena", *arguments)


def free_address() -> str:
    """Return an address of this machine on which nobody listens now."""
    host = own_host()
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host.strip("[]"), 0), family=family) as server:
        return f"{host}:{server.getsockname()[1]}"


def watch_over(
    supervisor: Supervisor, stopped: Callable[[], bool], look: Callable[[], None] = lambda: None
) -> None:
    """Restart processes that die until ``stopped``, calling ``look`` at intervals. Raise ProcessFailed."""
    while not stopped():
        supervisor.check()
        look()
        time.sleep(POLL_SECONDS)


def _address(text: str, setting: str = "listen") -> tuple[str, int]:
    host, port = split_address(text)
    if port == 0:
        raise SettingsError(setting, f"{text}: port 0 means any port, and others have to know which")
    return host, port


def _listens(address: tuple[str, int]) -> bool:
    try:
        socket.create_connection(address, timeout=1).close()
    except OSError:
        return False
    return True

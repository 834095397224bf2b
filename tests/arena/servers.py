"""Servers for one test, on free ports and in folders of their own, and a proxy that can cut connections.

Each is a child of the test's process and is stopped at the end of its block.
"""

import os
import pwd
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from arena.host.processes import Supervisor
from arena.store.storage import Storage, migrate
from tests.arena.ports import LOOPBACK as LOOPBACK  # also for benchmarks
from tests.arena.ports import free_port
from tests.needed import require
from tests.waiting import DEADLINE, wait_for

PLACES = (
    "/usr/lib/rabbitmq/bin",  # before /usr/sbin, where a script of the same name changes users
    *map(str, Path("/usr/lib/postgresql").glob("*/bin")),
    "/usr/sbin",
    "/usr/local/sbin",
)
"""Where Debian installs servers; searched before the PATH."""

MIGRATED = "migrated"
"""The database from which others on a server are copied."""


def program(name: str) -> str:
    """Return the path of a server's program; skip the test if it is missing, and fail in CI."""
    return require(name, os.pathsep.join([*PLACES, os.environ.get("PATH", "")]), " (.ci/servers installs it)")


class Server:
    """A running server program, which a test may end and restart."""

    def __init__(self, supervisor: Supervisor, name: str, ready: Callable[[], bool]) -> None:
        self._supervisor = supervisor
        self._name = name
        self._ready = ready

    def wait(self) -> None:
        """Wait until the server answers, restarting it if it has ended."""
        wait_for(self._ready, meanwhile=self._supervisor.check, seen=lambda: f"{self._name} does not start")

    def end(self, number: signal.Signals = signal.SIGKILL) -> None:
        """End the server, by default without warning, and wait for its end; ``wait`` restarts it."""
        self._supervisor.check()
        pid = self._supervisor.pid(self._name)
        assert pid is not None
        os.kill(pid, number)
        wait_for(
            lambda: self._supervisor.pid(self._name) != pid,
            meanwhile=self._supervisor.check,
            seen=lambda: f"{self._name} does not end",
        )

    def restart(self, number: signal.Signals = signal.SIGKILL, seconds: float = 1.0) -> None:
        """End the server, and restart it after this many seconds."""
        self.end(number)
        time.sleep(seconds)
        self.wait()


@dataclass(frozen=True)
class Postgres:
    """A PostgreSQL server."""

    port: int
    server: Server

    def url(self, database: str = "arena", port: int | None = None) -> str:
        """Return the database URL for the arena's settings; ``port`` is that of a proxy, if there is one."""
        return f"postgresql+psycopg://arena@{LOOPBACK}:{port or self.port}/{database}"

    def run(self, name: str, *arguments: str) -> str:
        """Run one of PostgreSQL's client programs; return its output."""
        place = ["--host", LOOPBACK, "--port", str(self.port), "--username", "arena"]
        command = [program(name), *place, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=DEADLINE).stdout

    def sql(self, statement: str) -> str:
        """Run a statement as an administrator."""
        return self.run(
            "psql", "--no-psqlrc", "--quiet", "--tuples-only", "--dbname", "postgres", "--command", statement
        )

    def kill_process(self) -> None:
        """Kill one of the server's processes without warning: it ends all connections, and recovers."""
        killed = self._checkpointer()
        os.kill(int(killed), signal.SIGKILL)
        wait_for(lambda: self._checkpointer() not in ("", killed), seen=lambda: "PostgreSQL does not recover")

    def _checkpointer(self) -> str:
        """Return the id of the process that writes checkpoints, or an empty text while nobody can connect."""
        with suppress(subprocess.CalledProcessError):
            return self.sql("SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'").strip()
        return ""

    def lock(self, user: str, password: str) -> str:
        """Create an administrator who needs a password; return the database URL for the arena's settings."""
        self.sql(f"CREATE ROLE {user} SUPERUSER LOGIN PASSWORD '{password}'")
        rules = Path(self.sql("SHOW hba_file").strip())
        rules.write_text(f"host all {user} {LOOPBACK}/32 scram-sha-256\n{rules.read_text()}")
        self.sql("SELECT pg_reload_conf()")
        return self.url().replace("//arena@", f"//{user}:{password}@")

    def begin_anew(self) -> None:
        """Drop the databases of earlier tests, and create an empty database ``arena``."""
        kept = f"datistemplate OR datname IN ('postgres', '{MIGRATED}')"
        for database in self.sql(f"SELECT datname FROM pg_database WHERE NOT ({kept})").splitlines():
            if database:
                self.run("dropdb", "--force", database.strip())
        self.create("arena")

    def create(self, database: str) -> str:
        """Create an empty database and return its URL."""
        self.run("createdb", database)
        return self.url(database)

    def create_migrated(self, database: str) -> str:
        """Create an empty arena database, as a copy of one made the first time; return its URL."""
        if not self.sql(f"SELECT 1 FROM pg_database WHERE datname = '{MIGRATED}'").strip():
            with Storage(self.create(MIGRATED)) as storage:
                migrate(storage)
        self.run("createdb", "--template", MIGRATED, database)
        return self.url(database)


@contextmanager
def postgres(
    *, durable: bool = False, folder: Path | None = None, settings: Mapping[str, str] | None = None
) -> Iterator[Postgres]:
    """Run a PostgreSQL server with an empty database ``arena``; ``durable`` keeps the usual crash safety.

    If a ``folder`` is given, the databases stay in it for the next time.
    """
    server = program("postgres")
    with folder_for("postgres") if folder is None else nullcontext(folder) as place:
        place.mkdir(exist_ok=True)
        data = place / "data"
        as_user = _as_user("postgres", place)
        new = not data.exists()
        if new:
            _make_cluster(data, as_user)
        port = free_port()
        options = {
            "listen_addresses": LOOPBACK,
            "unix_socket_directories": "",
            "fsync": "on" if durable else "off",
            "deadlock_timeout": "200ms",
            **(settings or {}),
        }
        given = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        asks = [program("pg_isready"), "-q", "-h", LOOPBACK, "-p", str(port)]
        with Supervisor(place / "log") as supervisor:
            command = [*as_user, server, "-D", str(data), "-p", str(port), *given]
            supervisor.start("postgres", command, stop_with=signal.SIGINT)  # does not wait for clients
            one = Postgres(port, Server(supervisor, "postgres", lambda: _succeeds(asks)))
            one.server.wait()
            if new:
                one.create("arena")
            yield one


@contextmanager
def standby_of(server: Postgres, folder: Path) -> Iterator[Postgres]:
    """Run a standby that has what the server has now, and learns of nothing that comes later."""
    data = folder / "data"
    server.run("pg_basebackup", "--checkpoint=fast", "--pgdata", str(data))
    (data / "standby.signal").touch()
    if os.geteuid() == 0:
        owner = _user("postgres")
        for path in (data, *data.rglob("*")):
            os.chown(path, owner.pw_uid, owner.pw_gid)
    with postgres(folder=folder) as standby:
        yield standby


def _make_cluster(data: Path, as_user: Sequence[str]) -> None:
    options = ["-U", "arena", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"]
    subprocess.run(
        [*as_user, program("initdb"), "-D", str(data), *options],
        check=True,
        capture_output=True,
        timeout=DEADLINE,
        cwd=data.parent,
    )


@contextmanager
def pgbouncer(server: Postgres, mode: str) -> Iterator[int]:
    """Run PgBouncer before a PostgreSQL server in this pool mode, and yield its port."""
    command, port = program("pgbouncer"), free_port()
    with folder_for("pgbouncer") as folder, Supervisor(folder / "log") as supervisor:
        as_user = _as_user("postgres", folder)
        (folder / "users").write_text('"arena" ""\n')
        options = {
            "listen_addr": LOOPBACK,
            "listen_port": port,
            "unix_socket_dir": "",
            "auth_type": "trust",
            "auth_file": folder / "users",
            "pool_mode": mode,
        }
        settings = [f"{name} = {value}" for name, value in options.items()]
        file = folder / "pgbouncer.ini"
        pool = f"* = host={LOOPBACK} port={server.port}"
        file.write_text("\n".join(["[databases]", pool, "[pgbouncer]", *settings, ""]))
        supervisor.start("pgbouncer", [*as_user, command, str(file)], stop_with=signal.SIGTERM)
        asks = [program("pg_isready"), "-q", "-h", LOOPBACK, "-p", str(port)]
        Server(supervisor, "pgbouncer", lambda: _succeeds(asks)).wait()
        yield port


@contextmanager
def redis() -> Iterator[int]:
    """Run a Redis server that keeps nothing on disk, and yield its port."""
    with redis_server() as (port, _):
        yield port


@contextmanager
def redis_server() -> Iterator[tuple[int, Server]]:
    """Run Redis as ``redis`` does, and yield the server as well."""
    server = program("redis-server")
    port = free_port()
    with folder_for("redis") as folder, Supervisor(folder / "log") as supervisor:
        options = {"port": port, "bind": LOOPBACK, "dir": folder, "save": "", "appendonly": "no"}
        arguments = [part for name, value in options.items() for part in (f"--{name}", str(value))]
        supervisor.start("redis", [server, *arguments])
        running = Server(supervisor, "redis", lambda: _answers(port, b"PING\r\n", b"+PONG"))
        running.wait()
        yield port, running


@contextmanager
def rabbitmq() -> Iterator[int]:
    """Run a RabbitMQ node with a port mapper of its own, and yield its AMQP port."""
    with rabbitmq_server() as (port, _):
        yield port


@contextmanager
def rabbitmq_server() -> Iterator[tuple[int, Server]]:
    """Run RabbitMQ as ``rabbitmq`` does, and yield the server as well."""
    server, epmd = program("rabbitmq-server"), program("epmd")
    port, mapper = free_port(), free_port()
    with folder_for("rabbitmq") as folder, Supervisor(folder / "log") as supervisor:
        as_user = _as_user("rabbitmq", folder)
        environment = {
            "HOME": str(folder),  # for the cookie that the node's processes share
            "ERL_AFLAGS": "-start_epmd false",  # otherwise a port mapper is left behind
            "ERL_EPMD_PORT": str(mapper),
            "ERL_EPMD_ADDRESS": LOOPBACK,
            "RABBITMQ_NODENAME": f"arena{port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": LOOPBACK,
            "RABBITMQ_NODE_PORT": str(port),
            "RABBITMQ_DIST_PORT": str(free_port()),
            "RABBITMQ_CONF_ENV_FILE": str(folder / "no-environment"),
            "RABBITMQ_CONFIG_FILE": str(folder / "no-configuration"),
            "RABBITMQ_ADVANCED_CONFIG_FILE": str(folder / "no-advanced"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "no-plugins"),
            "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(folder / "node"),
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_PID_FILE": str(folder / "pid"),
            "RUNNING_UNDER_SYSTEMD": "true",  # the script becomes the server instead of watching it
        }
        supervisor.start("epmd", [epmd, "-address", LOOPBACK, "-port", str(mapper)])
        Server(supervisor, "epmd", lambda: _answers(mapper, b"\x00\x01n", b"")).wait()
        supervisor.start("rabbitmq", [*as_user, server], environment)
        running = Server(supervisor, "rabbitmq", lambda: _answers(port, b"AMQP\x00\x00\x09\x01", b"\x01"))
        running.wait()
        yield port, running
        supervisor.stop("rabbitmq")  # before its port mapper


@contextmanager
def folder_for(name: str) -> Iterator[Path]:
    """Make a folder that other users may enter, unlike pytest's."""
    with tempfile.TemporaryDirectory(prefix=f"arena-{name}-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _as_user(name: str, folder: Path) -> Sequence[str]:
    """As root, give ``folder`` to the user, and return the prefix with which commands run as that user."""
    if os.geteuid() != 0:
        return []
    user = _user(name)
    os.chown(folder, user.pw_uid, user.pw_gid)
    ids = [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    return [program("setpriv"), *ids, "--pdeathsig", "KILL"]


def _user(name: str) -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(name)
    except KeyError:
        return pwd.getpwnam("nobody")


def _succeeds(command: Sequence[str]) -> bool:
    return subprocess.run(command, check=False).returncode == 0


def _answers(port: int, question: bytes, answer: bytes) -> bool:
    """Return whether a server on ``port`` answers a question with something that begins with ``answer``."""
    try:
        with socket.create_connection((LOOPBACK, port), timeout=2) as connection:
            connection.sendall(question)
            return connection.recv(max(1, len(answer))).startswith(answer)
    except OSError:
        return False


class Proxy:
    """A proxy between the arena and a server, able to cut connections."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._server = socket.create_server((LOOPBACK, 0), backlog=128)
        self.port: int = self._server.getsockname()[1]
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._refuses = False
        self.cuts = 0
        """Number of connections cut so far."""
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Cut all connections, and every new one, until ``restore`` is called."""
        with self._lock:
            self._refuses = True
            ends = list(self._open)
            self.cuts += len(ends) // 2
        for end in ends:
            _reset(end)

    def restore(self) -> None:
        """Allow new connections again."""
        with self._lock:
            self._refuses = False

    def close(self) -> None:
        """Close the proxy and all of its connections."""
        self.cut()
        self._server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._server.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with ExitStack() as stack:
            stack.enter_context(closing(client))
            if not self._lets_through():
                _reset(client)
                return
            try:
                server = socket.create_connection((LOOPBACK, self._target), timeout=5)
            except OSError:
                return
            stack.enter_context(closing(server))
            server.settimeout(None)
            with self._lock:
                self._open |= {client, server}
            stack.callback(self._forget, client, server)
            if not self._lets_through():  # cut in the meantime
                return
            back = threading.Thread(target=_pump, args=(server, client), daemon=True)
            back.start()
            _pump(client, server)
            back.join()

    def _lets_through(self) -> bool:
        with self._lock:
            return not self._refuses

    def _forget(self, *ends: socket.socket) -> None:
        with self._lock:
            self._open -= set(ends)


def _pump(source: socket.socket, drain: socket.socket) -> None:
    """Forward bytes in one direction until either side ends."""
    with suppress(OSError):
        while data := source.recv(65536):
            drain.sendall(data)
    for end in (source, drain):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


def _reset(end: socket.socket) -> None:
    """End a connection as a broken network does: with a reset, even if data is in transit."""
    with suppress(OSError):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        end.shutdown(socket.SHUT_RDWR)

"""The arena without its referees, and a referee for comparison: ``python -m benchmarks.arena``.

Workers play round-robins with a referee that answers at once, so that only workers, broker and database are
measured: the sessions stored per second in matches of twenty sessions, and the matches handed out, played and
closed per second where a match has only one session. This is done on SQLite and a folder, then on PostgreSQL
with Redis and with RabbitMQ, which are started for it. The last line shows how many sessions per second one
referee plays with four bots that answer at once, on the same machine. ``--quick`` plays less.
``benchmarks.history`` shows what the past costs.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path

from sqlmodel import func, select

from arena.actors import Actor, Role
from arena.bots import versions
from arena.core.specs import make_spec
from arena.host.processes import Supervisor
from arena.host.settings import Settings, load_settings
from arena.play.messages import run_beat, wake
from arena.play.tasks import run_worker
from arena.store.models import Tournament, utc_now
from arena.store.storage import Storage, migrate_storage, open_storage
from arena.tournaments import creation, lifecycle, overview
from arena.tournaments.referees import nobody_asked
from benchmarks.history import DEALS, ENTRANTS, session_result
from benchmarks.memory import spec
from benchmarks.referee import PLAYERS, process, read_line
from referee.matches.match import MatchSpec, SessionResult
from referee.net.client import run_match
from tests.arena import servers

OPERATOR = Actor(Role.OPERATOR, "benchmark")

SESSIONS = 20
"""Sessions in a match, where stored sessions are counted."""
WORKERS = (1, 2, 4)
ROUNDS = 10
"""Rounds of sixteen matches each; four times as many where matches are counted."""
REFEREED = 2048
"""Sessions that the referee plays, as many at once as it accepts; the first quarter is not counted."""

Place = Callable[[Path], AbstractContextManager[Settings]]


def play_at_once(_route: int, match: MatchSpec) -> Generator[SessionResult]:
    """Stand in for a referee that takes no time."""
    for session in match.sessions:
        yield session_result(session.number)


def start(storage: Storage, name: str, sessions: int, rounds: int) -> int:
    """Start a round-robin and return its number."""
    with storage.read() as tx:
        known = tx.exec(select(func.count()).select_from(Tournament)).one() > 0
    names = [f"owner-{number}/bot" for number in range(ENTRANTS)]
    if not known:
        for one in names:
            versions.register_version(storage, OPERATOR, one, utc_now())
    fields = {"name": name, "format": "round-robin", "ruleset": "chinese", "rounds": rounds}
    fields |= {"sessions": sessions, "deals": DEALS, "entrants": names}
    created = creation.create(storage, OPERATOR, make_spec(fields), utc_now())
    lifecycle.start(storage, OPERATOR, name, utc_now(), nobody_asked)
    return created.id


def rate(place: Place, workers: int, sessions: int, rounds: int) -> float:
    """Play a tournament with this many workers; return the sessions stored per second."""
    command = [sys.executable, "-m", "benchmarks.arena"]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        settings = stack.enter_context(place(folder))
        migrate_storage(settings)
        storage = stack.enter_context(open_storage(settings))
        supervisor = stack.enter_context(Supervisor(settings.logs, settings.environment()))
        for number in range(workers):
            supervisor.start(f"worker{number}", [*command, "--worker"])
        supervisor.start("beat", [*command, "--beat"])
        play(settings, storage, supervisor, "warm", sessions=1, rounds=2 * workers)
        began = time.monotonic()
        done = play(settings, storage, supervisor, "cup", sessions=sessions, rounds=rounds)
        return done / (time.monotonic() - began)


def play(
    settings: Settings, storage: Storage, supervisor: Supervisor, name: str, *, sessions: int, rounds: int
) -> int:
    """Play a tournament to its end; return the number of its sessions."""
    wake(settings, start(storage, name, sessions, rounds))
    while not (status := overview.status(storage, name)).ended:
        supervisor.check()
        time.sleep(0.05)
    return status.sessions_done


@contextmanager
def embedded(folder: Path) -> Iterator[Settings]:
    """Yield the settings of an arena on SQLite and a folder."""
    yield load_settings({"data": folder})


@contextmanager
def served(folder: Path, *, rabbitmq: bool) -> Iterator[Settings]:
    """Yield the settings of an arena on PostgreSQL, with Redis or RabbitMQ."""
    with ExitStack() as stack:
        postgres = stack.enter_context(servers.postgres(durable=True))
        if rabbitmq:
            url = f"amqp://guest:guest@{servers.LOOPBACK}:{stack.enter_context(servers.rabbitmq())}//"
        else:
            url = f"redis://{servers.LOOPBACK}:{stack.enter_context(servers.redis())}/0"
        yield load_settings({"data": folder, "database_url": postgres.url(), "broker_url": url})


PLACES: dict[str, Place] = {
    "SQLite, folder": embedded,
    "PostgreSQL, Redis": partial(served, rabbitmq=False),
    "PostgreSQL, RabbitMQ": partial(served, rabbitmq=True),
}


def referee_rate(sessions: int) -> float:
    """Return how many sessions per second a referee plays with four bots that answer at once."""
    with ExitStack() as stack:
        server = stack.enter_context(process("benchmarks.referee", "--serve"))
        address = f"127.0.0.1:{read_line(server)}"
        for number in range(1, PLAYERS + 1):
            stack.enter_context(process("benchmarks.referee", "--bot", str(number), address))
        warm, began, done = sessions // 4, 0.0, 0
        for update in run_match(address, "worker", spec("bench", range(1, PLAYERS + 1), sessions, DEALS)):
            if isinstance(update, SessionResult):
                done += 1
                if done == warm:
                    began = time.monotonic()
        return (done - warm) / (time.monotonic() - began)


def measure(places: dict[str, Place], rounds: int, refereed: int) -> None:
    """Print a line for each place and number of workers, and one for the referee."""
    print(f"{'':22} {'workers':>7} {'sessions/s':>11} {'matches/s':>10} {'x a referee':>12}")
    limit = referee_rate(refereed)
    for name, place in places.items():
        for workers in WORKERS:
            stored, closed = rate(place, workers, SESSIONS, rounds), rate(place, workers, 1, 4 * rounds)
            beside = f"{stored / limit:.1f}"
            print(f"{name:22} {workers:7} {stored:11,.0f} {closed:10,.0f} {beside:>12}", flush=True)
    print(f"{'a referee, four bots':22} {'':7} {limit:11,.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.arena", description=__doc__)
    parser.add_argument("--no-servers", action="store_true", help="SQLite and a folder only")
    parser.add_argument("--quick", action="store_true", help="play less")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--beat", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        run_worker(load_settings(), play_at_once)
    elif options.beat:
        run_beat(load_settings())
    else:
        places = dict(list(PLACES.items())[:1]) if options.no_servers else PLACES
        less = 4 if options.quick else 1
        measure(places, ROUNDS // less, REFEREED // less)


if __name__ == "__main__":
    main()

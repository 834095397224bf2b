"""The arena without its referees: sessions stored and matches handed out a second, and what history costs.

``python -m benchmarks.arena`` plays round-robins with a referee that answers at once: what is measured is
workers, broker and database, on SQLite and a folder, and with ``--servers`` on PostgreSQL with Redis and with
RabbitMQ, which it starts itself. Then it stores sessions and advances a tournament in databases with more and
more of the past. ``--quick`` plays less.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from sqlalchemy import insert, update
from sqlmodel import col, func, select

from arena.models import Match, MatchState, Round, RoundState, Session, Tournament, TournamentState, utc_now
from arena.processes import Supervisor
from arena.services import advance, bots, matches, tournaments
from arena.settings import Settings, load_settings
from arena.specs import make_spec
from arena.storage import Storage, open_storage
from arena.tasks import run_beat, run_worker, wake
from referee.match import MatchSpec, SessionResult
from tests.arena import servers

ENTRANTS = 32
DEALS = 8
LEASE = timedelta(seconds=30)

RECORD = json.dumps(
    {
        "deal": 1,
        "seed": "7" * 64,
        "hands": [" ".join(["3D"] * 13)] * 4,
        "leader": 1,
        "actions": ["1:3D 4D 5D 6D 7D", "2:-", "3:-", "0:-"] * 11,
        "points": [-6, 0, -4, -9],
        "end": "out",
    }
)
"""About as long as a deal record is."""


def play_at_once(_route: int, spec: MatchSpec) -> Generator[SessionResult]:
    """A referee that takes no time."""
    for session in spec.sessions:
        yield SessionResult(session.number, (-48, 0, -32, -72), None, (RECORD,) * DEALS, (0, 0, 0, 0))


def start(storage: Storage, name: str, sessions: int, rounds: int) -> int:
    """Starts a round-robin; gives its number."""
    with storage.read() as tx:
        known = tx.exec(select(func.count()).select_from(Tournament)).one() > 0
    names = [f"owner-{number}/bot" for number in range(ENTRANTS)]
    if not known:
        for one in names:
            bots.register_version(storage, one, utc_now())
    fields = {
        "name": name,
        "format": "round-robin",
        "ruleset": "chinese",
        "rounds": rounds,
        "sessions": sessions,
    }
    created = tournaments.create(storage, make_spec(fields | {"deals": DEALS, "entrants": names}), utc_now())
    tournaments.start(storage, name, utc_now())
    return created.id


def rate(settings: Settings, workers: int, sessions: int, rounds: int) -> float:
    """Plays a tournament with so many workers; gives sessions stored in a second."""
    command = [sys.executable, "-m", "benchmarks.arena"]
    with open_storage(settings) as storage, Supervisor(settings.logs, settings.environment()) as supervisor:
        for number in range(workers):
            supervisor.start(f"worker{number}", [*command, "--worker"])
        supervisor.start("beat", [*command, "--beat"])
        play(settings, storage, supervisor, "warm", sessions=1, rounds=workers)
        began = time.monotonic()
        done = play(settings, storage, supervisor, "cup", sessions=sessions, rounds=rounds)
        return done / (time.monotonic() - began)


def play(
    settings: Settings, storage: Storage, supervisor: Supervisor, name: str, *, sessions: int, rounds: int
) -> int:
    """Plays a tournament to its end; gives the number of its sessions."""
    wake(settings, start(storage, name, sessions, rounds))
    while not (status := tournaments.status(storage, name)).ended:
        supervisor.check()
        time.sleep(0.05)
    return status.sessions_done


@contextmanager
def embedded(folder: Path) -> Iterator[Settings]:
    """SQLite and a folder."""
    yield load_settings({"data": folder})


@contextmanager
def served(folder: Path, broker: str) -> Iterator[Settings]:
    """PostgreSQL, and Redis or RabbitMQ."""
    with ExitStack() as stack:
        postgres = stack.enter_context(servers.postgres(durable=True))
        if broker == "redis":
            url = f"redis://{servers.LOOPBACK}:{stack.enter_context(servers.redis())}/0"
        else:
            url = f"amqp://guest:guest@{servers.LOOPBACK}:{stack.enter_context(servers.rabbitmq())}//"
        yield load_settings({"data": folder, "database_url": postgres.url(), "broker_url": url})


def fill(storage: Storage, sessions: int) -> None:
    """Puts a finished tournament of so many sessions into the database."""
    each = 20
    rounds = -(-sessions // (each * ENTRANTS // 4))
    if not rounds:
        return
    tournament_id = start(storage, "past", each, rounds)
    while True:  # a large round-robin is paired part by part
        advance.advance(storage, tournament_id, utc_now(), lambda _: None, at_once=0, again_after=LEASE)
        with storage.write() as tx:
            of_it = col(Match.tournament_id) == tournament_id
            ids = tx.exec(select(Match.id).where(of_it, Match.state != MatchState.DONE)).all()
            row = {
                "seating": [0, 1, 2, 3],
                "points": [-48, 0, -32, -72],
                "faults": [0, 0, 0, 0],
                "deal_points": [[-6, 0, -4, -9]] * DEALS,
                "records": os.urandom(1500),
                "finished_at": utc_now(),
            }
            rows = [
                row | {"match_id": match, "number": number + 1} for match in ids for number in range(each)
            ]
            tx.connection().execute(insert(Session), rows)
            done = {"state": MatchState.DONE, "sessions_done": each, "finished_at": utc_now()}
            tx.connection().execute(update(Match).where(of_it).values(done))
            of_it = col(Round.tournament_id) == tournament_id
            tx.connection().execute(update(Round).where(of_it).values(state=RoundState.CLOSED))
            tournament = tx.get_one(Tournament, tournament_id)
            if tournament.paired == tournament.rounds:
                tournament.state = TournamentState.FINISHED
                return


def costs(settings: Settings, past: int, repeats: int) -> dict[str, float]:
    """Seconds of each step of a tournament in a database with so many sessions of the past: medians."""
    with open_storage(settings) as storage:
        fill(storage, past)
        tournament_id = start(storage, "now", 4, max(1, repeats // 8))
        found: dict[str, list[float]] = {"advance, nothing to do": [], "claim": [], "store": []}
        due: list[int] = []

        def hand_out() -> None:
            advance.advance(storage, tournament_id, utc_now(), due.append, at_once=10_000, again_after=LEASE)

        hand_out()
        for match_id in due[:repeats]:
            claimed = timed(found["claim"], partial(matches.claim, storage, match_id, utc_now(), LEASE))
            for result in play_at_once(0, claimed.spec):
                store = partial(matches.store_session, storage, claimed, result, utc_now())
                timed(found["store"], store)
            timed(found["advance, nothing to do"], hand_out)
        return {name: median(seconds) for name, seconds in found.items()}


def timed(found: list[float], call: Callable[[], Any]) -> Any:
    began = time.perf_counter()
    answer = call()
    found.append(time.perf_counter() - began)
    return answer


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.arena", description=__doc__)
    parser.add_argument("--servers", action="store_true", help="PostgreSQL with Redis and with RabbitMQ too")
    parser.add_argument("--quick", action="store_true", help="play less")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--beat", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        run_worker(load_settings(), play_at_once)
    elif options.beat:
        run_beat(load_settings())
    else:
        measure(options.servers, options.quick)


def measure(with_servers: bool, quick: bool) -> None:
    """Prints all tables."""
    rounds, pasts = (4, (0, 10_000)) if quick else (20, (0, 10_000, 100_000))
    names = [
        "sqlite and folder",
        *(["postgresql and redis", "postgresql and rabbitmq"] if with_servers else []),
    ]
    print(f"{'':26} {'workers':>7} {'sessions/s':>11} {'matches/s':>10}")
    for name in names:
        for workers in (1, 2, 4):
            rates = []
            for sessions in (20, 1):
                with tempfile.TemporaryDirectory() as folder, place(name, Path(folder)) as settings:
                    rates.append(rate(settings, workers, sessions, rounds if sessions == 20 else 4 * rounds))
            print(f"{name:26} {workers:7} {rates[0]:11,.0f} {rates[1]:10,.0f}", flush=True)
    print(f"\n{'milliseconds, median':26} {'history':>9} {'claim':>7} {'store':>7} {'advance':>8}")
    for name in names[:2]:
        for past in pasts:
            with tempfile.TemporaryDirectory() as folder, place(name, Path(folder)) as settings:
                found = costs(settings, past, 50 if quick else 200)
            shown = [1000 * found[step] for step in ("claim", "store", "advance, nothing to do")]
            print(f"{name:26} {past:9,} {shown[0]:7.2f} {shown[1]:7.2f} {shown[2]:8.2f}", flush=True)


def place(name: str, folder: Path) -> Any:
    """The settings of a database and a broker by their name, as a context."""
    return embedded(folder) if name.startswith("sqlite") else served(folder, name.rpartition(" ")[2])


if __name__ == "__main__":
    main()

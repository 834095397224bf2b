"""What a match costs, by process: ``python -m benchmarks.processes``.

Round-robins of matches of one short session are played by a referee, 64 bots in one process, a beat, and
1, 2 and 4 workers, on SQLite with a folder, then on PostgreSQL with Redis, which are started for it. Prints
the matches a second, and the milliseconds of processor time for each match: those of the workers, the
referee, the bots, the servers of database and broker, and the rest (the beat, and this program, which starts
and watches the tournaments). Each is the median over several tournaments, with its range. ``--no-referee``
lets workers play with a referee that takes no time, as ``benchmarks.arena`` does; ``--quick`` plays less.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import uvloop

from arena.actors import Actor, Role
from arena.bots import versions
from arena.core.specs import make_spec
from arena.host.processes import Supervisor
from arena.host.settings import Settings, load_settings
from arena.play.messages import run_beat, wake
from arena.play.tasks import run_worker
from arena.store.models import utc_now
from arena.store.storage import Storage, migrate_storage, open_storage
from arena.tournaments import creation, lifecycle, overview
from arena.tournaments.referees import nobody_asked
from benchmarks import referee as numbers
from benchmarks.arena import PLACES, Place, play_at_once
from benchmarks.referee import median_and_range, process, read_line
from referee.bot.client import BotClient
from referee.matches.auth import Scope
from referee.service.server import serve, set_up_process

OPERATOR = Actor(Role.OPERATOR, "benchmark")

TOKEN = "bt_worker_of_this_benchmark"

BOTS = 64
"""Bots of a tournament, at sixteen tables a round."""
DEALS = 2
"""Deals of a session."""
ROUNDS = 8
"""Rounds of a tournament for each worker."""
REPEATS = 3
"""Tournaments that are measured; one more is played before them."""
WORKERS = (1, 2, 4)

KINDS: Mapping[str, str] = {
    "--worker": "workers",
    "--serve": "referee",
    "--bots": "bots",
    "postgres": "PostgreSQL",
    "redis-server": "Redis",
}
"""The kinds of processes, by a part of their command lines."""
REST = "the rest"
COLUMNS = (*KINDS.values(), REST)

TICKS = os.sysconf("SC_CLK_TCK")


def spent() -> Counter[str]:
    """Return the processor seconds of this process and all below it so far, by kind."""
    parents, seconds = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            _, _, after = stat.read_text().rpartition(") ")
        except OSError:  # it has ended meanwhile
            continue
        fields, pid = after.split(), int(stat.parent.name)
        parents[pid] = int(fields[1])
        seconds[pid] = sum(map(int, fields[11:15])) / TICKS  # its own, and those of children that ended
    times: Counter[str] = Counter()
    for pid, taken in seconds.items():
        if _is_ours(pid, parents):
            times[_kind(pid)] += taken  # type: ignore[assignment]  # seconds, not a number of times
    return times


def _is_ours(pid: int, parents: Mapping[int, int]) -> bool:
    while pid not in (os.getpid(), 0):
        pid = parents.get(pid, 0)
    return pid != 0


def _kind(pid: int) -> str:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return REST
    return next((kind for part, kind in KINDS.items() if part in command), REST)


def play(settings: Settings, storage: Storage, supervisor: Supervisor, name: str, rounds: int) -> int:
    """Play a tournament to its end; return the number of its matches."""
    names = [f"owner-{number}/bot" for number in range(BOTS)]
    fields = {"name": name, "format": "round-robin", "ruleset": "chinese", "rounds": rounds}
    fields |= {"sessions": 1, "deals": DEALS, "entrants": names}
    tournament_id = creation.create(storage, OPERATOR, make_spec(fields), utc_now()).id
    lifecycle.start(storage, OPERATOR, name, utc_now(), nobody_asked)
    wake(settings, tournament_id)
    while not (status := overview.status(storage, name)).ended:
        supervisor.check()
        time.sleep(0.05)
    return status.sessions_done


def measure(place: Place, workers: int, rounds: int, repeats: int, *, real: bool) -> list[str]:
    """Play tournaments with this many workers; return the cells of a line."""
    command = [sys.executable, "-m", "benchmarks.processes"]
    with ExitStack() as stack:
        address = ""
        if real:
            server = stack.enter_context(process("benchmarks.processes", "--serve"))
            address = f"127.0.0.1:{read_line(server)}"
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        placed = stack.enter_context(place(folder))
        url = {"database_url": placed.database_url, "broker_url": placed.broker_url}
        given = {name: value for name, value in url.items() if value}
        settings = load_settings({"data": folder, "worker_token": TOKEN, "referees": address, **given})
        migrate_storage(settings)
        storage = stack.enter_context(open_storage(settings))
        for number in range(BOTS):
            versions.register_version(storage, OPERATOR, f"owner-{number}/bot", utc_now())
        supervisor = stack.enter_context(Supervisor(settings.logs, settings.environment()))
        if real:
            supervisor.start("bots", [*command, "--bots", address])
        for number in range(workers):
            supervisor.start(f"worker{number}", [*command, "--worker", *([] if real else ["--no-referee"])])
        supervisor.start("beat", [*command, "--beat"])
        rounds *= workers  # each makes its statements when it first needs them
        play(settings, storage, supervisor, "warm", rounds=rounds)
        rates, costs = [], []
        for number in range(repeats):
            before, began = spent(), time.monotonic()
            matches = play(settings, storage, supervisor, f"cup{number}", rounds=rounds)
            rates.append(matches / (time.monotonic() - began))
            after = spent()
            costs.append({kind: 1000 * (after[kind] - before[kind]) / matches for kind in COLUMNS})
        cells = [median_and_range([cost[kind] for cost in costs], ".1f") for kind in COLUMNS]
        return [median_and_range(rates, ".0f"), *cells]


class Tokens(numbers.Tokens):
    """Accepts any number as the token of that bot, and one worker."""

    def scope(self, token: str) -> Scope | None:
        return Scope.WORKER if token == TOKEN else None


async def serve_referee() -> None:
    """Run a referee, and print its port."""
    set_up_process()
    await serve("127.0.0.1:0", Tokens(), asyncio.Event(), on_ready=lambda port: print(port, flush=True))


async def play_bots(address: str) -> None:
    """Run the bots, each of which makes the first play that it may."""
    bots = [BotClient(lambda turn: turn.legal[0], str(number)) for number in range(1, BOTS + 1)]
    await asyncio.gather(*(bot.run([address]) for bot in bots))


def show(heads: Sequence[str]) -> None:
    """Print a line of cells."""
    print(f"{heads[0]:18} {heads[1]:>7} " + " ".join(f"{head:>16}" for head in heads[2:]), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.processes", description=__doc__)
    parser.add_argument("--no-servers", action="store_true", help="SQLite and a folder only")
    parser.add_argument("--no-referee", action="store_true", help="without a referee and bots")
    parser.add_argument("--quick", action="store_true", help="play less")
    parser.add_argument("--workers", type=int, nargs="+", default=WORKERS)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--beat", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--bots", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        run_worker(load_settings(), play_at_once if options.no_referee else None)
    elif options.beat:
        run_beat(load_settings())
    elif options.serve:
        uvloop.run(serve_referee())
    elif options.bots:
        asyncio.run(play_bots(options.bots))
    else:
        rounds = ROUNDS // 2 if options.quick else ROUNDS
        show(["ms a match", "workers", "matches/s", *COLUMNS])
        for name in ["SQLite, folder"] + ([] if options.no_servers else ["PostgreSQL, Redis"]):
            for workers in options.workers:
                line = measure(PLACES[name], workers, rounds, REPEATS, real=not options.no_referee)
                show([name, str(workers), *line])


if __name__ == "__main__":
    main()

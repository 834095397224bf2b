"""The web process with readers, while a tournament is played: ``python -m benchmarks.web``.

An arena of real processes, with a past season, plays a tournament of eight Python bots without a pause,
alternately without readers, and with 500 readers and 100 event streams: half of the streams follow the
tournament, half a match that is being played. The readers are locust's (``pip install locust``). The web
process shares one core with locust only; referee, worker, beat and bots always have the other cores. Prints
the sessions a second with readers as a share of those before and after, how long pages, the API and the
beginning of a stream took, and the CPU time of the web process and of locust as shares of a core.
``--shared`` pins nothing.
"""

import argparse
import json
import math
import os
import platform
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from random import Random
from statistics import mean
from subprocess import PIPE, Popen
from typing import Any, NamedTuple

from arena.bots import versions
from arena.cli.local import arena_command, free_address
from arena.core.specs import make_spec
from arena.host.processes import Supervisor
from arena.host.settings import Settings, load_settings
from arena.play.messages import wake
from arena.queries import matches, tournaments
from arena.store.models import utc_now
from arena.store.storage import Storage, migrate_storage, open_storage
from arena.tournaments import creation, lifecycle, overview
from arena.tournaments.referees import asker
from arena.web.pages.links import bot_url, deal_url, match_url, tournament_url
from benchmarks import seasons
from benchmarks.referee import median_and_range, read_line
from tests.arena.fakes import ROOT
from tests.arena.running import SAMPLE_BOTS
from tests.waiting import wait_for

READERS, STREAMS = 500, 100
THINK = (5, 15)
"""Seconds between two requests of a reader, from and to."""
SEASON_BOTS, SEASON_ROUNDS = 64, 20
"""Bots and rounds of the past season."""
BOTS = ("greedy", "keeper", "lowest", "pairs_first") * 2
TABLES = len(BOTS) // 4
SESSIONS, DEALS, ROUNDS = 100, 4, 500
WARM_MATCHES = 2 * TABLES
"""Matches played before anything is measured."""
ARRIVING = 30
"""Readers and streams that arrive each second: all at once would be a rush, which is not to be measured."""
SETTLE_SECONDS = 5.0
"""Seconds between the readers' arrival or departure and the next measurement."""


class Window(NamedTuple):
    """What is measured in a period."""

    rate: float
    """Sessions a second."""
    web: float
    """CPU seconds of the web process a second."""
    generator: float
    """CPU seconds of locust a second."""


class Arena:
    """An arena of real processes, and its database."""

    def __init__(self, stack: ExitStack, shared: bool) -> None:
        cores = sorted(os.sched_getaffinity(0))
        self._web_core = cores if shared else cores[:1]
        others = cores if shared else cores[1:] or cores
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        self.settings = _settings(folder)
        migrate_storage(self.settings)
        self.storage = stack.enter_context(open_storage(self.settings))
        _remember(self.storage)
        supervisor = Supervisor(self.settings.logs, self.settings.environment())
        self.supervisor = stack.enter_context(supervisor)
        with on(others):
            self._start_playing()
        with self.on_web_core():
            supervisor.start("web", arena_command("web"))

    @contextmanager
    def on_web_core(self) -> Iterator[None]:
        """Run on the web process's core whatever is started in this context."""
        with on(self._web_core):
            yield

    def _start_playing(self) -> None:
        for name in ("referee", "worker", "beat"):
            self.supervisor.start(name, arena_command(name))
        for number, file in enumerate(BOTS):
            registered = versions.register_version(
                self.storage, ROOT, f"player-{number}/bot", utc_now(), language="python"
            )
            environment = {"ARENA_TOKEN": registered.token, "ARENA_REFEREE": self.settings.listen}
            command = [sys.executable, str(SAMPLE_BOTS / f"{file}.py")]
            self.supervisor.start(f"bot-{number}", command, environment, trusted=False)

    def begin(self) -> None:
        """Start the tournament, and wait until part of it has been played."""
        terms = {"format": "swiss", "ruleset": "chinese", "sessions": SESSIONS, "deals": DEALS}
        entrants = [f"player-{number}/bot" for number in range(len(BOTS))]
        spec = make_spec({"name": "cup", "rounds": ROUNDS, "entrants": entrants, **terms})
        status = creation.create(self.storage, ROOT, spec, utc_now())
        lifecycle.start(self.storage, ROOT, "cup", utc_now(), asker(self.settings))
        wake(self.settings, status.id)
        enough = WARM_MATCHES * SESSIONS
        wait_for(lambda: self.played() >= enough, meanwhile=self.supervisor.check, seen=self.played)

    def played(self) -> int:
        """Return how many sessions are stored."""
        return overview.status(self.storage, "cup").sessions_done

    def measure(self, seconds: float, generator: int | None = None) -> Window:
        """Return what happens in the given time from now, with a generator of readers or without."""
        pids = [self.supervisor.pid("web"), generator]
        began, played, used = time.perf_counter(), self.played(), [cpu(pid) for pid in pids]
        time.sleep(seconds)
        self.supervisor.check()
        passed = time.perf_counter() - began
        spent = [(cpu(pid) - before) / passed for pid, before in zip(pids, used, strict=True)]
        return Window((self.played() - played) / passed, *spent)


@contextmanager
def on(cores: Sequence[int]) -> Iterator[None]:
    """Run on these cores whatever is started in this context."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def cpu(pid: int | None) -> float:
    """Return the CPU seconds that a process has used; 0 for None."""
    if pid is None:
        return 0.0
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _settings(folder: Path) -> Settings:
    """Return the settings of an arena whose readers come through a proxy, for which locust stands."""
    listen = free_address()
    places = {"listen": listen, "referees": listen, "web_listen": free_address()}
    return load_settings({"data": folder, "beat_seconds": 1, "web_proxies": "127.0.0.1", **places})


def _remember(storage: Storage) -> None:
    """Give the arena a finished season."""
    now, rng = utc_now() - timedelta(days=1), Random(1)
    season = seasons.begin(storage, SEASON_BOTS, SEASON_ROUNDS, now)
    for _ in range(SEASON_ROUNDS):
        seasons.play_round(season, rng, now)


def places(storage: Storage) -> list[dict[str, Any]]:
    """Return what is read: kinds of addresses, each with its name, weight and addresses."""
    found = matches.find_matches(storage, matches.MatchQuery(tournament="cup"), 50).matches
    played = [(one.tournament, one.round, one.table) for one in found]
    bots = [f"player-{number}/bot" for number in range(len(BOTS))]
    bots += [f"owner-{number // 2}/bot-{number}" for number in range(SEASON_BOTS)]
    owners = [f"/api/v1{bot_url(bot)}" for bot in bots]
    deals = [deal_url(*one, session, 1) for one in played for session in (1, 2)]
    listed = [one.tournament for one in tournaments.list_tournaments(storage, limit=10).tournaments]
    return [
        _place("page board", 20, ["/"]),
        _place("page tournament", 20, [tournament_url(name) for name in listed]),
        _place("page match", 10, [match_url(*one) for one in played]),
        _place("page matches", 10, ["/matches"]),
        _place("page deal", 15, deals),
        _place("page bot", 10, [bot_url(bot) for bot in bots]),
        _place("api leaderboard", 5, ["/api/v1/leaderboard"]),
        _place("api matches", 5, ["/api/v1/matches"]),
        _place("api bot", 5, owners),
    ]


def _place(name: str, weight: int, paths: Sequence[str]) -> dict[str, Any]:
    return {"name": name, "weight": weight, "paths": list(paths)}


class Readers:
    """Readers and streams, which run while they are needed, and what they saw."""

    def __init__(self) -> None:
        self.times: dict[str, Counter[int]] = {}
        """By kind: how many requests took how many milliseconds."""
        self.told: Counter[str] = Counter()
        """Events of streams, by kind."""
        self.errors: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.seconds = 0.0

    def beside(self, arena: Arena, options: argparse.Namespace) -> Window:
        """Measure while readers read."""
        read = arena.settings.data / "read.json"
        sent = {"readers": options.readers, "streams": options.streams, "think": THINK}
        sent |= {"places": places(arena.storage), "tournament": "cup", "tables": TABLES}
        read.write_text(json.dumps(sent))
        users = str(options.readers + options.streams + 1)
        command = [sys.executable, "-m", "locust", "-f", "benchmarks/web_readers.py", "--headless"]
        command += ["--host", arena.settings.web_url, "-u", users, "-r", str(ARRIVING), "--reset-stats"]
        command += ["--only-summary", "--loglevel", "WARNING", "--stop-timeout", "1"]
        log = (arena.settings.logs / "locust.log").open("a")
        with arena.on_web_core(), log:
            environment = os.environ | {"READ": str(read)}
            child = Popen(command, env=environment, stdout=PIPE, stderr=log, text=True)
        with child:
            try:
                while (line := read_line(child)) != "ready":
                    if child.poll() is not None:
                        raise SystemExit(f"locust ended: {line or 'without a word'}")
                began = time.perf_counter()
                time.sleep(SETTLE_SECONDS)
                window = arena.measure(options.seconds, child.pid)
            finally:
                child.terminate()
            self._take(child, time.perf_counter() - began)
        return window

    def _take(self, child: "Popen[str]", seconds: float) -> None:
        assert child.stdout is not None
        for line in child.stdout:
            if line.startswith("{"):
                found = json.loads(line)
                for name, seen in found["seen"].items():
                    times = Counter({int(ms): count for ms, count in seen["times"].items()})
                    self.times.setdefault(name, Counter()).update(times)
                    self.errors[name] += seen["errors"]
                    self.told[name] += seen["told"]
                self.wrong += found["wrong"]
                self.seconds += seconds

    def show(self) -> None:
        """Print what they saw."""
        print(f"{'':26} {'requests/s':>10} {'p50 ms':>8} {'p99 ms':>8} {'errors':>7} {'events/s':>9}")
        for kind in ("page", "api", *sorted(self.times)):
            names = [name for name in self.times if name == kind or name.startswith(f"{kind} ")]
            times: Counter[int] = sum((self.times[name] for name in names), Counter())
            events = sum(self.told[name] for name in names) / self.seconds
            print(
                f"{kind if kind in self.times else f'all of {kind}':26} {times.total() / self.seconds:10.1f}"
                f" {percentile(times, 0.5):8} {percentile(times, 0.99):8}"
                f" {sum(self.errors[name] for name in names):7} {f'{events:,.0f}' if events else '':>9}"
            )
        for line in sorted(set(self.wrong)):
            print(f"  {line}")


def percentile(times: "Counter[int]", share: float) -> int:
    """Return the milliseconds that the given share of all requests did not exceed."""
    left = math.ceil(share * times.total())
    for ms in sorted(times):
        left -= times[ms]
        if left <= 0:
            return ms
    return 0


def measure(options: argparse.Namespace) -> None:
    """Measure alternately without and with readers, and print the results."""
    with ExitStack() as stack:
        arena, readers = Arena(stack, options.shared), Readers()
        arena.begin()
        calm, beside = [], []
        for _ in range(options.repeats):
            calm.append(arena.measure(options.seconds))
            beside.append(readers.beside(arena, options))
            time.sleep(SETTLE_SECONDS)
        calm.append(arena.measure(options.seconds))
    readers.show()
    shares = [one.rate / mean((calm[at].rate, calm[at + 1].rate)) for at, one in enumerate(beside)]
    print(f"tournament: {median_and_range([one.rate for one in calm], '.1f')} sessions/s alone,", end=" ")
    print(f"{median_and_range([one.rate for one in beside], '.1f')} beside them", end=" ")
    print(f"({median_and_range(shares)} x alone)")
    print(f"web process: {median_and_range([one.web for one in beside])} of a core", end="; ")
    print(f"locust: {median_and_range([one.generator for one in beside])}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.web", description=__doc__)
    parser.add_argument("--readers", type=int, default=READERS)
    parser.add_argument("--streams", type=int, default=STREAMS)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--shared", action="store_true", help="pin nothing to a core")
    options = parser.parse_args()
    if find_spec("locust") is None:
        raise SystemExit("locust is missing; it is not installed with the rest: pip install locust")
    cores = "all share them" if options.shared else "web process and locust on one, the rest on the others"
    print(
        f"{os.cpu_count()} cores, {cores}; {platform.system()}, Python {platform.python_version()};", end=" "
    )
    print(
        f"{options.readers} readers, {THINK[0]} to {THINK[1]} s between requests; {options.streams} streams;",
        end=" ",
    )
    print(f"{options.repeats} x {options.seconds:g} s: median (range)", flush=True)
    measure(options)


if __name__ == "__main__":
    main()

"""What it costs to show one match to many followers: ``python -m benchmarks.followers``.

Four bots play a match without a pause, several sessions at once, and ``arena web`` shows it alternately to
one follower and to 300. Prints the CPU time of the web process as a share of a core, the events a second that
each follower gets, what a further follower costs, and how much later than the first follower the others got
an event (median, 99th percentile and maximum).
"""

import argparse
import asyncio
import json
import math
import os
import platform
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from arena.cli.local import arena_command, free_address
from arena.host.processes import Supervisor
from arena.host.settings import Settings, load_settings
from arena.store.storage import migrate_storage, open_storage
from benchmarks.memory import spec
from benchmarks.referee import PLAYERS, median_and_range, process, read_line
from benchmarks.web import cpu
from referee.net.client import run_match
from tests.arena.fakes import Clock
from tests.arena.world import World
from tests.waiting import wait_for

FOLLOWERS = 300
SESSIONS, DEALS = 8, 1_000
MATCH = "cup/1/1"
SETTLE_SECONDS = 3.0


class Seen(NamedTuple):
    """What followers saw in a period."""

    events: float
    """Events a second, for each follower."""
    late: list[float]
    """Seconds by which events came later than they came to the first follower."""


class Reading:
    """The followers of a match, in a process of their own."""

    def __init__(self) -> None:
        self.events = 0
        self.first: dict[bytes, float] = {}
        self.late: list[float] = []

    async def follow(self, number: int, host: str, port: int, path: str) -> None:
        """Follow to the end, with a network address of one's own, as if behind a proxy."""
        reader, writer = await asyncio.open_connection(host, port, limit=1 << 22)
        own = f"X-Forwarded-For: 10.0.{number >> 8}.{number & 255}"
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n{own}\r\n\r\n".encode())
        left = b""
        while piece := await reader.read(1 << 18):
            now = time.perf_counter()
            *events, left = (left + piece).split(b"\n\n")
            self.events += len(events)
            for one in events:
                self.late.append(now - self.first.setdefault(one.rpartition(b"data: ")[2], now))
        writer.close()

    async def run(self, url: str, path: str, count: int, seconds: float) -> None:
        """Run ``count`` followers; once they have settled, print what they see in the given time."""
        place = urlsplit(url)
        assert place.hostname is not None
        assert place.port is not None
        following = [
            asyncio.create_task(self.follow(number, place.hostname, place.port, path))
            for number in range(count)
        ]
        await asyncio.sleep(SETTLE_SECONDS)
        print("ready", flush=True)
        self.events = 0
        self.late.clear()
        await asyncio.sleep(seconds)
        assert not any(one.done() for one in following), "a stream broke off"
        print(json.dumps([self.events / seconds / count, sorted(self.late)]), flush=True)


class Arena:
    """A match that is being played, and the web process that shows it."""

    def __init__(self, stack: ExitStack) -> None:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(process("benchmarks.referee", "--serve"))
        self._referee = f"127.0.0.1:{read_line(server)}"
        for number in range(1, PLAYERS + 1):
            stack.enter_context(process("benchmarks.referee", "--bot", str(number), self._referee))
        self.settings = _settings(folder, self._referee)
        _begin(self.settings)
        threading.Thread(target=self._play, daemon=True).start()
        supervisor = Supervisor(self.settings.logs, self.settings.environment())
        self._supervisor = stack.enter_context(supervisor)
        supervisor.start("web", arena_command("web"))
        wait_for(self._is_up, meanwhile=supervisor.check)

    def _play(self) -> None:
        for _ in run_match(self._referee, "worker", spec(MATCH, range(1, PLAYERS + 1), SESSIONS, DEALS)):
            pass

    def _is_up(self) -> bool:
        log = self.settings.logs / "web.log"
        return log.exists() and "listening on" in log.read_text()

    def measure(self, followers: int, seconds: float) -> tuple[float, Seen]:
        """Return the CPU seconds a second that the web process uses for the followers, and what they saw."""
        with _following(self.settings.web_url, followers, seconds) as child:
            assert read_line(child) == "ready", "the followers ended"
            pid, began = self._supervisor.pid("web"), time.perf_counter()
            before = cpu(pid)
            found = read_line(child)
            used = (cpu(pid) - before) / (time.perf_counter() - began)
        return used, Seen(*json.loads(found))


@contextmanager
def _following(url: str, followers: int, seconds: float) -> Iterator[Any]:
    given = ("--follow", url, "--followers", str(followers), "--seconds", str(seconds))
    with process("benchmarks.followers", *given) as child:
        yield child


def _settings(folder: Path, referee: str) -> Settings:
    places = {"referees": referee, "web_listen": free_address(), "web_proxies": "127.0.0.1"}
    return load_settings({"data": folder, **places}).prepare()


def _begin(settings: Settings) -> None:
    """Store a tournament whose first match is being played."""
    migrate_storage(settings)
    with open_storage(settings) as storage:
        world = World(storage, Clock())
        world.advance(world.tournament(PLAYERS).id)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that the given share of the sorted values do not exceed."""
    return values[max(0, math.ceil(share * len(values)) - 1)]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.followers", description=__doc__)
    parser.add_argument("--followers", type=int, default=FOLLOWERS)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--follow", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.follow:
        path = f"/matches/{MATCH}/live/events"
        asyncio.run(Reading().run(options.follow, path, options.followers, options.seconds))
        return
    print(f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()};", end=" ")
    print(f"{options.repeats} x {options.seconds:g} s: median (range)", flush=True)
    with ExitStack() as stack:
        arena = Arena(stack)
        alone, many = [], []
        for _ in range(options.repeats):
            alone.append(arena.measure(1, options.seconds))
            many.append(arena.measure(options.followers, options.seconds))
    for count, found in ((1, alone), (options.followers, many)):
        late = sorted(1000 * one for _, seen in found for one in seen.late)
        print(
            f"{count:4} followers: {median_and_range([used for used, _ in found])} of a core;"
            f" events/s {median_and_range([seen.events for _, seen in found], '.1f')};"
            f" later than the first: p50 {percentile(late, 0.5):.0f} ms,"
            f" p99 {percentile(late, 0.99):.0f} ms, most {late[-1]:.0f} ms"
        )
    each = [
        1e6 * (used - before) / (seen.events * (options.followers - 1))
        for (before, _), (used, seen) in zip(alone, many, strict=True)
    ]
    print(f"a further follower: {median_and_range(each, '.0f')} µs of CPU time an event")


if __name__ == "__main__":
    main()

"""The referee compared with a bare echo: decisions a second, latencies and CPU time, by number of sessions.

``python -m benchmarks.referee`` runs four Python bots of the SDK in processes of their own. For each number
of sessions it measures a bare grpc.aio echo of one-record messages of the same size on four streams, and then
the referee with clocks, faults and records on, and prints medians over the repeats with their range. A
decision is a turn that a bot was asked and has answered. Bots that think for 0 to 20 ms follow, with and
without the hold rule (``--think`` for these alone).

``--beside COMMIT`` runs the referee of another commit in turn with this one, with the same Python, bots and
worker, and prints how many times its figures this one's are; ``--compiled FOLDER`` does so with a build in a
folder.
"""

import argparse
import asyncio
import os
import random
import statistics
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import uvloop

from benchmarks.matches import match_spec
from referee.matches.auth import BotIdentity, Scope
from referee.matches.match import Limits, Progress
from referee.net.client import run_match
from referee.rules.plays import Rules
from referee.service.server import serve, set_up_process, take_precedence

PLAYERS = 4
WARM_SECONDS = 1.0
ROOT = Path(__file__).resolve().parent.parent
CORE_SETTINGS = ("GRPC_EXPERIMENTS", "GRPC_VERBOSITY")
"""What importing ``referee`` sets for gRPC's core; the bare echo goes without."""


HEAD = (
    "sessions | decisions/s         | x echo            | CPU x echo's      | p99 x echo's      |"
    " us a decision (referee, bots) | ms p50, p99 (echo) | turns a message"
)


class Tokens:
    """Accepts any number as the token of that bot, and one worker."""

    def bot(self, token: str) -> BotIdentity | None:
        return BotIdentity(int(token), f"bench/bot{token}@1") if token.isdigit() else None

    def scope(self, token: str) -> Scope | None:
        return Scope.WORKER if token == "worker" else None

    def revoked(self, bots: Collection[BotIdentity]) -> dict[int, str]:
        return {}


class Echo(NamedTuple):
    """A run of the echo on four streams."""

    rate: float
    """Round trips a second."""
    cpu: float
    """CPU seconds of the server for each round trip."""
    p50: float
    """Seconds for a round trip."""
    p99: float


class Run(NamedTuple):
    """A run of the referee."""

    rate: float
    """Decisions a second."""
    cpu: float
    """CPU seconds of the referee for each decision."""
    bot_cpu: float
    """CPU seconds of the bots for each decision."""
    p50: float
    """Seconds from when a bot has handed its answers to the stream until the next message reaches it."""
    p99: float
    batch: float
    """Turns in each message."""


async def _referee(hold: bool) -> None:
    """Run the referee: print its port, and then its CPU seconds for each line that it reads."""
    if not hold:
        import referee.matches.outbox

        referee.matches.outbox.HOLD_SECONDS = 0.0
    set_up_process()
    stop = asyncio.Event()

    async def serve_lines() -> None:
        while await asyncio.to_thread(sys.stdin.readline):
            print(time.process_time(), flush=True)
        stop.set()

    lines = asyncio.create_task(serve_lines())
    await serve("127.0.0.1:0", Tokens(), stop, on_ready=lambda port: print(port, flush=True))
    await lines


class Probe:
    """Counts a bot's turns, and measures how long it waits for the next ones."""

    def __init__(self, think: float) -> None:
        from referee.bot.stream import Stream

        self.turns = self.messages = 0
        self.waits: list[float] = []
        self._think = think
        self._random = random.Random(os.getpid())
        self._sent: float | None = None
        came: deque[float] = deque()
        take, think_ = Stream._take, Stream._think

        def taking(this, response):  # type: ignore[no-untyped-def]
            if response is not None and response.events:
                came.append(time.perf_counter())
            take(this, response)

        def thinking(this):  # type: ignore[no-untyped-def]
            arrived, turns = came.popleft(), self.turns
            think_(this)
            if self.turns > turns:
                self.messages += 1
                if self._sent is not None:
                    self.waits.append(arrived - self._sent)
                self._sent = time.perf_counter()

        Stream._take = taking  # type: ignore[method-assign]
        Stream._think = thinking  # type: ignore[method-assign]

    def choose(self, turn):  # type: ignore[no-untyped-def]
        self.turns += 1
        if self._think:
            time.sleep(self._random.uniform(0, self._think))
        legal = turn.legal
        return legal[0] if legal else None

    def report(self) -> None:
        """Print what was seen since the last report: turns, messages, p50, p99, CPU seconds so far."""
        waits = sorted(self.waits) or [0.0]
        p50, p99 = waits[len(waits) // 2], waits[len(waits) * 99 // 100]
        print(self.turns, self.messages, p50, p99, time.process_time(), flush=True)
        self.turns = self.messages = 0
        self.waits.clear()


def _bot(number: str, address: str, think: float) -> None:
    from referee.bot import view
    from referee.bot.client import BotClient
    from referee.bot.program import run_client
    from referee.rules.rulebook import rules_of

    def named(
        source: Any,
    ) -> "Rules":  # another commit's referee may write fields that these bots do not know
        return rules_of({"name": source["name"]})

    view.rules_of = named  # type: ignore[attr-defined]
    probe = Probe(think)

    def serve_lines() -> None:
        while sys.stdin.readline():
            probe.report()

    threading.Thread(target=serve_lines, daemon=True).start()
    run_client(BotClient(probe.choose, number), [address])


@contextmanager
def process(
    *arguments: str, environment: Mapping[str, str] | None = None, folder: Path | None = None
) -> Iterator[subprocess.Popen[str]]:
    """Start a Python process with pipes, and kill it on leaving; it finds modules in ``folder`` first."""
    command = [sys.executable, "-m", *arguments]
    if folder is not None:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment, cwd=folder) as child:
        try:
            yield child
        finally:
            child.kill()


def read_line(child: subprocess.Popen[str]) -> str:
    """Return the next line that the child prints."""
    assert child.stdout is not None
    return child.stdout.readline().strip()


def ask(children: Sequence[subprocess.Popen[str]]) -> list[list[float]]:
    """Ask each child for a report; return the numbers of each."""
    for child in children:
        assert child.stdin is not None
        child.stdin.write("\n")
        child.stdin.flush()
    return [[float(text) for text in read_line(child).split()] for child in children]


def echo(seconds: float, *, tuned: bool = False) -> Echo:
    """Run the echo: bare, or with the referee's event loop, settings of gRPC's core and precedence."""
    options = ["--tuned"] if tuned else []
    environment = {name: value for name, value in os.environ.items() if tuned or name not in CORE_SETTINGS}
    with ExitStack() as stack:
        server = stack.enter_context(process("benchmarks.echo", "serve", *options, environment=environment))
        address = f"127.0.0.1:{read_line(server)}"
        clients = [
            stack.enter_context(
                process("benchmarks.echo", address, str(seconds), *options, environment=environment)
            )
            for _ in range(PLAYERS)
        ]
        seen = [[float(text) for text in read_line(client).split()] for client in clients]
        trips = sum(int(one[0]) for one in seen)
        assert server.stdin is not None
        server.stdin.close()
        cpu = float(read_line(server))
    p50, p99 = (statistics.median(one[field] for one in seen) for field in (1, 2))
    return Echo(trips / seconds, cpu / trips, p50, p99)


def play(
    sessions: int, seconds: float, *, think: float = 0.0, hold: bool = True, folder: Path | None = None
) -> Run:
    """Run a match with this many sessions at once; measure it after a warm-up.

    The referee is the one in ``folder``, or this one.
    """
    with ExitStack() as stack:
        options = [] if hold else ["--no-hold"]
        server = stack.enter_context(process("benchmarks.referee", "--serve", *options, folder=folder))
        address = f"127.0.0.1:{read_line(server)}"
        bots = [
            stack.enter_context(
                process("benchmarks.referee", "--bot", str(number), address, "--think-ms", str(think * 1000))
            )
            for number in range(1, PLAYERS + 1)
        ]
        spec = match_spec("bench", range(1, PLAYERS + 1), sessions, 1000, Limits(decision_ms=60_000))
        begun: tuple[float, list[float], list[list[float]]] | None = None
        started: float | None = None
        for update in run_match(address, "worker", spec):
            now = time.perf_counter()
            if not isinstance(update, Progress) or not update.decisions:
                continue
            started = started or now
            if begun is None and now - started >= WARM_SECONDS:
                begun = time.perf_counter(), ask([server])[0], ask(bots)
            elif begun is not None and now - begun[0] >= seconds:
                break
        assert begun is not None, "the match ended before it was warm"
        before, server_before, bots_before = begun
        after, server_after, bots_after = time.perf_counter(), ask([server])[0], ask(bots)
    turns = sum(one[0] for one in bots_after)
    messages = sum(one[1] for one in bots_after)
    bot_cpu = sum(one[4] for one in bots_after) - sum(one[4] for one in bots_before)
    return Run(
        rate=turns / (after - before),
        cpu=(server_after[0] - server_before[0]) / turns,
        bot_cpu=bot_cpu / turns,
        p50=statistics.median(one[2] for one in bots_after),
        p99=statistics.median(one[3] for one in bots_after),
        batch=turns / messages,
    )


def median_and_range(values: Sequence[float], form: str = ".2f") -> str:
    """Return the median, with the smallest and the largest value, as text."""
    return f"{statistics.median(values):{form}} ({min(values):{form}}-{max(values):{form}})"


def sweep(counts: Sequence[int], seconds: float, repeats: int) -> None:
    """Print a line for each number of sessions."""
    print(HEAD)
    for sessions in counts:
        cells = [(echo(seconds), play(sessions, seconds)) for _ in range(repeats)]
        rates = [run.rate for _, run in cells]
        rate = median_and_range([run.rate / base.rate for base, run in cells])
        cpu = median_and_range([run.cpu / base.cpu for base, run in cells])
        p99 = median_and_range([run.p99 / base.p99 for base, run in cells], ".1f")
        own, bots, p50s, p99s, batch = (
            statistics.median(getattr(run, name) for _, run in cells)
            for name in ("cpu", "bot_cpu", "p50", "p99", "batch")
        )
        base = statistics.median(base.p99 for base, _ in cells)
        print(
            f"{sessions:8} | {median_and_range(rates, ',.0f'):19} | {rate:17} | {cpu:17} | {p99:17} |"
            f" {own * 1e6:6.0f}, {bots * 1e6:4.0f}                  |"
            f" {p50s * 1e3:4.1f}, {p99s * 1e3:4.1f} ({base * 1e3:.1f})   | {batch:.1f}",
            flush=True,
        )


def checked_out(commit: str) -> Path:
    """Return the folder of another commit, checked out below ``.cache``."""
    named = ["git", "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}"]
    known = subprocess.run(named, cwd=ROOT, capture_output=True, text=True)
    if known.returncode:
        sys.exit(f"--beside: {commit} is no commit of this repository")
    folder = ROOT / ".cache" / "beside" / known.stdout.strip()
    if not folder.exists():
        command = ["git", "worktree", "add", "--quiet", "--detach", str(folder), known.stdout.strip()]
        subprocess.run(command, cwd=ROOT, check=True)
    return folder


def side_by_side(
    counts: Sequence[int], seconds: float, repeats: int, others: Sequence[tuple[str, Path]]
) -> None:
    """Print, for each number of sessions, how many times the figures of other referees this one's are."""
    head = "here / there     | its CPU a decision | its p99          | x echo: here, there"
    print(f"sessions | there        | decisions/s here, there | {head}", flush=True)
    for sessions in counts:
        for name, folder in others:
            trips, here, there = [], [], []
            for repeat in range(repeats):
                trips.append(echo(seconds))
                runs = [None, folder] if repeat % 2 else [folder, None]
                pair = {place: play(sessions, seconds, folder=place) for place in runs}
                here.append(pair[None])
                there.append(pair[folder])
            rates = [statistics.median(run.rate for run in runs) for runs in (here, there)]
            ratios = [
                median_and_range(
                    [getattr(a, figure) / getattr(b, figure) for a, b in zip(here, there, strict=True)]
                )
                for figure in ("rate", "cpu", "p99")
            ]
            times_echo = [
                statistics.median(run.rate / trip.rate for run, trip in zip(runs, trips, strict=True))
                for runs in (here, there)
            ]
            print(
                f"{sessions:8} | {name:12.12} | {rates[0]:15,.0f}, {rates[1]:6,.0f} |"
                f" {ratios[0]:16} | {ratios[1]:18} | {ratios[2]:16} |"
                f" {times_echo[0]:.2f}, {times_echo[1]:.2f}",
                flush=True,
            )


def settings(seconds: float, repeats: int) -> None:
    """Print what the referee's settings alone gain."""
    pairs = [(echo(seconds), echo(seconds, tuned=True)) for _ in range(repeats)]
    rate = median_and_range([ours.rate / bare.rate for bare, ours in pairs])
    cpu = median_and_range([ours.cpu / bare.cpu for bare, ours in pairs])
    as_ours = "an echo with the referee's loop, settings and precedence"
    print(f"{as_ours}: {rate} x echo, {cpu} x its CPU", flush=True)


def thinking(counts: Sequence[int], seconds: float, repeats: int) -> None:
    """Print what holding messages back costs bots that think for 0 to 20 ms."""
    print("bots that think 0-20 ms: sessions | decisions/s held | at once | held / at once")
    for sessions in counts:
        pairs = []
        for _ in range(repeats):
            held = play(sessions, seconds, think=0.020)
            pairs.append((held, play(sessions, seconds, think=0.020, hold=False)))
        ratio = median_and_range([held.rate / at_once.rate for held, at_once in pairs], ".3f")
        rates = [statistics.median(run.rate for run in runs) for runs in zip(*pairs, strict=True)]
        print(f"{sessions:33} | {rates[0]:16,.0f} | {rates[1]:7,.0f} | {ratio}", flush=True)


def _first() -> str:
    """Return, as text, whether a referee may take precedence over the bots here."""
    if not take_precedence():
        return "the referee may not go before bots"
    os.setpriority(os.PRIO_PROCESS, 0, 0)
    return "the referee goes before bots"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sessions", type=int, nargs="+", default=[1, 4, 16, 64, 256])
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--think", action="store_true", help="only the sweep of bots that think")
    parser.add_argument("--beside", metavar="COMMIT", help="run another commit's referee in turn")
    parser.add_argument("--compiled", metavar="FOLDER", type=Path, help="the same with a build in a folder")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--no-hold", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--bot", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--think-ms", type=float, default=0.0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        uvloop.run(_referee(not options.no_hold))
        return
    if options.bot:
        _bot(options.bot[0], options.bot[1], options.think_ms / 1000)
        return
    runs = f"{options.repeats} x {options.seconds:g} s a cell: median (range)"
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, {_first()}; {runs}")
    others = [(options.beside, checked_out(options.beside))] if options.beside else []
    others += [("compiled", options.compiled.resolve())] if options.compiled else []
    if others:
        side_by_side(options.sessions, options.seconds, options.repeats, others)
        return
    if not options.think:
        sweep(options.sessions, options.seconds, options.repeats)
        settings(options.seconds, options.repeats)
    thinking([1, 16, 64] if not options.think else options.sessions, options.seconds, options.repeats)


if __name__ == "__main__":
    main()

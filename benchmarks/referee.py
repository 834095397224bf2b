"""Decisions a second through the referee: four Python bots in processes of their own, sessions swept.

``python -m benchmarks.referee`` prints, for each number of sessions, decisions/s, their ratio to a bare
grpc.aio echo on four streams measured just before, and the CPU time of the referee for a decision.
"""

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from referee.auth import BotIdentity
from referee.client import BotSeat, Limits, MatchSpec, Progress, SessionSpec, run_match
from referee.ruleset import load_ruleset
from referee.server import serve

PLAYERS = 4


class Tokens:
    """Knows four bots and one worker."""

    def bot(self, token: str) -> BotIdentity | None:
        return BotIdentity(int(token), f"bench/bot{token}@1") if token.isdigit() else None

    def worker(self, token: str) -> bool:
        return token == "worker"


async def _referee() -> None:
    """The referee's process: prints its port, stops when standard input closes, prints its CPU seconds."""
    stop = asyncio.Event()

    async def until_closed() -> None:
        await asyncio.to_thread(sys.stdin.read)
        stop.set()

    closing = asyncio.create_task(until_closed())
    await serve("127.0.0.1:0", Tokens(), stop, on_ready=lambda port: print(port, flush=True))
    await closing
    print(time.process_time(), flush=True)


def _first(turn):  # type: ignore[no-untyped-def]
    return turn.legal[0] if turn.legal else None


@contextmanager
def process(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A Python process with pipes, ended on leaving."""
    command = [sys.executable, "-m", *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        try:
            yield child
        finally:
            child.kill()


def read_line(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return child.stdout.readline().strip()


def close(child: subprocess.Popen[str]) -> float:
    """Closes the child's standard input; gives the CPU seconds that it prints."""
    assert child.stdin is not None
    child.stdin.close()
    return float(read_line(child))


def echo(seconds: float) -> tuple[float, float]:
    """Round trips a second on four streams, and the server's CPU seconds for one."""
    with ExitStack() as stack:
        server = stack.enter_context(process("benchmarks.echo", "serve"))
        address = f"127.0.0.1:{read_line(server)}"
        clients = [
            stack.enter_context(process("benchmarks.echo", address, str(seconds))) for _ in range(PLAYERS)
        ]
        trips = sum(int(read_line(client).split()[0]) for client in clients)
        return trips / seconds, close(server) / trips


def decisions(sessions: int, seconds: float, players: int = PLAYERS) -> tuple[float, float]:
    """Decisions a second with this many sessions at once, and the referee's CPU seconds for one."""
    with ExitStack() as stack:
        server = stack.enter_context(process("benchmarks.referee", "--serve"))
        address = f"127.0.0.1:{read_line(server)}"
        for number in range(1, players + 1):
            stack.enter_context(process("benchmarks.referee", "--bot", str(number), address))
        spec = MatchSpec(
            match_id="bench",
            tournament="bench",
            round=1,
            table=1,
            ruleset=load_ruleset("chinese").to_object(),
            bots=tuple(BotSeat(n, f"bench/bot{n}@1") for n in range(1, players + 1)),
            sessions=tuple(SessionSpec(n + 1, (0, 1, 2, 3), os.urandom(32)) for n in range(sessions)),
            deals=1000,
            commitment="",
            limits=Limits(decision_ms=60_000),
        )
        marks: list[tuple[float, int]] = []
        for update in run_match(address, "worker", spec):
            if isinstance(update, Progress) and update.decisions:
                marks.append((time.perf_counter(), update.decisions))
                if marks[-1][0] - marks[0][0] >= seconds:
                    break
        rate = (marks[-1][1] - marks[0][1]) / (marks[-1][0] - marks[0][0])
        return rate, close(server) / marks[-1][1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, nargs="+", default=[1, 4, 16, 64, 256])
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--bot", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        asyncio.run(_referee())
        return
    if options.bot:
        from referee.bot import run

        run(_first, token=options.bot[0], addresses=[options.bot[1]])
        return
    runs = f"{options.repeats} x {options.seconds:g} s a cell"
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, {runs}")
    print("sessions  decisions/s (min-max)      x echo   referee CPU us/decision  (x echo's)")
    for sessions in options.sessions:
        cells = [
            (echo(options.seconds), decisions(sessions, options.seconds)) for _ in range(options.repeats)
        ]
        rates = [rate for _, (rate, _) in cells]
        ratio = statistics.median(rate / base for (base, _), (rate, _) in cells)
        cpu = statistics.median(cost for _, (_, cost) in cells)
        share = statistics.median(cost / base for (_, base), (_, cost) in cells)
        spread = f"({min(rates):,.0f}-{max(rates):,.0f})"
        rate = statistics.median(rates)
        print(f"{sessions:8} {rate:12,.0f} {spread:18} {ratio:6.2f} {cpu * 1e6:14.0f} {share:14.2f}")


if __name__ == "__main__":
    main()

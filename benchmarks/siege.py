"""Floods of all kinds against one referee, for minutes or hours, while honest tables play."""

import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from ipaddress import IPv4Address

from benchmarks.honest import Attackers, Referee, Size, Tables, play_for, start
from benchmarks.referee import median_and_range

DECISION_MS = 5000
"""For each decision; long, because the machine may be busy with other things."""
CALM_SECONDS, FLOOD_SECONDS = 3.0, 7.0
"""How long the honest tables are alternately left alone and flooded."""
MOST = 3
"""The largest number of floods at once."""
TELL_SECONDS = 300.0
"""Seconds between interim reports."""
MIB = 1 << 20


def hosts() -> Iterator[str]:
    """Yield addresses of the loopback interface, each once."""
    first = IPv4Address("127.1.0.1")
    number = 0
    while True:
        yield str(first + number)
        number += 1


def besiege(minutes: float, floods: Sequence[str]) -> None:
    """Flood for this long, with up to three random floods at a time, each from a new host; print a report.

    It says how the honest tables fared, and how large the referee grew.
    """
    source = hosts()
    with ExitStack() as stack:
        referee, tables = start(stack, DECISION_MS)
        attackers = Attackers(stack, referee)
        begun = told = time.perf_counter()
        end = begun + 60 * minutes
        shares: list[float] = []
        sizes: list[Size] = []
        made = 0
        while time.perf_counter() < end:
            attackers.flood()
            calm = play_for(referee, tables, CALM_SECONDS)
            chosen = random.sample(floods, random.randint(1, min(MOST, len(floods))))
            made += len(chosen)
            attackers.flood(*((one, next(source)) for one in chosen))
            beside = play_for(referee, tables, FLOOD_SECONDS)
            shares.append(beside.rate / max(calm.rate, 1e-9))
            sizes.append(referee.size())
            if time.perf_counter() - told > TELL_SECONDS:
                told = time.perf_counter()
                print(f"{(told - begun) / 60:.0f} minutes: {_so_far(referee, tables, made)}", flush=True)
        tables.stop()
        _report(referee, tables, made, shares, sizes)


def _so_far(referee: Referee, tables: Tables, made: int) -> str:
    return (
        f"{made} floods, {len(tables.finished)} honest sessions; {tables.faults} faults of honest bots,"
        f" {tables.voided} void sessions, {tables.broken} calls of the worker that broke off,"
        f" at most {referee.memory / MIB:.0f} MiB"
    )


def _report(
    referee: Referee, tables: Tables, made: int, shares: Sequence[float], sizes: Sequence[Size]
) -> None:
    print(_so_far(referee, tables, made))
    barred = referee.logged("exceeds its traffic limit")
    print(f"{referee.logged('Traceback')} tracebacks, {barred} hosts kept out")
    print(f"sessions a second during floods, x those just before: {median_and_range(shares)}")
    quarter = max(1, len(sizes) // 4)
    first, last = sizes[:quarter], sizes[-quarter:]
    columns: list[tuple[str, Callable[[Size], float]]] = [
        ("MiB", lambda size: size.memory / MIB),
        ("open files", lambda size: size.files),
        ("threads", lambda size: size.threads),
    ]
    for name, of in columns:
        early, late = [of(size) for size in first], [of(size) for size in last]
        print(
            f"{name}: in the first quarter {statistics.median(early):.0f} (at most {max(early):.0f}),"
            f" in the last {statistics.median(late):.0f} (at most {max(late):.0f})"
        )

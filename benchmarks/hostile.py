"""What hostile clients do to honest tables: each flood while four bots play, with figures.

``python -m benchmarks.hostile`` has four bots play match after match, for each flood at a new referee,
alternately undisturbed and during the flood. It prints the honest sessions a second during the flood as a
share of those before and after it, the faults of honest bots, the voided sessions, the calls of the worker
that broke off, the most memory that the referee used, and the tracebacks in its log. The referee's CPU time
for an honest session, as a multiple of that when undisturbed, hardly depends on what else the machine does.

``--hosts`` has each flood come from several hosts at once, new ones each time, and each in a process of its
own; the memory that is left is measured ``--quiet`` seconds after the last one.

``--alone`` prints what each flood costs a referee without tables, in CPU seconds a second, which depends on
that least of all. ``--minutes`` floods one referee for that long, with one to three floods at once, chosen at
random; at the end it prints how the honest tables fared, and how the referee's size changed.
"""

import argparse
import itertools
import os
import platform
import statistics
import time
from contextlib import ExitStack
from typing import NamedTuple

from benchmarks.floods import FLOODS
from benchmarks.honest import Attackers, Referee, Window, play_for, start
from benchmarks.referee import median_and_range
from benchmarks.siege import MIB, besiege, hosts


class Outcome(NamedTuple):
    """How honest tables fared during a flood."""

    shares: list[float]
    """Sessions a second as shares of those when undisturbed, by repeat."""
    costs: list[float]
    """The referee's CPU time for an honest session, as multiples of that when undisturbed, by repeat."""
    faults: int
    voided: int
    broken: int
    """Calls of the worker that broke off."""
    load: list[float]
    """The referee's CPU seconds a second during the flood, beyond those of as many sessions undisturbed."""
    calm: int
    """The referee's resident memory before any flood, in bytes."""
    memory: int
    """Its peak."""
    left: int
    """What is left when nobody has played or flooded for a while."""
    tracebacks: int


def play(flood: str, seconds: float, repeats: int, hosts_at_once: int, quiet: float) -> Outcome:
    """Play honest matches, alternately undisturbed and during a flood, each time from new hosts."""
    source = hosts()
    with ExitStack() as stack:
        referee, tables = start(stack)
        size = referee.size().memory
        calm, beside = [], []
        for _ in range(repeats):
            calm.append(play_for(referee, tables, seconds))
            with ExitStack() as flooding:
                for attackers in [Attackers(flooding, referee) for _ in range(hosts_at_once)]:
                    attackers.flood((flood, next(source)))
                beside.append(play_for(referee, tables, seconds))
        calm.append(play_for(referee, tables, seconds))
        tables.stop()
        referee.wait(time.perf_counter() + quiet)
        around = [
            Window(mean(before.rate, after.rate), mean(before.cost, after.cost))
            for before, after in itertools.pairwise(calm)
        ]
        pairs = list(zip(beside, around, strict=True))
        return Outcome(
            [during.rate / undisturbed.rate for during, undisturbed in pairs],
            [during.cost / undisturbed.cost for during, undisturbed in pairs],
            tables.faults,
            tables.voided,
            tables.broken,
            [during.rate * (during.cost - undisturbed.cost) for during, undisturbed in pairs],
            size,
            referee.memory,
            referee.size().memory,
            referee.logged("Traceback"),
        )


def alone(flood: str, seconds: int) -> list[float]:
    """Return the CPU seconds that a flood costs a referee in each second, beyond what it uses when idle."""
    with ExitStack() as stack:
        referee = Referee(stack)
        attackers = Attackers(stack, referee)
        idle = _used_in(referee, 2.0) / 2
        attackers.flood((flood, next(hosts())))
        return [_used_in(referee, 1.0) - idle for _ in range(seconds)]


def _used_in(referee: Referee, seconds: float) -> float:
    used = referee.cpu()
    referee.wait(time.perf_counter() + seconds)
    return referee.cpu() - used


def mean(one: float, other: float) -> float:
    return max(1e-9, (one + other) / 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("floods", nargs="*", metavar="FLOOD", help=f"of {', '.join(FLOODS)}; default: all")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--hosts", type=int, default=1, help="from so many hosts at once")
    parser.add_argument(
        "--quiet", type=float, default=0.0, metavar="SECONDS", help="what it may rest after it"
    )
    parser.add_argument("--minutes", type=float, help="flood one referee with all of them, at random")
    parser.add_argument("--alone", action="store_true", help="measure what each costs without honest tables")
    options = parser.parse_args()
    if options.alone:
        print("flood        | CPU seconds in the first second | in each of ten seconds")
        for flood in options.floods or FLOODS:
            used = alone(flood, 10)
            print(f"{flood:12} | {used[0]:31.2f} | {statistics.mean(used):.3f}", flush=True)
        return
    if options.minutes:
        besiege(options.minutes, options.floods or list(FLOODS))
        return
    print(
        f"{os.cpu_count()} cores, {platform.system()}, {options.repeats} x {options.seconds:g} s during each"
        " flood: median (range)"
    )
    print(
        "flood        | x undisturbed      | x CPU a session    | more CPU s/s       | faults | void |"
        " broken | MiB before, peak, left | tracebacks"
    )
    for flood in options.floods or FLOODS:
        seen = play(flood, options.seconds, options.repeats, options.hosts, options.quiet)
        shares, costs, load = map(median_and_range, (seen.shares, seen.costs, seen.load))
        print(
            f"{flood:12} | {shares:18} | {costs:18} | {load:18} | {seen.faults:6} | {seen.voided:4} |"
            f" {seen.broken:6} | {seen.calm / MIB:10.0f}, {seen.memory / MIB:4.0f}, {seen.left / MIB:4.0f} |"
            f" {seen.tracebacks}",
            flush=True,
        )


if __name__ == "__main__":
    main()

"""What hostile clients do to honest tables: each flood while four bots play, with figures.

``python -m benchmarks.hostile`` has four bots play match after match, for each flood at a new referee,
alternately undisturbed and during the flood. It prints the honest sessions a second during the flood as a
share of those before and after it, the faults of honest bots, the voided sessions, the calls of the worker
that broke off, the most memory that the referee used, and the tracebacks in its log. The referee's CPU time
for an honest session, as a multiple of that when undisturbed, hardly depends on what else the machine does.

``--alone`` prints what each flood costs a referee without tables, in CPU seconds a second, which depends on
that least of all. ``--minutes`` floods one referee for that long, with one to three floods at once, chosen at
random; at the end it prints how the honest tables fared, and how the referee's size changed.
"""

import argparse
import os
import platform
import statistics
import time
from contextlib import ExitStack
from typing import NamedTuple

from benchmarks.floods import FLOODS
from benchmarks.honest import Attackers, Referee, play_for, start
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
    memory: int
    """The referee's peak resident memory, in bytes."""
    tracebacks: int


def play(flood: str, seconds: float, repeats: int) -> Outcome:
    """Play honest matches, alternately undisturbed and during a flood, each time from a new host."""
    source = hosts()
    with ExitStack() as stack:
        referee, tables = start(stack)
        attackers = Attackers(stack, referee)
        calm, beside = [], []
        for _ in range(repeats):
            attackers.flood()
            calm.append(play_for(referee, tables, seconds))
            attackers.flood((flood, next(source)))
            beside.append(play_for(referee, tables, seconds))
        attackers.flood()
        calm.append(play_for(referee, tables, seconds))
        tables.stop()
        shares = [beside[n].rate / mean(calm[n].rate, calm[n + 1].rate) for n in range(repeats)]
        costs = [beside[n].cost / mean(calm[n].cost, calm[n + 1].cost) for n in range(repeats)]
        return Outcome(
            shares,
            costs,
            tables.faults,
            tables.voided,
            tables.broken,
            referee.memory,
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
        "flood        | x undisturbed      | x CPU a session    | faults | void | broken | MiB  | tracebacks"
    )
    for flood in options.floods or FLOODS:
        seen = play(flood, options.seconds, options.repeats)
        shares, costs = median_and_range(seen.shares), median_and_range(seen.costs)
        print(
            f"{flood:12} | {shares:18} | {costs:18} | {seen.faults:6} | {seen.voided:4} | {seen.broken:6} |"
            f" {seen.memory / MIB:4.0f} | {seen.tracebacks}",
            flush=True,
        )


if __name__ == "__main__":
    main()

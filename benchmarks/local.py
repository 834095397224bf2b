"""How fast ``arena play`` is: ``python -m benchmarks.local``.

The same sample bots play the same deals on the local table, in one process and in one for each core, and over
gRPC as commands, each in a process of its own. For comparison, the engine plays at random without asking
anybody. All of these run in turn, several times over; shown are medians of deals a second, and of deals a
second of CPU time (of all processes together), which other programs on the machine affect less.
"""

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator
from itertools import islice
from random import Random
from statistics import median
from typing import NamedTuple

from referee.deals.session import Session as Deals
from referee.local.field import field_blocks
from referee.local.pool import play_in_processes
from referee.local.programs import of_file
from referee.local.room import chairs_for, play_in_room
from referee.local.table import LocalTable, Setting
from referee.local.tally import Played
from referee.matches.match import SessionSpec
from referee.records.random_play import play_randomly
from referee.rules.plays import compile_ruleset
from referee.ruleset import load_ruleset
from referee.samples import sample_bots

BOTS = ("greedy", "keeper", "lowest", "pairs-first")

START_BLOCKS = 10
"""Deals of the short run that shows what starting costs."""

Engine = Callable[[Iterator[SessionSpec]], Iterator[Played]]


def engines(ruleset: str, cores: int) -> tuple[dict[str, Engine], int]:
    """Return the ways to play sessions, by name, and the number of bots that play."""
    rules = load_ruleset(ruleset)
    bots = BOTS[: rules.players]
    files = [sample_bots()[name] for name in bots]
    setting = Setting(json.dumps(rules.to_object()), bots, tuple(files), "local", 1000)
    programs = [of_file(*one) for one in zip(bots, files, strict=True)]
    chairs = chairs_for(programs, [range(len(bots))])
    return {
        "local table, 1 process": lambda sessions: map(LocalTable(setting).play, sessions),
        f"local table, {cores} processes": lambda sessions: play_in_processes(
            setting, sessions, cores, print
        ),
        f"over gRPC, {len(bots) + 1} processes": lambda sessions: play_in_room(
            setting, chairs, sessions, wait=60
        ),
    }, len(bots)


class Rate(NamedTuple):
    """How fast deals are played."""

    wall: float
    """Deals a second, from the moment when the first session comes back."""
    cpu: float
    """Deals a second of CPU time, not counting that of starting."""


def measured(engine: Engine, bots: int, blocks: int) -> Rate:
    """Return the rate of an engine, from a long run; the CPU time of a short run is subtracted."""
    _, short, few = _run(engine, bots, START_BLOCKS)
    wall, long, many = _run(engine, bots, START_BLOCKS + blocks)
    return Rate(many / wall, (many - few) / (long - short))


def _run(engine: Engine, bots: int, blocks: int) -> tuple[float, float, int]:
    """Return the seconds since the first session came back, the CPU seconds, and the number of sessions."""
    began = sum(os.times()[:4])
    found = engine(
        session
        for block in islice(field_blocks("a", range(bots), bots), blocks)
        for session in block.sessions
    )
    next(found)
    first = time.perf_counter()
    deals = sum(1 for _ in found)
    return time.perf_counter() - first, sum(os.times()[:4]) - began, deals


def random_play(ruleset: str, deals: int) -> Rate:
    """Return the rate at which the engine plays at random."""
    rules = compile_ruleset(load_ruleset(ruleset))
    rng, began, cpu = Random(1), time.perf_counter(), time.process_time()
    for number in range(deals):
        play_randomly(Deals(rules, number.to_bytes(32, "big"), 1).next_deal(), rng)
    return Rate(deals / (time.perf_counter() - began), deals / (time.process_time() - cpu))


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.local", description=__doc__)
    parser.add_argument("--blocks", type=int, default=500, help="deals, each in all seatings")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured")
    parser.add_argument("--rulesets", nargs="*", default=["chinese", "hong-kong"])
    options = parser.parse_args()
    for ruleset in options.rulesets:
        ways, bots = engines(ruleset, os.cpu_count() or 1)
        figures: dict[str, list[Rate]] = {"random play, nobody asked": [], **{name: [] for name in ways}}
        for _ in range(options.rounds):
            figures["random play, nobody asked"].append(random_play(ruleset, options.blocks * bots))
            for name, engine in ways.items():
                figures[name].append(measured(engine, bots, options.blocks))
        print(f"{ruleset:34} deals/s  deals/CPU s")
        for name, rates in figures.items():
            wall, cpu = (median(column) for column in zip(*rates, strict=True))
            print(f"  {name:32} {wall:7.0f} {cpu:12.0f}", flush=True)


if __name__ == "__main__":
    main()

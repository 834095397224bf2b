"""All benchmarks with what they are held to: ``python -m benchmarks``.

``python -m benchmarks NAME...`` runs some. Each is a module of its own with options of its own (``python -m
benchmarks.NAME --help``). ``--quick`` measures less: a glance at the figures, with a wider spread.
"""

import argparse
import ast
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table

FOLDER = Path(__file__).parent


class Benchmark(NamedTuple):
    """A benchmark and its bar."""

    name: str
    bar: str
    """What its figures are held to, measured in the same run where two are compared."""
    quick: str | None = None
    """The options of a short run, in which the same is measured; None if there is no shorter one."""


BENCHMARKS = (
    Benchmark(
        "engine",
        "1.25 times the decisions a second of OpenSpiel's dou_dizhu, compiled 4 times; every preset within a"
        " factor of two of the fastest",
        "--rounds 2 --seconds 0.4",
    ),
    Benchmark(
        "referee",
        "1.05, 1.1, 1.3 and 1.35 times the decisions a second of commit 563f729 with 1, 16, 64 and 256"
        " sessions, compiled 1.2, 1.4, 1.8 and 2.0 times; p99 no longer (--beside 563f729)",
        "--sessions 1 64 --seconds 2 --repeats 1",
    ),
    Benchmark(
        "memory", "54 KiB an idle bot; nothing grows in the course of play", "--soak 50000 --streams 1000"
    ),
    Benchmark(
        "fastchess",
        "more decisions a second than fastchess makes moves, at any number at once",
        "--repeats 1",
    ),
    Benchmark(
        "processes",
        "8 ms of a worker's processor time for a match of one session on SQLite, 12 ms on PostgreSQL with"
        " Redis",
        "--quick",
    ),
    Benchmark("arena", "the workers of one machine keep several referees busy", "--quick --no-servers"),
    Benchmark(
        "local", "the local table takes less time than the engine alone, twice over", "--blocks 50 --rounds 1"
    ),
    Benchmark("sage", "the longer it thinks, the stronger it is", "--deals 5"),
    Benchmark(
        "reference", "less variance left than by the points alone; at least 500 deals a second", "--deals 50"
    ),
    Benchmark(
        "learning", "more steps a second than RLCard and than OpenSpiel's batches", "--rounds 1 --seconds 0.5"
    ),
    Benchmark(
        "spectators", "0.9 of the decisions a second with ten thousand that do not read", "--repeats 1"
    ),
    Benchmark("followers", "one core shows a match to 300 followers", "--followers 50 --repeats 1"),
    Benchmark(
        "hostile",
        "honest tables without faults in any flood; with --hosts 8 --seconds 8 --quiet 60, references take at"
        " most 400 MiB and a third of a core, and 1.5 times the memory before is left",
        "--repeats 1",
    ),
    Benchmark("kills", "results as in a calm run, whatever is killed", "--kills 20"),
    Benchmark("history", "the same time after 100,000 matches as after none", "--quick --no-servers"),
    Benchmark("continuous", "the same time with 10,000 bots as with 100", "--quick --no-servers"),
    Benchmark("pairing", "a round of 10,000 entrants in seconds", "--most 1000"),
    Benchmark("reading", "the limit at each question", "--matches 2000 --no-servers"),
    Benchmark("size", "the limit at each question; a fit that fits in memory"),
    Benchmark("pages", "50 ms of processor time a page", "--times 5"),
    Benchmark("web", "play goes on while 500 people read", "--readers 50 --streams 10 --repeats 1"),
    Benchmark("timing", "nothing gained from the clock where every turn is asked", "--quick"),
    Benchmark("duplicate", "fewer deals with duplicate than without", "--deals 2000 --output /dev/null"),
    Benchmark("blocks", "says whether the reference is worth its time in local play", "--blocks 20"),
    Benchmark(
        "quitters",
        "no way of leaving above its honest twin in strength, made, rank, tier or Elo",
        "--seasons 2 --rounds 8 --faults 1 --modes end_session",
    ),
    Benchmark(
        "complaints",
        "no bot is overrated by half a point; intervals of the bots in question hold in 93 % or more, of two"
        " joined pools in 85 % or more",
        "--repeats 20",
    ),
    Benchmark("coverage", "intervals of 95 % cover 93 to 97 %", "--repeats 2 --deals 50"),
    Benchmark("intervals", "intervals of 95 % cover 94 to 96 %", "--blocks 300 --plays 200"),
    Benchmark("sequential", "errors no more frequent than asked for", "--blocks 100 --repeats 500"),
    Benchmark(
        "softplay", "hardly an honest pair suspected, soft pairs found", "--honest 3 --soft 0.5 --draws 5"
    ),
)


def about(name: str) -> str:
    """Return what a benchmark measures: the first sentence of its module, without the command."""
    path = FOLDER / name / "__init__.py" if (FOLDER / name).is_dir() else FOLDER / f"{name}.py"
    first = (ast.get_docstring(ast.parse(path.read_text())) or "").split("\n\n")[0].replace("\n", " ")
    return first.split(": ``python -m")[0].rstrip(".")


def _list() -> None:
    table = Table("benchmark", "what it measures", "bar", box=box.SIMPLE, pad_edge=False)
    for one in BENCHMARKS:
        table.add_row(one.name, about(one.name), one.bar)
    Console().print(table)


def run(names: Sequence[str], quick: bool) -> int:
    """Run the benchmarks one after the other, each in a process of its own; return how many failed."""
    known, failed = {one.name: one for one in BENCHMARKS}, 0
    for name in names:
        options = (known[name].quick or "").split() if quick else []
        print(f"== {name}: {about(name)}\n   bar: {known[name].bar}", flush=True)
        failed += subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *options]).returncode != 0
    return failed


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Without a name: list all benchmarks with their bars."
    )
    names = [one.name for one in BENCHMARKS]
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks to run, one after the other")
    parser.add_argument("--quick", action="store_true", help="measure less: a glance, with a wider spread")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in names]
    if unknown:
        parser.error(f"no benchmark is named {unknown[0]}; there are {', '.join(names)}")
    if not options.names:
        return _list()
    sys.exit(1 if run(options.names, options.quick) else 0)


if __name__ == "__main__":
    main()

"""fastchess and the referee in the same run: ``python -m benchmarks.fastchess --program PATH``.

PATH is a fastchess that was built from its sources (https://github.com/Disservin/fastchess), the fastest
match runner known. Two engines in C that play one game by heart (``uci_line.c``) let it show all it can; the
referee plays four Python bots that answer at once. Compared are moves and decisions a second, by the games
and sessions that are played at once, and what one costs in CPU time over all processes.
"""

import argparse
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.referee import median_and_range, play

PLIES = 240
"""The length of the game that the engines know; fastchess ends it there as a draw."""


class Games(NamedTuple):
    """A run of fastchess."""

    rate: float
    """Moves a second."""
    cpu: float
    """CPU seconds of all processes for each move."""


def build_engine(folder: Path) -> Path:
    """Compile the engine into the folder and return its path."""
    path = folder / "line"
    source = Path(__file__).with_name("uci_line.c")
    subprocess.run(["cc", "-O2", "-o", str(path), str(source)], check=True)
    return path


def run_games(program: str, engine: Path, concurrency: int, seconds: float) -> Games:
    """Have fastchess play as many games at once, for about as many seconds.

    What two games for each take is subtracted: it starts and ends slowly, whatever it plays.
    """
    few = many = concurrency * 2
    base_took, base_cpu = _timed(program, engine, concurrency, few)
    while True:
        many *= 4
        took, cpu = (
            figure - base
            for figure, base in zip(
                _timed(program, engine, concurrency, many), (base_took, base_cpu), strict=True
            )
        )
        if took >= seconds / 2:
            moves = (many - few) * PLIES
            return Games(moves / took, cpu / moves)


def _timed(program: str, engine: Path, concurrency: int, games: int) -> tuple[float, float]:
    """Play the games; return the seconds that passed and the CPU seconds of all processes."""
    command = [program]
    for name in ("a", "b"):
        command += ["-engine", f"cmd={engine}", f"name={name}"]
    command += ["-each", "tc=600+1", "-rounds", str(games // 2), "-games", "2", "-maxmoves", str(PLIES // 2)]
    command += ["-concurrency", str(concurrency), "-force-concurrency"]
    with tempfile.TemporaryDirectory() as folder:
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
        took, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = len(re.findall(r"^Finished game .*Draw", done.stdout, re.MULTILINE))
    assert ended == games, f"{ended} of {games} games ended as they should:\n{done.stdout[-2000:]}"
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(program: str, counts: Sequence[int], many: int, seconds: float, repeats: int) -> None:
    """Print a line for each number of games and sessions at once, measured in turns."""
    print("at once | fastchess: moves/s, us CPU a move | referee: decisions/s, us CPU a decision | ratio")
    with tempfile.TemporaryDirectory() as folder:
        engine = build_engine(Path(folder))
        for count in [*counts, many]:
            pairs = []
            for number in range(repeats):
                print(f"\r{count} at once, {number + 1} of {repeats}", end="\r", file=sys.stderr, flush=True)
                games = run_games(program, engine, min(count, max(counts)), seconds)
                pairs.append((games, play(count, seconds)))
            moves = median_and_range([games.rate for games, _ in pairs], ",.0f")
            move = median_and_range([games.cpu * 1e6 for games, _ in pairs], ".0f")
            decisions = median_and_range([run.rate for _, run in pairs], ",.0f")
            decision = median_and_range([(run.cpu + run.bot_cpu) * 1e6 for _, run in pairs], ".0f")
            ratio = median_and_range([run.rate / games.rate for games, run in pairs])
            print(f"{count:7} | {moves}, {move} | {decisions}, {decision} | {ratio}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fastchess", description=__doc__)
    parser.add_argument("--program", required=True, help="the fastchess to run")
    parser.add_argument(
        "--at-once", type=int, nargs="+", default=[1, 2, 4], help="games and sessions at once"
    )
    parser.add_argument(
        "--sessions", type=int, default=256, help="sessions of the last line, beside fastchess's most games"
    )
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    program = str(Path(options.program).resolve())
    version = subprocess.run([program, "-version"], check=True, capture_output=True, text=True).stdout.strip()
    runs = f"{options.repeats} x {options.seconds:g} s a cell: median (range)"
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, {version}; {runs}")
    compare(program, options.at_once, options.sessions, options.seconds, options.repeats)


if __name__ == "__main__":
    main()

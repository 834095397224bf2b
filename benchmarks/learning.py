"""Learning environments, with peers measured in the same run: ``python -m benchmarks.learning``.

A step is one decision: what the seat sees as an array, its legal actions, and one of these taken at random;
whole deals are played, dealing included. Measures single environments and batches, ours and, for comparison,
RLCard's doudizhu and OpenSpiel's dou_dizhu; each cell runs in a process of its own, and all are measured in
turn, several times over. The peers run under a Python that has them (``--peers-python``), or in a virtual
environment that is created in ``.cache/peers`` the first time, with pip. The figures are of CPU time, so
other work on the machine matters little.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from platform import python_version
from random import Random
from statistics import median
from typing import Any

import numpy as np

from benchmarks.engine import ROOT, own_peers

OWN = ("pettingzoo", "tables 1", "tables 64", "tables 256")
PEERS = ("rlcard", "spiel", "spiel batch 64")
BASE = "tables 256"

Figures = dict[str, list[float]]
"""Steps a second of every cell, by round."""


def main() -> None:
    """Measure and print the figures; with a cell's name, measure only that cell and print JSON."""
    options = _options()
    if options.cell:
        print(json.dumps(_own(options.cell, options.seconds, options.ruleset)))
        return
    peers_python = options.peers_python or own_peers()
    figures: Figures = {}
    versions = [f"Python {python_version()}, numpy {version('numpy')}, pettingzoo {version('pettingzoo')}"]
    for number in range(options.rounds):
        for name in (*OWN, *PEERS):
            print(f"\rround {number + 1} of {options.rounds}: {name:24}", end="", file=sys.stderr, flush=True)
            found = _measured(name, options, peers_python)
            if found is not None:
                figures.setdefault(name, []).append(found["steps"] / found["seconds"])
                versions += [found["version"]] if "version" in found else []
    print(f"\r{'':48}\r", end="", file=sys.stderr)
    print("; ".join(dict.fromkeys(versions)) + f"; ours under {options.ruleset}")
    for line in _lines(figures):
        print(line)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learning", description=__doc__)
    parser.add_argument("--peers-python", help="a Python that has open_spiel and rlcard")
    parser.add_argument("--rounds", type=int, default=5, help="how often each cell is measured")
    parser.add_argument("--seconds", type=float, default=2.0, help="how long each time")
    parser.add_argument("--ruleset", default="chinese")
    parser.add_argument("--cell", choices=OWN, help=argparse.SUPPRESS)
    return parser.parse_args()


def _measured(name: str, options: argparse.Namespace, peers_python: str) -> dict[str, Any] | None:
    seconds = str(options.seconds)
    command = [sys.executable, "-m", "benchmarks.learning", "--cell", name, "--seconds", seconds]
    if name in PEERS:
        command = [peers_python, "benchmarks/learning_peers.py", name, seconds]
    else:
        command += ["--ruleset", options.ruleset]
    try:
        done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        why = str(getattr(error, "stderr", None) or error).strip().splitlines()[-1]
        print(f"\r{name} cannot be measured: {why}", file=sys.stderr)
        return None
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _own(name: str, seconds: float, ruleset: str) -> dict[str, float]:
    if name == "pettingzoo":
        return measure(_episode(ruleset), seconds)
    return measure(_batch(int(name.split()[1]), ruleset), seconds)


def _episode(ruleset: str) -> Callable[[], int]:
    from referee import learning

    environment = learning.env(ruleset)
    random = Random(1)
    environment.reset(seed=1)

    def play() -> int:
        environment.reset()
        steps = 0
        while True:
            seen, _, over, _, _ = environment.last()
            if over:
                return steps
            environment.step(random.choice(np.flatnonzero(seen["action_mask"]).tolist()))
            steps += 1

    return play


def _batch(count: int, ruleset: str) -> Callable[[], int]:
    from referee.learning import Tables

    tables = Tables(count, ruleset, seed=1)
    random = np.random.default_rng(1)

    rounds = -(-256 // count)  # reading the clock takes as long as a step

    def play() -> int:
        for _ in range(rounds):
            seen = tables.observe()
            sizes = np.diff(seen.starts)
            first = ~seen.legal[seen.starts[:-1]]
            tables.step(first + random.integers(sizes - first))
        return rounds * count

    return play


def measure(play: Callable[[], int], seconds: float) -> dict[str, float]:
    """Play for the given seconds of CPU time, after a warm-up of half as long."""
    began = time.process_time()
    while time.process_time() < began + seconds / 2:
        play()
    steps, began = 0, time.process_time()
    while (now := time.process_time()) < began + seconds:
        steps += play()
    return {"steps": steps, "seconds": now - began}


def _lines(figures: Figures) -> Iterator[str]:
    yield f"{'random play':24} {'steps/s of CPU':>14} {'least':>10} {'most':>10} {BASE + ' /':>14}"
    for name, speeds in figures.items():
        ratio = median(figures[BASE]) / median(speeds) if BASE in figures else float("nan")
        yield f"{name:24} {median(speeds):14,.0f} {min(speeds):10,.0f} {max(speeds):10,.0f} {ratio:14.2f}"


if __name__ == "__main__":
    main()

"""The engine's speed, with peers measured in the same run: ``python -m benchmarks.engine``.

Random play of whole deals with all legal plays listed at every decision. Each cell runs in a process of its
own, and all cells are measured in turn, several times over; shown are medians, the spread, and ratios within
the run. The peers (OpenSpiel, RLCard) run under another Python: a given one, or a virtual environment that is
created in ``.cache/peers`` the first time.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from referee.ruleset import preset_names

ROOT = Path(__file__).parents[1]
PEERS = ("spiel", "spiel-lean", "rlcard", "rlcard-rules")
PACKAGES = ("open_spiel", "rlcard")
BASE = "chinese"

Figures = dict[str, list[float]]
"""Decisions a second of every cell, by round."""


def main() -> None:
    """Measure and print the figures."""
    options = _options()
    peers_python = options.peers_python or own_peers()
    own = options.presets or preset_names()
    figures: Figures = {name: [] for name in [*own, *PEERS]}
    for number in range(options.rounds):
        for name in figures:
            print(f"\rround {number + 1} of {options.rounds}: {name:24}", end="", file=sys.stderr, flush=True)
            speed = _measured(name, options.seconds, peers_python if name in PEERS else None)
            if speed is not None:
                figures[name].append(speed)
    print(f"\r{'':48}\r", end="", file=sys.stderr)
    for line in _lines({name: speeds for name, speeds in figures.items() if speeds}):
        print(line)
    for name, value in _cell([sys.executable, "-m", "benchmarks.cells", "micro", "0"]).items():
        print(f"{name:36} {value:10.2f}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engine", description=__doc__)
    parser.add_argument("--peers-python", help="a Python that has open_spiel and rlcard")
    parser.add_argument("--rounds", type=int, default=5, help="how often each cell is measured")
    parser.add_argument("--seconds", type=float, default=1.0, help="how long each time")
    parser.add_argument("--presets", nargs="*", help="only these presets")
    return parser.parse_args()


def own_peers() -> str:
    """Return the Python of a virtual environment with the peers, which is created the first time."""
    folder = ROOT / ".cache" / "peers"
    python = folder / "bin" / "python"
    if not python.exists():
        print(f"installing {', '.join(PACKAGES)} into {folder}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *PACKAGES], check=False)
    return str(python)


def _measured(name: str, seconds: float, peers_python: str | None) -> float | None:
    """Return decisions a second, or None for a peer that cannot be run."""
    if peers_python is None:
        found = _cell([sys.executable, "-m", "benchmarks.cells", name, str(seconds)])
    else:
        try:
            found = _cell([peers_python, "benchmarks/peers.py", name, str(seconds)])
        except (OSError, subprocess.CalledProcessError):
            return None
    return found["decisions"] / found["seconds"]


def _cell(command: list[str]) -> dict[str, float]:
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def _lines(figures: Figures) -> Iterator[str]:
    yield f"{'random play':24} {'decisions/s':>12} {'least':>10} {'most':>10} {BASE + ' /':>10}"
    for name, speeds in figures.items():
        ratio = median(figures[BASE]) / median(speeds) if BASE in figures else float("nan")
        yield f"{name:24} {median(speeds):12,.0f} {min(speeds):10,.0f} {max(speeds):10,.0f} {ratio:10.2f}"


if __name__ == "__main__":
    main()

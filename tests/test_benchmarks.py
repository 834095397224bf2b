"""The list of benchmarks."""

import subprocess
import sys
from pathlib import Path

from benchmarks.__main__ import BENCHMARKS, FOLDER, about

ROOT = Path(__file__).parents[1]


def test_list_when_a_module_can_be_run_as_a_benchmark_then_it_is_there_with_what_it_measures() -> None:
    runnable = {
        path.stem if path.parent == FOLDER else path.parent.name
        for path in FOLDER.rglob("*.py")
        if f"``python -m benchmarks.{path.stem if path.parent == FOLDER else path.parent.name}"
        in path.read_text()
    }
    assert {one.name for one in BENCHMARKS} == runnable - {"floods", "cells", "__main__"}
    assert all(about(one.name) and one.bar for one in BENCHMARKS)


def test_run_when_no_benchmark_has_the_name_then_those_that_there_are_are_named() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "speed"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "no benchmark is named speed; there are engine, referee, memory," in done.stderr

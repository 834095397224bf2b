"""Tests for the sample bot in Java: its own tests."""

import re
import shutil
from pathlib import Path

from tests.sample_bots.toolchain import SAMPLES, run_in

FOLDER = SAMPLES / "java"


def test_own_tests_when_run_then_they_pass_and_the_compiler_warns_of_signals_alone(
    mvn: str, tmp_path: Path
) -> None:
    shutil.copytree(FOLDER, tmp_path / "java", ignore=shutil.ignore_patterns("target"))  # bots run from there
    printed = run_in(tmp_path / "java", mvn, "--batch-mode", "test")
    total = re.findall(
        r"^\[INFO\] Tests run: (\d+), Failures: 0, Errors: 0, Skipped: 0$", printed, re.MULTILINE
    )
    assert len(total) == 1
    assert int(total[0]) > 90
    warnings = [line for line in printed.splitlines() if line.startswith("[WARNING]")]
    assert [line for line in warnings if "sun.misc.Signal" not in line] == []

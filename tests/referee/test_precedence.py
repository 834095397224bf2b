"""Tests that a referee's process takes precedence over others on its host."""

import os
import subprocess
import sys

from referee.service.server import PRECEDENCE

SHOW = "import os; from referee.service.server import take_precedence; print(take_precedence(), os.nice(0))"


def output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout.strip()


def test_precedence_when_the_process_may_take_it_then_it_goes_before_others() -> None:
    own = os.nice(0)
    allowed = own == 0 and output("nice", "-n", "-1", "nice") == "-1"
    expected = f"True {PRECEDENCE}" if allowed else f"False {own}"
    assert output(sys.executable, "-c", SHOW) == expected


def test_precedence_when_the_process_was_given_a_priority_then_it_keeps_that() -> None:
    given = min(os.nice(0) + 3, 19)
    assert output("nice", "-n", "3", sys.executable, "-c", SHOW) == f"False {given}"

"""Tests for the sample bot in C++: its own tests."""

import re
from pathlib import Path

import pytest

from tests.sample_bots.toolchain import SAMPLES, run_in

FOLDER = SAMPLES / "cpp"


@pytest.mark.parametrize(
    ("copy", "original"),
    [
        *((f"referee/v1/{name}", f"proto/referee/v1/{name}") for name in ("bots", "cards", "errors")),
        ("google/rpc/details", "sample_bots/typescript/proto/google/rpc/details"),
    ],
)
def test_proto_when_compared_then_it_is_a_copy(copy: str, original: str) -> None:
    path = FOLDER / "proto" / f"{copy}.proto"
    assert path.read_text() == (SAMPLES.parent / f"{original}.proto").read_text(), f"copy {original}.proto"


def test_own_tests_when_run_then_they_pass(cpp_build: Path) -> None:
    printed = run_in(cpp_build, str(cpp_build / "tests"))
    assert "SKIPPED" not in printed
    total = re.findall(r"^\[  PASSED  \] (\d+) tests\.$", printed, re.MULTILINE)
    assert len(total) == 1
    assert int(total[0]) > 50

"""Tests for ``arena bot new`` in compiled languages: bots are built, tested and checked with real tools."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tied import tied


@pytest.mark.parametrize("language", ["go", "Java", "typescript"])
def test_new_bot_is_built_tested_and_checked(
    language: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    fixture = {"go": "go_bot", "Java": "java_bot", "typescript": "node"}[language]
    request.getfixturevalue(fixture)  # installs the packages
    command = tied(
        sys.executable, "-m", "referee", "bot", "new", str(tmp_path / "bot"), "--language", language
    )
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "checked in 9 scenarios: it works" in done.stdout

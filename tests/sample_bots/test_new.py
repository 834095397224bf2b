"""Tests for ``arena bot new`` in compiled languages: bots are built, tested and checked with real tools."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.sample_bots.toolchain import CARGO
from tests.tied import tied


@pytest.mark.parametrize("language", ["Cpp", "go", "Java", "Rust", "typescript"])
def test_new_bot_is_built_tested_and_checked(
    language: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    fixtures = {"Cpp": "cmake", "go": "go", "Java": "java_bot", "Rust": "rust_bot", "typescript": "node"}
    request.getfixturevalue(fixtures[language])  # installs the packages
    for variable, folder in CARGO.items():
        monkeypatch.setenv(variable, folder)
    monkeypatch.setenv("CMAKE_BUILD_TYPE", "Debug")  # is compiled sooner
    command = tied(
        sys.executable, "-m", "referee", "bot", "new", str(tmp_path / "bot"), "--language", language
    )
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert "checked in 9 scenarios: it works" in done.stdout

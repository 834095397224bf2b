"""The tools that the sample bots of other languages are built with."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SAMPLES = Path(__file__).parents[2] / "sample_bots"


def require(tool: str) -> str:
    """Return the path of a program; skip the test if it is missing, and fail in CI (``CI=true``)."""
    path = shutil.which(tool)
    if path is not None:
        return path
    if os.environ.get("CI") == "true":
        pytest.fail(f"{tool} is not installed, and CI needs it", pytrace=False)
    pytest.skip(f"left out: {tool} is not installed")


def run_in(folder: Path, *command: str, **environment: str) -> str:
    """Run a command in a folder; return what it printed, and fail with it."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout

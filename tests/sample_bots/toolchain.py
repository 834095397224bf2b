"""The tools that build the sample bots in other languages."""

import os
import subprocess
from pathlib import Path

from tests.builds import CACHE, digest

SAMPLES = Path(__file__).parents[2] / "sample_bots"
MADE = {"build", "dist", "node_modules", "target"}
"""Folders of what is built."""
BUILD_SECONDS = 3500
"""A first build compiles all packages, and on a busy machine this takes its time."""
CARGO = {"CARGO_BUILD_BUILD_DIR": str(CACHE / "cargo")}
"""The variable by which Cargo takes the packages that any checkout has built."""


def sources(folder: Path, *versions: str) -> str:
    """Return what changes with the sources in a folder, and with versions of what builds them."""
    files = [path for path in folder.rglob("*") if path.is_file() and not MADE & {*path.parts}]
    return digest(files, folder, *versions)


def run_in(folder: Path, *command: str, **environment: str) -> str:
    """Run a command in a folder and return its output; fail if it fails."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | CARGO | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=BUILD_SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout

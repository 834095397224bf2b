"""The tools that build the sample bots in other languages."""

import os
import subprocess
from pathlib import Path

SAMPLES = Path(__file__).parents[2] / "sample_bots"


def run_in(folder: Path, *command: str, **environment: str) -> str:
    """Run a command in a folder and return its output; fail if it fails."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=850,  # a first build compiles all packages
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout

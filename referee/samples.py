"""The sample bots in Python, by their names."""

import sys
from pathlib import Path

SAMPLE_BOTS = Path(__file__).with_name("sample_bots")
"""The folder of the sample bots; in a checkout, a link to ``sample_bots/python``."""


def sample_bots() -> dict[str, Path]:
    """Return the files of the sample bots by their names."""
    files = sorted(SAMPLE_BOTS.glob("*.py"))
    return {file.stem.removesuffix("_bot").replace("_", "-"): file for file in files}


def sample_command(name: str) -> list[str]:
    """Return the command that starts a sample bot."""
    return [sys.executable, str(sample_bots()[name])]

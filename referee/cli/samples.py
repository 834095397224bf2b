"""Bots by their names and files, and what starts them."""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import typer

import referee

SAMPLE_BOTS = Path(referee.__file__).with_name("sample_bots")
"""The folder of the sample bots in Python; in a checkout, a link to where they are read."""


def sample_bots() -> dict[str, Path]:
    """Return the files of the sample bots by their names."""
    files = sorted(SAMPLE_BOTS.glob("*.py"))
    return {file.stem.removesuffix("_bot").replace("_", "-"): file for file in files}


def sample_command(name: str) -> list[str]:
    """Return the command that starts a sample bot."""
    return [sys.executable, str(sample_bots()[name])]


def bot_command(name: str) -> list[str] | None:
    """Return the command that starts a sample bot or a Python file; None for what names neither."""
    if name in sample_bots():
        return sample_command(name)
    if name.endswith(".py"):
        return [sys.executable, "-m", "referee", "bot", "run", name]
    return None


def require_program(command: Sequence[str]) -> None:
    """Raise BadParameter if a command names a program that does not exist."""
    if shutil.which(command[0]) is None:
        raise typer.BadParameter(f"there is no program {command[0]!r}", param_hint="'COMMAND'")

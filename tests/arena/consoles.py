"""Consoles whose output tests read: a log and a terminal."""

import io

import pytest
from rich.console import Console


def log() -> Console:
    return Console(file=io.StringIO(), width=200, markup=False, highlight=False)


def terminal() -> Console:
    return Console(file=io.StringIO(), width=100, force_terminal=True, markup=False, highlight=False)


on_both = pytest.mark.parametrize("make_out", [log, terminal], ids=["log", "terminal"])
"""Runs a test both with a log and with a terminal."""


def text_of(out: Console) -> str:
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()

"""Ctrl-C while a command is still being loaded."""

import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from arena.cli.local import arena_command
from tests.arena.waiting import DEADLINE
from tests.tied import tied

SCRIPT = Path(sys.executable).parent / "arena"

MODULES = 250
"""Number of modules to wait for at most; more than that are loaded before a command begins."""


@pytest.mark.parametrize("command", [arena_command(), [SCRIPT]], ids=["module", "script"])
def test_command_when_interrupted_while_it_is_loaded_then_it_ends_quietly(command: list[str]) -> None:
    for after in (0, *sorted(random.sample(range(MODULES), 3))):
        # Python prints a line for each module that it has loaded; those after referee.cli are the commands'.
        with subprocess.Popen(
            tied(*command, "rules", "replay"),  # waits for its input
            env=os.environ | {"PYTHONPROFILEIMPORTTIME": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stderr is not None
            lines = iter(process.stderr)
            assert any(re.search(r"\| referee\.cli$", line) for line in lines)
            for _ in range(1 + after):
                next(lines)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=DEADLINE)
        told = [line for line in err.splitlines() if not line.startswith("import time:")]
        assert (after, process.returncode, out, told) == (after, 130, "", [])

"""Ctrl-C at the wrong moment: while a command is still being loaded, or in a destructor."""

import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from arena.cli.local import arena_command
from tests.tied import tied
from tests.waiting import DEADLINE

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


LOSES = """
import signal, sys, time
from referee import cli
from referee.cli import app
from referee.processes.interrupts import unwound_on_signals

class Lost:
    def __del__(self):
        signal.raise_signal(int(sys.argv[1]))

def run(arguments):
    cli.command_is_loaded()
    with unwound_on_signals():
        try:
            Lost()
            time.sleep(600)
        finally:
            print("tidied up")

app.run = run
cli.main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_command_when_a_signal_falls_into_a_destructor_then_it_ends_all_the_same(number: int) -> None:
    command = tied(sys.executable, "-c", LOSES, str(int(number)))
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE)
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, "tidied up\n", "")

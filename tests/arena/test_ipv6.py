"""Commands on a host that has no IPv4."""

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from arena.cli.local import arena_command
from tests.needed import leave_out
from tests.tied import tied
from tests.waiting import DEADLINE

ALONE = 'ip link set lo up && ip addr del 127.0.0.1/8 dev lo && exec "$@"'
"""A script that runs a command in a network that has nothing but ::1."""

ISOLATORS = (("unshare", "--net"), ("unshare", "--map-root-user", "--net"))
"""Commands that start a process with a network of its own, as root and as any other user."""

GREEDY = f"{sys.executable} {Path(__file__).parents[2] / 'sample_bots' / 'python' / 'greedy.py'}"


@cache
def isolator() -> tuple[str, ...]:
    """Return a command that starts a process in a network with nothing but ::1."""
    for command in ISOLATORS if shutil.which("unshare") and shutil.which("ip") else ():
        start = (*command, "sh", "-c", ALONE, "sh")
        if subprocess.run([*start, "true"], capture_output=True, check=False).returncode == 0:
            return start
    return leave_out("no network can be made here")


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (("play", GREEDY, "lowest", "--deals", "10", "--ruleset", "chinese"), "again: arena play"),
        (("bot", "check", "greedy", "--no-store", "--scenario", "CONN-01"), "The bot passes the scenarios"),
    ],
)
def test_command_when_the_host_has_no_ipv4_then_bots_reach_their_referee(
    tmp_path: Path, command: tuple[str, ...], told: str
) -> None:
    arguments = arena_command("--data", str(tmp_path), *command)
    done = subprocess.run(
        tied(*isolator(), *arguments), capture_output=True, text=True, check=False, timeout=DEADLINE
    )
    assert (done.returncode, done.stderr.count("error")) == (0, 0), done.stderr
    assert told in done.stdout

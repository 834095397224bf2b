"""Tests that a light installation works without the arena's modules, and without those of POSIX alone."""

import subprocess
import sys

import pytest

from tests.tied import tied

ARENA = (
    "arena",
    "celery",
    "sqlalchemy",
    "sqlmodel",
    "alembic",
    "fastapi",
    "pydantic_settings",
    "numpy",
    "httpx2",
)
EXTRA = ("cryptography", "grpc_health", "grpc_reflection", "prometheus_client", "uvloop")
POSIX = ("fcntl", "grp", "pwd", "resource", "termios", "tty")
"""Modules that Windows does not have."""

BLOCK = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
for name in [name for name in sys.modules if name.partition(".")[0] in BLOCKED]:
    del sys.modules[name]
sys.meta_path.insert(0, Blocked())
"""
LOAD_ALL = """
import referee.bot, referee.check, referee.net.client, referee.position, referee.service.server
from referee.cli import app, bot
for command in (*app.COMMANDS, *bot.COMMANDS):
    command.real
print("loaded")
"""
RUN = "from referee.cli.app import run; sys.exit(run(sys.argv[1:]))"


def light(program: str, *arguments: str, also: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run a program as if the modules of the arena, and those in ``also``, were not installed."""
    blocked = f"BLOCKED = {(*ARENA, *EXTRA, *also)!r}\n"
    return subprocess.run(
        tied(sys.executable, "-c", blocked + BLOCK + program, *arguments), capture_output=True, text=True
    )


def test_light_installation_when_all_of_it_is_loaded_without_modules_of_posix_then_it_lacks_nothing() -> None:
    done = light(LOAD_ALL, also=POSIX)
    assert (done.stdout, done.stderr) == ("loaded\n", "")


@pytest.mark.parametrize("command", ["up", "tournament create --name x", "bot register ann/bot"])
def test_command_of_the_whole_arena_in_a_light_installation_says_what_to_install(command: str) -> None:
    done = light(RUN, *command.split())
    name = command.partition(" -")[0].removesuffix(" create").removesuffix(" ann/bot")
    reason = f"error: `arena {name}` comes with the whole arena: pip install bigtwo-arena, "
    line = "or the line for it on an arena's page /guide\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", reason + line)


def test_help_of_a_light_installation_lists_its_own_commands_alone() -> None:
    done = light(RUN, "--help")
    assert done.returncode == 0
    assert "rules" in done.stdout
    assert "tournament" not in done.stdout

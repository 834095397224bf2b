"""What a call of the command line loads, and that the list of commands agrees with the commands' own help."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from arena.cli import bot
from arena.cli.commands import COMMANDS
from arena.host.settings import Settings
from referee.cli import app as light
from referee.cli import bot as light_bot
from referee.cli.later import ARENA_BOT_COMMANDS, ARENA_COMMANDS, Later
from tests.arena.world import World
from tests.tied import tied

LIBRARIES = ("alembic", "asyncio", "celery", "google", "grpc", "kombu", "pydantic", "sqlalchemy", "sqlmodel")
COMMANDS_OWN = (
    "arena.store.models",
    "arena.play.messages",
    "arena.host.settings",
    "arena.store.storage",
    "arena.play.tasks",
    "referee.rules",
)
SHOW_LOADED = (
    "import sys; from referee.cli.app import run; run(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
)
SHOW_COLLECTOR = """
import atexit, gc, sys
from referee.cli import main
show = lambda: print(gc.isenabled(), gc.get_freeze_count() > 10_000, file=sys.stderr)
atexit.register(show)
main()
"""


@pytest.mark.parametrize(
    ("option", "forbidden"),
    [("--version", (*LIBRARIES, *COMMANDS_OWN, "rich")), ("--help", (*LIBRARIES, *COMMANDS_OWN))],
)
def test_options_of_the_command_line_when_used_then_no_command_is_loaded(
    option: str, forbidden: tuple[str, ...]
) -> None:
    command = tied(sys.executable, "-c", SHOW_LOADED, option)
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stderr.split()
    assert "typer" in loaded
    assert [name for name in forbidden if name in loaded] == []


def loaded_by(*arguments: str) -> tuple[str, list[str]]:
    """Return what a command prints, and the modules that are loaded when it ends."""
    command = tied(sys.executable, "-c", SHOW_LOADED, *arguments)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout, done.stderr.split()


def test_leaderboard_when_nobody_is_rated_then_models_and_rules_are_not_loaded(migrated: Settings) -> None:
    shown, loaded = loaded_by("--data", str(migrated.data), "leaderboard")
    assert shown.startswith("no ratings yet")
    assert "sqlalchemy" in loaded
    forbidden = (
        "sqlmodel",
        "sqlalchemy.orm",
        "arena.store.models",
        "referee.rules",
        "grpc",
        "numpy",
        "celery",
    )
    assert [name for name in forbidden if name in loaded] == []


def test_leaderboard_when_there_are_ratings_then_rules_and_tables_are_not_loaded(
    migrated: Settings, world: World
) -> None:
    world.finish(world.tournament(4).id)
    [shown, loaded] = loaded_by("--data", str(migrated.data), "leaderboard", "--json")
    assert [line["place"] for line in json.loads(shown)["leaderboard"]] == [1, 2, 3, 4]
    forbidden = ("referee.rules", "referee.deals.deal", "grpc", "google", "numpy", "celery", "rich")
    assert [name for name in forbidden if name in loaded] == []


@pytest.mark.parametrize("command", ["bot run nothing --token x", "play nothing greedy"])
def test_bot_when_it_is_run_or_plays_here_then_nothing_of_the_arena_is_loaded(command: str) -> None:
    shown = subprocess.run(
        tied(sys.executable, "-c", SHOW_LOADED, *command.split()), capture_output=True, text=True
    ).stderr
    assert "nothing" in shown
    loaded = shown.splitlines()[-1].split()
    assert "arena.cli.commands" in loaded
    forbidden = ("sqlmodel", "sqlalchemy.orm", "arena.store.models", "arena.store.storage", "numpy", "celery")
    assert [name for name in forbidden if name in loaded] == []


SHOW_LOADED_WITH = """
import sys
import arena.cli.tournaments
print(*sys.modules)
import arena.cli.worker
print(*sys.modules)
"""


def test_libraries_that_take_long_are_loaded_when_they_are_needed() -> None:
    shown = subprocess.run(
        tied(sys.executable, "-c", SHOW_LOADED_WITH), capture_output=True, text=True, check=True
    ).stdout
    tournaments, worker = (line.split() for line in shown.splitlines())
    assert "sqlmodel" in tournaments
    assert {"celery", "kombu", "numpy"}.isdisjoint(tournaments)
    assert "celery" in worker
    assert {"celery.bin", "prompt_toolkit", "numpy"}.isdisjoint(worker)


def test_command_when_it_runs_then_garbage_is_collected_except_in_what_was_loaded() -> None:
    command = tied(sys.executable, "-c", SHOW_COLLECTOR, "rules", "list")
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stderr.split()
    assert shown == ["True", "True"]


@pytest.mark.parametrize(
    ("here", "elsewhere", "all_"),
    [(light.COMMANDS, ARENA_COMMANDS, COMMANDS), (light_bot.COMMANDS, ARENA_BOT_COMMANDS, bot.COMMANDS)],
    ids=["arena", "bot"],
)
def test_commands_of_a_light_installation_with_those_that_it_names_are_all_there_are(
    here: tuple[Later, ...], elsewhere: tuple[str, ...], all_: tuple[Later, ...]
) -> None:
    assert {command.name for command in here} | {*elsewhere} == {one.name for one in all_}


SWALLOWED = re.compile(r"\[[a-z#/@][^\[\]]*\]")
"""What the help would take for the name of a style and not print, such as ``[bots]``."""


def helps_of(command: Any) -> Iterator[str]:
    """Yield all texts in the help of a command and of its subcommands."""
    real = command.real if isinstance(command, Later) else command
    yield real.help or ""
    yield from (getattr(parameter, "help", None) or "" for parameter in real.params)
    for part in getattr(real, "commands", {}).values():
        yield from helps_of(part)


@pytest.mark.parametrize("command", [*COMMANDS, *light.COMMANDS], ids=lambda command: command.where)
def test_help_of_a_command_has_no_brackets_that_would_not_be_printed(command: Later) -> None:
    assert [text for text in helps_of(command) if SWALLOWED.search(text)] == []


@pytest.mark.parametrize(
    "command",
    [*COMMANDS, *bot.COMMANDS, *light.COMMANDS, *light_bot.COMMANDS],
    ids=lambda command: command.where,
)
def test_help_of_a_command_in_the_list_is_the_first_paragraph_of_its_own(command: Later) -> None:
    first = command.real.help.partition("\n\n")[0]
    assert command.help == " ".join(first.split())

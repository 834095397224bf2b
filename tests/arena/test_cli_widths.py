"""Output for people, on real terminals of several widths and in a pipe, with the longest names allowed."""

import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from arena.bots import versions
from arena.bots.journal import DatabaseJournal
from arena.host.settings import Settings
from referee.matches.journal import Entry, EntryKind
from tests.arena.fakes import ROOT
from tests.arena.random_play import play_randomly
from tests.arena.world import World
from tests.tied import tied

CUP = "z" * 39
NAMES = [f"{'q' * 38}{number}/{'x' * 38}{number}" for number in range(4)]
"""Names of letters that are rare elsewhere, so that counting letters shows whether the names are complete."""

HOST = f"{'j' * 60}.example.org:8710"

LENGTHS = {"z": 39, "q": 38, "x": 38, "j": 60}
"""How many times each letter occurs in a row in these names."""

WIDTHS = (60, 80, 120)
COMMANDS = [
    ["tournament", "list"],
    ["tournament", "standings", CUP, "--crosstable"],
    ["tournament", "pairings", CUP],
    ["leaderboard"],
    ["bot", "show", NAMES[0]],
    ["bot", "history", NAMES[0]],
    ["bot", "versus", NAMES[0], NAMES[1]],
    ["crosstable", *NAMES],
    ["match", "list"],
    ["deal", "find", "swing"],
    ["bot", "list"],
    ["bot", "log", NAMES[0]],
    ["bot", "games", NAMES[0], "--limit", "3"],
    ["bot", "games", NAMES[0], "--limit", "1", "--whole"],
    ["match", "show", CUP, "1", "1"],
    ["match", "seating", "8", "8"],
    ["rules", "list"],
    ["config"],
]

RUN_ALL = """
import fcntl, struct, sys, termios
from referee.cli.app import run
commands = [command.split("\\n") for command in sys.stdin.read().split("\\n\\n")]
for width in sys.argv[2:] or [""]:
    if width:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 40, int(width), 0, 0))
    for command in commands:
        assert run(["--data", sys.argv[1], *command]) == 0, command
        print("=====", flush=True)
"""
"""Runs all commands read from standard input, where each argument of a command has a line of its own.

Its arguments are the arena's folder, and the widths that its terminal has one after another.
"""


@pytest.fixture
def environment(world: World, settings: Settings) -> dict[str, str]:
    """Make an arena with long names to show, and return the environment of the commands."""
    registered = [versions.register_version(world.storage, ROOT, name, world.clock()) for name in NAMES]
    world.finish(world.tournament_of(NAMES, name=CUP).id, play_randomly)
    details = {"deal": 2, "action": 17, "hand": "3D 4D 5D 6D 7D 8D 9D TD JD QD KD AD 2D", "faults": 3}
    with DatabaseJournal(world.storage, HOST) as journal:
        journal.add(Entry(1, EntryKind.CONNECTED, "", "connected"))
        journal.add(Entry(1, EntryKind.FAULT, "timeout", "late " * 40, f"{CUP}/1/1/1", details))
    clean = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    return clean | {"ARENA_TOKEN": registered[0].token, "ARENA_LISTEN": HOST, "ARENA_REFEREES": HOST}


def shown_on_terminals(data: Path, environment: dict[str, str]) -> list[str]:
    """Return what each of the commands prints on a terminal, of one width after another."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        tied(sys.executable, "-c", RUN_ALL, data, *map(str, WIDTHS)),
        stdin=subprocess.PIPE,
        stdout=theirs,
        stderr=theirs,
        env=environment,
    ) as process:
        os.close(theirs)
        assert process.stdin is not None
        process.stdin.write("\n\n".join("\n".join(command) for command in COMMANDS).encode())
        process.stdin.close()
        printed = b""
        with suppress(OSError):  # this is how a terminal ends
            while more := os.read(ours, 65_536):
                printed += more
    os.close(ours)
    assert process.returncode == 0, printed.decode()
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", printed.decode().replace("\r\n", "\n"))
    return text.split("=====\n")[:-1]


def shown_in_a_pipe(data: Path, environment: dict[str, str]) -> list[str]:
    """Return what each of the commands prints into a pipe."""
    done = subprocess.run(
        [sys.executable, "-c", RUN_ALL, str(data)],
        input="\n\n".join("\n".join(command) for command in COMMANDS),
        capture_output=True,
        text=True,
        env=environment,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split("=====\n")[:-1]


def test_commands_fold_nothing_in_a_pipe_and_cut_nothing_on_a_terminal_of_any_width(
    settings: Settings, environment: dict[str, str]
) -> None:
    in_pipe = shown_in_a_pipe(settings.data, environment)
    assert_nothing_folded(dict(zip(map(tuple, COMMANDS), in_pipe, strict=True)))
    on_terminals = shown_on_terminals(settings.data, environment)
    commands = [(width, *command) for width in WIDTHS for command in COMMANDS]
    for command, shown, whole in zip(commands, on_terminals, in_pipe * len(WIDTHS), strict=True):
        assert_all_there(command, shown, whole)


def assert_all_there(command: tuple[object, ...], shown: str, whole: str) -> None:
    """Assert that all long names and all numbers in the pipe are on the terminal too."""
    assert "…" not in shown, command
    for letter, length in LENGTHS.items():
        rest = re.sub(f"{letter}{{10,}}", "", whole)
        times, missing = divmod(shown.count(letter) - rest.count(letter), length)
        assert missing == 0, (command, letter)
        assert (times > 0) == (rest != whole), (command, letter)
    if command[1] not in ("bot", "config"):  # these show addresses, whose numbers may be folded
        numbers = set(re.findall(r"(?<![\w.])-?\d+(?:[./]\d+)?(?![\w.])", whole))
        assert {number for number in numbers if number not in shown} == set(), command


def assert_nothing_folded(shown: dict[tuple[str, ...], str]) -> None:
    for command, text in shown.items():
        assert "…" not in text, command
        for letter, length in LENGTHS.items():
            assert {len(run) for run in re.findall(f"{letter}{{10,}}", text)} <= {length}, command
    assert len(shown["tournament", "list"].splitlines()) == 3
    assert f"  {'late ' * 40}".rstrip() in shown["bot", "log", NAMES[0]].splitlines()

"""What every command does with numbers out of range, and with output that is closed, full or ASCII only."""

import io
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

import pytest

from arena.cli.local import arena_command
from referee.cli.app import run
from tests.arena.cli import Result, assert_one_line
from tests.arena.everywhere import CALLS, ENDLESS, INPUT, call, commands, connect_all
from tests.examples import some
from tests.tied import tied

COMMANDS = dict(commands())

ANSWERED = (0, 1)
"""Exit statuses of a command that did what was asked; 1 where it found something wrong, as doctor does."""

EIGHT = " ".join(f"--entrant member-{number}/bot" for number in range(8))

TOO_LARGE = (10**30, -(10**30), 2**63)


@pytest.fixture(autouse=True)
def all_connected(monkeypatch: pytest.MonkeyPatch) -> None:
    connect_all(monkeypatch)


@pytest.fixture(autouse=True)
def given_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(INPUT.encode())))


def test_every_command_is_called_or_there_is_a_reason_why_not() -> None:
    assert {*CALLS, *ENDLESS} == {*COMMANDS}


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_every_command_has_a_short_name(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*name.split(), "-h"]) == 0
    assert f"Usage: arena {name}" in capsys.readouterr().out


def numbers(name: str) -> Iterator[tuple[str, Any]]:
    for parameter in COMMANDS[name].params:
        kind = getattr(parameter, "type_descriptor", None)
        if kind is not None and kind.annotation in (int, float):
            yield name, parameter


NUMBERS = [one for name in CALLS for one in numbers(name)]


def replaced(name: str, parameter: Any, value: int, folder: Path) -> list[str]:
    """Return the call of a command with another value for one of its parameters."""
    arguments = call(name, folder)
    if parameter.param_type_name == "option":
        end = arguments.index("--") if "--" in arguments else len(arguments)
        return [*arguments[:end], f"{parameter.opts[0]}={value}", *arguments[end:]]
    places = [one.name for one in COMMANDS[name].params if one.param_type_name == "argument"]
    at = 2 + len(name.split()) + places.index(parameter.name)
    return [*arguments[:at], str(value), *arguments[at + 1 :]]


@pytest.mark.parametrize("value", TOO_LARGE)
@pytest.mark.parametrize(("name", "parameter"), NUMBERS, ids=[f"{name} {one.name}" for name, one in NUMBERS])
def test_number_when_it_is_out_of_range_then_one_line_says_so(
    name: str, parameter: Any, value: int, everything: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = run(replaced(name, parameter, value, everything))
    assert_one_line(Result(status, *capsys.readouterr()), status)
    assert status in (1, 2)


@pytest.mark.parametrize(
    "arguments",
    [
        "bot revoke owner-0/bot-0@N",
        "bot log owner-0/bot-0@N --token TOKEN",
        f"tournament create --name x --format knockout --ruleset chinese {EIGHT} --option advance=N",
        "tournament enter waiting owner-0/bot-0@N",
        "leaderboard --ruleset chinese@N",
        "rules show chinese@N",
    ],
)
def test_number_in_a_text_when_it_is_out_of_range_then_one_line_says_so(
    arguments: str, everything: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = arguments.replace("N", str(10**30)).split()
    status = run(["--data", str(everything / "data"), *words])
    assert_one_line(Result(status, *capsys.readouterr()), 1, str(10**30))


def run_into(
    out: TextIO, name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str]:
    """Return the exit status of a command that writes to ``out``, and its errors without other messages."""
    capsys.readouterr()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        try:
            status = run(call(name, folder))
        except SystemExit as ended:  # which is how Typer reacts to a pipe that nobody reads
            status = int(str(ended.code))
        with suppress(BrokenPipeError):
            out.close()
    told = capsys.readouterr().err.splitlines(keepends=True)
    return status, "".join(line for line in told if not line.startswith(("warning: ", "play: ")))


@pytest.mark.parametrize("name", some([*CALLS]))
def test_output_when_it_cannot_show_every_character_then_others_stand_for_them(
    name: str, everything: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with (everything / "out").open("w", encoding="ascii") as out:
        status, err = run_into(out, name, everything, monkeypatch, capsys)
    assert (status in ANSWERED, err) == (True, "")
    assert (everything / "out").read_text(encoding="ascii")


@pytest.mark.parametrize("name", some([*CALLS]))
def test_output_when_the_disk_is_full_then_one_line_says_so(
    name: str, everything: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with open("/dev/full", "w", encoding="utf-8") as out:
        found = run_into(out, name, everything, monkeypatch, capsys)
    assert found == (1, "error: cannot write the output: No space left on device\n")


@pytest.mark.parametrize("name", some([*CALLS]))
def test_output_when_nobody_reads_it_then_the_command_ends_quietly(
    name: str, everything: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    out = os.fdopen(writer, "w", encoding="utf-8")
    assert run_into(out, name, everything, monkeypatch, capsys) == (1, "")


@pytest.mark.parametrize(
    ("redirected", "status", "told"),
    [
        (">/dev/full", 1, "error: cannot write the output: No space left on device\n"),
        (">&-", 0, ""),
        ("<&-", 0, ""),
        ("2>&- >/dev/full", 1, ""),
        ("2>/dev/full >/dev/full", 1, ""),
    ],
)
def test_process_when_its_streams_are_closed_or_full_then_it_ends_as_it_should(
    redirected: str, status: int, told: str, tmp_path: Path
) -> None:
    script = f'exec "$@" {redirected}'
    command = tied("sh", "-c", script, "sh", *arena_command("--data", str(tmp_path), "rules", "list"))
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, stdout=subprocess.DEVNULL)
    assert (done.returncode, done.stderr) == (status, told)


def test_process_when_its_locale_has_ascii_alone_then_other_characters_are_spelled_out(
    tmp_path: Path,
) -> None:
    environment = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for arguments, part in (
        ("rules show chinese", "..."),
        (f"--data {tmp_path}/d\xf6 config", "PYTHONUTF8=1"),
    ):
        command = tied(*arena_command(*arguments.split()))
        done = subprocess.run(command, env=environment, capture_output=True)
        assert part in (done.stdout + done.stderr).decode("ascii")
        assert b"codec" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        ("tournamen list", "tournament"),
        ("tournament lst", "list"),
        ("tournament show cupp", "cup"),
        ("tournament create --name x --format swis --ruleset chinese --entrant member-1/bot", "swiss"),
        ("tournament enter waiting member-1/bott", "member-1/bot"),
        ("bot revoke owner-0/bot-0@9", "owner-0/bot-0@1"),
        ("bot list --owner ownr-1", "owner-1"),
        ("league show wintr", "winter"),
        ("league join winter member-1/bt", "member-1/bot"),
        ("token revoke organizer", "organiser"),
        ("leaderboard --ruleset chines", "chinese"),
        ("rules show hong-kon", "hong-kong"),
    ],
)
def test_name_when_it_is_like_one_that_there_is_then_that_is_suggested(
    arguments: str, meant: str, everything: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = run(["--data", str(everything / "data"), *arguments.split()])
    out, err = capsys.readouterr()
    assert_one_line(Result(status, out, err.lower()), status, f"did you mean '{meant}'?")


def test_entrants_when_several_are_unknown_then_each_has_a_line(
    everything: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entrants = ["--entrant", "member-1/bott", "--entrant", "member-2/bot", "--entrant", "zoe/zigzag"]
    cup = ["--name", "new", "--format", "swiss", "--ruleset", "chinese", "--rounds", "1"]
    assert run(["--data", str(everything / "data"), "tournament", "create", *cup, *entrants]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "error: no bot 'member-1/bott'; did you mean 'member-1/bot'?",
        "error: no bot 'zoe/zigzag'; register it first",
    ]

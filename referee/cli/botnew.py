"""``arena bot new``: write a starter bot, and say that it works only once it is built and checked."""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from referee.cli.botcheck import run_to_end
from referee.cli.output import MOST, AsJson, print_json, say
from referee.errors import RefereeError
from referee.local.programs import signal_group
from referee.processes.interrupts import FORCE
from referee.reading.names import NAME, NAME_RULE, near_name
from referee.samples import TOOLCHAINS, Toolchain, starter, typed

QUICK = ("HELLO-01", "TURN-01", "TURN-02", "TURN-03", "TURN-06", "TURN-10", "SESS-01", "PING-01", "END-01")
"""Scenarios of the check that a new bot is taken through."""
BUILD_SECONDS = 600
"""How long each step of the build may take by default; gRPC for C++ takes minutes on a small machine."""
SHOWN_LINES = 12


class NotChecked(RefereeError):
    """A starter was written, but it is not known whether it works."""


class Taken(RefereeError):
    """The folder for a starter exists already, or cannot be written."""


class BotNameWrong(RefereeError):
    """A bot could not be registered under that name."""


def _language(text: str) -> str:
    """Return a language in lower case. Raise BadParameter, which says how to do without a starter."""
    language = text.lower()
    if language not in TOOLCHAINS:
        raise typer.BadParameter(
            f"no starter for {text!r}, only for {', '.join(TOOLCHAINS)}; for bots in any language, "
            "docs/protocol.md (on the pages of an arena, /guide/protocol) describes the protocol, and "
            "`arena bot check NAME -- COMMAND` tries a bot"
        )
    return language


def new(
    folder: Annotated[Path, typer.Argument(metavar="NAME", help="A new folder, with the name of the bot.")],
    language: Annotated[
        str,
        typer.Option(parser=_language, metavar="|".join(TOOLCHAINS), help="What the bot is written in."),
    ] = "python",
    build_seconds: Annotated[
        float, typer.Option(min=1, max=MOST, help="Seconds that each step of the build may take.")
    ] = BUILD_SECONDS,
    as_json: AsJson = False,
) -> None:
    """Create a folder with a starter bot, build the bot, and check that it works.

    Nothing is overwritten. If the language is not installed, or the build fails, the bot is written but not
    checked; the error says how to go on.
    """
    tools = TOOLCHAINS[language]
    files = write(folder, language)
    if not as_json:
        say(f"{folder}: {files} files; your strategy is in {tools.strategy}")
    missing = [tool for tool in tools.tools if shutil.which(tool) is None]
    if missing:
        raise NotChecked(
            f"{folder} is written, but not checked: {' and '.join(missing)} not found; see {tools.where}"
        )
    for number, step in enumerate(tools.steps):
        if not as_json:
            say(f"$ {typed(step)}")
        if wrong := _build(folder, step, build_seconds):
            raise NotChecked(
                f"{folder} is written, but not checked: `{typed(step)}` {wrong}; "
                f"to go on: {_rest(folder, tools, number)}"
            )
    passed = _check(folder, tools.start)
    if as_json:
        strategy = str(folder / tools.strategy)
        print_json({"folder": str(folder), "language": language, "strategy": strategy, "passed": passed})
        return
    say(
        f"built, tested and checked in {passed} scenarios: it works. {folder / 'README.md'} says how to go on"
    )


def write(folder: Path, language: str) -> int:
    """Write a starter and return how many files it has. Raise Taken, or BotNameWrong for the name."""
    if os.path.lexists(folder):
        raise Taken(f"{folder} is there already, and nothing is overwritten: name another folder")
    if not NAME.fullmatch(folder.name):
        near = near_name(folder.name)
        hint = f"; {near} can be" if near else ""
        raise BotNameWrong(f"{folder.name!r} cannot be registered as a bot's name: {NAME_RULE}{hint}")
    try:
        return _written(folder, language)
    except OSError as error:
        raise Taken(f"cannot write {error.filename or folder}: {error.strerror}") from None


def _written(folder: Path, language: str) -> int:
    files = starter(language, folder.name)
    for name, content in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    (folder / ".gitignore").write_text("".join(f"{name}\n" for name in TOOLCHAINS[language].ignored))
    return len(files) + 1


def _rest(folder: Path, tools: Toolchain, number: int) -> str:
    """Return what is left to do from a step of the build on, as typed in a shell."""
    check = f"arena bot check {shlex.quote(folder.name)} -- {tools.start_command}"
    return " && ".join([f"cd {shlex.quote(str(folder))}", *map(typed, tools.steps[number:]), check])


def _build(folder: Path, step: Sequence[str], seconds: float) -> str:
    """Run a step in the folder, and end all that it started if it takes longer.

    Return what went wrong; the last lines that it printed go to standard error.
    """
    program = shutil.which(step[0]) or step[0]
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        try:
            process = subprocess.Popen(
                [program, *step[1:]],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            return f"cannot be started: {error.strerror}"
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            wrong = f"took longer than {seconds:g} s, which --build-seconds changes"
        else:
            wrong = f"ended with status {status}" if status else ""
        finally:
            signal_group(process, FORCE)
            process.wait()
        if wrong:
            output.seek(0)
            lines = output.read().splitlines()[-SHOWN_LINES:]
            print(*(f"  | {line}" for line in lines), sep="\n", file=sys.stderr)
    return wrong


def _check(folder: Path, start: Sequence[str]) -> int:
    """Check the bot; return how many scenarios it passed. Raise NotChecked if it does not pass all."""
    from referee.check import check

    command = [*start[:-1], str((folder / start[-1]).absolute())]
    report = run_to_end(check(command=command, scenarios=QUICK, bot=folder.name))
    if not report.passed:
        wrong = next(result for result in report.results if result.outcome == "failed")
        raise NotChecked(f"{folder} is written, but does not pass the check: {wrong.code}: {wrong.reason}")
    return len(report.results)

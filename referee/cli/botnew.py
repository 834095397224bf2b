"""``arena bot new``: write a starter bot, and say that it works only once it is built and checked."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from referee.cli.botcheck import run_to_end
from referee.cli.output import AsJson, print_json, say
from referee.errors import RefereeError
from referee.names import NAME, NAME_RULE, near_name
from referee.samples import starter

QUICK = ("HELLO-01", "TURN-01", "TURN-02", "TURN-03", "TURN-06", "TURN-10", "SESS-01", "PING-01", "END-01")
"""Scenarios of the check that a new bot is taken through."""
BUILD_SECONDS = 600
SHOWN_LINES = 12


class Toolchain(NamedTuple):
    """How a bot in a language is built, tested and started, in its folder."""

    tools: tuple[str, ...]
    """Programs that must be there."""
    where: str
    """Where to get them."""
    steps: tuple[tuple[str, ...], ...]
    start: tuple[str, ...]
    """The last word is a path in the folder."""
    ignored: tuple[str, ...]
    """What in the folder is not source, for its ``.gitignore``."""


TOOLCHAINS: dict[str, Toolchain] = {
    "python": Toolchain(
        (), "", ((sys.executable, "-m", "unittest"),), (sys.executable, "bot.py"), ("__pycache__/",)
    ),
    "cpp": Toolchain(
        ("cmake", "c++", "pkg-config", "protoc", "grpc_cpp_plugin"),
        "https://grpc.io/docs/languages/cpp; on Debian, apt install "
        "cmake g++ pkg-config libgrpc++-dev libprotobuf-dev libssl-dev protobuf-compiler-grpc libgtest-dev",
        (
            ("cmake", "-S", ".", "-B", "build"),
            ("cmake", "--build", "build"),
            ("ctest", "--test-dir", "build", "--output-on-failure"),
        ),
        ("build/bot",),
        ("/build/",),
    ),
    "go": Toolchain(
        ("go",),
        "https://go.dev/dl",
        (("go", "test", "."), ("go", "build", "-o", "bot", ".")),
        ("bot",),
        ("/bot",),
    ),
    "java": Toolchain(
        ("java", "mvn"),
        "https://adoptium.net and https://maven.apache.org",
        (("mvn", "--batch-mode", "--quiet", "package"),),
        ("java", "-jar", "target/bot.jar"),
        ("/target/",),
    ),
    "rust": Toolchain(
        ("cargo",),
        "https://rustup.rs",
        (("cargo", "test", "--release"), ("cargo", "build", "--release")),
        ("target/release/bot",),
        ("/target/",),
    ),
    "typescript": Toolchain(
        ("node", "npm"),
        "https://nodejs.org",
        (("npm", "ci", "--no-audit", "--no-fund", "--prefer-offline"), ("npm", "test")),
        ("node", "dist/src/main.js"),
        ("dist/", "node_modules/"),
    ),
}


class NotChecked(RefereeError):
    """A starter was written, but it is not known whether it works."""


class Taken(RefereeError):
    """The folder for a starter exists already, or cannot be written."""


class BotNameWrong(RefereeError):
    """A bot could not be registered under that name."""


def _known(text: str) -> str:
    """Return a language in lower case. Raise BadParameter, which says how to do without a starter."""
    language = text.lower()
    if language not in TOOLCHAINS:
        raise typer.BadParameter(
            f"there is no starter in {text!r}, only in {', '.join(TOOLCHAINS)}; for bots in any language, "
            "docs/protocol.md (on the pages of an arena, /guide/protocol) describes the protocol, and "
            "`arena bot check NAME -- COMMAND` tries a bot"
        )
    return language


def new(
    folder: Annotated[Path, typer.Argument(metavar="NAME", help="A new folder, with the name of the bot.")],
    language: Annotated[
        str,
        typer.Option(parser=_known, metavar="|".join(TOOLCHAINS), help="What the bot is written in."),
    ] = "python",
    as_json: AsJson = False,
) -> None:
    """Create a folder with a starter bot, build the bot, and check that it works.

    Nothing is overwritten. If the language is not installed, the bot is written but not checked.
    """
    tools = TOOLCHAINS[language]
    files = write(folder, language)
    if not as_json:
        say(f"{folder}: {files} files; your strategy is in {_strategy(language)}")
    missing = [tool for tool in tools.tools if shutil.which(tool) is None]
    if missing:
        raise NotChecked(
            f"{folder} is written, but not checked: {' and '.join(missing)} not found; see {tools.where}"
        )
    for step in tools.steps:
        if not as_json:
            say(f"$ {_shown(step)}")
        _build(folder, step)
    passed = _check(folder, tools.start)
    if as_json:
        strategy = str(folder / _strategy(language))
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


def _strategy(language: str) -> str:
    return {
        "python": "bot.py",
        "cpp": "src/bot/planner.cpp",
        "go": "strategy.go",
        "java": "src/main/java/bigtwo/bot/Planner.java",
        "rust": "src/strategy.rs",
        "typescript": "src/strategy.ts",
    }[language]


def _build(folder: Path, step: Sequence[str]) -> None:
    """Run a step in the folder. Raise NotChecked, with the last lines that it printed, if it fails."""
    program = shutil.which(step[0]) or step[0]
    try:
        done = subprocess.run(
            [program, *step[1:]],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=BUILD_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotChecked(f"{folder} is written, but not checked: `{_shown(step)}`: {error}") from None
    if done.returncode:
        lines = (done.stdout + done.stderr).splitlines()[-SHOWN_LINES:]
        print(*(f"  | {line}" for line in lines), sep="\n", file=sys.stderr)
        raise NotChecked(
            f"{folder} is written, but not checked: `{_shown(step)}` ended with status {done.returncode}"
        )


def _shown(step: Sequence[str]) -> str:
    return " ".join(["python" if word == sys.executable else word for word in step])


def _check(folder: Path, start: Sequence[str]) -> int:
    """Check the bot; return how many scenarios it passed. Raise NotChecked if it does not pass all."""
    from referee.check import check

    command = [*start[:-1], str((folder / start[-1]).absolute())]
    report = run_to_end(check(command=command, scenarios=QUICK, bot=folder.name))
    if not report.passed:
        wrong = next(result for result in report.results if result.outcome == "failed")
        raise NotChecked(f"{folder} is written, but does not pass the check: {wrong.code}: {wrong.reason}")
    return len(report.results)

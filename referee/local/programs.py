"""The bots named on a command line, and those that run as processes of their own."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from referee.errors import ProgramError
from referee.processes.child import tied
from referee.processes.console import ROUTINE, last_words
from referee.processes.environment import environment_for_bots, safely
from referee.processes.interrupts import FORCE
from referee.reading.names import near_name
from referee.reading.plain import plain
from referee.reading.validation import suggestion


class Revision(NamedTuple):
    """A file at a revision."""

    file: Path
    name: str
    """The revision's name: a tag, a branch or a commit."""


def revision_of(text: str) -> Revision | None:
    """Return the file and the revision in a text such as ``my_bot.py@v1``; None if it has another form."""
    file, at, name = text.rpartition(".py@")
    return Revision(Path(f"{file}.py"), name) if at and file and name else None


def checked_out(revision: Revision, into: Path) -> Path:
    """Write a file's folder, as it was at a revision, into a folder, and return the file there.

    The repository and its index stay as they are. Raise ProgramError if there is no such revision or file.
    """
    text = f"{revision.file}@{revision.name}"
    beside = revision.file.absolute().parent
    if not beside.is_dir():
        raise ProgramError(text, f"folder {beside} does not exist")
    top = _git(text, beside, "rev-parse", "--show-toplevel")
    commit = _commit(text, beside, revision.name)
    within = _git(text, beside, "rev-parse", "--show-prefix")
    file = f"{within}{revision.file.name}"
    if not _git(text, beside, "ls-tree", "--full-tree", "--name-only", commit, "--", file):
        raise ProgramError(text, f"{file} is not in revision {revision.name}")
    into.mkdir(parents=True)
    index = {"GIT_INDEX_FILE": str(into / "index")}
    files = into / "files"
    _git(text, Path(top), "read-tree", f"{commit}:{within}", environment=index)
    _git(text, Path(top), "checkout-index", "--all", f"--prefix={files}/", environment=index)
    return files / revision.file.name


def _commit(text: str, folder: Path, name: str) -> str:
    try:
        return _git(
            text, folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"
        )
    except ProgramError:
        raise ProgramError(text, f"revision {name!r} not found") from None


def _git(text: str, folder: Path, *arguments: str, environment: Mapping[str, str] | None = None) -> str:
    """Return what git prints, without the final newline. Raise ProgramError with its message if it fails."""
    inherited = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],  # noqa: S607 as the author's own path has it
            capture_output=True,
            encoding=sys.getfilesystemencoding(),
            errors=sys.getfilesystemencodeerrors(),
            env={**inherited, **(environment or {})},
        )
    except FileNotFoundError:
        raise ProgramError(text, "git is not installed") from None
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"git {arguments[0]} failed"]
        raise ProgramError(text, said[0].removeprefix("fatal: "))
    return done.stdout.rstrip("\n")


class Program(NamedTuple):
    """A bot named on a command line."""

    name: str
    """The name that is shown."""
    file: Path | None
    """Its Python file; None for a command."""
    command: tuple[str, ...]
    """What starts it as a process of its own."""


def program(text: str, samples: Mapping[str, Path], folder: Path) -> Program:
    """Return the bot of this name. Raise ProgramError if there is none.

    An older revision of a file is written into ``folder``.
    """
    if text in samples:
        return of_file(text, samples[text])
    path = Path(text)
    if text.endswith(".py") and path.is_file():
        return of_file(path.stem, path.absolute())
    if (revision := revision_of(text)) is not None:
        into = folder / f"{len([*folder.iterdir()])}"
        return of_file(f"{revision.file.stem}@{revision.name}", checked_out(revision, into))
    words = [text] if os.sep in text and path.is_file() else _words(text)
    if text.endswith(".py") and len(words) == 1:
        raise ProgramError(text, "file does not exist")
    if not words or shutil.which(words[0]) is None:
        if words and (why := why_not_started(words[0])):
            raise ProgramError(text, why)
        near = suggestion(text, [*samples]) or f"; the sample bots are {', '.join(samples)}"
        raise ProgramError(text or "''", f"is not a sample bot, Python file or program{near}")
    return Program(text, None, tuple(words))


def why_not_started(name: str) -> str:
    """Return why the file or folder of this name is not a program; empty if there is none."""
    path = Path(name)
    if path.is_dir():
        return f"{name} is a folder, not a program"
    if path.is_file() and not os.access(path, os.X_OK):
        return f"{name} is not executable: put its interpreter before it, or chmod +x it"
    if path.is_file() and os.sep not in name:
        return f"{name} is not a program on the PATH, but a file here; use ./{name}"
    return ""


def of_file(name: str, path: Path) -> Program:
    """Return the bot of a Python file."""
    return Program(name, path, tuple(safely("referee", "bot", "run", str(path))))


def told_apart(programs: Sequence[Program], texts: Sequence[str]) -> list[Program]:
    """Return the programs with distinct names: those that share a name get the text that was given."""
    names = [program.name for program in programs]
    return [
        program._replace(name=text) if names.count(program.name) > 1 else program
        for program, text in zip(programs, texts, strict=True)
    ]


def slug(name: str) -> str:
    """Return the name of a bot in the form that names have in matches."""
    return near_name(name) or "bot"


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise ProgramError(text, str(error).lower()) from None


GRACE_SECONDS = 2.0
"""How long bots have to end when they are told to."""
POLL_SECONDS = 0.05


@dataclass
class Child:
    """A bot's process."""

    name: str
    process: "subprocess.Popen[bytes]"
    log: Path
    """The file that takes its output."""

    def printed(self) -> list[str]:
        """Return the lines that it printed, without what the SDK logs when nothing is wrong."""
        text = self.log.read_text(encoding="utf-8", errors="replace")
        return [plain(line) for line in text.splitlines() if line.strip() and not ROUTINE.match(line)]


class Children:
    """A context whose end ends the bots' processes started in it. Their output goes to ``folder``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._children: list[Child] = []

    def start(self, name: str, command: Sequence[str], variables: Mapping[str, str]) -> None:
        """Start a bot with ``variables`` in its environment. Raise ProgramError if it is not found."""
        log = self._folder / f"{len(self._children)}.log"
        try:
            with log.open("wb") as file:
                process = subprocess.Popen(
                    tied(*command),
                    stdin=subprocess.DEVNULL,
                    stdout=file,
                    stderr=subprocess.STDOUT,
                    env=environment_for_bots(variables),
                    start_new_session=True,  # Ctrl-C is for the parent, which then ends its children
                )
        except OSError as error:
            raise ProgramError(name, f"cannot be started: {error.strerror}") from None
        self._children.append(Child(name, process, log))

    def check(self) -> None:
        """Raise ProgramError if one of them has ended."""
        for child in self._children:
            status = child.process.poll()
            if status is not None:
                how = f"by {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
                said = last_words(child.printed())
                raise ProgramError(child.name, f"ended {how}{said and f'; {said}'}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        running = [child.process for child in self._children]
        for process in running:
            signal_group(process, signal.SIGTERM)
        deadline = time.monotonic() + GRACE_SECONDS
        while time.monotonic() < deadline and any(process.poll() is None for process in running):
            time.sleep(POLL_SECONDS)
        for process in running:
            signal_group(process, FORCE)
            process.wait()


def signal_group(process: "subprocess.Popen[bytes]", number: signal.Signals) -> None:
    """Signal a child, if it runs, and all that it started: it leads a process group of its own."""
    if process.poll() is not None:
        return
    if sys.platform == "win32":
        process.terminate()
    else:
        os.killpg(process.pid, number)

"""The commands and files of README.md, used as a new user uses them: all work, one after another."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

import pytest

from arena.cli.demo import BOTS, TOURNAMENTS
from tests.arena.ports import free_address
from tests.tied import tied
from tests.waiting import DEADLINE, wait_for

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")

ELSEWHERE = {
    "make demo": "tests/test_wheel.py runs the demo",
    "make test": "this is one of them",
    "source .venv/bin/activate": "the tests' own environment is that one",
    "arena up": "the fixture runs it",
}
"""Commands that are not run here, and why."""

SMALLER = {
    "arena play my_bot.py  ": "arena play my_bot.py --deals 2  ",
    "arena play my_bot.py --save": "arena play my_bot.py --deals 2 --seed a --save",
    "arena bot explain lost.jsonl": "arena bot explain --seconds 1 lost.jsonl",
    "arena bot check me/my-bot --": "arena bot check me/my-bot --scenario PING-01 --",
    "rounds = 7\n": "rounds = 2\n",
    "sessions = 24 ": "sessions = 2 ",
    "deals = 10 ": "deals = 3 ",
}
"""What is run instead of what is shown, so that it takes seconds."""

EXPECTED = ("is not connected", "which may do all that you may")
"""The ends of remarks that the README's commands print."""

IN_BACKGROUND = re.compile(r"python my_bot\.py$|& done")
"""Commands that start bots, which run until they are stopped."""


CONNECTED = " is connected to referee "
"""What a bot logs once it is connected; if it is not there in time, the match is forfeited."""


def blocks(kind: str) -> Iterator[str]:
    yield from re.findall(rf"^```{kind}\n(.*?)^```", smaller(README), flags=re.M | re.S)


def smaller(text: str) -> str:
    for shown, run in SMALLER.items():
        assert shown in text, shown
        text = text.replace(shown, run)
    return text


def shown_commands() -> list[str]:
    """Return the commands without the comments that follow them."""
    lines = [line for block in blocks("console") for line in block.splitlines()]
    return [re.sub(r"  +# .*", "", line.removeprefix("$ ")) for line in lines if line.startswith("$ ")]


def shown_files() -> dict[str, str]:
    """Return the files by name, which is in the first line of each."""
    texts = [*blocks("toml"), *blocks("python")]
    return {text.partition("\n")[0].removeprefix("# "): text for text in texts}


class User:
    """Somebody at a shell in an otherwise empty folder, with an arena running."""

    def __init__(self, folder: Path) -> None:
        address = free_address()
        self.folder = folder
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith("ARENA_")
        } | {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "ARENA_LISTEN": address,
            "ARENA_REFEREE": address,
            "ARENA_WEB_LISTEN": free_address(),
            "ARENA_BOT_LOG": "off",
        }
        self.token = ""
        self.started: list[subprocess.Popen[bytes]] = []

    def run(self, command: str) -> None:
        """Run a command as shown; assert that it succeeds."""
        command = command.replace("ARENA_TOKEN=…", f"ARENA_TOKEN={self.token}")
        if IN_BACKGROUND.search(command):
            self.start("bash", "-c", f"{command}\nwait")
            bots = len([*(self.folder / "tokens").glob("*.token")]) if "for file" in command else 1
            self.await_bots(bots)
            return
        done = subprocess.run(
            tied("bash", "-c", command), cwd=self.folder, env=self.environment, capture_output=True, text=True
        )
        problems = [line for line in done.stderr.splitlines() if not line.endswith(EXPECTED)]
        assert (done.returncode, problems) == (0, []), (command, done.stdout, done.stderr)
        if "bot register me/my-bot" in command:
            self.token = done.stdout.splitlines()[-1]

    def start(self, *command: str) -> None:
        """Start a command that runs until it is stopped; its output goes to ``NUMBER.log``."""
        with (self.folder / f"{len(self.started)}.log").open("wb") as log:
            self.started.append(
                subprocess.Popen(
                    tied(*command),
                    cwd=self.folder,
                    env=self.environment,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            )

    def await_bots(self, bots: int) -> None:
        """Wait until this many bots of the latest command are connected, or the command has ended."""
        log, command = self.folder / f"{len(self.started) - 1}.log", self.started[-1]
        wait_for(
            lambda: command.poll() is not None or log.read_text("utf-8").count(CONNECTED) >= bots,
            seen=lambda: log.read_text("utf-8"),
        )

    def stop(self) -> None:
        """Stop everything that was started, the latest first."""
        for process in reversed(self.started):
            with suppress(ProcessLookupError):  # it has ended
                os.killpg(process.pid, signal.SIGTERM)
            process.wait()


@pytest.fixture
def user(tmp_path: Path) -> Iterator[User]:
    user = User(tmp_path)
    for name, text in shown_files().items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    try:
        user.start("arena", "up")
        wait_for(lambda: "Ctrl-C" in (tmp_path / "0.log").read_text(encoding="utf-8"))
        yield user
    finally:
        user.stop()


def test_questions_about_results_name_what_the_demo_has() -> None:
    """This way they can all be asked after `make demo`, which leaves an arena's data."""
    questions = (ROOT / "docs" / "questions.md").read_text(encoding="utf-8").partition("## Names")[0]
    asked = README.partition("## You want to know who is best")[2].partition("## Compared")[0] + questions
    bots = {*re.findall(r"\b(?:ann|bob|cy|dee|eve|fay|gus|hal|ida|me)/[a-z-]+", asked)}
    assert len(bots) > 3
    assert bots <= {*BOTS}
    named = {*re.findall(r"(?:match show|--tournament|verify) ([a-z-]+)", asked)}
    assert named == {"autumn"}
    assert "autumn" in {name for name, *_ in TOURNAMENTS}


def test_commands_of_the_readme_when_run_in_order_then_all_succeed(user: User) -> None:
    commands = shown_commands()
    assert {*ELSEWHERE} < {*commands}
    run = [command for command in commands if command not in ELSEWHERE]
    assert len(run) > 15
    for command in run:
        user.run(command)
    pages = re.search(r"^web +(http\S+)", (user.folder / "0.log").read_text(encoding="utf-8"), flags=re.M)
    assert pages
    with urlopen(pages[1], timeout=DEADLINE) as answer:
        assert answer.status == 200

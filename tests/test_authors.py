"""The pages for authors of bots: their links work, their programs run, their commands print what is shown."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from referee.local.loading import load_file
from referee.testing import play_deal
from tests.installing import Installed
from tests.parsing import parse
from tests.tied import tied

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "authors"
OTHERS = ("learning.md", "playing.md", "rewind.md", "strategies.md")
"""Pages whose commands take minutes; what they show has tests of its own."""
ALL_PAGES = sorted(path.name for path in FOLDER.glob("*.md"))
PAGES = [name for name in ALL_PAGES if name not in OTHERS]

ELSEWHERE = {
    "pip install": "tests/test_wheel.py installs both distributions",
    "ARENA_TOKEN=… ARENA_REFEREE=arena.example.org:8710 python": "tests/test_readme.py has a bot play",
    "ARENA_TOKEN=… ARENA_REFEREE=arena.example.org:8710 arena bot doctor": "tests/referee/test_bot_doctor.py",
    "ARENA_TOKEN=… arena bot log": "tests/arena/test_journal.py reads a log through a referee",
    "ARENA_TOKEN=… arena bot games": "tests/arena/test_bot_deals.py, through a referee",
    "arena bot games ann/mybot --lost --json --referee": "tests/arena/test_bot_deals.py, through a referee",
    "arena bot new": "tests/referee/test_bot_new.py",
    "arena bot test": "tests/arena/test_testmatches.py",
    "arena verify cup.jsonl --with": "tests/arena/test_bot_logs.py",
}
"""Beginnings of commands that are not run here, and where they are tested."""

SMALLER = {
    "arena play my_bot.py": "arena play my_bot.py --deals 2 --jobs 1",
    "arena bot check my_bot.py": "arena bot check my_bot.py --scenario TURN-01",
    "arena bot check me/my-bot --": "arena bot check me/my-bot --scenario TURN-01 --",
}
"""What is run instead of the commands shown, so that it takes seconds."""

WHOLE = ("arena bot register",)
"""Beginnings of commands that come with the whole arena, as the pages say.

All others run with the library alone."""


class Shown(NamedTuple):
    """A command on a page, and the output that the page shows for it."""

    command: str
    output: str


def text_of(page: str) -> str:
    return (FOLDER / page).read_text(encoding="utf-8")


def blocks(page: str, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```", text_of(page), flags=re.M | re.S)


def programs(page: str) -> dict[str, str]:
    """Return the programs of a page by file name, which is in the first line of each."""
    found = {}
    for number, text in enumerate(blocks(page, "python")):
        named = re.match(r"# (\w+\.py)", text)
        found[named[1] if named else f"block_{number}.py"] = text
    return found


def commands(page: str) -> Iterator[Shown]:
    for block in blocks(page, "console"):
        for part in block.split("$ ")[1:]:
            command, _, output = part.partition("\n")
            yield Shown(re.sub(r"  +# .*", "", command), output)


ALL = [(page, shown) for page in PAGES for shown in commands(page)]
RUN_HERE = [(page, shown) for page, shown in ALL if not shown.command.startswith(tuple(ELSEWHERE))]


@pytest.mark.parametrize("page", ALL_PAGES)
def test_links_of_a_page_lead_to_pages_and_headings(page: str) -> None:
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text_of(page)):
        name, _, heading = link.partition("#")
        target = (FOLDER / name).resolve() if name else FOLDER / page
        assert target.exists(), link
        if heading and target.suffix == ".md":
            headings = re.findall(r"^#+ (.*)", target.read_text(encoding="utf-8"), flags=re.M)
            slugs = [re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings]
            assert heading in slugs, link


def test_index_names_every_page() -> None:
    index = text_of("README.md")
    assert [name for name in ALL_PAGES if name != "README.md" and f"({name})" not in index] == []


BOTS = [
    pytest.param(page, name, id=f"{page}-{name}")
    for page in PAGES
    for name, text in programs(page).items()
    if "main(" in text
]


@pytest.mark.parametrize(("page", "name"), BOTS)
def test_bot_of_a_page_plays_a_deal(page: str, name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text(programs(page)[name])
    assert len(play_deal(load_file(file), seed=name).points) == 4


class User(NamedTuple):
    """An author, in a folder with the programs of all pages, with the library and the whole arena."""

    folder: Path
    light: Path
    whole: Path

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run a command where the pages have it run."""
        programs = self.whole if command.startswith(WHOLE) else self.light
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ARENA_")}
        environment["PATH"] = f"{programs}:{os.environ['PATH']}"
        environment["ARENA_DATA"] = str(self.folder / "data")
        return subprocess.run(
            tied("/bin/sh", "-c", command), cwd=self.folder, env=environment, capture_output=True, text=True
        )


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory, light: Installed) -> User:
    folder = tmp_path_factory.mktemp("author")
    for page in PAGES:
        for name, text in programs(page).items():
            (folder / name).write_text(text)
    user = User(folder, light.programs, Path(sys.executable).parent)
    done = subprocess.run(
        tied(user.whole / "arena", "migrate"),
        env={**os.environ, "ARENA_DATA": str(folder / "data")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return user


def test_commands_of_the_pages_work_one_after_the_other_and_print_what_is_shown(user: User) -> None:
    for page, shown in sorted(RUN_HERE, key=lambda one: "register" not in one[1].command):
        command = shown.command
        for begin, run in SMALLER.items():
            command = command.replace(begin, run) if command.startswith(begin) else command
        done = user.run(command)
        assert done.returncode == 0, (page, command, done.stderr)
        if shown.output:
            assert done.stdout == shown.output, (page, command)


@pytest.mark.parametrize("wrong", ["play a --bogus", "bot rewindd a", "bot rewind a b --turn c"])
def test_commands_that_there_are_not_are_found_out(wrong: str) -> None:
    with pytest.raises(Exception, match=r"bogus|rewindd|integer"):
        parse(wrong.split())


@pytest.mark.parametrize("command", [shown.command for page in OTHERS for shown in commands(page)])
def test_commands_that_take_minutes_are_such_as_there_are(command: str) -> None:
    program, *arguments = shlex.split(command)
    if program == "arena":
        parse(arguments)
    else:
        assert command.startswith(("pip install ", "python -m referee.learning.examples.train --out "))


def test_programs_that_are_no_bots_run(user: User) -> None:
    scripts = [name for page in PAGES for name, text in programs(page).items() if "main(" not in text]
    assert scripts
    for name in scripts:
        done = user.run(f"python {name}")
        assert (done.returncode, done.stderr) == (0, ""), name


def test_commands_that_are_not_run_here_are_all_shown_somewhere() -> None:
    shown = [one.command for _, one in ALL]
    assert [begin for begin in ELSEWHERE if not any(one.startswith(begin) for one in shown)] == []

"""The commands of documents, starters and pages, and the environments in which their readers run them.

Every command that begins with ``arena`` must exist there. Those in blocks are run by a test, or listed here.
"""

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from referee.samples import TOOLCHAINS, starter
from tests.installing import Installed
from tests.parsing import ELSEWHERE, parse, problems

ROOT = Path(__file__).resolve().parents[1]
TEMPLATES = "arena/web/templates"

LIGHT = (
    "docs/authors/*.md",
    "docs/check.md",
    "docs/languages.md",
    "docs/protocol.md",
    "docs/rules.md",
    "docs/rulesets.md",
    "docs/studies.md",
    "docs/vectors.md",
    "referee/README.md",
    "referee/starters/*/README.md",
    f"{TEMPLATES}/library.html",
    f"{TEMPLATES}/owndeals.html",
    f"{TEMPLATES}/start.html",
    f"{TEMPLATES}/version.html",
)
"""Pages whose readers have the library for authors; all others have the whole arena."""

SAYS = re.compile(r"whole arena|bigtwo-arena|install_whole|/join")
"""What a page for authors says that names a command which they have to install first."""

RUN_BY = {
    "README.md": "tests/test_readme.py",
    "docs/authors/": "tests/test_authors.py",
    "referee/starters/python/": "test_commands_of_the_starter_in_python_work_one_after_the_other, below",
}
"""Pages whose commands a test runs, as far as that test does not say why not."""

NOT_RUN = {
    "ARENA_LISTEN=0.0.0.0:8710 ARENA_REFEREES=arena.example.org:8710 arena up": "needs a host of that name",
    "ARENA_LOCAL_REFEREES=4 arena up": "tests/arena/test_up.py starts arenas with several referees",
    "ARENA_METRICS_LISTEN=127.0.0.1:9710 arena up": "tests/arena/test_metrics.py starts one with metrics",
    "ARENA_TOKEN=… ARENA_REFEREE=host:8710": "tests/sample_bots starts each bot with both",
    "ARENA_TOKEN=… build/bot": "tests/sample_bots",
    "ARENA_TOKEN=… cargo run": "tests/sample_bots runs the program that this builds",
    "ARENA_TOKEN=… java": "tests/sample_bots",
    "ARENA_TOKEN=… node": "tests/sample_bots",
    "arena --help": "tests/arena/test_cli_everywhere.py",
    "arena --server": "needs an arena at that address; tests/arena/client/test_commands.py has one",
    "arena account create": "tests/arena/accounts/test_cli_accounts.py",
    "arena backup": "tests/arena/test_backups.py",
    "arena bot check": "tests/sample_bots checks each bot",
    "arena bot describe ann/greedy --open-to": "tests/arena/test_consent.py",
    "arena bot log": "tests/arena/test_bot_logs.py",
    "arena bot register": "tests/arena/test_cli_everywhere.py",
    "arena league": "tests/arena/test_cli_leagues.py",
    "arena login": "needs an arena at that address; tests/arena/client/test_login.py has one",
    "arena play": "tests/sample_bots plays with each bot",
    "arena rating baseline": "tests/arena/test_cli_results.py",
    "arena referee": "needs another machine; tests/arena/test_referees.py has several referees here",
    "arena restore": "tests/arena/test_backups.py",
    "arena tournament": "tests/arena/test_cli_tournaments.py",
    "arena vectors export": "tests/vectors/test_vectors.py",
    "arena verify cup": "tests/arena/client/test_commands.py",
    "arena webhook": "tests/arena/test_webhooks.py",
    "cmake": "tests/sample_bots/test_cpp.py",
    "createuser": "tests/arena/test_servers_operations.py has PostgreSQL",
    "ctest": "tests/sample_bots/test_cpp.py",
    "cargo": "tests/sample_bots/test_rust.py",
    "export ARENA_SERVER": "tests/arena/client/test_commands.py",
    "go": "tests/sample_bots/test_go.py",
    "mvn": "tests/sample_bots/test_java.py",
    "npm": "tests/sample_bots/test_typescript.py",
    "pg_dump": "tests/arena/test_servers_operations.py",
    "pg_restore": "tests/arena/test_servers_operations.py",
    "pip install": "tests/test_wheel.py",
}
"""Beginnings of commands in blocks of other pages, and where they are tested or why they cannot be."""


class Shown(NamedTuple):
    """A command on a page."""

    page: str
    command: str
    in_block: bool


def pages() -> Iterator[str]:
    """Yield the paths of all pages that show commands."""
    patterns = ("README.md", "docs/**/*.md", "sample_bots/*/README.md", f"{TEMPLATES}/*.html")
    for pattern in ("referee/README.md", "referee/starters/*/README.md", *patterns):
        yield from (path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob(pattern)))


@cache
def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def is_light(page: str) -> bool:
    return any(Path(page).match(pattern) for pattern in LIGHT)


def commands_of(page: str) -> Iterator[Shown]:
    """Yield the commands of a page; what a template fills in becomes a word."""
    text = text_of(page)
    if page.endswith(".html"):
        joined = re.sub(r'" ~ [^"]+ ~ "', "X", text)
        plain = re.sub(r"\{\{.*?\}\}", "X", re.sub(r"\{#.*?#\}", "", joined))
        told = re.findall(r"(?:>|\n|\")(arena [a-zA-Z-][^<\n\"]*)(?:<|\n|\")", plain)
        yield from (Shown(page, command, False) for command in told)
        return
    for kind, block in re.findall(r"^```(\w*)\n(.*?)^```", text, flags=re.M | re.S):
        lines = block.splitlines() if kind == "console" else []
        for line in lines:
            if line.startswith("$ "):
                yield Shown(page, re.sub(r"  +# .*", "", line[2:]), True)
    prose = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    yield from (Shown(page, code, False) for code in re.findall(r"`(arena [^`\n]+)`", prose))


SHOWN = [shown for page in pages() for shown in commands_of(page)]


def arena_words(command: str) -> Iterator[list[str]]:
    """Yield the words after ``arena`` of each command of that name in a line of a shell."""
    for part in re.split(r"&&|;|\||\bdo\b|\bdone\b|&", re.sub(r" > \S+", "", command)):
        words = shlex.split(re.sub(r"^([A-Z_]+=\S+ )+", "", part.strip()))
        if words[:1] == ["arena"]:
            yield words[1:]


IN_LIGHT = [(shown, words) for shown in SHOWN if is_light(shown.page) for words in arena_words(shown.command)]
IN_WHOLE = [(shown, words) for shown in SHOWN for words in arena_words(shown.command)]


def test_commands_of_every_page_are_found() -> None:
    assert len(IN_LIGHT) > 80
    assert len(IN_WHOLE) > 400
    on = {shown.page for shown, _ in IN_WHOLE}
    assert {"README.md", "docs/api.md", "referee/starters/go/README.md", f"{TEMPLATES}/start.html"} <= on


def test_commands_of_pages_for_authors_work_with_the_library_or_the_page_says_what_they_need(
    light: Installed, tmp_path: Path
) -> None:
    shutil.copy(ROOT / "tests" / "parsing.py", tmp_path)
    (tmp_path / "commands").write_text(json.dumps([words for _, words in IN_LIGHT]))
    done = light.run("python", str(tmp_path / "parsing.py"), str(tmp_path / "commands"))
    assert done.returncode == 0, done.stderr
    told = zip(IN_LIGHT, json.loads(done.stdout), strict=True)
    wrong = [(shown, problem) for (shown, _), problem in told if problem]
    assert [(shown, problem) for shown, problem in wrong if problem != ELSEWHERE] == []
    assert {shown.page for shown, _ in wrong if not SAYS.search(text_of(shown.page))} == set()
    assert {shown.page for shown, _ in wrong}


def test_commands_of_all_pages_exist_in_the_whole_arena() -> None:
    told = zip(IN_WHOLE, problems([words for _, words in IN_WHOLE]), strict=True)
    assert [(shown, problem) for (shown, _), problem in told if problem] == []


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("bot rewindd a", "there is no command rewindd"),
        ("bot check a --no-stor", "there is no option --no-stor"),
        ("--server https://a.example leaderboard --bogus", "there is no option --bogus"),
        ("--server https://a.example leaderboard --around a/b", ""),
        ("bot check a -- ./bot --bogus", ""),
    ],
)
def test_commands_that_do_not_exist_are_noticed(command: str, problem: str) -> None:
    assert problems([command.split()]) == [problem]


def test_commands_in_blocks_are_parsed_as_a_whole() -> None:
    for shown, words in IN_WHOLE:
        if shown.in_block and not re.search(r"\b(X|MY_BOT|TOURNAMENT|FILE)\b|…", shown.command):
            parse(words)


def test_commands_in_blocks_are_all_run_or_listed() -> None:
    others = {shown.command for shown in SHOWN if shown.in_block and not shown.page.startswith(tuple(RUN_BY))}
    assert {command for command in others if not command.startswith(tuple(NOT_RUN))} == set()
    assert [begin for begin in NOT_RUN if not any(one.startswith(begin) for one in others)] == []
    places = [place.split()[0].rstrip(";,") for place in NOT_RUN.values() if place.startswith("tests/")]
    assert [place for place in places if not (ROOT / place).exists()] == []


SMALLER = {
    "arena bot check bot.py": "arena bot check bot.py --scenario TURN-01",
    "arena play bot.py greedy keeper": "arena play bot.py greedy keeper --deals 2 --jobs 1",
}
"""What is run instead of a starter's commands, so that it takes seconds."""


def test_commands_of_the_starter_in_python_work_one_after_the_other(light: Installed) -> None:
    for name, content in starter("python", "fox").items():
        (light.folder / name).write_bytes(content)
    run = [
        shown.command
        for shown in commands_of("referee/starters/python/README.md")
        if shown.in_block and not shown.command.startswith("ARENA_TOKEN")
    ]
    assert len(run) == 3
    for command in run:
        program, *arguments = SMALLER.get(command, command).split()
        done = light.run(program, *arguments)
        assert done.returncode == 0, (command, done.stdout, done.stderr)


@pytest.mark.parametrize("language", [language for language in TOOLCHAINS if language != "python"])
def test_starter_is_built_and_started_by_its_readme_as_by_the_command_that_writes_it(language: str) -> None:
    tools, readme = TOOLCHAINS[language], text_of(f"referee/starters/{language}/README.md")
    started = re.search(r"arena bot check MY_BOT --no-store -- (.*?)  +#", readme)
    assert started
    assert started[1] == tools.start_command

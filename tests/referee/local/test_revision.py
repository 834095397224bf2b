"""Tests for bots at earlier revisions of git repositories, which the tests make."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from referee.errors import ProgramError
from referee.local.loading import load_file
from referee.local.programs import Revision, checked_out, program, revision_of


def git(folder: Path, *arguments: str) -> str:
    """Run git without any user's configuration."""
    who = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    who |= {f"GIT_{role}_{what}": "a@b" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        env=os.environ | who,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def answered(path: Path) -> object:
    """Return what the bot in a file answers."""
    bot: Any = load_file(path)
    return bot(None)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository with a bot in a folder, and a helper of the bot that has changed since v1."""
    root = tmp_path / "repository"
    bots = root / "bots"
    bots.mkdir(parents=True)
    git(root, "init", "--quiet")
    (bots / "my_bot.py").write_text("from helper import choose\n")
    for version in (1, 2):
        (bots / "helper.py").write_text(f"def choose(turn):\n    return {version}\n")
        git(root, "add", "--all")
        git(root, "commit", "--quiet", "--message", f"v{version}")
        git(root, "tag", f"v{version}")
    (bots / "helper.py").write_text("def choose(turn):\n    return 3\n")
    (root / "new.py").write_text("def choose(turn):\n    return 4\n")
    return root


@pytest.mark.parametrize(("name", "answer"), [("v1", 1), ("HEAD", 2), ("HEAD~1", 1)])
def test_bot_when_it_is_named_with_a_revision_then_it_is_what_it_was_with_what_it_imports(
    repository: Path, tmp_path: Path, name: str, answer: int
) -> None:
    before = git(repository, "status", "--porcelain"), (repository / ".git" / "index").read_bytes()
    file = checked_out(Revision(repository / "bots" / "my_bot.py", name), tmp_path / "out")
    assert (git(repository, "status", "--porcelain"), (repository / ".git" / "index").read_bytes()) == before
    old, now = (answered(path) for path in (file, repository / "bots" / "my_bot.py"))
    assert (old, now) == (answer, 3)


@pytest.mark.parametrize(
    ("file", "name", "why"),
    [
        ("bots/my_bot.py", "v9", "my_bot.py@v9: revision 'v9' not found"),
        ("bots/my_bot.py", "--all", "my_bot.py@--all: revision '--all' not found"),
        ("new.py", "v1", "new.py@v1: new.py is not in revision v1"),
        ("nowhere/my_bot.py", "v1", "my_bot.py@v1: folder "),
        ("../my_bot.py", "v1", "my_bot.py@v1: not a git repository"),
    ],
)
def test_bot_when_there_is_none_at_a_revision_then_one_line_says_so(
    repository: Path, tmp_path: Path, file: str, name: str, why: str
) -> None:
    with pytest.raises(ProgramError) as caught:
        checked_out(Revision(repository / file, name), tmp_path / "out")
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bot_when_its_folder_looks_like_a_revision_then_its_file_is_taken_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "a.py@v1" / "bot.py"
    file.parent.mkdir()
    file.touch()
    assert program(str(file), {}, tmp_path).file == file


def test_revision_of_what_names_none() -> None:
    assert revision_of("my_bot.py@v1") == Revision(Path("my_bot.py"), "v1")
    assert revision_of("a.py@b.py@main~2") == Revision(Path("a.py@b.py"), "main~2")
    assert [
        revision_of(given) for given in ("greedy", "my_bot.py", "my_bot.py@", ".py@v1", "python x.py")
    ] == [None] * 5

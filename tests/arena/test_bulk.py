"""Bots registered together from a file: all or none, each with its token in a file of its own."""

import errno
import os
import stat
from collections.abc import Sequence
from pathlib import Path

import pytest
from sqlalchemy import text

from arena.bots import versions
from arena.cli import register
from arena.host.files import write_private
from arena.host.settings import Settings
from arena.people.tokens import DatabaseAuthenticator
from arena.store.storage import Storage
from tests.arena.cli import Arena, assert_one_line, make_arena
from tests.arena.fakes import ROOT, listed_versions
from tests.arena.world import World

FILE = """
[[bots]]
bot = "ann/greedy"
language = "python"

[[bots]]
bot = "a-nn/greedy"
expires_in = 30

[[bots]]
bot = "ann/keeper"
"""

NAMES = ["ann/greedy@1", "a-nn/greedy@1", "ann/keeper@1"]


@pytest.fixture
def arena(migrated: Settings, capsys: pytest.CaptureFixture[str]) -> Arena:
    return make_arena(migrated.data, capsys)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "bots.toml"
    file.write_text(FILE)
    return file


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    return tmp_path / "secret" / "tokens"


def registered(storage: Storage) -> list[str]:
    return sorted(one.bot for one in listed_versions(storage))


def test_bots_of_a_file_are_registered_each_with_its_token_in_a_private_file(
    arena: Arena, storage: Storage, file: Path, tokens: Path
) -> None:
    before = os.umask(0)
    try:
        made = arena("bot", "register", "--file", file, "--tokens", tokens, "--json").json["bots"]
    finally:
        os.umask(before)
    assert [one["bot"] for one in made] == NAMES
    assert [Path(one["token_file"]) for one in made] == [
        tokens / name for name in ("ann.greedy.token", "a-nn.greedy.token", "ann.keeper.token")
    ]
    authenticator = DatabaseAuthenticator(storage, "hush")
    for one in made:
        path = Path(one["token_file"])
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        bot = authenticator.bot(path.read_text().strip())
        assert bot is not None
        assert bot.name == one["bot"]
    assert stat.S_IMODE(tokens.stat().st_mode) == 0o700
    listed = {one.bot: one for one in listed_versions(storage)}
    assert listed["ann/greedy@1"].language == "python"
    assert [name for name, one in listed.items() if one.expires_at] == ["a-nn/greedy@1"]


def test_tokens_are_not_shown(arena: Arena, file: Path, tokens: Path) -> None:
    told = arena("bot", "register", "--file", file, "--tokens", tokens)
    assert told.status == 0
    assert [name for name in NAMES if name in told.out] == NAMES
    assert "bt_bot_" not in told.out


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ('"ann/greedy"', '"ann"', ["bots no. 1.bot: 'ann' is not of the form owner/bot"]),
        (
            '"ann/greedy"',
            '"Ann/b"\nlanguag = "go"',
            ["bots no. 1.bot: 'Ann'", "bots no. 1.languag", "language"],
        ),
        ('"ann/keeper"', '"ann/greedy"', ["bots: ann/greedy is listed 2 times"]),
        ("30", "0\n[[bots]]\nbot = 3", ["bots no. 2.expires_in", "bots no. 3.bot: 3 is not"]),
        (FILE, "", ["bots"]),
        ("[[bots]]", "[[bots", ["is not TOML"]),
    ],
)
def test_file_when_it_is_wrong_then_all_of_it_is_named_and_nothing_is_registered(
    arena: Arena, storage: Storage, file: Path, tokens: Path, old: str, new: str, found: list[str]
) -> None:
    file.write_text(FILE.replace(old, new, 1))
    refused = arena("bot", "register", "--file", file, "--tokens", tokens)
    assert (refused.status, refused.out) == (1, "")
    assert [part for part in found if part not in refused.err] == []
    assert all(line.startswith(f"error: {file}") for line in refused.err.splitlines())
    assert (registered(storage), tokens.exists()) == ([], False)


def test_bots_when_some_are_registered_already_then_all_of_them_are_named_and_none_is(
    arena: Arena, world: World, file: Path, tokens: Path
) -> None:
    for bot in ("ann/greedy", "ann/keeper"):
        versions.register_version(world.storage, ROOT, bot, world.clock())
    refused = arena("bot", "register", "--file", file, "--tokens", tokens)
    *named, summed = refused.err.splitlines()
    assert named == [f"error: bots: {bot} is registered already" for bot in ("ann/greedy", "ann/keeper")]
    assert "are registered already: a list is for new bots" in summed
    assert registered(world.storage) == ["ann/greedy@1", "ann/keeper@1"]
    assert not tokens.parent.exists()


def test_token_files_when_some_are_there_then_all_of_them_are_named_and_stay_as_they_are(
    arena: Arena, storage: Storage, file: Path, tokens: Path
) -> None:
    tokens.mkdir(parents=True)
    there = [tokens / "ann.greedy.token", tokens / "ann.keeper.token"]
    for path in there:
        path.write_text("mine")
    refused = arena("bot", "register", "--file", file, "--tokens", tokens)
    *named, summed = refused.err.splitlines()
    assert named == [f"error: tokens: {path} already exists" for path in there]
    assert "files already exist: were these bots registered before?" in summed
    assert registered(storage) == []
    assert sorted(tokens.iterdir()) == there
    assert [path.read_text() for path in there] == ["mine"] * 2


def test_token_files_when_one_cannot_be_written_then_nothing_is_left(
    arena: Arena, storage: Storage, file: Path, tokens: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files: list[Path] = []

    def full(path: Path, content: str) -> None:
        files.append(path)
        if len(files) == 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write_private(path, content)

    monkeypatch.setattr(register, "write_private", full)
    refused = arena("bot", "register", "--file", file, "--tokens", tokens)
    assert_one_line(refused, 1, f"tokens: cannot write in {tokens}: No space left on device")
    assert (registered(storage), tokens.exists()) == ([], False)


def test_bots_when_they_cannot_be_stored_then_no_token_file_is_left(
    arena: Arena, storage: Storage, file: Path, tokens: Path
) -> None:
    with storage.write() as tx:
        tx.connection().execute(
            text(
                "CREATE TRIGGER full BEFORE INSERT ON bot_versions WHEN NEW.name = 'ann/keeper@1' "
                "BEGIN SELECT RAISE(ABORT, 'full'); END"
            )
        )
    tokens.mkdir(parents=True)
    (tokens / "other").write_text("mine")
    assert arena("bot", "register", "--file", file, "--tokens", tokens).status == 1
    assert registered(storage) == []
    assert [path.name for path in tokens.iterdir()] == ["other"]


def usage(*arguments: object) -> Sequence[object]:
    return arguments


@pytest.mark.parametrize(
    "arguments",
    [
        usage("--file", "bots.toml"),
        usage("--tokens", "tokens"),
        usage("ann/one", "--file", "bots.toml", "--tokens", "tokens"),
        usage("--language", "go", "--file", "bots.toml", "--tokens", "tokens"),
        usage(),
    ],
)
def test_register_when_it_is_not_clear_what_then_that_is_wrong_usage(
    arena: Arena, arguments: Sequence[object]
) -> None:
    assert_one_line(arena("bot", "register", *arguments), 2, "--file")

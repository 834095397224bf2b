"""``arena match show`` and ``arena export``."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.cli.results import write_lines
from arena.errors import StorageError
from arena.settings import Settings
from referee.plays import compile_ruleset
from referee.ruleset import load_ruleset
from tests.arena.cli import Arena, assert_one_line, make_arena
from tests.arena.random_play import play_randomly
from tests.arena.world import World


@pytest.fixture
def arena(settings: Settings, capsys: pytest.CaptureFixture[str]) -> Arena:
    return make_arena(settings.data, capsys)


@pytest.fixture
def played(world: World) -> World:
    """A finished tournament ``cup``: one table, one round of three sessions of two deals."""
    world.finish(world.tournament(4).id, play_randomly)
    return world


def test_match_show_prints_the_sessions_and_a_deal(arena: Arena, played: World) -> None:
    shown = arena("match", "show", "cup", 1, 1)
    assert shown.status == 0
    assert shown.out.startswith("cup, round 1, table 1: done\n")
    assert "session 1, deal 1: chinese@1, anticlockwise" in shown.out
    for part in ("hand as dealt", "trick", "left", "points", "owner-0/bot-0@1", " went out."):
        assert part in shown.out


def test_match_show_of_another_deal_shows_that_one(arena: Arena, played: World) -> None:
    shown = arena("match", "show", "cup", 1, 1, "--session", 3, "--deal", 2)
    assert "session 3, deal 2: chinese@1" in shown.out


def test_match_show_as_json_holds_the_records(arena: Arena, played: World) -> None:
    view = arena("match", "show", "cup", 1, 1, "--json").json
    assert (view["tournament"], view["round"], view["table"], view["state"]) == ("cup", 1, 1, "done")
    assert [len(session["records"]) for session in view["sessions"]] == [2, 2, 2]
    assert view["sessions"][0]["records"][0]["format"] == "bigtwo-deal/1"


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["nowhere", 1, 1], "nowhere"),
        (["cup", 2, 1], "round 2"),
        (["cup", 1, 9], "table 9"),
        (["cup", 1, 1, "--session", 4], "session 4"),
        (["cup", 1, 1, "--deal", 3], "deal 3"),
        (["cup", 1, 1, "--deal", 0], "deal 0"),
    ],
)
def test_match_show_of_what_is_not_there_is_one_line(
    arena: Arena, played: World, arguments: list[object], part: str
) -> None:
    result = arena("match", "show", *arguments)
    assert result.status == 1
    assert result.err.count("\n") == 1
    assert part in result.err


def test_match_show_before_the_match_shows_its_state(arena: Arena, world: World) -> None:
    world.advance(world.tournament(4).id)
    shown = arena("match", "show", "cup", 1, 1).out
    assert shown.startswith("cup, round 1, table 1: waiting\n")
    assert "hand as dealt" not in shown


def test_export_writes_every_deal_as_a_line(arena: Arena, played: World, tmp_path: Path) -> None:
    lines = arena("export", "cup").out.splitlines()
    records = [json.loads(line) for line in lines]
    assert [(one["session"], one["deal"]) for one in records] == [(s, d) for s in (1, 2, 3) for d in (1, 2)]
    rules = compile_ruleset(load_ruleset(records[0]["ruleset"]))
    assert len(rules.pack) == 52
    file = tmp_path / "cup.jsonl"
    assert arena("export", "cup", "--output", file).out == f"6 deals written to {file}\n"
    assert file.read_text(encoding="utf-8").splitlines() == lines
    assert list(file.parent.glob("*.part")) == []


def test_export_of_an_unknown_tournament_leaves_no_file(
    arena: Arena, settings: Settings, tmp_path: Path
) -> None:
    file = tmp_path / "nowhere.jsonl"
    assert_one_line(arena("export", "nowhere", "--output", file), 1, "nowhere")
    assert list(tmp_path.glob("*nowhere*")) == []


def test_export_into_a_missing_folder_is_one_line(arena: Arena, played: World, tmp_path: Path) -> None:
    file = tmp_path / "none" / "cup.jsonl"
    assert_one_line(arena("export", "cup", "--output", file), 1, str(file), "No such file or directory")


def test_write_lines_that_break_off_keep_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "deals.jsonl"
    file.write_text("old\n")

    def lines() -> Iterator[str]:
        yield "new"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_lines(file, lines())
    assert file.read_text() == "old\n"
    assert [path.name for path in tmp_path.iterdir()] == ["deals.jsonl"]


def test_write_lines_to_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot write"):
        write_lines(tmp_path, iter(["line"]))

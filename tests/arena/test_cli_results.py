"""``arena match``, ``arena leaderboard``, ``arena export``, and crosstables."""

import io
import json
import os
import signal
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest
from rich.console import Console

from arena.cli import export
from arena.cli.export import seen
from arena.cli.leaderboard import explained
from arena.cli.linefiles import write_lines
from arena.cli.results import show_crosstable
from arena.cli.standings import legend
from arena.core.formats import FORMATS
from arena.errors import StateError, StorageError
from arena.host.settings import Settings
from arena.queries.leaderboards import leaderboard
from arena.queries.scoreboard import CrosstableMatrix, criteria_of
from arena.results.strength.fitting import fit_due
from arena.trust.exports.write import export_lines
from referee.rules.plays import compile_ruleset
from referee.ruleset import load_ruleset
from tests.arena.cli import Arena, assert_one_line, make_arena
from tests.arena.random_play import play_randomly, play_with_faults
from tests.arena.world import World
from tests.waiting import DEADLINE


@pytest.fixture
def arena(migrated: Settings, capsys: pytest.CaptureFixture[str]) -> Arena:
    return make_arena(migrated.data, capsys)


@pytest.fixture
def played(world: World) -> World:
    """Play a tournament ``cup``: one table, one round of three sessions of two deals."""
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


def test_match_show_tells_faults_by_seat_kind_and_session(arena: Arena, world: World) -> None:
    world.finish(world.tournament(4).id, play_with_faults)
    shown = arena("match", "show", "cup", 1, 1).out
    names = arena("match", "show", "cup", 1, 1, "--json").json["bots"]
    lines = [line.split(maxsplit=2) for line in shown.partition("faults of")[2].splitlines()[2:4]]
    assert [line[:2] for line in lines] == [[names[0], "3"], [names[1], "6"]]
    assert lines[0][2].split("  ")[0] == "timeout 3"
    assert lines[1][2].split("  ")[0] == "illegal 3, timeout 3"
    assert lines[1][2].endswith("1: 2, 2: 2, 3: 2")


def test_match_show_without_faults_has_no_table_of_them(arena: Arena, played: World) -> None:
    assert "faults of" not in arena("match", "show", "cup", 1, 1).out


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_crosstable_on_a_terminal_of_any_width_cuts_no_number(
    monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    size = 12
    names = tuple(f"a-long-owner-name/and-a-longer-bot-name-{number}@12" for number in range(size))
    before = tuple(tuple(None if a == b else 1000 + 31 * a + b for b in range(size)) for a in range(size))
    deals = tuple(tuple(None if a == b else 12345 for b in range(size)) for a in range(size))
    out = io.StringIO()
    made = Console(file=out, width=width, markup=False, highlight=False)
    monkeypatch.setattr("arena.cli.results.console", lambda: made)
    show_crosstable(CrosstableMatrix(names, before, deals, 0, size))
    shown = out.getvalue()
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= width
    for cell in (cell for row in before for cell in row if cell is not None):
        assert f"{cell}/12345" in shown


@pytest.mark.parametrize("format", FORMATS)
def test_legend_when_standings_have_columns_then_it_tells_what_each_is(format: str) -> None:
    parts = legend(*criteria_of(format)).split("; ")
    assert len(parts) == len(FORMATS[format].criteria.decisive)
    assert all(part.partition(": ")[2] for part in parts)


def test_crosstable_of_some_places_names_them_as_in_the_standings(capsys: pytest.CaptureFixture[str]) -> None:
    before, deals = ((None, 3), (5, None)), ((None, 8), (8, None))
    show_crosstable(CrosstableMatrix(("a/a@1", "b/b@1"), before, deals, 10, 40))
    shown = capsys.readouterr().out
    assert "places 11 to 12 of 40" in shown
    assert ["11", "a/a@1", "·", "3/8"] in [line.split() for line in shown.splitlines()]


def test_leaderboard_when_strengths_are_fitted_then_tier_ranks_and_interval_stand_with_elo(
    arena: Arena, played: World
) -> None:
    assert {line["strength"] for line in arena("leaderboard", "--json").json["leaderboard"]} == {None}
    fit_due(played.storage, played.clock())
    strengths = [line["strength"] for line in arena("leaderboard", "--json").json["leaderboard"]]
    assert [one["rank"] for one in strengths] == list(range(1, len(strengths) + 1))
    shown = arena("leaderboard").out
    heads = "ranks bot version tier strength 95 % apart after ahead Elo matches deals"
    assert shown.splitlines()[1].split() == heads.split()
    assert f" {strengths[0]['best']}-{strengths[0]['worst']} " in shown
    assert f" {strengths[0]['figure']:.0f}? " in shown
    assert "?: provisional, from fewer than 400 deals; --settled leaves these out" in shown
    assert f" {strengths[0]['ahead']:.0%} " in shown
    assert "strength: " in shown
    assert "rank ranges of bots in two tiers may overlap" in shown
    assert "without a forfeit" in shown
    [first, *_] = leaderboard(played.storage).leaderboard
    assert first.strength is not None
    unfitted = replace(first, strength=None)
    assert [line.partition(":")[0] for line in explained([unfitted])] == ["-"]


def test_match_seating_tells_how_even_it_is(arena: Arena) -> None:
    shown = arena("match", "seating", 4, 24).out
    assert "a bot has each seat 6 times" in shown
    assert "a bot plays after each other bot 8 times" in shown
    fixed = arena("match", "seating", 4, 3, "--duplicate", "--json").json
    assert fixed["seatings"] == [[0, 1, 2, 3]] * 3
    assert fixed["seats"] == [[3, 0, 0, 0], [0, 3, 0, 0], [0, 0, 3, 0], [0, 0, 0, 3]]


def test_export_writes_the_parts_and_every_deal_as_a_line(
    arena: Arena, played: World, tmp_path: Path
) -> None:
    lines = arena("export", "cup").out.splitlines()
    parts = [json.loads(line) for line in lines]
    assert [one.get("part", "deal") for one in parts] == (
        ["head", "tournament", "event", "event", "round", "match", *["deal"] * 6, "round_end", "end"]
    )
    rules = compile_ruleset(load_ruleset(parts[6]["ruleset"]))
    assert len(rules.pack) == 52
    file = tmp_path / "cup.jsonl"
    assert arena("export", "cup", "--output", file).out == f"14 lines written to {file}\n"
    assert file.read_text(encoding="utf-8").splitlines() == lines
    assert_one_line(arena("export", "cup", "--deals", "--output", file), 1, f"{file} already exists")
    again = arena("export", "cup", "--deals", "--output", file, "--force")
    assert again.out == f"6 deals written to {file}\n"
    assert file.read_text(encoding="utf-8").splitlines() == lines[6:12]
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
        write_lines(file, lines(), force=True)
    assert file.read_text() == "old\n"
    assert [path.name for path in tmp_path.iterdir()] == ["deals.jsonl"]


def test_write_lines_to_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot write"):
        write_lines(tmp_path, iter(["line"]))


def test_write_lines_when_the_file_is_there_then_only_force_replaces_it(tmp_path: Path) -> None:
    file = tmp_path / "deals.jsonl"
    file.write_text("mine\n")
    with pytest.raises(StateError, match="already exists; give another name, or replace it with --force"):
        write_lines(file, iter(["line"]))
    assert file.read_text() == "mine\n"
    assert write_lines(file, iter(["line"]), force=True) == 1
    assert file.read_text() == "line\n"


def test_write_lines_into_a_pipe_writes_into_it_and_leaves_it_there(tmp_path: Path) -> None:
    pipe, heard = tmp_path / "pipe", list[str]()
    os.mkfifo(pipe)
    reader = Thread(target=lambda: heard.append(pipe.read_text()), daemon=True)
    reader.start()
    assert write_lines(pipe, iter(["one", "two"])) == 2
    reader.join(DEADLINE)
    assert heard == ["one\ntwo\n"]
    assert stat.S_ISFIFO(pipe.lstat().st_mode)
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


@pytest.mark.parametrize("there", [True, False])
def test_write_lines_through_a_link_writes_what_it_leads_to(tmp_path: Path, there: bool) -> None:
    target, link = tmp_path / "elsewhere" / "deals.jsonl", tmp_path / "link.jsonl"
    target.parent.mkdir()
    if there:
        target.write_text("old\n")
    link.symlink_to(target)
    assert write_lines(link, iter(["line"]), force=there) == 1
    assert link.readlink() == target
    assert target.read_text() == "line\n"
    assert [path.name for path in target.parent.iterdir()] == ["deals.jsonl"]


def test_export_when_it_is_watched_then_sessions_and_deals_are_counted(played: World) -> None:
    told: list[tuple[int, int]] = []
    lines = list(seen(export_lines(played.storage, "cup"), lambda *counts: told.append(counts)))
    assert lines == list(export_lines(played.storage, "cup"))
    assert (told[0], told[-1]) == ((1, 1), (3, 6))


def test_export_ended_by_a_signal_leaves_no_draft(
    arena: Arena, played: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(*_: object) -> Iterator[str]:
        yield "line"
        signal.raise_signal(signal.SIGTERM)
        yield "never"

    monkeypatch.setattr(export, "export_lines", ended)
    assert arena("export", "cup", "--output", tmp_path / "cup.jsonl").status == 128 + signal.SIGTERM
    assert [path.name for path in tmp_path.glob("*cup*")] + [path.name for path in tmp_path.glob(".*")] == []

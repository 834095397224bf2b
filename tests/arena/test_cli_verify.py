"""``arena verify``, and ``arena export``, which writes what it reads."""

import json
from pathlib import Path

import pytest
from sqlmodel import select

from arena.cli.linefiles import pace_text
from arena.host.settings import Settings
from arena.store.models import Tournament
from referee.records.reading import LONGEST_LINE, deal_records
from tests.arena.cli import Arena, assert_one_line, make_arena
from tests.arena.exported import play_by_table
from tests.arena.world import World


@pytest.fixture
def arena(migrated: Settings, capsys: pytest.CaptureFixture[str]) -> Arena:
    return make_arena(migrated.data, capsys)


@pytest.fixture
def exported(arena: Arena, world: World, tmp_path: Path) -> list[Path]:
    """Export two tournaments of the same four bots."""
    names, files = world.register(4), []
    for name in ("one", "two"):
        world.finish(world.tournament_of(names, name=name).id, play_by_table)
        files.append(tmp_path / f"{name}.jsonl")
        assert arena("export", name, "--output", files[-1]).status == 0
    return files


def test_verify_of_what_export_wrote_is_right(arena: Arena, world: World, exported: list[Path]) -> None:
    found = arena("verify", *exported)
    right = "finished: 1 rounds, 1 matches and 6 deals of 4 bots follow from the seed"
    assert found.status == 0
    text, _, closing = found.out.partition("\nan export cannot prove:\n")
    assert "that the organiser did not draw several seeds" in closing
    told = text.splitlines()
    assert [line for line in told if not line.startswith("  ")] == [
        f"{exported[0]}: ok: one, {right}",
        f"{exported[1]}: ok: two, {right}; some ratings come from one",
    ]
    with world.storage.read() as tx:
        commitments = [f"  commitment: {one.commitment}" for one in tx.exec(select(Tournament))]
    assert [line for line in told if "commitment" in line] == commitments
    assert told.count("  luck: the organiser's seed alone") == 2


def test_verify_needs_no_arena(
    exported: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere = tmp_path / "elsewhere"
    assert make_arena(elsewhere, capsys)("verify", exported[0]).status == 0
    assert not elsewhere.exists()


def test_verify_of_a_line_that_is_too_long_names_it(arena: Arena, exported: list[Path]) -> None:
    exported[0].write_bytes(b'{"a":"' + b"x" * (2 * LONGEST_LINE))
    found = arena("verify", exported[0])
    assert found.status == 1
    assert "failed: line 1: the line is longer than 32 MiB" in found.out


def test_verify_of_a_changed_file_names_the_line_and_exits_1(arena: Arena, exported: list[Path]) -> None:
    text = exported[1].read_text()
    exported[1].write_text(text.replace('"end":"out"', '"end":"dragon"', 1))
    found = arena("verify", *exported)
    assert found.status == 1
    verdicts = found.out.partition("\nan export")[0].splitlines()
    first, second = (line for line in verdicts if not line.startswith("  "))
    assert ": ok: one" in first
    where = "line 7: round 1, table 1, session 1, deal 1"
    assert second == f"{exported[1]}: failed: {where}: end: is 'dragon', should be 'out'"


def test_verify_of_two_exports_of_one_tournament_says_so(
    arena: Arena, exported: list[Path], tmp_path: Path
) -> None:
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(exported[0].read_bytes())
    said = "one: two of the files are exports of this tournament; give only one"
    for second in (exported[0], copy):
        found = arena("verify", exported[0], exported[1], second)
        assert (found.status, found.out.splitlines()[-1]) == (1, said)


def test_files_with_a_byte_order_mark_are_read_as_without(arena: Arena, exported: list[Path]) -> None:
    text = exported[0].read_text()
    exported[0].write_text(text, encoding="utf-8-sig")
    assert arena("verify", exported[0]).status == 0
    records = "".join(line for line in text.splitlines(keepends=True) if "bigtwo-deal/1" in line)
    exported[0].write_text(records, encoding="utf-8-sig")
    assert len(deal_records(exported[0])) == 6


def test_verify_as_json_is_for_scripts(arena: Arena, exported: list[Path]) -> None:
    exported[0].write_text("{}\n")
    found = arena("verify", *exported, "--json")
    assert found.status == 1
    assert [one["ok"] for one in found.json["files"]] == [False, True]
    assert found.json["files"][1]["deals"] == 6
    assert found.json["files"][0]["problem"].startswith("line 1: ")


def test_verify_of_a_file_that_is_not_there_is_one_line(arena: Arena, tmp_path: Path) -> None:
    assert_one_line(arena("verify", tmp_path / "none.jsonl"), 1, "cannot read", "none.jsonl")
    assert_one_line(arena("verify", tmp_path), 1, "cannot read")


def test_verify_of_bytes_that_are_no_text_is_one_line(arena: Arena, tmp_path: Path) -> None:
    file = tmp_path / "noise"
    file.write_bytes(bytes(range(256)))
    found = arena("verify", file)
    assert found.status == 1
    assert "failed: line 1: is not JSON" in found.out


def test_export_of_deals_only_holds_deal_records_only(arena: Arena, exported: list[Path]) -> None:
    records = [json.loads(line) for line in arena("export", "one", "--deals").out.splitlines()]
    assert {one["format"] for one in records} == {"bigtwo-deal/1"}
    assert [(one["session"], one["deal"]) for one in records] == [(s, d) for s in (1, 2, 3) for d in (1, 2)]
    lines = exported[0].read_text().splitlines()
    assert [json.loads(line) for line in lines if "bigtwo-deal/1" in line] == records


def test_pace_tells_rate_and_time_left() -> None:
    assert pace_text(3.0, 0.25, 1200) == "1,200 deals, 400/s, 9 s left"
    assert pace_text(3.0, 0.0, 0) == "0 deals, 0/s"

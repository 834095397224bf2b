"""What commands print with ``--json`` is what types say, and the reference pages are what docstrings say."""

import io
import json
import sqlite3
import sys
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from referee.cli.app import run
from referee.cli.output import OUTPUT
from tests.arena.everywhere import CALLS, ENDLESS, INPUT, OF_ACCOUNTS, call, commands, connect_all
from tests.arena.reference import DOCS, PAGES, answers
from tests.arena.shapes import differences

LINES = {"bot games", "bot log", "tournament watch"}
"""Commands that print one object per line."""

ALWAYS = {
    "export": "its lines are JSON anyway",
    "rating export": "its file is JSON anyway",
    "rules compare": "it answers in JSON anyway",
    "rules legal": "it answers in JSON anyway",
    "rules random": "its records are JSON anyway",
    "rules replay": "it answers in JSON anyway",
    "vectors export": "its files are JSON anyway",
}
"""Commands without ``--json`` that end on their own, and why they need none."""


@pytest.fixture(autouse=True)
def all_connected(monkeypatch: pytest.MonkeyPatch) -> None:
    connect_all(monkeypatch)


@pytest.fixture(autouse=True)
def given_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """Supply on standard input what commands ask for."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(10 * INPUT.encode())))


def printed(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """Return the objects that a command prints with ``--json``."""
    arguments = call(name, folder)
    end = arguments.index("--") if "--" in arguments else len(arguments)
    assert run([*arguments[:end], "--json", *arguments[end:]]) in (0, 1)
    out = capsys.readouterr().out
    return [json.loads(line) for line in out.splitlines()] if name in LINES else [json.loads(out)]


def test_every_command_has_json_or_there_is_a_reason_why_not() -> None:
    without = {
        name
        for name, command in commands()
        if not any("--json" in parameter.opts for parameter in command.params)
    }
    assert without == {*ENDLESS, *ALWAYS} - OF_ACCOUNTS


def test_page_describes_every_command_with_json() -> None:
    assert {name.partition(" --")[0] for name in answers()} == {*CALLS} - {*ALWAYS} | OF_ACCOUNTS


@pytest.mark.parametrize("name", PAGES)
def test_page_when_it_is_made_from_the_docstrings_then_it_is_as_it_stands(name: str) -> None:
    page = (DOCS / name).read_text(encoding="utf-8")
    assert PAGES[name](page) == page, "make it anew: python -m tests.arena.reference"


@pytest.mark.parametrize("name", sorted({*CALLS} - {*ALWAYS}))
def test_command_when_it_prints_json_then_it_has_the_keys_of_its_type_and_no_others(
    name: str, everything_once: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for one in printed(name, copytree(everything_once, tmp_path / "everything"), capsys):
        assert next(iter(one)) == "output"
        assert one.pop("output") == OUTPUT
        assert [*differences(one, answers()[name])] == []


def test_match_when_it_is_shown_then_its_ruleset_is_there_once(
    everything: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    [found] = printed("match show", everything, capsys)
    assert found["ruleset"]["name"] == "chinese"
    records = [record for session in found["sessions"] for record in session["records"]]
    assert len(records) == 6
    assert not any("ruleset" in record for record in records)


def test_bots_when_their_tokens_were_used_then_the_day_is_a_text(
    everything: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with sqlite3.connect(everything / "data" / "arena.db") as database:
        database.execute("UPDATE bot_versions SET last_used_on = '2026-01-02' WHERE id = 1")
    database.close()
    [found] = printed("bot list", everything, capsys)
    assert "2026-01-02" in {one["last_used_on"] for one in found["bots"]}

"""``arena rules …``: tools that read and write lines, and rulesets shown to people."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from arena.cli.context import GlobalOptions
from referee.cli.rules import rules_app
from referee.errors import RulesetError
from referee.ruleset import load_ruleset, preset_names

SEED = "0123456789abcdef" * 4


def run(*arguments: str, lines: str | bytes = "") -> Result:
    return CliRunner().invoke(rules_app, list(arguments), input=lines, obj=GlobalOptions(None))


def answers(result: Result) -> list[Any]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def requests(*values: object) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def records(*arguments: str) -> str:
    result = run("random", "--ruleset", "chinese", "--deals", "3", "--seed", SEED, *arguments)
    assert result.exit_code == 0
    return result.stdout


# For people


def test_list_names_every_preset() -> None:
    out = run("list").stdout
    assert all(name in out for name in preset_names())
    assert all(len(line.rstrip()) <= 80 for line in out.splitlines())
    rows = {cells[0]: cells[1:] for line in out.splitlines() if (cells := line.split())}
    assert rows["ruleset"] == ["players", "packs", "hand", "points", "draws", "bombs"]
    assert rows["only-a-game-8@1"] == ["8", "2", "13", "winner_scores"]
    assert rows["hong-kong-relatives-3@1"] == ["3", "1", "13", "winner_scores", "one"]
    assert rows["only-a-game-bombs@1"] == ["4", "1", "13", "winner_scores", "3"]
    assert [one["name"] for one in json.loads(run("list", "--json").stdout)["rulesets"]] == preset_names()


def test_show_tells_a_preset_in_words_or_as_the_resolved_object() -> None:
    assert "hong-kong@1" in run("show", "hong-kong").stdout
    assert (
        json.loads(run("show", "hong-kong", "--json").stdout)["ruleset"]
        == load_ruleset("hong-kong").to_object()
    )


def test_show_and_check_tell_a_file(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text('extends = "hong-kong"\nname = "mine"\nplayers = 3\n', encoding="utf-8")
    assert "mine@1" in run("show", str(file)).stdout
    assert run("check", str(file)).stdout == run("show", str(file)).stdout


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("players = 9", "players: must be a whole number from 2 to 8, not 9"),
        ('settel = "penalty"', "settel: is not a field of a ruleset; did you mean 'settle'?"),
        ("players = ", "is not TOML"),
    ],
)
def test_check_refuses_a_file_with_the_field_and_the_reason(tmp_path: Path, text: str, reason: str) -> None:
    file = tmp_path / "my.toml"
    file.write_text(f'name = "mine"\nversion = 1\n{text}\n', encoding="utf-8")
    error = run("check", str(file)).exception
    assert isinstance(error, RulesetError)
    assert reason in str(error)


def test_show_of_an_unknown_name_is_refused() -> None:
    assert isinstance(run("show", "no-such").exception, RulesetError)
    assert isinstance(run("check", "no-such.toml").exception, RulesetError)


# Lines in, lines out


def test_legal_answers_every_line_in_order() -> None:
    lines = requests(
        {"ruleset": "chinese", "hand": "3D 3C", "table": None, "must_include": "3D"},
        {"ruleset": {"name": "gamesky"}, "hand": "4C", "table": "3D"},
    )
    result = run("legal", lines=lines)
    assert result.exit_code == 0
    assert answers(result) == [
        {"plays": ["3D", "3D 3C"], "pass": False},
        {"plays": ["4C"], "pass": True},
    ]


@pytest.mark.parametrize(
    "bad",
    [b"", b"{", b"\xff\xfe", b"3", b"null", b"[" * 100_000, b'{"ruleset": "chinese"}', b"1" * 5000, b"NaN"],
)
def test_a_line_that_cannot_be_read_gets_an_error_in_its_place(bad: bytes) -> None:
    good = json.dumps({"ruleset": "chinese", "a": "4D", "b": "3D"}).encode()
    result = run("compare", lines=b"\n".join([good, bad, good, b""]))
    first, second, third = answers(result)
    assert first == third == {"a": "single", "b": "single", "beats": True}
    assert list(second) == ["error"]
    assert result.exit_code == 0


def test_the_last_line_needs_no_end() -> None:
    line = json.dumps({"ruleset": "chinese", "a": "4D", "b": "3D"})
    assert len(answers(run("compare", lines=f"{line}\n{line}"))) == 2


def test_nothing_in_is_nothing_out() -> None:
    result = run("legal")
    assert (result.stdout, result.exit_code) == ("", 0)


# Records


def test_random_records_replay_right() -> None:
    result = run("replay", lines=records())
    assert answers(result) == [{"ok": True}] * 3
    assert result.exit_code == 0


def test_random_is_the_same_for_the_same_seed() -> None:
    assert records() == records()
    assert records() != records("--session-deals", "2")


def test_random_numbers_sessions_and_deals() -> None:
    deals = [json.loads(line) for line in records("--session-deals", "2").splitlines()]
    assert [(deal["session"], deal["deal"]) for deal in deals] == [(1, 1), (1, 2), (2, 1)]
    assert {(deal["round"], deal["table"]) for deal in deals} == {(1, 1)}


def test_random_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text('extends = "chinese"\nname = "mine"\nversion = 3\nhand_size = 5\n', encoding="utf-8")
    result = run("random", "--ruleset", str(file), "--deals", "2", "--seed", SEED)
    assert answers(run("replay", lines=result.stdout)) == [{"ok": True}] * 2
    assert answers(result)[0]["ruleset"]["version"] == 3


@pytest.mark.parametrize("seed", ["a", "abc", "ab"])
def test_random_when_its_seed_is_shorter_then_it_is_padded_with_zeros(seed: str) -> None:
    short, whole = (
        run("random", "--ruleset", "chinese", "--deals", "1", "--seed", text)
        for text in (seed, seed.ljust(64, "0"))
    )
    assert (short.exit_code, short.stdout) == (0, whole.stdout)


@pytest.mark.parametrize("seed", ["", "xyz", "00 00", "00" * 33])
def test_random_refuses_a_seed_that_is_no_hex(seed: str) -> None:
    result = run("random", "--ruleset", "chinese", "--deals", "1", "--seed", seed)
    assert result.exit_code == 2
    assert "--seed" in result.output


def test_replay_with_a_wrong_record_names_the_action_and_exits_1() -> None:
    first, second, third = records().splitlines()
    changed = json.loads(second)
    changed["actions"][1] = "0:XX"
    result = run("replay", lines="\n".join([first, json.dumps(changed), third]))
    assert result.exit_code == 1
    right, wrong, after = answers(result)
    assert (right, after) == ({"ok": True}, {"ok": True})
    assert (wrong["ok"], wrong["action"]) == (False, 1)


def test_replay_with_an_unreadable_line_exits_1() -> None:
    result = run("replay", lines=records() + "{\n")
    assert result.exit_code == 1
    assert "error" in answers(result)[3]

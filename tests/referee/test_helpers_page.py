"""Tests for docs/authors: helpers.md names all helpers, its example plays; strategies.md's commands work."""

import re
from pathlib import Path

import pytest

from benchmarks.sage import options, play_session
from referee import helpers
from referee.rules.plays import compile_ruleset
from referee.ruleset import load_ruleset

AUTHORS = Path(__file__).parents[2] / "docs" / "authors"
PAGE = (AUTHORS / "helpers.md").read_text(encoding="utf-8")


def test_helpers_page_names_all_helpers() -> None:
    named = set(re.findall(r"`(\w+)", PAGE))
    assert set(helpers.__all__) - {"World", "Decomposition"} <= named


def test_helpers_example_when_it_plays_then_it_makes_no_fault() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, object] = {"__name__": "example"}
    exec(compile(example, "helpers.md", "exec"), names)
    rules = compile_ruleset(load_ruleset("chinese"))
    bots = [names["choose"]] * 4
    for deal in range(3):
        played = play_session(rules, bytes([deal]) * 32, bots)  # type: ignore[arg-type]
        assert (played.faults, played.failures) == ([], [])


@pytest.mark.parametrize(
    "ruleset",
    [
        "hong-kong",
        "gamesky",
        {"guard": "must", "hand_size": 6},
        {"extends": "hong-kong-relatives-3", "restock": True, "hand_size": 15},
    ],
    ids=str,
)
def test_searching_example_when_it_plays_then_it_makes_no_fault(ruleset: str | dict[str, object]) -> None:
    (example,) = re.findall(
        r"```python\n(.*?)```", (AUTHORS / "searching.md").read_text(encoding="utf-8"), re.DOTALL
    )
    names: dict[str, object] = {"__name__": "example"}
    exec(compile(example.replace("range(20)", "range(2)"), "searching.md", "exec"), names)
    rules = compile_ruleset(load_ruleset(ruleset))
    bots = [names["choose"]] * rules.ruleset.players
    played = play_session(rules, bytes(32), bots)  # type: ignore[arg-type]
    assert (played.faults, played.failures) == ([], [])


def test_strategies_page_when_it_shows_a_command_then_the_benchmark_takes_it() -> None:
    page = (AUTHORS / "strategies.md").read_text(encoding="utf-8")
    commands = re.findall(r"`(?:python -m benchmarks\.sage|…) (--[^`]*)`", page)
    assert len(commands) >= 10
    for command in commands:
        options().parse_args(command.split())

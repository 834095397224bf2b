"""Tests for the golden files: the engine reproduces them, and the records replay correctly."""

import json
from hashlib import sha256

import pytest

from referee.records.replay import Replayer
from referee.records.tools import replay
from referee.reference.values import REFERENCE
from referee.rules.plays import compile_ruleset
from referee.ruleset import load_ruleset, preset_names
from tests.golden import made


def written(path: object) -> str:
    return (made.ROOT / str(path)).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", preset_names())
def test_golden_records_of_a_preset_are_given_again_and_replay_right(name: str) -> None:
    text = written(made.RECORDS / f"{name}.jsonl")
    assert text == made.records(compile_ruleset(load_ruleset(name)))
    replayer = Replayer()
    answers = [replay(replayer, json.loads(line)) for line in text.splitlines()]
    assert answers == [{"ok": True}] * made.DEALS


@pytest.mark.parametrize("name", preset_names())
def test_golden_counts_of_a_preset_are_given_again(name: str) -> None:
    assert written(made.COUNTS / f"{name}.json") == made.counts(compile_ruleset(load_ruleset(name)))


def test_the_reference_gives_the_values_that_its_hash_is_of() -> None:
    """Whoever changes a value gives the reference a new name: values are kept, and named in exports."""
    text = written(made.VECTORS)
    assert text == made.vectors()
    assert REFERENCE.hash == sha256(text.encode()).hexdigest()


def test_the_page_of_all_presets_is_what_their_fields_say() -> None:
    assert written(made.PAGE) == made.page()

"""Tests that docs/pairings.md says how the arena pairs, by programs that were written from it alone."""

import json
from typing import Any

import pytest

from tests.arena import pairing_from_page
from tests.arena.compared_pairings import differing
from tests.vectors.made import FOLDER

SEEDS = {"swiss": 4, "gauntlet": 20, "knockout": 20, "continuous": 10}
"""How many tournaments of each format are compared; ``compared_pairings`` has many more."""


def vectors(name: str) -> list[Any]:
    found: list[Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))["vectors"]
    return found


def test_page_when_its_seatings_are_made_then_they_are_those_of_the_vectors() -> None:
    for vector in vectors("seating"):
        size, sessions, duplicate = (vector["input"][name] for name in ("size", "sessions", "duplicate"))
        assert pairing_from_page.seatings(size, sessions, duplicate=duplicate) == vector["expected"]


def test_page_when_its_rounds_are_made_then_they_are_those_of_the_vectors() -> None:
    for vector in vectors("pairing"):
        assert pairing_from_page.answer(vector["input"]) == vector["expected"], vector["id"]


@pytest.mark.parametrize("name", SEEDS)
def test_page_when_tournaments_are_played_then_its_rounds_are_those_of_the_arena(name: str) -> None:
    found = [differing(name, seed) for seed in range(SEEDS[name])]
    assert [one for one in found if one] == []

"""Test of a sample of all five-card sets (``python -m tests.referee.sweep`` sweeps all of them)."""

import random
from collections.abc import Iterator

import pytest

from referee.rules.plays import Rules, compile_ruleset
from referee.ruleset import load_ruleset, preset_names
from tests.referee.sweep import Five, five_card_sets, sweep


def sampled(rules: Rules, shuffle: random.Random) -> Iterator[Five]:
    """Yield random sets: of any cards, of one suit, and of three ranks."""
    for _ in range(500):
        suit = shuffle.randrange(4)
        ranks = shuffle.sample(range(len(rules.rank_masks)), 3)
        for cards in (
            rules.pack,
            [card for card in rules.pack if card % 4 == suit],
            [card for card in rules.pack if card // 4 in ranks],
        ):
            yield tuple(sorted(shuffle.sample(cards, 5)))


@pytest.mark.parametrize("name", preset_names())
def test_five_card_sets_of_a_sample_are_what_the_slow_rules_say(name: str) -> None:
    rules = compile_ruleset(load_ruleset(name))
    assert sweep(rules, sampled(rules, random.Random(name))) > 0


def test_five_card_sets_of_one_pack_are_all_there() -> None:
    rules = compile_ruleset(load_ruleset("chinese"))
    assert sum(1 for _ in five_card_sets(rules)) == 2_598_960

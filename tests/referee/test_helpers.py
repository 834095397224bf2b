"""Tests for the helpers for bots: sorting and taking apart hands, unseen cards."""

from functools import cache
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.helpers.decompose import Decomposer, by_kind, by_rank, by_suit, decompose, sort_hand
from referee.helpers.unseen import Unseen, stronger_singles
from referee.rules.plays import Rules, compile_ruleset
from referee.ruleset import load_ruleset, preset_names
from tests.examples import examples

RULES = compile_ruleset(load_ruleset("chinese"))
TWO_PACKS = compile_ruleset(load_ruleset("only-a-game-8"))
PUSOY = compile_ruleset(load_ruleset("pusoy-dos"))


def mask(text: str, rules: Rules = RULES) -> int:
    return rules.parse(text)


def code(text: str, rules: Rules = RULES) -> int:
    return rules.code(rules.parse(text))


def texts(rules: Rules, masks: list[int]) -> list[str]:
    return [rules.text(cards & rules.full) for cards in masks]


def test_sort_hand_when_suits_have_another_order_then_it_is_the_rulesets() -> None:
    assert texts(PUSOY, sort_hand(PUSOY, mask("3D 3C 3H 2S", PUSOY))) == ["3C", "3H", "3D", "2S"]


def test_sort_hand_when_a_card_is_there_twice_then_it_comes_twice() -> None:
    assert texts(TWO_PACKS, sort_hand(TWO_PACKS, mask("4D 3D 3D", TWO_PACKS))) == ["3D", "3D", "4D"]


def test_hand_when_grouped_then_every_card_is_in_one_group() -> None:
    hand = mask("3D 3C 4H KS 2S")
    assert {rank: RULES.text(held) for rank, held in by_rank(RULES, hand).items()} == {
        "3": "3D 3C",
        "4": "4H",
        "K": "KS",
        "2": "2S",
    }
    assert {suit: RULES.text(held) for suit, held in by_suit(RULES, hand).items()} == {
        "D": "3D",
        "C": "3C",
        "H": "4H",
        "S": "KS 2S",
    }
    assert {kind: len(plays) for kind, plays in by_kind(RULES, hand).items()} == {"single": 5, "pair": 1}


@pytest.mark.parametrize(
    ("hand", "plays"),
    [
        ("3D", ["3D"]),
        ("3D 3C 3H 4D 4C 5D", ["5D", "3D 3C 3H 4D 4C"]),
        ("3D 4C 5H 6S 7D 8C 9H TS JD QC", ["3D 4C 5H 6S 7D", "8C 9H TS JD QC"]),
        ("3D 3C 4D 5H 6S 7D", ["3D", "3C 4D 5H 6S 7D"]),
    ],
)
def test_decompose_when_there_is_one_best_way_then_it_is_found(hand: str, plays: list[str]) -> None:
    found = decompose(RULES, mask(hand))
    assert (len(found.plays), found.cost, found.exact) == (len(plays), len(plays), True)
    if hand != "3D 3C 4D 5H 6S 7D":  # here the threes are equally good
        assert texts(RULES, list(found.plays)) == plays


@examples(60)
@given(st.sampled_from(preset_names()), st.integers(0, 1 << 30))
def test_decompose_when_exact_then_no_way_has_fewer_plays(name: str, seed: int) -> None:
    rules = compile_ruleset(load_ruleset(name))
    hand = rules.mask(Random(seed).sample(rules.pack, 8))
    found = decompose(rules, hand)
    assert found.exact
    assert len(found.plays) == found.cost == fewest(rules, hand)
    left = hand
    for play in found.plays:
        assert play & rules.full & ~left == 0
        left = rules.remove(left, play & rules.full)
    assert left == 0


def fewest(rules: Rules, hand: int) -> int:
    """Return the smallest number of plays for a hand, found by trying every play."""

    @cache
    def least(part: int) -> int:
        return min(
            (1 + least(rules.remove(part, play & rules.full)) for play in rules.list_plays(part)), default=0
        )

    return least(hand)


@given(st.integers(0, 1 << 30))
def test_decompose_when_cut_off_then_it_says_so_and_all_cards_are_there(seed: int) -> None:
    hand = RULES.mask(Random(seed).sample(RULES.pack, 13))
    found = decompose(RULES, hand, nodes=2)
    assert not found.exact
    assert sum(play & RULES.full for play in found.plays) == hand
    assert found.cost == len(found.plays)


def test_decomposer_when_plays_have_prices_then_the_cheapest_way_is_taken() -> None:
    hand = mask("3D 3C 4D 5H 6S 7D")
    dear = Decomposer(RULES, hand, lambda play: 10.0 if RULES.kind(play) == "straight" else 1.0)
    assert dear.best(hand).cost == 5
    assert dear.cost(mask("3D 3C")) == 1


def test_stronger_singles_when_suits_count_then_they_do() -> None:
    stronger = stronger_singles(RULES)
    assert RULES.text(stronger[code("2C")]) == "2H 2S"
    assert stronger[code("2S")] == 0
    assert TWO_PACKS.text(stronger_singles(TWO_PACKS)[code("2H", TWO_PACKS)]) == "2S 2S"


@pytest.mark.parametrize(
    ("play", "unseen", "counts", "boss"),
    [
        ("2H", "3D 2S", [1, 1], False),
        ("2H", "3D 2C", [1, 1], True),
        ("AD AC", "AH AS 3D", [2, 1], False),
        ("AD AC", "AH AS 3D", [1, 1, 1], True),
        ("3D 4C 5H 6S 7D", "3C 5C 7C 9C JC KD", [5, 1], False),
        ("3D 4C 5H 6S 7D", "3C 5C 7C 9C JC KD", [4, 2], True),
        ("3D 4C 5H 6S 7D", "", [0], True),
    ],
)
def test_unseen_when_asked_for_a_boss_then_sizes_count_too(
    play: str, unseen: str, counts: list[int], boss: bool
) -> None:
    assert Unseen(RULES, mask(unseen), counts).is_boss(code(play)) is boss


def test_unseen_when_bombs_are_there_then_a_two_is_no_boss() -> None:
    rules = compile_ruleset(load_ruleset("taiwan"))
    two, bomb = code("2S", rules), mask("4D 4C 4H 4S 5D", rules)
    assert not Unseen(rules, bomb, [5]).is_boss(two)
    assert Unseen(rules, bomb, [4, 1]).is_boss(two)


@examples(60)
@given(st.sampled_from(preset_names()), st.integers(0, 1 << 30))
def test_unseen_when_it_says_boss_then_no_hand_of_these_cards_beats_it(name: str, seed: int) -> None:
    rules = compile_ruleset(load_ruleset(name))
    cards = Random(seed).sample(rules.pack, 16)
    unseen, hand = rules.mask(cards[:10]), rules.mask(cards[10:])
    known = Unseen(rules, unseen, [10])
    theirs = rules.list_plays(unseen)
    for play in rules.list_plays(hand):
        assert known.is_boss(play) is not any(rules.beats(other, play) for other in theirs)

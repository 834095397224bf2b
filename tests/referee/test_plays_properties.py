"""Tests that the play codes agree with the slow rules, for random rulesets and for every preset."""

import random
from itertools import combinations, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.rules.plays import Rules, compile_ruleset
from referee.ruleset import load_ruleset
from referee.ruleset.axes.kinds import FIVE_CARD_KINDS, KINDS
from tests.examples import examples
from tests.referee.deals import TELLING
from tests.referee.slow_rules import Cards, SlowRules, read
from tests.referee.strategies import combination_rulesets, hands


def slow_cards(rules: Rules, mask: int) -> Cards:
    return tuple(sorted(read(rules.text(mask))))


@examples(400)
@given(st.data())
def test_list_plays_for_any_ruleset_lists_what_the_slow_rules_list(data: st.DataObject) -> None:
    rules = compile_ruleset(data.draw(combination_rulesets()))
    hand = data.draw(hands(rules, most=9))
    plays = rules.list_plays(hand)
    slow = SlowRules(rules.ruleset)
    assert plays == sorted(set(plays))
    assert {slow_cards(rules, code & rules.full) for code in plays} == slow.plays(slow_cards(rules, hand))
    for code in plays:
        assert rules.code(code & rules.full) == code
        assert rules.kind(code) == slow.kind(slow_cards(rules, code & rules.full))


@examples(300)
@given(st.data())
def test_beats_for_any_ruleset_is_as_the_slow_rules_say(data: st.DataObject) -> None:
    rules = compile_ruleset(data.draw(combination_rulesets()))
    slow = SlowRules(rules.ruleset)
    plays = [code for _ in range(2) for code in rules.list_plays(data.draw(hands(rules)))]
    pairs = st.tuples(st.sampled_from(plays), st.sampled_from(plays))
    for a, b in data.draw(st.lists(pairs, max_size=40)):
        cards_a, cards_b = slow_cards(rules, a & rules.full), slow_cards(rules, b & rules.full)
        assert rules.beats(a, b) == slow.beats(cards_a, cards_b), (cards_a, cards_b)
        assert rules.is_bomb(a) == slow.is_bomb(cards_a)
        assert not (rules.beats(a, b) and rules.beats(b, a)), (cards_a, cards_b)


@given(st.data())
def test_following_and_beaten_for_any_ruleset_are_every_play_that_beats_and_is_beaten(
    data: st.DataObject,
) -> None:
    rules = compile_ruleset(data.draw(combination_rulesets()))
    plays = rules.list_plays(data.draw(hands(rules)))
    one = data.draw(st.sampled_from(rules.list_plays(data.draw(hands(rules)))))
    assert rules.following(plays, one) == [code for code in plays if rules.beats(code, one)]
    assert rules.beaten(plays, one) == [code for code in plays if rules.beats(one, code)]


@given(st.data())
def test_end_of_kind_for_any_ruleset_is_above_the_plays_of_a_kind_and_size_bombs_apart(
    data: st.DataObject,
) -> None:
    rules = compile_ruleset(data.draw(combination_rulesets()))
    ends = [
        (rules.end_of_kind(code), rules.kind(code), (code & rules.full).bit_count(), code >= rules.first_bomb)
        for code in rules.list_plays(data.draw(hands(rules)))
    ]
    for (end, *one), (other_end, *other) in pairwise(ends):
        # A bomb of a chosen rank is apart from those of another.
        assert end == other_end if one == other and not one[-1] else one == other or end != other_end


@given(st.data())
def test_code_of_any_cards_is_a_play_exactly_when_the_slow_rules_say_so(data: st.DataObject) -> None:
    rules = compile_ruleset(data.draw(combination_rulesets()))
    slow = SlowRules(rules.ruleset)
    mask = data.draw(hands(rules, most=8))
    code = rules.code(mask)
    assert (rules.kind(code) if code else None) == slow.kind(slow_cards(rules, mask))


OTHERS: dict[str, dict[str, Any]] = {
    "two packs, flushes by all ranks": {"extends": "hong-kong-relatives", "decks": 2},
    "two packs with every kind": {
        "decks": 2,
        "plays": KINDS[:-1],
        "five_card_order": FIVE_CARD_KINDS,
        "bombs": ["bare_quads"],
        "pair_run_from": 3,
    },
    "runs of one suit beside runs, and two pairs of four cards": {
        "plays": ["single", "bare_two_pair", "run", "suited_run"],
        "five_card_order": [],
        "two_pair_order": "ranks_then_suit",
        "bombs": ["suited_run"],
    },
    "two packs with runs of one suit": {
        "decks": 2,
        "plays": ["single", "pair", "straight", "bare_two_pair", "suited_run"],
        "five_card_order": ["straight"],
        "run_order": "three_to_two",
    },
    "runs from the three to the two, and no straights": {
        "plays": ["single", "pair", "run", "pair_run", "triple_run", "triple_run_plus_pairs"],
        "five_card_order": [],
        "run_order": "three_to_two",
        "straight_suit_of": "highest",
        "pair_run_from": 3,
    },
    "runs around the corner, with runs as bombs": {
        "plays": ["single", "flush", "run", "triple_plus_two_pairs", "triple_run", "pair_run"],
        "five_card_order": ["flush"],
        "run_order": "wrap_around",
        "run_from": 4,
        "bombs": ["triple_run", "run", "pair_run"],
    },
    "two packs with straight flushes plus two": {"extends": "taiwan-latta", "decks": 2},
    "two packs, two pairs above flushes": {
        "decks": 2,
        "plays": ["single", "two_pair", "flush"],
        "five_card_order": ["flush", "two_pair"],
        "two_pair_order": "ranks_then_suit",
    },
    **{
        f"three packs, {' below '.join(order)}": {
            "decks": 3,
            "plays": ["single", "pair", *order],
            "five_card_order": order,
        }
        for order in (["flush", "full_house", "quads"], ["quads", "full_house", "flush"], ["flush"])
    },
    "royal flush apart, no flushes": {
        "plays": [kind for kind in KINDS[:-1] if kind != "flush"],
        "pair_run_from": 3,
        "five_card_order": ["straight", "full_house", "two_pair", "straight_flush", "quads", "royal_flush"],
    },
    "royal flush that the order lacks, no flushes": {
        "plays": ["single", "straight", "straight_flush"],
        "five_card_order": ["straight", "royal_flush", "straight_flush"],
        "straights": [["3 4 5 6 7", "7 9 J K 2"], ["4 5 6 7 8"]],
    },
    "neither flushes nor straight flushes": {
        "plays": ["single", "straight", "full_house"],
        "five_card_order": ["full_house", "straight"],
    },
}
"""Rulesets with features that no preset has."""

SOURCES = [*TELLING, *OTHERS]


def rules_of(source: str) -> Rules:
    return compile_ruleset(load_ruleset(OTHERS.get(source, source)))


def close_hand(rules: Rules, shuffle: random.Random, size: int) -> int:
    """Draw a hand of neighbouring ranks."""
    ranks = len(rules.rank_masks)
    first = shuffle.randrange(ranks)
    near = {(first + step) % ranks for step in range(5 if rules.decks == 1 else 3)}
    return rules.mask(shuffle.sample([card for card in rules.pack if card // 4 in near], size))


@pytest.mark.parametrize("source", SOURCES)
def test_list_plays_of_many_hands_lists_what_the_slow_rules_list(source: str) -> None:
    rules = rules_of(source)
    slow = SlowRules(rules.ruleset)
    shuffle = random.Random(source)
    suited = [card for card in rules.pack if card % 4 < 2]
    hands = [close_hand(rules, shuffle, 9) for _ in range(6)]
    hands += [rules.mask(shuffle.sample(rules.pack, 10)) for _ in range(3)]
    hands += [rules.mask(shuffle.sample(suited, 10)) for _ in range(3)]
    hands += [rules.mask(shuffle.sample([card for card in rules.pack if card % 4 == 1], 8)) for _ in range(3)]
    hands += [rules.mask([card for card in rules.pack[-24:] if card % 4 == 1])]
    for hand in hands:
        plays = rules.list_plays(hand)
        assert plays == sorted(set(plays))
        listed = {slow_cards(rules, code & rules.full) for code in plays}
        assert listed == slow.plays(slow_cards(rules, hand))


@pytest.mark.parametrize("source", SOURCES)
def test_play_codes_of_many_cards_are_ordered_as_the_slow_rules_order(source: str) -> None:
    rules = rules_of(source)
    slow = SlowRules(rules.ruleset)
    shuffle = random.Random(source)
    hand = rules.mask(shuffle.sample(rules.pack, 26))
    plays = [code for code in rules.list_plays(hand) if rules.count(code & rules.full) < 7]
    assert len(plays) > 40
    for a, b in combinations(shuffle.sample(plays, min(80, len(plays))), 2):
        cards_a, cards_b = slow_cards(rules, a & rules.full), slow_cards(rules, b & rules.full)
        assert rules.beats(b, a) == slow.beats(cards_b, cards_a), (cards_b, cards_a)
        assert rules.beats(a, b) == slow.beats(cards_a, cards_b), (cards_a, cards_b)


@pytest.mark.parametrize(("decks", "more"), [(1, 0), (1, 4), (2, 3)])
def test_dragons_of_many_hands_are_those_of_the_slow_rules(decks: int, more: int) -> None:
    fields = {"decks": decks, "players": 2, "hand_size": 17, "plays": ["single", "pair", "dragon"]}
    fields |= {"jokers": 2, "removed_cards": ["3D", "9S", "2C"]}
    rules = compile_ruleset(load_ruleset({"name": "dragons", **fields, "five_card_order": []}))
    slow, shuffle = SlowRules(rules.ruleset), random.Random(decks + more)
    for _ in range(4):
        cards = [rules.cards(shuffle.choice(rules.choose(rank, 1)))[0] for rank in rules.rank_masks]
        left = [card for card in rules.pack if card not in cards]
        hand = rules.mask(cards + shuffle.sample(left, more))
        plays = rules.list_plays(hand)
        assert plays == sorted(set(plays))
        assert {slow_cards(rules, code & rules.full) for code in plays} == slow.plays(slow_cards(rules, hand))
        assert sum(rules.kind(code) == "dragon" for code in plays) >= 1
        for a, b in pairwise(plays):
            assert rules.beats(b, a) == slow.beats(
                slow_cards(rules, b & rules.full), slow_cards(rules, a & rules.full)
            )


def test_flushes_of_two_packs_by_all_ranks_are_ordered_as_the_slow_rules_order() -> None:
    rules = rules_of("two packs, flushes by all ranks")
    slow = SlowRules(rules.ruleset)
    spades = rules.mask([card for card in rules.pack if card % 4 == 3 and card < 28])
    flushes = [code for code in rules.list_plays(spades) if rules.kind(code) == "flush"]
    assert len(flushes) > 100
    for a, b in pairwise(flushes):
        assert slow.beats(slow_cards(rules, b & rules.full), slow_cards(rules, a & rules.full))


@given(st.data())
def test_add_and_remove_for_any_hand_undo_each_other(data: st.DataObject) -> None:
    rules = compile_ruleset(data.draw(combination_rulesets()))
    hand = data.draw(hands(rules))
    part = rules.mask(data.draw(st.lists(st.sampled_from(rules.cards(hand)), unique=True)))
    rest = rules.remove(hand, part)
    assert sorted(rules.cards(rest) + rules.cards(part)) == rules.cards(hand)
    assert rules.add(rest, part) == hand


@given(st.data())
def test_text_of_any_hand_is_read_back(data: st.DataObject) -> None:
    rules = compile_ruleset(data.draw(combination_rulesets()))
    hand = data.draw(hands(rules))
    assert rules.parse(rules.text(hand)) == hand
    assert rules.count(hand) == len(rules.cards(hand)) == len(rules.text(hand).split())

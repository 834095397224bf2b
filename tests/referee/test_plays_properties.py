"""The play codes held to the slow rules, for random rulesets and for every preset."""

import random
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.plays import Rules, compile_ruleset
from referee.ruleset import load_ruleset, preset_names
from tests.referee.slow_rules import Cards, SlowRules, read
from tests.referee.strategies import combination_rulesets, hands


def slow_cards(rules: Rules, mask: int) -> Cards:
    return tuple(sorted(read(rules.text(mask))))


@settings(deadline=None, max_examples=400)
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


@settings(deadline=None, max_examples=300)
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


@settings(deadline=None)
@given(st.data())
def test_following_for_any_ruleset_is_every_play_that_beats(data: st.DataObject) -> None:
    rules = compile_ruleset(data.draw(combination_rulesets()))
    plays = rules.list_plays(data.draw(hands(rules)))
    to_beat = data.draw(st.sampled_from(rules.list_plays(data.draw(hands(rules)))))
    assert rules.following(plays, to_beat) == [code for code in plays if rules.beats(code, to_beat)]


@settings(deadline=None)
@given(st.data())
def test_code_of_any_cards_is_a_play_exactly_when_the_slow_rules_say_so(data: st.DataObject) -> None:
    rules = compile_ruleset(data.draw(combination_rulesets()))
    slow = SlowRules(rules.ruleset)
    mask = data.draw(hands(rules, most=8))
    code = rules.code(mask)
    assert (rules.kind(code) if code else None) == slow.kind(slow_cards(rules, mask))


@pytest.mark.parametrize("name", preset_names())
def test_list_plays_of_dealt_hands_lists_what_the_slow_rules_list(name: str) -> None:
    rules = compile_ruleset(load_ruleset(name))
    slow = SlowRules(rules.ruleset)
    shuffle = random.Random(name)
    for _ in range(3):
        hand = rules.mask(shuffle.sample(rules.pack, 10))
        listed = {slow_cards(rules, code & rules.full) for code in rules.list_plays(hand)}
        assert listed == slow.plays(slow_cards(rules, hand))


@pytest.mark.parametrize("name", preset_names())
def test_play_codes_of_dealt_hands_are_ordered_as_the_slow_rules_order(name: str) -> None:
    rules = compile_ruleset(load_ruleset(name))
    slow = SlowRules(rules.ruleset)
    shuffle = random.Random(name)
    hand = rules.mask(shuffle.sample(rules.pack, len(rules.pack) // rules.decks // 2))
    plays = [code for code in rules.list_plays(hand) if rules.count(code & rules.full) < 7]
    for a, b in combinations(shuffle.sample(plays, min(60, len(plays))), 2):
        cards_a, cards_b = slow_cards(rules, a & rules.full), slow_cards(rules, b & rules.full)
        assert rules.beats(b, a) == slow.beats(cards_b, cards_a), (cards_b, cards_a)
        assert rules.beats(a, b) == slow.beats(cards_a, cards_b), (cards_a, cards_b)


@settings(deadline=None)
@given(st.data())
def test_add_and_remove_for_any_hand_undo_each_other(data: st.DataObject) -> None:
    rules = compile_ruleset(data.draw(combination_rulesets()))
    hand = data.draw(hands(rules))
    part = rules.mask(data.draw(st.lists(st.sampled_from(rules.cards(hand)), unique=True)))
    rest = rules.remove(hand, part)
    assert sorted(rules.cards(rest) + rules.cards(part)) == rules.cards(hand)
    assert rules.add(rest, part) == hand


@settings(deadline=None)
@given(st.data())
def test_text_of_any_hand_is_read_back(data: st.DataObject) -> None:
    rules = compile_ruleset(data.draw(combination_rulesets()))
    hand = data.draw(hands(rules))
    assert rules.parse(rules.text(hand)) == hand
    assert rules.count(hand) == len(rules.cards(hand)) == len(rules.text(hand).split())

"""Tests for combinations, with the rule book's cases: what cards are, and what beats what."""

from collections.abc import Sequence
from itertools import combinations
from math import comb, prod
from typing import Any

import pytest

from referee.rules.plays import Rules, compile_ruleset
from referee.ruleset import load_ruleset
from referee.ruleset.axes.kinds import FIVE_CARD_KINDS, KINDS

PLUS_ROYAL = ["straight", "flush", "full_house", "straight_flush", "quads", "royal_flush"]
FIVES = ["straight", "flush", "full_house", "quads", "straight_flush"]
ALL = ["single", "pair", "triple", "straight", "flush", "full_house", "quads", "straight_flush"]


def rules_of(source: str | dict[str, Any]) -> Rules:
    return compile_ruleset(load_ruleset(source))


def kind(rules: Rules, cards: str) -> str | None:
    code = rules.code(rules.parse(cards))
    return rules.kind(code) if code else None


def assert_falling(rules: Rules, *plays: str) -> None:
    """Assert that each play beats all that follow it, and none before it."""
    codes = [rules.code(rules.parse(cards)) for cards in plays]
    assert 0 not in codes
    for place, code in enumerate(codes):
        for other_place, other in enumerate(codes):
            assert rules.beats(code, other) == (place < other_place), (plays[place], plays[other_place])


# The examples given in the descriptions of the rules


def test_pair_of_nines_with_the_spade_beats_the_pair_with_the_heart() -> None:
    assert_falling(rules_of("chinese"), "9S 9D", "9H 9C")


def test_pair_of_queens_beats_a_pair_of_jacks_of_higher_suits() -> None:
    assert_falling(rules_of("chinese"), "QC QD", "JS JH")


def test_pair_of_black_jacks_beats_the_pair_of_red_jacks() -> None:
    assert_falling(rules_of("only-a-game"), "JC JS", "JD JH")


def test_straights_of_the_basic_rules_go_by_rank_then_by_top_suit() -> None:
    assert_falling(rules_of("chinese"), "KD QC JC TH 9H", "QS JD TD 9D 8D", "QD JS TS 9S 8S")


def test_flushes_by_suit_then_top() -> None:
    assert_falling(rules_of("chinese"), "9H 7H 6H 5H 3H", "2C JC 9C 6C 4C", "AC KC QC TC 7C")


def test_flushes_by_top_then_suit() -> None:
    assert_falling(rules_of("hong-kong"), "2H JH 7H 5H 3H", "AS JS TS 7S 6S", "AC KC JC 9C 8C")


def test_flushes_by_all_ranks() -> None:
    assert_falling(rules_of("hong-kong-relatives"), "AC KC JC 9C 8C", "AS JS TS 7S 6S")


@pytest.mark.parametrize("name", ["chinese", "only-a-game", "silicon-valley"])
def test_full_houses_and_quads_go_by_their_matching_cards(name: str) -> None:
    rules = rules_of(name)
    assert_falling(rules, "9D 9C 9H 4D 4C", "8D 8C 8H KD KC")
    assert_falling(rules, "JD JC JH JS 6D", "4D 4C 4H 4S 8D")
    assert_falling(rules, "8D 8C 8H 8S 4D", "6D 6C 6H 6S 2D")


def test_royal_flush_apart_beats_quads_which_beat_other_straight_flushes() -> None:
    rules = rules_of({"five_card_order": PLUS_ROYAL})
    assert_falling(
        rules, "AD KD QD JD TD", "2S 2H 2C 2D 6H", "3S 3H 3C 3D 8H", "KS QS JS TS 9S", "QS JS TS 9S 8S"
    )


def test_indonesian_straights_with_a_two_go_by_its_suit() -> None:
    assert_falling(
        rules_of("indonesia"), "AD 2S 3D 4C 5D", "2H 3S 4D 5S 6H", "AS 2C 3H 4S 5D", "TH JH QS KS AS"
    )


# What cards are


@pytest.mark.parametrize(
    ("cards", "expected"),
    [
        ("3D", "single"),
        ("3D 3S", "pair"),
        ("3D 4D", None),
        ("3D 3C 3S", "triple"),
        ("3D 3C 3H 3S", None),
        ("3D 3C 4D 4C", None),
        ("3D 3C 4D 4C 5D", None),
        ("3D 3C 3H 4D 4C", "full_house"),
        ("3D 3C 3H 4D 5C", None),
        ("3D 3C 3H 3S 4C", "quads"),
        ("3D 4D 5D 6D 8D", "flush"),
        ("3D 4D 5D 6D 7D", "straight_flush"),
        ("3D 4D 5D 6D 7C", "straight"),
        ("3D 4D 5D AC 2D", "straight"),
        ("JD QD KD AD 2D", "flush"),
        ("JD QD KD AD 2C", None),
        ("TD JD QD KD AD", "straight_flush"),
        ("3D 4D 5D 6D 7D 8D", None),
        ("3D 4D 5D 6D 7D 8D 9D", None),
        ("", None),
    ],
)
def test_kind_under_the_basic_rules(cards: str, expected: str | None) -> None:
    assert kind(rules_of("chinese"), cards) == expected


def test_suited_sequence_where_straight_flush_is_off_is_the_stronger_of_straight_and_flush() -> None:
    plays = ["single", "straight", "flush"]
    flush_high = rules_of({"plays": plays, "five_card_order": ["straight", "flush"]})
    straight_high = rules_of({"plays": plays, "five_card_order": ["flush", "straight"]})
    straight_only = rules_of({"plays": plays[:2], "five_card_order": ["straight"]})
    assert kind(flush_high, "3D 4D 5D 6D 7D") == "flush"
    assert kind(straight_high, "3D 4D 5D 6D 7D") == "straight"
    assert kind(straight_only, "3D 4D 5D 6D 7D") == "straight"
    assert kind(straight_only, "3D 4D 5D 6D 8D") is None


def test_suited_sequence_where_only_straight_flush_is_on_is_no_straight() -> None:
    rules = rules_of({"plays": ["single", "straight_flush"], "five_card_order": ["straight_flush"]})
    assert kind(rules, "3D 4D 5D 6D 7D") == "straight_flush"
    assert kind(rules, "3D 4D 5D 6D 7C") is None


def test_royal_flush_is_the_sequence_to_the_ace_though_the_ladder_goes_higher() -> None:
    rules = rules_of({"straights": "two_high", "five_card_order": PLUS_ROYAL})
    assert kind(rules, "TD JD QD KD AD") == "royal_flush"
    assert kind(rules, "JD QD KD AD 2D") == "straight_flush"
    assert kind(rules_of({"straights": "two_high"}), "TD JD QD KD AD") == "straight_flush"


def test_royal_flush_in_lectio_ends_in_the_one() -> None:
    rules = rules_of({"extends": "lectio", "five_card_order": PLUS_ROYAL})
    assert kind(rules, "12D 13D 14D 15D 1D") == "royal_flush"
    assert kind(rules, "11D 12D 13D 14D 15D") == "straight_flush"


# Suits that do not count


def test_equal_suits_make_cards_of_one_rank_equal_in_every_kind() -> None:
    plays = [*ALL, "bare_quads", "pair_run"]
    rules = rules_of({"plays": plays, "equal_suits": True, "flush_order": "top_then_suit"})
    for one, other in (
        ("9D", "9S"),
        ("9S 9D", "9H 9C"),
        ("5D 6D 7D 8C 9D", "5S 6S 7S 8H 9S"),
        ("3D 5D 7D 8D KD", "3S 4S 5S 6S KS"),
        ("5D 6D 7D 8D 9D", "5S 6S 7S 8S 9S"),
        ("3D 3C 4D 4C", "3H 3S 4H 4S"),
    ):
        codes = [rules.code(rules.parse(cards)) for cards in (one, other)]
        assert 0 not in codes
        assert not rules.beats(*codes)
        assert not rules.beats(*codes[::-1])
    assert_falling(rules, "TD", "9S")
    assert_falling(rules, "TD TC", "9H 9S")
    assert_falling(rules, "6D 7D 8D 9D TC", "5S 6S 7S 8S 9H")
    assert_falling(rules, "3D 4D 5D 6D AD", "3S JS QS KS TS")
    plays_held = rules.list_plays(rules.parse("8S 9D 9S TD"))
    following = rules.following(plays_held, rules.code(rules.parse("9C")))
    assert [rules.text(code & rules.full) for code in following] == ["TD"]


def test_equal_suits_leave_flushes_by_all_ranks_and_make_royal_flushes_equal() -> None:
    fields: dict[str, Any] = {"equal_suits": True, "five_card_order": PLUS_ROYAL}
    rules = rules_of(fields | {"flush_order": "ranks_then_suit"})
    assert_falling(rules, "3D 5D 7D 8D KD", "3S 4S 5S 6S KS")
    royal = [rules.code(rules.parse(f"T{suit} J{suit} Q{suit} K{suit} A{suit}")) for suit in "DS"]
    assert rules.kind(royal[0]) == "royal_flush"
    assert not rules.beats(*royal)
    assert not rules.beats(*royal[::-1])


def test_equal_suits_of_two_packs_do_not_part_matching_cards() -> None:
    rules = rules_of({"extends": "only-a-game-8", "equal_suits": True})
    one, other = (rules.code(rules.parse(cards)) for cards in ("9S 9D 9D 4C 4C", "9H 9H 9C 4S 4S"))
    assert not rules.beats(one, other)
    assert not rules.beats(other, one)
    assert_falling(rules, "TD TD TC 3C 3C", "9H 9H 9S 4S 4S")


# Two packs


def test_two_packs_equal_cards_do_not_beat_each_other() -> None:
    rules = rules_of("only-a-game-8")
    top = rules.code(rules.parse("2S"))
    assert not rules.beats(top, top)
    both, mixed = (rules.code(rules.parse(cards)) for cards in ("3S 3S", "3D 3S"))
    assert not rules.beats(both, mixed)
    assert not rules.beats(mixed, both)


def test_two_packs_matching_cards_of_equal_rank_go_by_their_best_suit() -> None:
    rules = rules_of("only-a-game-8")
    assert_falling(rules, "9S 9D 9D", "9H 9H 9C")
    assert_falling(rules, "9S 9D 9D 4C 4C", "9H 9H 9C 4S 4S")
    assert_falling(rules, "9S 9D 9D 9C 4C", "9H 9H 9C 9C 2S")


def test_two_packs_five_of_one_rank_are_quads_by_the_best_of_all_five() -> None:
    rules = rules_of("only-a-game-8")
    assert kind(rules, "9D 9D 9C 9C 9S") == "quads"
    assert_falling(rules, "9D 9D 9C 9C 9S", "9D 9C 9H 9H 2S")


def test_two_packs_flush_may_hold_equal_cards() -> None:
    rules = rules_of("only-a-game-8")
    assert kind(rules, "9D 9D 4D 4D 3D") == "flush"
    ranks = rules_of({"extends": "hong-kong-relatives", "decks": 2})
    assert_falling(ranks, "AD AD 4D 4D 3D", "AS KS QS 9S 9S", "AS KS QS 9S 8S", "AH KH QH 9H 8H")


def test_three_and_four_packs_of_equal_cards_are_kinds_of_equal_ranks_and_no_flush() -> None:
    rules = rules_of({"decks": 4, "plays": [*load_ruleset("chinese").plays, "bare_quads"]})
    assert kind(rules, "9D 9D 9D") == "triple"
    assert kind(rules, "9D 9D 9D 9D") == "bare_quads"
    assert kind(rules, "9D 9D 9D 4D 4D") == "full_house"
    assert kind(rules, "9D 9D 9D 9D 4D") == "quads"
    assert kind(rules, "9D 9D 9D 4D 3D") == "flush"
    held = rules.parse("9D 9D 9D 9D 4D 4D")
    kinds = [rules.kind(code) for code in rules.list_plays(held)]
    assert [(one, kinds.count(one)) for one in dict.fromkeys(kinds)] == [
        *(("single", 2), ("pair", 2), ("triple", 1), ("bare_quads", 1), ("full_house", 1), ("quads", 1)),
    ]


# Jokers


@pytest.mark.parametrize("suits", ["DCHS", "SHCD"])
def test_jokers_are_above_every_card_the_red_one_above_the_black_one(suits: str) -> None:
    rules = rules_of({"jokers": 2, "suits": list(suits)})
    assert_falling(rules, "RJ", "BJ", f"2{suits[-1]}")
    assert_falling(rules, "BJ RJ", "2H 2S")


JOKER_KINDS = [kind for kind in KINDS[:-1] if kind not in ("bare_two_pair", "suited_run")]


def test_jokers_are_a_rank_of_their_own() -> None:
    rules = rules_of({"jokers": 2, "decks": 2, "plays": JOKER_KINDS, "five_card_order": FIVE_CARD_KINDS})
    assert kind(rules, "BJ RJ") == kind(rules, "BJ BJ") == "pair"
    assert kind(rules, "BJ RJ RJ") == "triple"
    assert kind(rules, "9D 9C 9H BJ RJ") == kind(rules, "9D 9C BJ RJ RJ") == "full_house"
    assert kind(rules, "9D 9C 9H 9S RJ") == kind(rules, "BJ BJ RJ RJ 3D") == "quads"
    assert_falling(rules, "BJ RJ", "BJ BJ", "2S 2S")
    pairs = [rules.code(rules.parse(cards)) for cards in ("BJ RJ", "RJ RJ")]
    assert not rules.beats(*pairs)
    assert not rules.beats(*reversed(pairs))
    assert_falling(rules, "9D BJ RJ RJ BJ", "9D 9C 9H 9S RJ")


def test_pair_of_jokers_may_be_a_bomb() -> None:
    rules = rules_of({"name": "rocket", "jokers": 2, "bombs": ["joker joker"]})
    assert_falling(rules, "BJ RJ", "6D 7D 8D 9D TD")
    assert_falling(rules, "BJ RJ", "2H 2S")


@pytest.mark.parametrize("cards", ["JD QD KD AD BJ", "TC JD QD KD RJ", "2D 2C BJ RJ", "BJ RJ 3D 3C", "3D BJ"])
def test_jokers_are_in_no_sequence_and_in_no_suit(cards: str) -> None:
    kinds = [kind for kind in JOKER_KINDS if kind != "run"]
    rules = rules_of(
        {"jokers": 2, "plays": kinds, "five_card_order": FIVE_CARD_KINDS, "straights": "wrap_around"}
    )
    assert rules.code(rules.parse(cards)) == 0
    assert not [code for code in rules.list_plays(rules.parse(cards)) if rules.count(code & rules.full) > 2]


def test_jokers_are_in_no_run_but_may_be_pairs_beside_others() -> None:
    fields = {"jokers": 2, "plays": JOKER_KINDS, "five_card_order": FIVE_CARD_KINDS}
    rules = rules_of(fields | {"run_order": "wrap_around", "two_pair_order": "ranks_then_suit"})
    assert kind(rules, "AD 2D BJ") is None
    assert kind(rules, "2D 2C BJ RJ") is None
    assert kind(rules, "3D 3C 3H BJ RJ 5D 5C") == "triple_plus_two_pairs"
    assert_falling(rules, "4D 4C BJ RJ 3D", "3D 3C BJ RJ 4D", "2D 2C AD AC 3D")


def test_one_pack_triples_of_one_rank_are_equal() -> None:
    rules = rules_of("chinese")
    low, high = (rules.code(rules.parse(cards)) for cards in ("9D 9C 9H", "9C 9H 9S"))
    assert not rules.beats(high, low)


@pytest.mark.parametrize("name", ["chinese", "hong-kong", "singapore", "taiwan-two-pair"])
def test_codes_of_one_pack_fit_into_62_bits(name: str) -> None:
    rules = compile_ruleset(load_ruleset(name))

    plays = [code for code, _ in rules.tally(rules.full)]

    assert 0 < plays[0] < plays[-1] < 1 << 62
    assert (plays[-1] | rules.group_full).bit_length() <= rules.first_bomb.bit_length() <= 62


# Kinds that not all rulesets have


def test_two_pairs_go_by_the_higher_pair_and_its_suit_below_straights() -> None:
    assert_falling(
        rules_of({"plays": [*ALL, "two_pair"], "five_card_order": ["two_pair", *FIVES]}),
        "3D 4C 5D 6C 7D",
        "2D 2C 3H 3S 4D",
        "KH AS AD 3H 3S",
        "AH AC KH KS 2D",
        "3D 3C 4H 4D AC",
    )


def test_two_pairs_by_all_ranks_go_by_the_lower_pair_before_the_suit() -> None:
    fields = {"plays": ["single", "two_pair"], "five_card_order": ["two_pair"]}
    rules = rules_of(fields | {"two_pair_order": "ranks_then_suit"})
    assert_falling(rules, "AH AC KH KS 3D", "AS AD QH QS 2D", "AH AC QD QC 2S")


@pytest.mark.parametrize(
    ("cards", "expected"),
    [
        ("9D 9C 4D 4C 3D", "two_pair"),
        ("9D 9C 9H 4D 4C", "full_house"),
        ("9D 9C 9H 9S 4C", "quads"),
        ("9D 9C 4D 4C", None),
        ("9D 9C 4D 3C 2S", None),
        ("9D 9C 9H 4D 3D", None),
    ],
)
def test_two_pairs_have_a_fifth_card_of_a_third_rank(cards: str, expected: str | None) -> None:
    assert kind(rules_of("taiwan-two-pair"), cards) == expected


@pytest.mark.parametrize("first", ["flush", "two_pair"])
def test_two_pairs_of_two_packs_in_one_suit_are_the_stronger_of_flush_and_two_pairs(first: str) -> None:
    second = "two_pair" if first == "flush" else "flush"
    rules = rules_of(
        {"decks": 2, "plays": ["single", "flush", "two_pair"], "five_card_order": [first, second]}
    )
    assert kind(rules, "3D 3D 4D 4D 5D") == second
    hand = rules.parse("3D 3D 4D 4D 5D")
    assert [rules.kind(code) for code in rules.list_plays(hand) if code > rules.code(hand) - 1] == [second]
    assert kind(rules, "3D 3D 4D 4D 5C") == "two_pair"


def test_two_pairs_of_a_whole_pack_are_counted_without_listing_them() -> None:
    rules = rules_of({"plays": ["single", "two_pair"], "five_card_order": ["two_pair"]})
    tally = rules.tally(rules.full)[52:]
    assert sum(number for _, number in tally) == comb(13, 2) * 6 * 6 * 44
    assert len(tally) == comb(13, 2) * 6


RUNS = {"plays": [*ALL, "run"], "run_from": 3}


@pytest.mark.parametrize(
    ("cards", "fields", "expected"),
    [
        ("3D 4C 5D", {}, "run"),
        ("3D 4D 5D", {}, "run"),
        ("3D 4C", {}, None),
        ("3D 4C 5D", {"run_from": 4}, None),
        ("3D 4C 5D 7C", {}, None),
        ("3D 4C 5D 6C 7D", {}, "straight"),
        ("3D 4D 5D 6D 7D", {}, "straight_flush"),
        ("3D 4C 5D 6C 7D 8C", {}, "run"),
        ("AD 2C 3D", {}, "run"),
        ("QD KC AD", {}, "run"),
        ("KD AC 2D", {}, None),
        ("KD AC 2D", {"run_order": "wrap_around"}, "run"),
        ("KD AC 2D", {"run_order": "three_to_two"}, "run"),
        ("AD 2C 3D", {"run_order": "three_to_two"}, None),
        ("QD KC AD", {"run_order": "no_two"}, "run"),
        ("AD 2C 3D", {"run_order": "no_two"}, None),
        ("3D 4C 5D 6C 7D", {"plays": ["single", "run"], "five_card_order": []}, "run"),
        ("3D 4D 5D 6D 7D", {"plays": ["single", "run"], "five_card_order": []}, "run"),
        ("3D 4D 5D 6D 7D", {"plays": ["single", "run", "flush"], "five_card_order": ["flush"]}, "flush"),
        ("3D 4C 5D 6C 7D", {"plays": ["single", "run", "flush"], "five_card_order": ["flush"]}, None),
        ("3D 4C 5D 6C 7D 8C 9D TC JD QC KD AC 2D", {}, "run"),
        ("3D 4C 5D 6C 7D 8C 9D TC JD QC KD AC 2D", {"run_order": "no_two"}, None),
    ],
)
def test_runs_are_straights_of_another_length(
    cards: str, fields: dict[str, Any], expected: str | None
) -> None:
    assert kind(rules_of(RUNS | fields), cards) == expected


def test_runs_of_cards_meet_only_those_of_the_same_length_and_go_as_straights_do() -> None:
    assert_falling(rules_of(RUNS), "QH KD AS", "QH KS AH", "JH QS KS", "2H 3S 4D", "AH 2S 3S", "AS 2S 3D")
    indonesia = rules_of(RUNS | {"run_order": "indonesia", "straight_suit_of": "highest"})
    assert_falling(indonesia, "2S 3D 4D", "AS 2H 3S", "2C 3S 4S", "QS KS AS", "3D 4D 5D")
    rules = rules_of(RUNS)
    short, long = (rules.code(rules.parse(cards)) for cards in ("3D 4C 5D", "4C 5D 6C 7D"))
    assert not rules.beats(long, short)
    assert not rules.beats(short, long)


def test_run_of_all_ranks_is_where_the_order_has_it_last() -> None:
    low, high = ("3D 4D 5D 6D 7D 8D 9D TD JD QD K{} A{} 2D".format(*suits) for suits in ("SD", "DS"))
    assert_falling(rules_of(RUNS), high, low)
    assert_falling(rules_of(RUNS | {"run_order": "hong_kong"}), low, high)


def test_list_short_has_the_runs_of_three() -> None:
    rules = rules_of(RUNS)
    hand = rules.parse("3D 4C 5D 6C 7D 7C 9S")
    assert rules.list_short(hand) == [
        code for code in rules.list_plays(hand) if rules.count(code & rules.full) <= 3
    ]


TRIPLES = {
    "plays": [*ALL, "pair_run", "triple_run", "triple_run_plus_pairs", "triple_plus_two_pairs"],
}
SHORT_RUN, LONG_RUN = "3D 3C 3H 4D 4C 4H", "5D 5C 5H 6D 6C 6H 7D 7C 7H"


@pytest.mark.parametrize(
    ("cards", "expected"),
    [
        (SHORT_RUN, "triple_run"),
        (LONG_RUN, "triple_run"),
        ("KD KC KH AD AC AH", "triple_run"),
        ("AD AC AH 2D 2C 2H", "triple_run"),
        ("3D 3C 3H 5D 5C 5H", None),
        ("3D 3C 3H 4D 4C 4H 4S", None),
        (f"{SHORT_RUN} 7D 7C 9D 9C", "triple_run_plus_pairs"),
        (f"{SHORT_RUN} 5D 5C 6D 6C", "triple_run_plus_pairs"),
        (f"{SHORT_RUN} 7D 7C 7H 7S", None),
        (f"{SHORT_RUN} 7D 7C", None),
        (f"{SHORT_RUN} 7D 7C 9D 8C", None),
        (f"{LONG_RUN} 3D 3C 4D 4C 9D 9C", "triple_run_plus_pairs"),
        ("3D 3C 3H 4D 4C 9D 9C", "triple_plus_two_pairs"),
        ("3D 3C 3H 4D 4C", "full_house"),
        ("3D 3C 3H 4D 4C 9D 9C TD TC", None),
    ],
)
def test_triples_in_a_run_may_have_as_many_pairs_and_one_triple_two(cards: str, expected: str | None) -> None:
    assert kind(rules_of(TRIPLES), cards) == expected


def test_runs_of_triples_go_by_their_last_rank_whatever_the_pairs() -> None:
    rules = rules_of(TRIPLES)
    assert_falling(rules, "KD KC KH AD AC AH", "5D 5C 5H 6D 6C 6H", SHORT_RUN, "AD AC AH 2D 2C 2H")
    assert_falling(rules, "7D 7C 7H 8D 8C 8H 3D 3C 4D 4C", f"{SHORT_RUN} AD AC KD KC")
    assert_falling(rules, "2D 2C 2H 3D 3C 4D 4C", "9D 9C 9H AD AC KD KC")
    runs = [rules.code(rules.parse(cards)) for cards in (SHORT_RUN, LONG_RUN)]
    assert not rules.beats(*runs)
    assert not rules.beats(*reversed(runs))


def test_runs_of_triples_of_two_packs_go_by_the_highest_suit_of_the_last_triple() -> None:
    rules = rules_of(TRIPLES | {"decks": 2})
    assert_falling(rules, "3D 3C 3H 4D 4C 4S", "3D 3C 3S 4D 4C 4H")


def test_every_kind_of_many_plays_is_counted_in_a_whole_pack() -> None:
    rules = rules_of(TRIPLES | {"plays": [*TRIPLES["plays"], "run"]})
    tally = rules.tally(rules.full)
    counts = dict.fromkeys(("run", "triple_run", "triple_run_plus_pairs", "triple_plus_two_pairs"), 0)
    for code, number in tally:
        if rules.kind(code) in counts:
            counts[rules.kind(code)] += number
            assert rules.code(code & rules.full) == code
    starts = {length: 14 - length + 1 for length in range(2, 13)} | {13: 1}
    assert counts == {
        "run": sum(starts[length] * 4**length for length in range(3, 14) if length != 5),
        "triple_run": sum(starts[length] * 4**length for length in range(2, 14)),
        "triple_run_plus_pairs": sum(
            starts[length] * 4**length * comb(13 - length, length) * 6**length for length in range(2, 7)
        ),
        "triple_plus_two_pairs": 13 * 4 * comb(12, 2) * 6 * 6,
    }


def test_bare_quads_and_a_run_of_two_pairs_never_meet() -> None:
    rules = rules_of({"plays": [*ALL, "bare_quads", "pair_run"]})
    quads, run = (rules.code(rules.parse(cards)) for cards in ("3D 3C 3H 3S", "AD AC KD KC"))
    assert (rules.kind(quads), rules.kind(run)) == ("bare_quads", "pair_run")
    assert not rules.beats(quads, run)
    assert not rules.beats(run, quads)


@pytest.mark.parametrize(
    ("cards", "expected"),
    [
        ("AD AC 2D 2C", "pair_run"),
        ("2D 2C 3D 3C", "pair_run"),
        ("KD KC AD AC", "pair_run"),
        ("KD KC AD AC 2D 2C", None),
        ("KD KC 2D 2C", None),
        ("3D 3C 5D 5C", None),
        ("3D 3C 4D 4C 5D 5C", "pair_run"),
        ("3D 3C 3H 3S 4D 4C", None),
    ],
)
def test_pair_runs_are_consecutive_from_ace_two_up_to_king_ace(cards: str, expected: str | None) -> None:
    assert kind(rules_of({"plays": [*ALL, "pair_run"]}), cards) == expected


def test_pair_runs_go_by_last_rank_then_by_its_best_suit() -> None:
    rules = rules_of({"plays": [*ALL, "pair_run"]})
    assert_falling(rules, "KD KC AD AC", "3S 3H 4S 4C", "3S 3H 4H 4D", "2H 2S 3S 3H", "AS AH 2S 2H")


def test_pair_run_of_all_ranks_ends_in_the_ace() -> None:
    rules = rules_of({"plays": [*ALL, "pair_run"]})
    low_ace = " ".join(f"{rank}D {rank}C" for rank in "3456789TJQKA2")
    high_ace = " ".join(f"{rank}D {rank}C" for rank in "3456789TJQK2") + " AH AS"
    assert_falling(rules, high_ace, low_ace)


LOW = "3D 4C 5H 6S 7D 8C 9H TS JD QC KH AS"


def test_dragons_go_by_the_suit_of_the_two() -> None:
    rules = rules_of({"name": "test", "plays": [*ALL, "dragon"]})
    assert kind(rules, f"{LOW} 2D") == "dragon"
    assert kind(rules, f"{LOW} AD") is None
    assert kind(rules_of("chinese"), f"{LOW} 2D") is None
    higher = LOW.replace("3D", "3S")
    assert_falling(rules, f"{LOW} 2S", f"{higher} 2H", f"{LOW} 2C")
    equal = [rules.code(rules.parse(f"{low} 2S")) for low in (LOW, higher)]
    assert not rules.beats(equal[0], equal[1])
    assert not rules.beats(equal[1], equal[0])


def test_dragon_takes_no_joker_for_a_rank() -> None:
    rules = rules_of({"name": "test", "jokers": 2, "plays": [*ALL, "dragon"]})
    assert kind(rules, f"{LOW} 2D") == "dragon"
    assert rules.code(rules.parse(f"{LOW} RJ")) == 0
    held = rules.list_plays(rules.parse(f"{LOW} 2D RJ BJ"))
    assert [rules.kind(code) for code in held].count("dragon") == 1


def test_dragon_that_is_a_bomb_beats_everything() -> None:
    rules = rules_of({"name": "test", "plays": [*ALL, "dragon"], "bombs": ["quads", "dragon"]})
    assert_falling(rules, f"{LOW} 2D", "AD AC AH AS 3D", "2S")


def test_dragon_of_two_packs_and_of_the_tiles_has_one_card_of_every_rank() -> None:
    rules = rules_of({"extends": "only-a-game-8", "name": "test", "plays": [*ALL, "dragon"]})
    assert kind(rules, f"{LOW} 2D") == "dragon"
    assert kind(rules, f"{LOW} AS") is None
    tiles = rules_of({"extends": "lectio", "name": "test", "players": 4, "hand_size": 15})
    cards = "3D 4D 5D 6D 7D 8D 9D 10D 11D 12D 13D 14D 15D 1D 2S"
    assert kind(tiles, cards) is None
    dragons = {"extends": "lectio", "name": "test", "players": 4, "hand_size": 15}
    assert kind(rules_of(dragons | {"plays": [*tiles.ruleset.plays, "dragon"]}), cards) == "dragon"


def test_pair_runs_are_as_long_and_as_high_as_the_ruleset_says() -> None:
    rules = rules_of({"plays": [*ALL, "pair_run"], "pair_run_from": 3, "run_order": "three_to_two"})
    assert kind(rules, "3D 3C 4D 4C") is None
    assert kind(rules, "AD AC 2D 2C 3D 3C") is None
    assert_falling(rules, "KD KC AD AC 2D 2C", "QD QC KD KC AD AC", "3D 3C 4D 4C 5D 5C")


def test_pair_runs_of_different_length_meet_only_as_bombs() -> None:
    rules = rules_of({"plays": [*ALL, "pair_run"]})
    long, short = (rules.code(rules.parse(cards)) for cards in ("3D 3C 4D 4C 5D 5C", "3D 3C 4D 4C"))
    assert not rules.beats(long, short)
    assert not rules.beats(short, long)


def test_bombs_of_only_a_game_beat_anything_in_their_order() -> None:
    rules = rules_of("only-a-game-bombs")
    assert_falling(
        rules,
        "3D 3C 4D 4C 5D 5C 6D 6C",
        "QD QC KD KC AD AC",
        "3D 3C 4D 4C 5D 5C",
        "3D 3C 3H 3S 4D",
        "3D 3C 3H 4D 4C",
        "9D TD JD QD KD",
        "3S 4S 5S 6S 8S",
    )
    short = rules.code(rules.parse("3D 3C 4D 4C"))
    assert rules.kind(short) == "pair_run"
    assert not rules.is_bomb(short)
    assert rules.beats(rules.code(rules.parse("3D 3C 3H 4D 4C")), short)


def test_bombs_of_chosen_ranks_beat_anything_and_leave_their_kind() -> None:
    rules = rules_of({"bombs": ["2 2", "quads", "A A A"]})
    assert_falling(rules, "AD AH AS", "3D 3C 3H 3S 4D", "2D 2C", "9D TD JD QD KD", "3S 4S 5S 6S 8S")
    assert_falling(rules, "2D 2S", "2C 2H", "AH AS", "KH KS")
    assert_falling(rules, "AD AH AS", "2D 2H 2S", "KD KH KS")
    assert kind(rules, "AD AC AH") == "triple"
    assert not rules.is_bomb(rules.code(rules.parse("2D 2C 2H")))


def assert_beaten(rules: Rules, play: str, others: Sequence[str], *, by: Sequence[str]) -> None:
    """Assert that of ``others`` exactly those of ``by`` beat ``play``."""
    codes = {cards: rules.code(rules.parse(cards)) for cards in (play, *others)}
    assert 0 not in codes.values()
    assert [cards for cards in others if rules.beats(codes[cards], codes[play])] == list(by)


RUN_3, RUN_4, RUN_5 = "3D 3C 4D 4C 5D 5C", "3D 3C 4D 4C 5D 5C 6D 6C", "3D 3C 4D 4C 5D 5C 6D 6C 7D 7C"
FOURS = "8D 8C 8H 8S"
VIETNAMESE: dict[str, Any] = {
    "plays": ["single", "pair", "triple", "bare_quads", "pair_run"],
    "five_card_order": [],
    "bombs": ["pair_run 3", "bare_quads", "pair_run 4", "pair_run 5"],
}


def test_bombs_may_beat_only_so_many_twos_and_go_by_their_kind_otherwise() -> None:
    beat = {"pair_run 3": ["2"], "bare_quads": ["2"], "pair_run 4": ["2 2"], "pair_run 5": ["2 2 2"]}
    rules = rules_of(VIETNAMESE | {"bombs_beat": beat})
    bombs = (RUN_3, FOURS, RUN_4, RUN_5)
    assert_beaten(rules, "2S", bombs, by=[RUN_3, FOURS])
    assert_beaten(rules, "2H 2S", bombs, by=[RUN_4])
    assert_beaten(rules, "2C 2H 2S", bombs, by=[RUN_5])
    for play in ("AS", "AH AS", "AC AH AS", "2D 2C 2H 2S", "3S 3H 4S 4H", "9D 9C 9H 9S", RUN_3):
        assert_beaten(rules, play, bombs, by=[])
    assert_falling(rules, "9D 9C 9H 9S", FOURS)
    assert_falling(rules, "7D 7C 8D 8C 9D 9C", RUN_3)
    longer = "3D 3C 4D 4C 5D 5C 6D 6C 7D 7C 8D 8C"
    assert_beaten(rules, "TD TC JD JC QD QC KD KC AD AC", [longer], by=[longer])


def test_bombs_that_beat_only_twos_beat_the_bombs_before_them() -> None:
    rules = rules_of(VIETNAMESE | {"bombs_beat": "twos"})
    bombs = (RUN_3, FOURS, RUN_4)
    for twos in ("2S", "2H 2S", "2C 2H 2S"):
        assert_beaten(rules, twos, bombs, by=bombs)
    assert_beaten(rules, "AS", bombs, by=[])
    assert_beaten(rules, "TD TC JD JC QD QC", bombs, by=[FOURS, RUN_4])
    assert_beaten(rules, FOURS, [RUN_3, RUN_4], by=[RUN_4])
    assert rules.is_bomb(rules.code(rules.parse(RUN_3)))


def test_bomb_goes_by_strength_among_plays_of_its_own_kind() -> None:
    plays: dict[str, Any] = {
        "plays": ["single", "pair", "triple"],
        "five_card_order": [],
        "bombs_beat": "twos",
    }
    rules = rules_of(plays | {"bombs": ["single"]})
    assert_falling(rules, "2S", "2D", "AS")
    rules = rules_of(plays | {"bombs": ["triple"], "decks": 2})
    assert_beaten(rules, "2D 2C 2H", ["2D 2C 2H", "2D 2C 2S"], by=["2D 2C 2S"])
    assert_beaten(rules, "2S", ["3D 3C 3H"], by=["3D 3C 3H"])


def test_bombs_of_runs_that_beat_other_runs_go_by_length_and_strength_among_themselves() -> None:
    rules = rules_of(VIETNAMESE | {"bombs": ["pair_run 3"], "bombs_beat": {"pair_run 3": ["pair_run"]}})
    higher, longer = "TD TC JD JC QD QC", "TD TC JD JC QD QC KD KC"
    assert_beaten(rules, RUN_3, [RUN_3, higher, longer, RUN_4], by=[higher, longer, RUN_4])
    assert_beaten(rules, higher, [RUN_3, RUN_4], by=[RUN_4])
    assert_beaten(rules, "AD AC KD KC", [RUN_3, higher], by=[RUN_3, higher])


def test_twos_that_are_a_stronger_bomb_are_not_beaten_by_a_weaker_one() -> None:
    fields = {
        "plays": ["single", "triple", "pair_run"],
        "bombs": ["pair_run", "triple"],
        "bombs_beat": "twos",
    }
    rules = rules_of({"five_card_order": [], **fields})
    assert_falling(rules, "2D 2C 2H", "3D 3C 3H", "3D 3C 4D 4C", "2S")


@pytest.mark.parametrize(
    ("order", "full_house", "quads"),
    [
        (["flush"], "flush", "flush"),
        (["full_house", "flush"], "flush", "flush"),
        (["quads", "flush", "full_house"], "full_house", "flush"),
        (["flush", "quads"], "flush", "quads"),
    ],
)
def test_five_cards_of_one_suit_in_many_packs_are_the_stronger_of_what_they_may_be(
    order: list[str], full_house: str, quads: str
) -> None:
    rules = rules_of({"decks": 4, "plays": ["single", *order], "five_card_order": order})
    assert kind(rules, "AH AH AH KH KH") == full_house
    assert kind(rules, "AH AH AH AH KH") == quads
    assert kind(rules, "AH AH AH KH QH") == "flush"
    plays = rules.list_plays(rules.parse("AH AH AH AH KH KH"))
    fives = [rules.kind(code) for code in plays if rules.count(code & rules.full) == 5]
    assert sorted(fives) == sorted([full_house, quads])


def test_bomb_that_beats_only_twos_keeps_its_place_among_five_cards() -> None:
    rules = rules_of({"bombs": ["quads"], "bombs_beat": "twos"})
    quads, flush = "3D 3C 3H 3S 4D", "9D TD JD QD KD"
    assert_falling(rules, flush, quads, "9D 9C 9H 4D 4C")
    assert_falling(rules, quads, "2S")
    plays = rules.list_plays(rules.parse(f"{quads} {flush} AS 2H"))
    following = rules.following(plays, rules.code(rules.parse("2D")))
    assert [rules.text(code & rules.full) for code in following] == ["2H"] + [
        rules.text(code & rules.full) for code in plays if rules.kind(code) == "quads"
    ]


def test_bomb_that_beats_any_play_beats_one_that_beats_only_some() -> None:
    rules = rules_of({"bombs": ["straight_flush", "K K"], "bombs_beat": {"K K": ["straight", "2"]}})
    assert_falling(rules, "9D TD JD QD KD", "KD KC", "3D 4C 5D 6C 7D")
    assert_falling(rules, "9D TD JD QD KD", "AD AC", "KD KC", "QD QC")
    assert_falling(rules, "KD KC", "2S")


def test_what_bombs_beat_is_one_value_however_it_is_written() -> None:
    one = load_ruleset({"bombs": ["quads"], "bombs_beat": {"quads": ["2  2", "2", "2 2 2", "2"]}})
    assert one == load_ruleset({"bombs": ["quads"], "bombs_beat": "twos"})
    assert load_ruleset({"bombs": ["quads"], "bombs_beat": {}}).bombs_beat == "any"


def test_bomb_order_overrides_the_order_of_bombs() -> None:
    rules = rules_of({"bombs": ["quads", "straight_flush"], "bomb_order": ["straight_flush", "quads"]})
    assert_falling(rules, "3D 3C 3H 3S 4D", "9D TD JD QD KD", "2S", "3D")


def test_lattas_straight_flush_takes_two_cards_and_beats_quads() -> None:
    rules = rules_of("taiwan-latta")
    assert kind(rules, "3D 4D 5D 6D 7D") == "straight"
    assert kind(rules, "3D 4D 5D 6D 7D 2S") is None
    assert_falling(
        rules, "4D 5D 6D 7D 8D 3D 3C", "3C 4C 5C 6C 7C 2S 2H", "3D 4D 5D 6D 7D AS AH", "2D 2C 2H 2S 3D", "2S"
    )


def test_kinds_that_do_not_compete_beat_only_their_own() -> None:
    rules = rules_of("gamesky")
    straight, full_house = (rules.code(rules.parse(cards)) for cards in ("3D 4C 5D 6C 7D", "9D 9C 9H 4D 4C"))
    assert not rules.beats(full_house, straight)
    assert not rules.beats(straight, full_house)
    assert rules.beats(rules.code(rules.parse("3D 3C 3H 3S 4D")), full_house)


# Listing


def test_list_plays_of_a_hand_is_ascending_with_each_play_once() -> None:
    rules = rules_of("chinese")
    hand = rules.parse("3D 3C 3H 4D 4C 5H 6S 7S 8S 9S TS AD 2D")
    plays = rules.list_plays(hand)
    assert plays == sorted(set(plays))
    assert len(plays) == 41
    assert [rules.text(code & rules.full) for code in plays[:3]] == ["3D", "3C", "3H"]
    assert rules.text(plays[-1] & rules.full) == "6S 7S 8S 9S TS"


def test_list_plays_of_no_cards_is_empty() -> None:
    assert rules_of("only-a-game-8").list_plays(0) == []


def test_list_plays_of_a_whole_pack_counts_every_play_of_the_basic_rules() -> None:
    rules = rules_of("chinese")
    assert len(rules.list_plays(rules.full)) == 19_898


def ways_to_run(width: int, held: Sequence[int]) -> int:
    """Count the runs of two and more ranks, of ``width`` cards each, in so many cards of ranks in a row."""
    ends = range(len(held) + 1)
    return sum(
        prod(comb(count, width) for count in held[start:end])
        for start, end in combinations(ends, 2)
        if end - start > 1
    )


@pytest.mark.parametrize("decks", [1, 2])
def test_list_plays_of_as_many_cards_as_a_hand_may_have_lists_every_pair_run(decks: int) -> None:
    fields = {"plays": ["single", "pair_run"], "five_card_order": [], "players": 2, "hand_size": 22}
    rules = rules_of(fields | {"decks": decks})
    hand = rules.parse(" ".join(rank + suit for rank in "34567" for suit in "DCHS") + " 8D 8C")
    runs = rules.list_plays(hand)[22:]
    assert {rules.kind(code) for code in runs} == {"pair_run"}
    assert len(set(runs)) == ways_to_run(2, [4] * 5 + [2])
    assert [code for code, _ in rules.tally(hand)] == sorted({code for code, _ in rules.tally(hand)})
    assert sum(number for _, number in rules.tally(hand)) == 22 + len(runs)
    assert {code >> rules.width for code, _ in rules.tally(hand)[22:]} == {
        code >> rules.width for code in runs
    }


def test_tally_of_a_whole_pack_counts_all_its_pair_runs_without_listing_them() -> None:
    rules = rules_of({"plays": ["single", "pair_run"], "five_card_order": []})
    tally = rules.tally(rules.full)[52:]
    assert all(rules.code(code & rules.full) == code for code, _ in tally)
    # Thirteen ranks make every run of fourteen from ace to ace, except for the one of all.
    assert sum(number for _, number in tally) == ways_to_run(2, [4] * 14) - 6**14 - 6**13
    assert len(tally) < 600


def test_following_gives_stronger_plays_and_bombs() -> None:
    rules = rules_of("taiwan")
    plays = rules.list_plays(rules.parse("3C 9D 9H KS AD AC AH AS 2C"))
    texts = [rules.text(code & rules.full) for code in rules.following(plays, rules.code(rules.parse("KD")))]
    assert texts[:6] == ["KS", "AC", "AD", "AH", "AS", "2C"]
    assert texts[6:] == [rules.text(code & rules.full) for code in plays if rules.is_bomb(code)]
    assert len(texts) == 11


def test_compile_ruleset_of_equal_rulesets_gives_the_same_rules() -> None:
    assert compile_ruleset(load_ruleset("gamesky")) is compile_ruleset(load_ruleset({"extends": "gamesky"}))


FOURS_ON_PAIRS: dict[str, Any] = {
    "plays": [*ALL, "bare_two_pair", "bare_quads"],
    "bombs": ["bare_quads"],
    "bombs_beat": {"bare_quads": ["bare_two_pair"]},
}


def test_two_pairs_of_four_cards_go_by_the_higher_pair_and_four_of_a_kind_may_beat_them() -> None:
    rules = rules_of(FOURS_ON_PAIRS)
    assert kind(rules, "3D 3C 9H 9S") == "bare_two_pair"
    assert kind(rules, "3D 3C 9H 9S TD") is None
    assert_falling(rules, "3D 3C 3H 3S", "4D 4C 9H 9S", "8D 8C 9D 9C", "3D 3C 8H 8S")
    assert_beaten(rules, "4D 4C 9H 9S", ["3D 3C 9H 9S", "TD TC"], by=[])
    by_both = rules_of(FOURS_ON_PAIRS | {"two_pair_order": "ranks_then_suit"})
    assert_falling(by_both, "8D 8C 9D 9C", "4D 4C 9H 9S")


def test_runs_of_one_suit_are_a_kind_and_no_runs() -> None:
    plays = {"plays": ["single", "run", "suited_run"], "five_card_order": []}
    rules = rules_of(plays)
    assert [kind(rules, cards) for cards in ("3D 4D 5D", "3D 4D 5C", "3D 4D")] == ["suited_run", "run", None]
    assert_falling(rules, "4D 5D 6D", "3S 4S 5S", "3H 4H 5H")
    assert_beaten(rules, "3D 4D 5C", ["6D 7D 8D", "6D 7D 8C"], by=["6D 7D 8C"])
    bombs = rules_of(plays | {"bombs": ["suited_run"]})
    assert_falling(bombs, "3D 4D 5D 6D", "TD JD QD", "2S")
    hand = "3D 4D 5D 6D 6C"
    listed = [rules.text(code & rules.full) for code in rules.list_plays(rules.parse(hand))[5:]]
    assert sorted(listed) == sorted(["3D 4D 5D", "3D 4D 5D 6C", "3D 4D 5D 6D", "4D 5D 6C", "4D 5D 6D"])
    short = rules.list_short(rules.parse(hand))
    assert short == [
        code for code in rules.list_plays(rules.parse(hand)) if rules.count(code & rules.full) < 4
    ]


@pytest.mark.parametrize("decks", [1, 2])
def test_tally_of_runs_counts_those_of_one_suit_apart(decks: int) -> None:
    rules = rules_of({"plays": ["single", "run", "suited_run"], "five_card_order": [], "decks": decks})
    for hand in ("3D 3C 4D 4H 5D 6D", "3D 4D 5D", "3D 3C 4D 4C 5D 5C 6S"):
        mask = rules.parse(hand)
        plays = rules.list_plays(mask)
        assert sum(number for _, number in rules.tally(mask)) == len(plays)
        assert {code >> rules.width for code, _ in rules.tally(mask)} == {
            code >> rules.width for code in plays
        }
        assert all(code in plays for code, _ in rules.tally(mask))


def test_bomb_that_beats_a_named_card_beats_no_other() -> None:
    fields = {"bombs": ["quads"], "bombs_beat": {"quads": ["2S", "RJ"]}, "jokers": 2}
    rules = rules_of(fields)
    assert_beaten(rules, "2S", ["3D 3C 3H 3S 4D"], by=["3D 3C 3H 3S 4D"])
    assert_beaten(rules, "RJ", ["3D 3C 3H 3S 4D"], by=["3D 3C 3H 3S 4D"])
    for card in ("2H", "AS", "BJ", "2H 2S"):
        assert_beaten(rules, card, ["3D 3C 3H 3S 4D"], by=[])


def test_runs_in_an_order_of_their_own_go_by_it() -> None:
    rules = rules_of({"plays": ["single", "run"], "five_card_order": [], "run_order": "2 3-T A J"})
    assert_falling(rules, "KD AC 2D", "AD 2C 3D", "QD KC AD", "3D 4C 5D", "2D 3C 4D")

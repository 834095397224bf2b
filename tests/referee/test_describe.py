"""Tests for the description of the rules in words."""

from itertools import combinations
from typing import Any

import pytest
from hypothesis import HealthCheck, given

from referee.cards import STANDARD_RANKS
from referee.describe import describe
from referee.errors import RulesetError
from referee.rules.plays import compile_ruleset
from referee.ruleset import Ruleset, load_ruleset, preset_names
from referee.ruleset.axes.kinds import FIVE_CARD_KINDS, example
from referee.ruleset.straights import ORDER_NAMES, straight_order
from tests.examples import examples
from tests.referee.strategies import ruleset_fields, rulesets


def told(source: str | dict[str, Any]) -> str:
    return "\n".join(describe(load_ruleset(source)))


@pytest.mark.parametrize("name", preset_names())
def test_describe_of_a_preset_is_paragraphs_of_a_topic_and_sentences(name: str) -> None:
    paragraphs = describe(load_ruleset(name))
    topics = [paragraph.split(": ")[0] for paragraph in paragraphs]
    assert topics[:3] == ["Cards", "Deal", "Lead"] or topics[2] == "Before the play"
    assert topics[-1] == "Session"
    for paragraph in paragraphs:
        assert paragraph.endswith(".")
        assert "  " not in paragraph
        assert "_" not in paragraph, "a field's value instead of words"


@given(rulesets())
def test_describe_of_any_ruleset_is_words_without_field_values(ruleset: Ruleset) -> None:
    for paragraph in describe(ruleset):
        assert paragraph.endswith(".")
        assert "_" not in paragraph
        assert "None" not in paragraph


@given(rulesets())
def test_describe_of_any_ruleset_gives_examples_of_the_kinds_they_stand_for(ruleset: Ruleset) -> None:
    rules = compile_ruleset(ruleset)
    for kind in ruleset.five_card_order:
        cards = example(ruleset, kind)
        assert cards or ruleset.removed_cards
        assert not cards or rules.kind(rules.code(rules.parse(cards))) == kind


AXES: list[tuple[dict[str, Any], str]] = [
    ({"decks": 2}, "Two packs of 52 cards are shuffled together"),
    ({"decks": 4}, "Four packs of 52 cards are shuffled together"),
    ({"jokers": 1}, "Above all of these is the red joker (RJ). It is a rank of its own, of no suit"),
    ({"jokers": 2}, "Above all of these are the black joker (BJ) and the red joker (RJ)."),
    ({"jokers": 2}, "So 3D is the lowest card and RJ the highest."),
    ({"jokers": 2, "dragon": "wins"}, "a hand with a card of every rank, jokers apart, wins at once"),
    (
        {"removed_cards": ["3D", "3C", "3H"], "hand_size": 12},
        "One pack of 49 cards is used. Of each pack, 3D, 3C and 3H are taken out.",
    ),
    (
        {"removed_cards": ["3D", "3C", "3H", "3S"], "hand_size": 12},
        "Of each pack, every 3 is taken out. ",
    ),
    ({"removed_cards": ["3D"], "hand_size": 12}, "So 3C is the lowest card and 2S the highest."),
    (
        {"suits": ["C", "S", "H", "D"]},
        "the suits clubs, spades, hearts and diamonds. So 3C is the lowest card",
    ),
    ({"direction": "alternating"}, "clockwise in the first deal, anticlockwise in the second"),
    ({"players": 5, "hand_size": "all"}, "eleven to the two players after the dealer, ten to the others"),
    ({"players": 3, "hand_size": 17, "leftover": "to_lowest"}, "The card left over is taken unseen by who"),
    ({"players": 2}, "The 26 cards left over are not used."),
    (
        {"players": 2, "leftover": "stock", "draw_on_pass": "as_needed"},
        "as many cards as the play to beat has",
    ),
    (
        {"players": 2, "leftover": "stock", "draw_on_pass": "one", "restock": True},
        "at most ten times in a deal",
    ),
    ({"dealer": "loser"}, "then the loser of the last deal deals"),
    ({"dealer": "rotate"}, "passes to the next seat, in the order of play"),
    ({"redeal_four_twos": True}, "the cards are dealt again by the same dealer"),
    ({"dragon": "wins"}, "A dragon, a hand with a card of every rank, wins at once"),
    ({"instant_wins": ["six_pairs"]}, "A hand with six pairs wins at once; the others score as if"),
    (
        {"dragon": "wins", "instant_wins": ["six_pairs", "four_twos"]},
        "the strongest wins, six pairs < a two of every suit < a dragon",
    ),
    ({"players": 3, "exchange": "loser_to_winner"}, "gives the highest card to its winner"),
    ({"lead": "winner", "lowest_lead_every": 10}, "Deals 1, 11, 21 and so on are led by the holder"),
    ({"lead": "loser"}, "The loser of a deal is whoever has the most cards left"),
    ({"lead_includes_lowest": False}, "need not play it"),
    ({"lead_includes_lowest": "alone"}, "Whoever leads by the lowest card must lead it alone"),
    ({"first_lead": "3S"}, "Every deal is led by the holder of 3S"),
    (
        {"first_lead": "random", "lead": "winner", "lead_includes_lowest": False},
        "The first deal is led by a player drawn at random, every other one by the winner of the last deal; "
        "after a deal that nobody won, one is drawn.",
    ),
    ({"kinds_compete": False}, "Five cards are beaten only by five of the same kind"),
    ({"flush_order": "ranks_then_suit"}, "by all their ranks from the highest down, then by suit"),
    ({"straight_suit_of": "highest"}, "the suit of the card of the highest rank decides"),
    ({"bombs": ["quads"], "bombs_out_of_turn": True}, "any other player may bomb it out of turn"),
    (
        {"bombs": ["quads", "flush"], "bomb_order": ["flush", "quads"]},
        "flush < four of a kind with a fifth card",
    ),
    (
        {"bombs": ["A A A", "quads"], "bombs_beat": {"quads": ["2", "2 2"]}},
        "Three aces beat any play, of whatever kind and size, that is not such a bomb. Four of a kind with a "
        "fifth card beats a single two and a pair of twos.",
    ),
    ({"equal_suits": True}, "suits do not count: cards of one rank are equal"),
    ({"equal_suits": True}, "Pairs go by rank. "),
    (
        {"equal_suits": True, "flush_order": "top_then_suit"},
        "Flushes, five cards of one suit, go by the highest rank.",
    ),
    ({"pass_locks": True}, "Whoever has passed is out until the trick ends."),
    ({"beat_own": True}, "may beat that play too"),
    ({"announce_at": 1}, "Whoever has only one card left must announce it."),
    (
        {"guard": "must"},
        "a lead must have two or more cards or be the highest card, whichever the leader likes",
    ),
    ({"guard": "liable"}, "pays the losses of all"),
    ({"last_top_card": "cannot_win"}, "2S may not be played as a last, single card"),
    ({"last_top_card": "cannot_win", "last_cards": "2"}, "A 2 may not be played as a last, single card"),
    ({"last_top_card": "loses", "last_cards": "S"}, "Whoever is left with a spade alone ends the deal"),
    ({"last_top_card": "loses"}, "Whoever is left with 2S alone ends the deal"),
    ({"deal_ends": "last_holder"}, "until only one player holds cards"),
    ({"deal_ends": "last_holder", "after_out": "next_leads"}, "Nobody may beat the last play"),
    ({"multipliers": [{"from": 11, "points": 30}]}, "11 or more cards left cost 30 in all"),
    (
        {"multipliers": [{"from": 8, "times": 2}, {"from": "all", "times": 3}]},
        "Of these, 8 or more cards left count double and all cards of a player who has played none count "
        "triple.",
    ),
    ({"multipliers": [{"from": 8, "times": 4}]}, "8 or more cards left count fourfold"),
    ({"multiplier_for": "leader"}, "This applies only to whoever led the deal."),
    ({"double_per_two_left": True}, "Every two left in a hand doubles its points."),
    (
        {"honours_left": [{"honour": "quads", "times": 2}, {"honour": "twos", "points": 5}]},
        "A hand with four of a kind left counts double. A hand with one or more twos left costs five points "
        "more.",
    ),
    (
        {"final_honours": [{"honour": "top_card", "times": 3}]},
        "A play with 2S that ends the deal multiplies the points of each of the others by three.",
    ),
    (
        {"settle": "fixed", "final_honours": [{"honour": "straight_flush", "points": 1}]},
        "A play with a straight flush that ends the deal adds one point to the winner's point.",
    ),
    ({"dragon": "wins", "instant_win_penalty": 39}, "each of the others then has 39 penalty points."),
    ({"final_twos": "double_if_all"}, "A play of nothing but twos that ends the deal doubles"),
    (
        {"settle": "fixed", "final_twos": "double_each"},
        "Every two in the play that ends the deal doubles the winner",
    ),
    ({"settle": "loser_only", "jokers": 1}, "of the highest joker, two or ace"),
    ({"settle": "difference"}, "2 times d where d is 10 to 12 and 3 times d where d is 13 or more"),
    (
        {"settle": "places", "place_points": [5, 3, 1, 0], "deal_ends": "last_holder"},
        "the players score 5, 3, 1 and 0",
    ),
    (
        {"settle": "places", "place_points": [5, 3, 1, 0]},
        "the others from the fewest cards left to the most, score 5",
    ),
    ({"settle": "better_collect"}, "who has more penalty points pays them all to the other"),
    ({"bombs": ["quads"], "bombs_beat": {"quads": ["2S"]}}, "with a fifth card beats the single 2S."),
    (
        {"plays": ["single", "bare_two_pair"], "five_card_order": []},
        "Two pairs go by the rank of the higher pair, then by the highest suit of the higher pair.",
    ),
    (
        {"plays": ["single", "suited_run"], "five_card_order": []},
        "A run of one suit is three or more cards of consecutive ranks in one suit.",
    ),
    ({"partners": "opposite"}, "Each of two partners then scores the sum of what both come to"),
    ({"session": {"deals": 5, "chips": 149}}, "after five deals or when a player has lost 149 chips"),
    ({"session": {"target": 49}}, "A session ends when a score reaches 49."),
]


@pytest.mark.parametrize(("fields", "words"), AXES)
def test_describe_says_what_a_field_changes(fields: dict[str, Any], words: str) -> None:
    assert words in told(fields)
    assert words not in told("chinese")


@pytest.mark.parametrize("name", ORDER_NAMES)
def test_describe_tells_ladders_apart(name: str) -> None:
    levels = straight_order(name, STANDARD_RANKS)
    others = [other for other in ORDER_NAMES if straight_order(other, STANDARD_RANKS) != levels]
    assert told({"straights": name}) not in [told({"straights": other}) for other in others]


def test_describe_shows_the_ladder_with_equals() -> None:
    sequences = "3 4 5 6 7 < 4 5 6 7 8 < … < T J Q K A < A 2 3 4 5 = 2 3 4 5 6."
    assert sequences in told("indonesia")


@examples(60, suppress_health_check=[HealthCheck.filter_too_much])
@given(ruleset_fields(), ruleset_fields())
def test_describe_tells_rulesets_apart_that_differ_in_one_field(
    fields: dict[str, Any], others: dict[str, Any]
) -> None:
    ruleset = load_ruleset(fields)
    words = describe(ruleset)
    for name in sorted(fields.keys() & others.keys() - {"name"}):
        try:
            other = load_ruleset({**fields, name: others[name]})
        except RulesetError:
            continue
        assert other == ruleset or describe(other) != words, name


RUN_KINDS: list[dict[str, Any]] = [
    {"plays": ["single", "run", "pair_run"]},
    {"plays": ["single", "run"], "run_from": 5},
    {"plays": ["single", "triple_run"]},
    {"plays": ["single", "straight", "run"], "five_card_order": ["straight"], "straights": "two_low"},
]


@pytest.mark.parametrize("fields", RUN_KINDS)
def test_describe_tells_orders_of_runs_apart(fields: dict[str, Any]) -> None:
    orders = [*ORDER_NAMES, "A 2 J 3-T", "3-9 A T", "T A=2=J"]
    rulesets = [load_ruleset({"five_card_order": [], **fields, "run_order": order}) for order in orders]
    for one, other in combinations(rulesets, 2):
        assert one == other or describe(one) != describe(other), (one.run_order, other.run_order)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (
            {"extends": "taiwan"},
            "honour (four of a kind with a fifth card < straight flush); if there is none, of",
        ),
        (
            {"plays": ["single", "bare_quads"], "five_card_order": [], "bombs": []},
            "1 point: the holder of the highest two or ace; if none, of the most cards",
        ),
        (
            {"five_card_order": [*FIVE_CARD_KINDS[1:-2], "straight_flush", "royal_flush", "quads"]},
            "honour (straight flush < royal flush < four of a kind with a fifth card)",
        ),
    ],
)
def test_describe_says_who_pays_with_loser_only(fields: dict[str, Any], words: str) -> None:
    assert words in told({"settle": "loser_only", **fields})


def test_describe_says_the_order_of_kinds_that_bombs_hide() -> None:
    order = ["full_house", "straight", "quads", "flush", "straight_flush"]
    fields = {"bombs": ["full_house"], "five_card_order": order}
    assert "The whole order, bombs included, is full house < straight < four of a kind with a fifth" in told(
        fields
    )
    assert "whole order" not in told({"bombs": ["quads", "straight_flush"]})


def test_describe_tells_presets_apart() -> None:
    texts = {told(name) for name in preset_names()}
    assert len(texts) == len(preset_names())

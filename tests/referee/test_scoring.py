"""Tests for penalty points, brackets, twos and the ways to settle."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.deals.dealing import CLOCKWISE
from referee.deals.scoring import Finish, difference, final_factor, penalty, score
from referee.rules.plays import Rules, compile_ruleset
from referee.ruleset import Ruleset
from tests.examples import examples
from tests.referee.deals import deal_of, play, rules_with
from tests.referee.slow_rules import read
from tests.referee.slow_scoring import SETTLES, SlowScoring
from tests.referee.strategies import hands, rulesets

FOUR = "3D 4D 5D 6D"
NINE = "3D 4D 5D 6D 7D 8D 9D TD JD"
TEN = f"{NINE} QD"
ELEVEN = f"{TEN} KD"
TWELVE = f"{ELEVEN} AD"
THIRTEEN = f"{TWELVE} AC"

BASIC = [{"from": 10, "times": 2}, {"from": 13, "times": 3}]
KAM = [{"from": 9, "times": 2}]
BY_RANK = dict.fromkeys("3456789T", 1) | dict.fromkeys("JQK", 2) | {"A": 3, "2": 4}
CLIMBING = {rank: number for number, rank in enumerate("3456789TJQKA2", 1)}


def finished(rules: Rules, *left: str, final: str = "3S", **fields: Any) -> Finish:
    """Return a finished deal; the seats with empty hands went out in order of their numbers."""
    hands = tuple(rules.parse(hand) for hand in left)
    out = tuple(seat for seat, hand in enumerate(hands) if not hand)
    full = tuple(hand or rules.parse("3S") for hand in hands)
    given: dict[str, Any] = {
        "dealer": 0,
        "step": CLOCKWISE,
        "leader": 0,
        "full": full,
        "left": hands,
        "out": out,
    }
    return Finish(**given | {"final": rules.code(rules.parse(final))} | fields)


# Penalty points


@pytest.mark.parametrize(
    ("multipliers", "hand", "points"),
    [
        (BASIC, NINE, 9),
        (BASIC, TEN, 20),
        (BASIC, TWELVE, 24),
        (BASIC, THIRTEEN, 39),
        (BASIC, f"{THIRTEEN} AH 2D", 45),
        ([{"from": 11, "times": 2}], TEN, 10),
        ([{"from": 11, "times": 2}], ELEVEN, 22),
        ([{"from": 8, "times": 2}, {"from": 10, "times": 3}, {"from": 13, "times": 4}], NINE, 18),
        ([{"from": 8, "times": 2}, {"from": 10, "times": 3}, {"from": 13, "times": 4}], THIRTEEN, 52),
        ([{"from": 8, "times": 2}, {"from": 10, "times": 4}], TEN, 40),
        ([{"from": 8, "times": 2}, {"from": 10, "times": 4}], ELEVEN, 44),
        ([{"from": 11, "points": 30}, {"from": 12, "points": 40}, {"from": 13, "points": 50}], TEN, 10),
        ([{"from": 11, "points": 30}, {"from": 12, "points": 40}, {"from": 13, "points": 50}], ELEVEN, 30),
        ([{"from": 11, "points": 30}, {"from": 12, "points": 40}, {"from": 13, "points": 50}], THIRTEEN, 50),
        ([], THIRTEEN, 13),
        (BASIC, "", 0),
        ([{"from": 1, "points": 7}], "", 0),
    ],
)
def test_penalty_goes_through_the_highest_bracket_that_applies(
    multipliers: list[dict[str, int]], hand: str, points: int
) -> None:
    rules = rules_with(multipliers=multipliers)
    assert penalty(rules, rules.parse(hand)) == points


@pytest.mark.parametrize(
    ("card_points", "points"),
    [
        (BY_RANK, 1 + 1 + 2 + 3 + 4),
        (CLIMBING, 1 + 8 + 9 + 12 + 13),
        (dict.fromkeys(BY_RANK, 1) | {"2": 5}, 9),
    ],
)
def test_penalty_counts_cards_by_rank(card_points: dict[str, int], points: int) -> None:
    rules = rules_with(card_points=card_points)
    assert penalty(rules, rules.parse("3D TD JD AD 2D")) == points


def test_penalty_counts_jokers_by_their_own_points_and_not_as_twos() -> None:
    points = {**dict.fromkeys("3456789TJQKA", 1), "2": 4, "joker": 7}
    rules = rules_with(jokers=2, card_points=points, double_per_two_left=True)
    assert penalty(rules, rules.parse("3D BJ RJ")) == 15
    assert penalty(rules, rules.parse("3D 2S RJ")) == 24


def test_penalty_doubles_for_every_two_left() -> None:
    rules = rules_with(multipliers=[{"from": 8, "times": 2}], double_per_two_left=True)
    assert penalty(rules, rules.parse("3D 4D 5D 6D 7D 8D 9D 2D 2S")) == 72
    assert penalty(rules, rules.parse("3D 4D")) == 2


def test_penalty_doubles_fixed_amounts_too() -> None:
    rules = rules_with(multipliers=[{"from": 2, "points": 30}], double_per_two_left=True)
    assert penalty(rules, rules.parse("3D 2D"), factor=4) == 240


def test_penalty_outside_the_brackets_is_the_card_points() -> None:
    rules = rules_with()
    assert penalty(rules, rules.parse(THIRTEEN), brackets=False) == 13


def test_penalty_of_two_packs_counts_both_copies() -> None:
    rules = rules_with(decks=2, double_per_two_left=True, card_points=BY_RANK)
    assert penalty(rules, rules.parse("2S 2S 3D")) == 9 * 4


def test_multiplier_for_the_leader_spares_the_others() -> None:
    rules = rules_with(players=3, multiplier_for="leader")
    assert score(rules, finished(rules, TEN, "", TEN.replace("D", "C"), leader=2)) == (-10, 0, -20)


# The winning play


@pytest.mark.parametrize(
    ("rule", "final", "factor"),
    [
        ("none", "2D 2C", 1),
        ("double_each", "3D", 1),
        ("double_each", "2D", 2),
        ("double_each", "2D 2C", 4),
        ("double_each", "2D 2C 2H", 8),
        ("double_each", "3D 2D 2C 2H 2S", 16),
        ("double_each", "3D 3C 3H 2D 2C", 4),
        ("double_if_all", "2D", 2),
        ("double_if_all", "2D 2C", 2),
        ("double_if_all", "2D 2C 2H", 2),
        ("double_if_all", "3D 3C 3H 2D 2C", 1),
        ("double_if_all", "AD", 1),
    ],
)
def test_final_twos_multiply(rule: str, final: str, factor: int) -> None:
    rules = rules_with(players=2, final_twos=rule)
    assert final_factor(rules, rules.code(rules.parse(final))) == factor
    assert score(rules, finished(rules, "", "3C 4C", final=final)) == (0, -2 * factor)


def test_final_twos_act_on_fixed_and_nothing_else() -> None:
    for settle, points in [("fixed", (4, 0, 0)), ("wins", (1, 0, 0)), ("loser_only", (1, 0, -1))]:
        rules = rules_with(players=3, final_twos="double_each", settle=settle)
        assert score(rules, finished(rules, "", "3C", "4C", final="2D 2C")) == points
    rules = rules_with(players=3, final_twos="double_each", settle="difference")
    assert score(rules, finished(rules, "", "3C", "4C", final="2D 2C")) == (2, -1, -1)


# The ways to settle: hands of 10 (20 points), 0, 4 and 2 cards

HANDS = (TEN, "", "3C 4C 5C 6C", "3H 4H")


@pytest.mark.parametrize(
    ("settle", "points"),
    [
        ("penalty", (-20, 0, -4, -2)),
        ("pairwise", (-20 * 4 + 26, 26, -4 * 4 + 26, -2 * 4 + 26)),
        ("winner_collects", (-20, 26, -4, -2)),
        ("winner_scores", (0, 26, 0, 0)),
        ("fixed", (0, 1, 0, 0)),
        ("wins", (0, 1, 0, 0)),
        ("difference", (-20 - 6 - 8, 20 + 4 + 2, 6 - 4 - 2, 8 + 2 - 2)),
        ("loser_only", (-1, 1, 0, 0)),
    ],
)
def test_settle_with_the_first_out(settle: str, points: tuple[int, ...]) -> None:
    rules = rules_with(settle=settle)
    assert score(rules, finished(rules, *HANDS)) == points


@pytest.mark.parametrize(
    ("fields", "points"),
    [
        ({"settle": "penalty"}, (0, -4, 0, 0)),
        ({"settle": "last_loses"}, (0, -1, 0, 0)),
        ({"settle": "places", "place_points": [5, 3, 1, 0]}, (3, 0, 5, 1)),
        ({"settle": "winner_collects"}, (0, -4, 4, 0)),
    ],
)
def test_settle_with_the_last_holder(fields: dict[str, Any], points: tuple[int, ...]) -> None:
    rules = rules_with(deal_ends="last_holder", **fields)
    assert score(rules, finished(rules, "", FOUR, "", "", out=(2, 0, 3))) == points


@pytest.mark.parametrize(("cards", "value"), [(8, 8), (9, 18), (10, 20), (0, 0)])
def test_difference_goes_through_its_bracket(cards: int, value: int) -> None:
    assert difference(rules_with(multipliers=KAM), cards) == value


def test_difference_pays_each_pair() -> None:
    rules = rules_with(players=3, settle="difference", multipliers=KAM)
    assert score(rules, finished(rules, TEN, "3C 4C", "")) == (-28, 8 - 2, 22)


def test_difference_uses_fixed_amounts_and_the_payers_brackets() -> None:
    rules = rules_with(players=2, settle="difference", multipliers=[{"from": 3, "points": 50}])
    assert score(rules, finished(rules, FOUR, "")) == (-50, 50)
    rules = rules_with(players=2, settle="difference", multipliers=KAM, multiplier_for="leader")
    assert score(rules, finished(rules, TEN, "", leader=0)) == (-20, 20)
    assert score(rules, finished(rules, TEN, "", leader=1)) == (-10, 10)


# Taiwan: one loser


@pytest.mark.parametrize(
    ("hands", "payer"),
    [
        (("", "3D 4D 5D 6D 7D", "8D 8C 8H 8S 9D", "2S AD KD QD JD 9C"), 1),
        (("", "3D 3C 3H 3S 7D", "8D 8C 8H 8S 9D", "2S 2D"), 2),
        (("", "KD KS", "AD", "2D"), 3),
        (("", "KD KS QD", "AS", "AD 3D 4D 5D"), 2),
        (("", "KD KS QD", "9D 3D 4D", "3H 4H 5H 6H"), 3),
        (("", "9S 3C 4C", "9D 3D 4D", "TC 4H 5H"), 3),
    ],
)
def test_loser_only_finds_the_one_who_pays(hands: tuple[str, ...], payer: int) -> None:
    rules = rules_with(extends="taiwan")
    expected = [1, 0, 0, 0]
    expected[payer] = -1
    assert score(rules, finished(rules, *hands)) == tuple(expected)


def test_loser_only_puts_a_straight_flush_plus_two_above_all() -> None:
    rules = rules_with(extends="taiwan-latta", settle="loser_only")
    hands = ("", "AD AC AH AS 3C", "3D 4D 5D 6D 7D 9C JH", "2S 2H")
    assert score(rules, finished(rules, *hands)) == (1, 0, -1, 0)


def test_loser_only_goes_by_five_card_order() -> None:
    order = ["straight", "flush", "full_house", "straight_flush", "quads", "royal_flush"]
    rules = rules_with(extends="taiwan", five_card_order=order)
    hands = ("", "3D 4D 5D 6D 7D", "8D 8C 8H 8S 9D", "2S")
    assert score(rules, finished(rules, *hands)) == (1, 0, -1, 0)
    hands = ("", "TC JC QC KC AC", "8D 8C 8H 8S 9D", "2S")
    assert score(rules, finished(rules, *hands)) == (1, -1, 0, 0)


def test_loser_only_of_equal_cards_takes_the_first_after_the_dealer() -> None:
    rules = rules_with(extends="taiwan", decks=2)
    left = ("", "2S 3D", "KD", "2S 4D")
    assert score(rules, finished(rules, *left, dealer=0)) == (1, -1, 0, 0)
    assert score(rules, finished(rules, *left, dealer=1)) == (1, 0, 0, -1)
    assert score(rules, finished(rules, *left, dealer=0, step=-1)) == (1, 0, 0, -1)


def test_loser_only_with_equal_suits_takes_the_first_of_equal_ranks() -> None:
    rules = rules_with(extends="taiwan", equal_suits=True)
    hands = ("", "2D 3D", "KD", "2S 4D")
    assert score(rules, finished(rules, *hands, dealer=0)) == (1, -1, 0, 0)
    assert score(rules, finished(rules, *hands, dealer=1)) == (1, 0, 0, -1)


# Dragons


def test_dragon_scores_as_if_no_card_had_been_played() -> None:
    rules = rules_with(players=2, dragon="wins")
    assert score(rules, finished(rules, THIRTEEN, "", unplayed=True, final="")) == (-39, 0)


def test_dragon_has_no_winning_play_to_double_for() -> None:
    rules = rules_with(players=2, dragon="wins", settle="fixed", final_twos="double_each")
    assert score(rules, finished(rules, THIRTEEN, "", unplayed=True, final="")) == (0, 1)


def test_dragon_costs_each_of_the_others_the_penalty_that_is_set() -> None:
    rules = rules_with(players=3, dragon="wins", settle="winner_collects", instant_win_penalty=26)
    at_once = finished(rules, THIRTEEN, "", "3C", unplayed=True, final="")
    assert score(rules, at_once) == (-26, 52, -26)
    assert score(rules, finished(rules, TEN, "", "3C")) == (-20, 21, -1)


# Honours

STRAIGHT_FLUSH = "5D 6D 7D 8D 9D"
QUADS = "6D 6C 6H 6S"


def entry(honour: str, **effect: int) -> dict[str, object]:
    return {"honour": honour, **effect}


@pytest.mark.parametrize(
    ("honours", "hand", "points"),
    [
        ([entry("quads", times=2)], QUADS, 8),
        ([entry("quads", times=2)], "6D 6C 6H 7S", 4),
        ([entry("quads", times=2)], f"{QUADS} 7D 7C 7H 7S", 16),
        ([entry("quads", points=5)], f"{QUADS} 8D", 10),
        ([entry("straight_flush", times=3)], STRAIGHT_FLUSH, 15),
        ([entry("straight_flush", times=3)], "5D 6D 7D 8D 9C", 5),
        ([entry("twos", times=2)], "3D 2D 2C 2H", 8),
        ([entry("twos", times=2)], "3D AS", 2),
        ([entry("top_card", points=7)], "3D 2S", 9),
        ([entry("top_card", points=7)], "3D 2H", 2),
        ([entry("twos", times=2), entry("top_card", times=3), entry("quads", points=1)], f"{QUADS} 2S", 31),
        ([entry("quads", times=2)], f"{QUADS} 3D 4D 5D 7C 8C 9C", 40),
    ],
)
def test_penalty_with_honours_left(honours: list[dict[str, object]], hand: str, points: int) -> None:
    rules = rules_with(honours_left=honours)
    assert penalty(rules, rules.parse(hand)) == points


def test_honour_left_may_be_a_royal_flush_or_lack_the_two_cards_that_a_play_needs() -> None:
    left = [entry("straight_flush", times=2)]
    royal = "TD JD QD KD AD"
    no_royal = {"straights": [["3 4 5 6 7"]], "honours_left": left}
    rules = rules_with(**no_royal)
    assert penalty(rules, rules.parse(royal)) == 5
    order = ["straight", "flush", "full_house", "quads", "straight_flush", "royal_flush"]
    rules = rules_with(**no_royal, five_card_order=order)
    assert penalty(rules, rules.parse(royal)) == 10
    rules = rules_with(extends="taiwan-latta", settle="penalty", honours_left=left)
    assert penalty(rules, rules.parse(STRAIGHT_FLUSH)) == 10


def test_honours_and_doubled_twos_and_the_last_play_act_in_turn() -> None:
    rules = rules_with(
        players=2,
        double_per_two_left=True,
        final_twos="double_each",
        honours_left=[entry("twos", times=3), entry("top_card", points=1)],
        final_honours=[entry("quads", times=5), entry("twos", points=7)],
    )
    final = "3D 3C 3H 3S 2D"
    assert score(rules, finished(rules, "", "4D 2C 2S", final=final)) == (0, -((3 * 4 * 3 + 1) * 2 * 5 + 7))


@pytest.mark.parametrize(
    ("final", "points"),
    [
        ("5D 5C 5H 5S 6D", -20),
        (STRAIGHT_FLUSH, -13),
        ("3D 4D 5D 6D 7C", -10),
        ("3D 3C 3H 2D 2C", -11),
        ("2S", -(10 + 1) * 1 - 100),
        ("AS", -10),
    ],
)
def test_honour_in_the_last_play_raises_the_penalty_of_each_of_the_others(final: str, points: int) -> None:
    honours = [
        entry("quads", times=2),
        entry("straight_flush", points=3),
        entry("twos", points=1),
        entry("top_card", points=100),
    ]
    rules = rules_with(players=2, multipliers=[], final_honours=honours)
    assert score(rules, finished(rules, "", TEN, final=final)) == (0, points)


def test_honour_in_the_last_play_is_the_winners_where_the_points_are_fixed() -> None:
    honours = [entry("quads", times=2), entry("twos", points=3)]
    rules = rules_with(players=2, settle="fixed", final_twos="double_each", final_honours=honours)
    assert score(rules, finished(rules, "", "3C", final="5D 5C 5H 5S 2D")) == (1 * 2 * 2 + 3, 0)


def test_honours_left_count_for_a_forfeit_and_the_last_play_of_an_empty_hand_does_not() -> None:
    rules = rules_with(players=3, honours_left=[entry("quads", times=2)], settle="pairwise")
    deal = deal_of(rules, ["3D 4D", QUADS, "3S"])
    deal.forfeit(1)
    assert deal.points == (8, -16, 8)
    rules = rules_with(players=3, deal_ends="last_holder", final_honours=[entry("top_card", points=9)])
    deal = deal_of(rules, ["2S", "3D 4D", "3S"], leader=0)
    assert play(deal, "0:2S", "1:-", "2:-", "1:3D", "2:3S").points == (0, -10, 0)


@examples(200)
@given(rulesets(most_players=4).filter(lambda ruleset: ruleset.settle in SETTLES), st.data())
def test_points_of_any_deal_that_was_won_are_those_of_the_slow_scoring(
    ruleset: Ruleset, data: st.DataObject
) -> None:
    ruleset = replace(ruleset, bonuses=None)
    rules, seats = compile_ruleset(ruleset), range(ruleset.players)
    winner, leader = data.draw(st.sampled_from(seats)), data.draw(st.sampled_from(seats))
    left = [0 if seat == winner else data.draw(hands(rules)) for seat in seats]
    at_once = data.draw(st.booleans()) and ruleset.dragon == "wins"
    final = 0 if at_once else data.draw(st.sampled_from(rules.list_plays(data.draw(hands(rules)))))
    played = 1 << winner | data.draw(st.integers(0, (1 << ruleset.players) - 1))
    finish = Finish(
        dealer=0,
        step=CLOCKWISE,
        leader=leader,
        full=tuple(left),
        left=tuple(left),
        out=(winner,),
        unplayed=at_once,
        final=final,
        played=played,
    )
    texts = [tuple(sorted(read(rules.text(hand)))) for hand in left]
    last = tuple(sorted(read(rules.text(final & rules.full))))
    whole = [seat for seat in seats if at_once or not played >> seat & 1]
    slow = SlowScoring(ruleset).points(texts, winner, leader, last, at_once, whole)
    assert score(rules, finish) == slow

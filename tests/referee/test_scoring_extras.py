"""Tests for what is added to the settling, and for deals without a winner."""

from typing import Any

import pytest

from referee.deals.scoring import Finish, Unbeaten, score
from referee.rules.plays import Rules
from tests.referee.deals import deal_of, play, rules_with
from tests.referee.test_scoring import TEN, finished

ZERO = {"players": 3, "settle": "wins"}
INDONESIA = {
    "quads": 20,
    "straight_flush": 40,
    "four_twos": 80,
    "final_times": 2,
    "winner": 5,
    "winner_per_two": 10,
}


# Liability


@pytest.mark.parametrize(
    ("settle", "points"),
    [
        ("penalty", (0, 0, -7)),
        ("pairwise", (7, 0, -7)),
        ("winner_collects", (7, 0, -7)),
        ("fixed", (1, 0, 0)),
    ],
)
def test_liable_seat_takes_the_points_of_all_but_the_winner(settle: str, points: tuple[int, ...]) -> None:
    rules = rules_with(players=3, settle=settle, guard="liable")
    finish = finished(rules, "", "3C 4C 5C 6C", "3H 4H 5H", ignorer=2)
    assert score(rules, finish) == points


def test_liable_seat_keeps_its_bonuses_apart() -> None:
    rules = rules_with(players=2, guard="liable", bonuses=INDONESIA, multipliers=[])
    quads = Unbeaten(1, rules.code(rules.parse("8D 8C 8H 8S 9D")), False)
    assert score(rules, finished(rules, "", "3C 4C", ignorer=1, unbeaten=(quads,))) == (5, 18)


# Bonuses


def bonus(rules: Rules, cards: str, final: bool = False) -> int:
    """Return the bonus of seat 1 for an unbeaten play, without its single penalty point."""
    play = Unbeaten(1, rules.code(rules.parse(cards)), final)
    return score(rules, finished(rules, "", "3C", unbeaten=(play,)))[1] + 1


@pytest.mark.parametrize(
    ("cards", "points"),
    [
        ("8D 8C 8H 8S 9D", 20),
        ("8D 8C 8H 8S 2D", 20),
        ("8D 8C 8H 8S", 20),
        ("3D 4D 5D 6D 7D", 40),
        ("TD JD QD KD AD", 40),
        ("9D 2D 2C 2H 2S", 80),
        ("2D 2C 2H 2S", 80),
        ("8D 8C 8H 9D 9C", 0),
        ("3D", 0),
    ],
)
def test_bonus_for_an_unbeaten_play(cards: str, points: int) -> None:
    kinds = ["straight", "flush", "full_house", "straight_flush", "quads", "royal_flush"]
    plays = ["single", "pair", "triple", *kinds[:-1], "bare_quads"]
    rules = rules_with(players=2, bonuses=INDONESIA, plays=plays, five_card_order=kinds)
    assert bonus(rules, cards) == points
    assert bonus(rules, cards, final=True) == 2 * points


def test_bonus_for_a_straight_flush_plus_two() -> None:
    rules = rules_with(extends="taiwan-latta", players=2, bonuses=INDONESIA, settle="penalty")
    assert bonus(rules, "3D 4D 5D 6D 7D 9C JH") == 40


@pytest.mark.parametrize(("final", "points"), [("3S", 5), ("2S", 10), ("2D 2C", 20), ("3D 3C 3H 2D 2C", 20)])
def test_bonus_of_the_winner(final: str, points: int) -> None:
    rules = rules_with(players=2, bonuses=INDONESIA)
    assert score(rules, finished(rules, "", "3C", final=final)) == (points, -1)


def test_bonus_of_a_dragon_is_the_winners() -> None:
    rules = rules_with(players=2, bonuses=INDONESIA, dragon="wins")
    assert score(rules, finished(rules, "", "3C", final="", unplayed=True)) == (5, -1)


QUADS = "5D 5C 5H 5S 6D"
HIGHER = "6C 7D 7C 7H 7S"


def indonesian(hands: list[str], *actions: str, **fields: Any) -> tuple[int, ...]:
    rules = rules_with(extends="indonesia", players=len(hands), beat_own=False, **fields)
    return play(deal_of(rules, hands, leader=0), *actions).points


def test_bonus_is_for_the_last_play_of_a_trick_only() -> None:
    hands = [f"{QUADS} 3D", f"{HIGHER} 3C 4C"]
    points = indonesian(hands, f"0:{QUADS}", f"1:{HIGHER}", "0:-", "1:3C", "0:-", "1:4C")
    assert points == (-1, 20 + 5)
    points = indonesian(hands, f"0:{QUADS}", "1:-", "0:3D")
    assert points == (20 + 5, -7)


def test_bonus_is_doubled_when_the_play_ends_the_deal() -> None:
    assert indonesian([QUADS, "3C 4C"], f"0:{QUADS}") == (2 * 20 + 5, -2)


def test_bonus_is_nothing_when_unplayed() -> None:
    actions = ["0:5D 5C", "1:-", "0:5H 5S", "1:-", "0:6D"]
    assert indonesian([QUADS, "3C"], *actions) == (5, -1)


def test_bonus_of_a_beaten_own_play_is_lost() -> None:
    rules = rules_with(extends="indonesia", players=2)
    deal = deal_of(rules, [f"{QUADS} {HIGHER} 3D", "3C"], leader=0)
    play(deal, f"0:{QUADS}", "1:-", f"0:{HIGHER}", "0:-", "0:3D")
    assert deal.points == (20 + 5, -1)


def test_bonus_of_the_last_holders_deal_goes_by_the_winners_last_play() -> None:
    rules = rules_with(extends="indonesia", players=3, deal_ends="last_holder", beat_own=False)
    deal = deal_of(rules, ["2S", "3C 9C", "4C"], leader=0)
    play(deal, "0:2S", "1:-", "2:-", "1:3C", "2:4C")
    assert (deal.out, deal.points) == ([0, 2], (10, -1, 0))


# Deals without a winner


def without_winner(settle: str, **fields: Any) -> tuple[int, ...]:
    """Return the points of a deal that seat 1 of three ended before any card was played."""
    rules = rules_with(players=3, settle=settle, **fields)
    full = tuple(rules.parse(hand) for hand in (f"{TEN.replace('D', 'C')}", TEN, "3H 4H"))
    return score(rules, Finish(0, 1, 0, full=full, left=full, out=(), culprit=1))


@pytest.mark.parametrize(
    ("settle", "points"),
    [
        ("penalty", (0, -20, 0)),
        ("pairwise", (20, -40, 20)),
        ("winner_collects", (20, -40, 20)),
        ("winner_scores", (0, -20, 0)),
        ("fixed", (0, -1, 0)),
        ("wins", (0, -1, 0)),
        ("difference", (20, -40, 20)),
        ("loser_only", (1, -2, 1)),
    ],
)
def test_without_a_winner_the_culprit_pays_for_its_full_hand(settle: str, points: tuple[int, ...]) -> None:
    assert without_winner(settle) == points


def test_without_a_winner_brackets_for_the_leader_spare_another() -> None:
    assert without_winner("penalty", multiplier_for="leader") == (0, -10, 0)
    assert without_winner("difference", multiplier_for="leader") == (10, -20, 10)


def test_without_a_winner_there_are_no_bonuses() -> None:
    assert without_winner("penalty", bonuses=INDONESIA) == (0, -20, 0)


def test_without_a_winner_the_last_loser_pays_one() -> None:
    assert without_winner("last_loses", deal_ends="last_holder") == (0, -1, 0)


@pytest.mark.parametrize(
    ("out", "points"),
    [((), (3, 3, 0, 3)), ((3,), (2, 2, 0, 5)), ((3, 0), (3, 1, 0, 5)), ((2,), (3, 3, 0, 3))],
)
def test_places_after_a_forfeit_keep_those_who_are_out(out: tuple[int, ...], points: tuple[int, ...]) -> None:
    rules = rules_with(deal_ends="last_holder", settle="places", place_points=[5, 3, 1, 0])
    full = tuple(rules.parse(hand) for hand in ("3D", "4D", "5D", "6D"))
    assert score(rules, Finish(0, 1, 0, full=full, left=full, out=out, culprit=2)) == points


@pytest.mark.parametrize("place_points", [[3, 2, 1, 0], [5, 3, 1, 0], [6, 1, 0, -7], [1, 0, 0, -1]])
@pytest.mark.parametrize("out", [(), (3,), (3, 0), (2,)])
def test_places_after_a_forfeit_leave_it_no_closer_to_the_others_than_the_last_place_does(
    out: tuple[int, ...], place_points: list[int]
) -> None:
    rules = rules_with(deal_ends="last_holder", settle="places", place_points=place_points)
    full = tuple(rules.parse(hand) for hand in ("3D", "4D", "5D", "6D"))
    points = score(rules, Finish(0, 1, 0, full=full, left=full, out=out, culprit=2))
    assert points[2] == place_points[-1]
    assert sum(points) >= sum(place_points)


def test_bracket_for_a_hand_of_which_nothing_was_played_goes_before_those_by_cards() -> None:
    multipliers = [{"from": 2, "times": 2}, {"from": "all", "times": 5}]
    rules = rules_with(players=3, multipliers=multipliers)
    hands = ["3D AD", "4D 6D 9H", "7C 8D"]
    deal = play(deal_of(rules, hands), "0:3D", "1:4D", "2:-", "0:AD")
    assert deal.points == (0, -4, -10)
    deal = play(deal_of(rules, hands), "0:3D", "1:4D", "2:8D", "0:AD")
    assert deal.points == (0, -4, -1)
    deal = play(deal_of(rules, hands), "0:3D", "1:4D")
    deal.forfeit(1)
    assert deal.points == (0, -15, 0)  # as if it had played nothing
    full = tuple(map(rules.parse, hands))
    dragon = Finish(0, 1, 0, full=full, left=(0, *full[1:]), out=(0,), unplayed=True, played=7)
    assert score(rules, dragon) == (0, -15, -10)


def test_deals_with_a_bracket_for_unplayed_hands_differ_by_who_has_played() -> None:
    rules = rules_with(players=2, multipliers=[{"from": "all", "times": 5}])
    shorter = play(deal_of(rules, ["4D AD", "6D"], leader=0), "0:4D")
    hands = ["3D 2D 4D AD", "5D 6D"]
    longer = play(deal_of(rules, hands, leader=0), "0:3D", "1:5D", "0:2D", "1:-", "0:4D")
    assert shorter.hands == longer.hands
    assert shorter.key() != longer.key()


@pytest.mark.parametrize(
    ("fields", "points"),
    [
        ({}, (-3, -7, -3, -7)),  # 0 - 3, and -2 - 5
        ({"settle": "pairwise"}, (8, -8, 8, -8)),  # 10 - 2, and 2 - 10
        ({"settle": "winner_collects"}, (7, -7, 7, -7)),  # 10 - 3
        ({"settle": "wins"}, (1, 0, 1, 0)),
        ({"bonuses": INDONESIA}, (2, -7, 2, -7)),
    ],
)
def test_partners_score_the_sum_of_what_both_come_to(fields: dict[str, Any], points: tuple[int, ...]) -> None:
    rules = rules_with(partners="opposite", multipliers=[], **fields)
    deal = deal_of(rules, ["3D 9D", "4D 6D 7D", "5C 7C 8C", "6H 7H 8H 9H TH"])
    play(deal, "0:3D", "1:4D", "2:-", "3:-", "0:9D")
    assert deal.points == points


@pytest.mark.parametrize("fields", [{}, {"settle": "pairwise"}])
def test_partners_do_not_pay_for_each_others_faults(fields: dict[str, Any]) -> None:
    hands = ["3D 5D 2S", "4D 6D 7D", "7C 8D", "9C TD"]
    scores = []
    for partners in ("none", "opposite"):
        rules = rules_with(partners=partners, last_top_card="loses", **fields)
        lost = play(deal_of(rules, hands), "0:3D", "1:4D", "2:-", "3:-", "0:5D")
        left = play(deal_of(rules, hands), "0:3D")
        left.forfeit(1)
        scores.append((lost.end, lost.points, left.points))
    assert scores[0] == scores[1]


def test_top_card_that_loses_scores_the_full_hand_with_the_exchange() -> None:
    rules = rules_with(players=3, last_top_card="loses", exchange="loser_to_winner", multipliers=[])
    deal = deal_of(rules, ["3D 5D 2S", "4D 6D", "7D 8D"], exchange=(1, 0))
    play(deal, "0:6D", "0:3D", "1:4D", "2:-", "0:5D")
    assert (deal.end, deal.points) == ("last_top_card", (-3, 0, 0))


def test_forfeit_scores_the_full_hand() -> None:
    deal = play(deal_of(rules_with(players=2), [f"{TEN} KD", "4C"], leader=0), "0:3D")
    deal.forfeit(0)
    assert deal.points == (-22, 0)


@pytest.mark.parametrize(
    ("fields", "points"),
    [
        ({"settle": "places", "place_points": [3, 1, -1, -3]}, (3, -1, 1, -3)),
        ({"settle": "better_collect"}, (5, -4, 3, -4)),
    ],
)
def test_points_of_seats_by_how_they_stand_to_each_other(
    fields: dict[str, Any], points: tuple[int, ...]
) -> None:
    """Two seats have two cards each, of which a pair is better than two single cards."""
    deal = deal_of(rules_with(**fields), ["3D", "4D 4C", "5D", "6D 7D"], leader=0)
    assert play(deal, "0:3D").points == points

"""Tests for the precaution before a seat with one card, and for the highest card as the last one."""

import pytest

from referee.deals.deal import Deal
from referee.errors import IllegalHere
from tests.referee.deals import deal_of, hand_texts, legal_texts, play, rules_with

# The precaution: legal plays of seat 0, which acts before a seat with one card


def guarded(hand: str, led: str = "", **fields: object) -> Deal:
    """Return a deal of three seats: seat 0 is to act, seat 1 has one card, and seat 2 may have led."""
    rules = rules_with(players=3, guard="must", **fields)
    deal = deal_of(rules, [hand, "KS", f"3D 3C 3H {led} 4D 4C 4H"], leader=2 if led else 0)
    return play(deal, f"2:{led}") if led else deal


@pytest.mark.parametrize(
    ("hand", "led", "plays", "may_pass"),
    [
        ("5D 6D 7D", "", ["7D"], False),
        ("5D 5C 7D", "", ["7D", "5D 5C"], False),
        ("5D 5C 5H 7D", "", ["7D", "5D 5C", "5D 5H", "5C 5H", "5D 5C 5H"], False),
        ("5D 7D 7C", "", ["7C", "7D 7C"], False),
        ("5D 6D 7D", "4S", ["7D"], False),
        ("5D 6D 7D", "9S", [], True),
        ("5D 6D TD", "9S", ["TD"], False),
        ("5D 6D TD JD", "9S", ["JD"], False),
        ("5D 5C TD JD", "9S 9H", [], True),
        ("5D TC TD JD JC", "9S 9H", ["TD TC", "JD JC"], True),
    ],
)
def test_guard_must_leaves_only_the_precaution(hand: str, led: str, plays: list[str], may_pass: bool) -> None:
    deal = guarded(hand, led)
    assert legal_texts(deal, 0) == plays
    assert deal.can_pass(0) == may_pass


@pytest.mark.parametrize(
    ("hand", "led", "plays", "may_pass"),
    [
        ("5D 7D 7C", "", ["7D", "7C", "7D 7C"], False),
        ("5D 7D 7C", "4S", ["7D", "7C"], False),
        ("5D 7D 7C", "7S", [], True),
    ],
)
def test_guard_must_with_equal_suits_leaves_any_card_of_the_highest_rank(
    hand: str, led: str, plays: list[str], may_pass: bool
) -> None:
    deal = guarded(hand, led, equal_suits=True)
    assert legal_texts(deal, 0) == plays
    assert deal.can_pass(0) == may_pass


@pytest.mark.parametrize(("hand", "may_pass"), [("5D 5C 5H 5S 6D 7D", True), ("5D 5C 5H 5S 6D TD", False)])
def test_guard_must_on_a_single_allows_a_bomb(hand: str, may_pass: bool) -> None:
    deal = guarded(hand, "9S", bombs=["quads"])
    singles = [] if may_pass else ["TD"]
    quads = [text for text in legal_texts(deal, 0) if " " in text]
    assert len(quads) == 2
    assert legal_texts(deal, 0) == singles + quads
    assert deal.can_pass(0) == may_pass


def test_guard_must_refuses_other_plays_and_passes() -> None:
    deal = guarded("5D 6D TD", "4S")
    for action in ("0:6D", "0:-"):
        with pytest.raises(IllegalHere, match="does not hinder the next seat, which has one card left"):
            play(deal, action)
    play(deal, "0:TD")


def test_guard_must_looks_at_the_next_seat_only() -> None:
    deal = deal_of(rules_with(players=3, guard="must"), ["5D 6D", "KS KD", "3D"], leader=0)
    assert legal_texts(deal, 0) == ["5D", "6D"]


def test_guard_must_skips_seats_that_are_out() -> None:
    rules = rules_with(players=3, guard="must", deal_ends="last_holder")
    deal = deal_of(rules, ["3D 6D 7D", "2S", "4S"], leader=1)
    play(deal, "1:2S", "2:-")
    assert legal_texts(deal, 0) == []
    play(deal, "0:-")
    assert deal.turn == 2
    deal = deal_of(rules, ["3D 6D 7D", "3S", "4S"], leader=1)
    play(deal, "1:3S", "2:-")
    assert legal_texts(deal, 0) == ["7D"]


def test_guard_must_skips_seats_that_are_locked_out() -> None:
    rules = rules_with(players=3, guard="must", pass_locks=True)
    deal = deal_of(rules, ["5D 6D 7D 8D", "4S", "3D 9D KD"], leader=2)
    play(deal, "2:3D", "0:8D", "1:-", "2:9D")
    assert legal_texts(deal, 0) == []
    assert deal.can_pass(0)
    rules = rules_with(players=3, guard="must", pass_locks=True)
    deal = deal_of(rules, ["5D JD QD AD", "4S", "3D 9D KD"], leader=2)
    play(deal, "2:3D", "0:AD", "1:-", "2:-")
    assert deal.turn == 0


def test_guard_must_counts_the_last_player_as_next_of_two() -> None:
    deal = deal_of(rules_with(players=2, guard="must"), ["3D 4D", "5D 6D"])
    play(deal, "0:3D")
    assert legal_texts(deal, 1) == ["6D"]


def test_guard_must_when_beating_the_own_play_does_not_hold() -> None:
    rules = rules_with(players=2, guard="must", beat_own=True)
    deal = deal_of(rules, ["3D 7D 8D 9D", "2S"], leader=0)
    play(deal, "0:9D", "1:-")
    assert deal.can_pass(0)
    assert deal.legal(0) == []
    deal = deal_of(rules, ["3D 7D 7C 8D 8C 9D 9C", "2S"], leader=0)
    play(deal, "0:7D 7C", "1:-")
    assert legal_texts(deal, 0) == ["8D 8C", "9D 9C"]


@pytest.mark.parametrize(
    ("hand", "plays"),
    [
        ("3D 5D 5C KD", ["3D"]),
        ("3D 3C 5D 5C", ["3D 3C"]),
        ("3D 3C", ["3D 3C"]),
        ("3D 5D KD", ["3D"]),
    ],
)
def test_guard_must_gives_way_to_the_card_to_include(hand: str, plays: list[str]) -> None:
    deal = deal_of(rules_with(players=2, guard="must"), [hand, "4S"])
    assert legal_texts(deal, 0) == plays


# Liability


def liable(hands: list[str], *actions: str) -> tuple[int, ...]:
    rules = rules_with(players=3, guard="liable", multipliers=[])
    return play(deal_of(rules, hands, leader=0), *actions).points


def test_guard_liable_when_ignored_pays_the_losses_of_all() -> None:
    # Seat 0 leads a single although it holds a pair, and seat 1 goes out at once.
    assert liable(["5D 5C 6D", "9S", "7D 8D 9D TD"], "0:5D", "1:9S") == (-6, 0, 0)


@pytest.mark.parametrize(
    ("hands", "actions", "points"),
    [
        (["5D 6D 7D", "9S", "8C 8D"], ["0:5D", "1:9S"], (-4, 0, 0)),
        (["5D 6D 7D", "9S", "8C 8D"], ["0:7D", "1:9S"], (-2, 0, -2)),
        (["5D 5C 7D", "9S 9D 9C", "8C 8D"], ["0:5D 5C", "1:9D 9C", "2:-", "0:-", "1:9S"], (-1, 0, -2)),
        (["5D KD 7D", "9S 9D", "8C 8D"], ["0:5D", "1:9D", "2:-", "0:-", "1:9S"], (-4, 0, 0)),
        (["5D 6D 7D", "9S 9D", "8C 8D"], ["0:5D", "1:9D", "2:-", "0:-", "1:9S"], (-2, 0, -2)),
    ],
)
def test_guard_liable_cases(hands: list[str], actions: list[str], points: tuple[int, ...]) -> None:
    assert liable(hands, *actions) == points


def test_guard_liable_for_a_pass_when_the_highest_card_beats() -> None:
    # Seat 2 leads; seat 0 could have played the king before seat 1, which has one card.
    rules = rules_with(players=3, guard="liable", multipliers=[])
    deal = deal_of(rules, ["5D KD 7D", "9S", "8C 8D"], leader=2)
    play(deal, "2:8C", "0:-", "1:9S")
    assert deal.points == (-4, 0, 0)
    deal = deal_of(rules, ["5D 6D 7D", "9S", "8C 8D"], leader=2)
    play(deal, "2:8C", "0:-", "1:9S")
    assert deal.points == (-3, 0, -1)


def test_guard_liable_for_passing_before_the_next_seat_leads_its_last_card() -> None:
    # The passes give seat 1 the lead, and its last card is a single.
    rules = rules_with(players=2, guard="liable", multipliers=[])
    deal = deal_of(rules, ["3D 2S 7D", "4D 9S"])
    play(deal, "0:3D", "1:4D", "0:-", "1:9S")
    assert deal.points == (-2, 0)


def test_guard_liable_only_if_the_next_seat_goes_out_at_once() -> None:
    rules = rules_with(players=3, guard="liable", multipliers=[])
    deal = deal_of(rules, ["5D 5C 7D 8H", "9S", "6D 8D 9D TD"], leader=0)
    play(deal, "0:5D", "1:-", "2:6D", "0:8H", "1:9S")
    assert deal.points == (-2, 0, -3)


def test_guard_liable_not_where_the_card_to_include_left_no_choice() -> None:
    rules = rules_with(players=2, guard="liable", multipliers=[])
    deal = play(deal_of(rules, ["3D 5D 5C KD", "4S"]), "0:3D", "1:4S")
    assert deal.points == (-3, 0)


def test_guard_liable_not_for_a_bomb() -> None:
    rules = rules_with(players=3, guard="liable", multipliers=[], bombs=["quads"])
    hands = ["5D 5C 5H 5S 6D KD", "9S", "8C 8D"]
    deal = play(deal_of(rules, hands, leader=2), "2:8C", "0:5D 5C 5H 5S 6D", "1:-", "2:-", "0:KD")
    assert deal.points == (0, -1, -1)


# The highest card as the last one


def test_last_top_card_allowed_may_win() -> None:
    deal = play(deal_of(rules_with(players=2), ["3D 2S", "4D 5D"]), "0:3D", "1:4D", "0:2S")
    assert deal.out == [0]


def test_cannot_win_bans_the_highest_card_as_a_last_single() -> None:
    rules = rules_with(players=2, last_top_card="cannot_win")
    deal = play(deal_of(rules, ["3D 2S", "4D 5D 9D"]), "0:3D", "1:4D")
    assert (legal_texts(deal, 0), deal.can_pass(0), deal.forced(0)) == ([], True, True)
    with pytest.raises(IllegalHere, match="2S may not be the last card played"):
        play(deal, "0:2S")


def test_cannot_win_allows_it_with_other_cards_left_or_in_a_combination() -> None:
    rules = rules_with(players=2, last_top_card="cannot_win")
    deal = play(deal_of(rules, ["3D 2H 2S", "4D 5D 9D"]), "0:3D", "1:4D")
    assert legal_texts(deal, 0) == ["2H", "2S"]
    deal = deal_of(rules, ["2H 2S", "4D 5D 9D"], leader=0)
    assert legal_texts(deal, 0) == ["2H", "2S", "2H 2S"]
    assert play(deal, "0:2H 2S").out == [0]


def test_cannot_win_when_a_lead_cannot_be_made_passes_it_to_the_next() -> None:
    rules = rules_with(players=3, last_top_card="cannot_win")
    deal = deal_of(rules, ["2H 2S", "4D 5D", "6D 7D"], leader=0)
    play(deal, "0:2H", "1:-", "2:-")
    assert (deal.legal(0), deal.can_pass(0), deal.default(0)) == ([], True, 0)
    play(deal, "0:-")
    assert (deal.turn, deal.to_beat, deal.can_pass(1)) == (1, 0, False)
    assert [action.cards for action in deal.actions[-1:]] == [0]


def test_cannot_win_goes_by_the_order_of_suits() -> None:
    rules = rules_with(players=2, last_top_card="cannot_win", suits=["C", "S", "H", "D"])
    deal = play(deal_of(rules, ["3D 2D", "4D 5D 9D"]), "0:3D", "1:4D")
    assert legal_texts(deal, 0) == []
    deal = play(deal_of(rules, ["3D 2S", "4D 5D 9D"]), "0:3D", "1:4D")
    assert legal_texts(deal, 0) == ["2S"]


def test_cannot_win_is_lifted_if_all_who_hold_cards_hold_just_that_card() -> None:
    rules = rules_with(players=2, decks=2, last_top_card="cannot_win")
    deal = deal_of(rules, ["3D 2S", "2S"], leader=0)
    play(deal, "0:3D")
    assert legal_texts(deal, 1) == ["2S"]
    rules = rules_with(players=3, decks=2, last_top_card="cannot_win")
    deal = play(deal_of(rules, ["3D 2S", "2S", "4D 5D"], leader=0), "0:3D")
    assert legal_texts(deal, 1) == []


def test_cannot_win_counts_both_copies_of_the_highest_card() -> None:
    rules = rules_with(players=2, decks=2, last_top_card="cannot_win")
    deal = deal_of(rules, ["2S 2S", "3D 4D"], leader=0)
    assert legal_texts(deal, 0) == ["2S", "2S 2S"]
    play(deal, "0:2S", "1:-")
    assert legal_texts(deal, 0) == []


def test_cannot_win_with_a_lead_that_would_have_to_hinder_passes() -> None:
    rules = rules_with(players=2, guard="must", last_top_card="cannot_win")
    deal = deal_of(rules, ["2H 2S", "4D 5D"], leader=0)
    play(deal, "0:2H", "1:-", "0:-", "1:5D")
    assert (deal.legal(0), deal.can_pass(0)) == ([], True)


def test_loses_ends_the_deal_for_who_is_left_with_the_highest_card() -> None:
    rules = rules_with(players=3, last_top_card="loses")
    deal = deal_of(rules, ["3D 5D 2S", "4D 6D", "7D 8D"])
    play(deal, "0:3D", "1:4D", "2:-", "0:5D")
    assert (deal.end, deal.out, deal.culprit) == ("last_top_card", [], 0)
    assert hand_texts(deal) == ["2S", "6D", "7D 8D"]
    assert deal.points == (-3, 0, 0)


def test_loses_does_not_touch_who_holds_it_twice_or_with_others() -> None:
    rules = rules_with(players=2, decks=2, last_top_card="loses")
    deal = play(deal_of(rules, ["3D 2S 2S", "4D 6D"]), "0:3D")
    assert not deal.over
    assert play(deal, "1:4D", "0:2S").end == "last_top_card"


def test_last_cards_of_a_rank_ban_each_of_them_as_a_last_single_but_not_together() -> None:
    rules = rules_with(players=2, last_top_card="cannot_win", last_cards="2")
    deal = play(deal_of(rules, ["3D 2C", "4D 5D 9D"]), "0:3D", "1:4D")
    assert (legal_texts(deal, 0), deal.can_pass(0)) == ([], True)
    with pytest.raises(IllegalHere, match="2C may not be the last card played"):
        play(deal, "0:2C")
    assert play(deal_of(rules, ["2C 2H", "4D 5D"], leader=0), "0:2C 2H").out == [0]


def test_last_cards_of_a_suit_ban_each_of_them_unless_all_hold_just_such_a_card() -> None:
    rules = rules_with(players=3, last_top_card="cannot_win", last_cards="S")
    deal = play(deal_of(rules, ["3D 7S", "4D 5D", "6S 8S"]), "0:3D", "1:4D")
    assert legal_texts(deal, 2) == ["6S", "8S"]
    play(deal, "2:6S")
    assert legal_texts(deal, 0) == []
    deal = deal_of(rules, ["3D 7S", "9S", "6S"], leader=0)
    assert legal_texts(play(deal, "0:3D"), 1) == ["9S"]


@pytest.mark.parametrize(
    ("cards", "left", "end"),
    [("2", "2C", "last_top_card"), ("S", "4S", "last_top_card"), ("2", "AS", ""), ("S", "2H", "")],
)
def test_last_cards_that_lose_end_the_deal_if_one_is_left(cards: str, left: str, end: str) -> None:
    rules = rules_with(players=2, last_top_card="loses", last_cards=cards)
    assert play(deal_of(rules, [f"3D {left}", "4D 6D"]), "0:3D").end == end


def test_last_cards_that_lose_do_not_touch_who_holds_two_of_them() -> None:
    rules = rules_with(players=2, last_top_card="loses", last_cards="2")
    deal = play(deal_of(rules, ["3D 2C 2H", "4D 6D"]), "0:3D")
    assert (deal.over, deal.turn) == (False, 1)
    play(deal, "1:4D", "0:2C")
    assert (deal.end, deal.culprit) == ("last_top_card", 0)


@pytest.mark.parametrize("announce_at", [0, 1, 2])
def test_announcements_are_information_only(announce_at: int) -> None:
    deal = deal_of(rules_with(players=2, announce_at=announce_at), ["3D 5D", "4D"])
    assert legal_texts(play(deal, "0:3D"), 1) == ["4D"]

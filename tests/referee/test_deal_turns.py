"""Tests for leading, following, passing, tricks and the end of a deal."""

from hashlib import sha256

import pytest

from referee.deals.deal import Deal, Stage
from referee.errors import IllegalHere, NotAPlay, NotInHand
from tests.referee.deals import deal_of, hand_texts, legal_texts, play, rules_with

TWO = {"players": 2, "settle": "penalty"}


# The lead


def test_lead_by_the_lowest_card_must_contain_it() -> None:
    deal = deal_of(rules_with(players=2), ["3D 3C 5D", "4D 9D"])
    assert legal_texts(deal, 0) == ["3D", "3D 3C"]
    with pytest.raises(IllegalHere, match="5D does not contain 3D, which this lead must"):
        play(deal, "0:5D")


def test_lead_by_the_lowest_card_where_it_need_not_be_included_is_free() -> None:
    deal = deal_of(rules_with(players=2, lead_includes_lowest=False), ["3D 3C 5D", "4D 9D"])
    assert legal_texts(deal, 0) == ["3D", "3C", "5D", "3D 3C"]


def test_lead_by_the_lowest_card_when_undealt_must_contain_the_next_lowest() -> None:
    deal = deal_of(rules_with(players=2), ["4H 5D", "3S 4S"])
    assert (deal.leader, legal_texts(deal, 1)) == (1, ["3S"])


def test_lead_of_a_seat_that_was_called_is_free() -> None:
    deal = deal_of(rules_with(players=2), ["3D 3C 5D", "4D 9D"], leader=0)
    assert legal_texts(deal, 0) == ["3D", "3C", "5D", "3D 3C"]


def test_lead_of_two_packs_must_contain_one_copy_of_the_lowest_card() -> None:
    deal = deal_of(rules_with(players=2, decks=2), ["3D 3D 3C", "4D 9D"])
    assert legal_texts(deal, 0) == ["3D", "3D 3D", "3D 3C", "3D 3D 3C"]


def test_pass_when_leading_is_illegal() -> None:
    deal = deal_of(rules_with(players=2), ["3D 5D", "4D 9D"])
    assert not deal.can_pass(0)
    with pytest.raises(IllegalHere, match="a pass is not legal when leading"):
        play(deal, "0:-")


def test_lead_by_the_lowest_card_alone_is_just_that_card() -> None:
    deal = deal_of(rules_with(players=2, lead_includes_lowest="alone"), ["3D 3C 5D", "4D 9D"])
    assert legal_texts(deal, 0) == ["3D"]
    with pytest.raises(IllegalHere, match="3D 3C is more than 3D, which must be led alone"):
        play(deal, "0:3D 3C")
    with pytest.raises(IllegalHere, match="5D does not contain 3D"):
        play(deal, "0:5D")
    play(deal, "0:3D", "1:-")
    assert legal_texts(deal, 0) == ["3C", "5D"]


@pytest.mark.parametrize(
    ("card", "leader", "lead"),
    [("4S", 1, "4S"), ("5D", 2, "5C"), ("2S", 0, "3D"), ("3D", 0, "3D")],
)
def test_lead_by_a_named_card_is_its_holders_or_that_of_the_next_card_dealt(
    card: str, leader: int, lead: str
) -> None:
    rules = rules_with(players=3, first_lead=card, lead_includes_lowest="alone")
    deal = deal_of(rules, ["3D 6D", "4S 7D", "5C 2H"])
    assert (deal.leader, legal_texts(deal, deal.turn)) == (leader, [lead])


def test_lead_drawn_is_the_first_word_of_the_seed_modulo_the_seats() -> None:
    rules = rules_with(players=3, first_lead="random", lead_includes_lowest=False)
    drawn = []
    for number in range(30):
        seed = number.to_bytes(32, "big")
        word = int.from_bytes(sha256(seed + b"leader" + bytes(4)).digest()[:4], "big")
        deal = Deal(rules, seed, 1, 0, 1)
        assert (deal.leader, deal.turn, deal.must_include) == (word % 3, word % 3, 0)
        drawn.append(deal.leader)
    assert set(drawn) == {0, 1, 2}


def test_only_the_first_lead_must_contain_the_lowest_card() -> None:
    deal = deal_of(rules_with(players=2), ["3D 5D 6D", "4D 9D TD"])
    play(deal, "0:3D", "1:9D", "0:-")
    assert legal_texts(deal, 1) == ["4D", "TD"]


# Following and passing


def test_follow_is_by_the_same_kind_and_stronger() -> None:
    deal = deal_of(rules_with(players=2), ["3D 4C 4S", "4D 4H 9C 9H JS"])
    play(deal, "0:3D", "1:4D", "0:-", "1:4H", "0:-")
    deal = deal_of(rules_with(players=2), ["3D 3C 4S", "4D 4H 9C 9H JS"])
    play(deal, "0:3D 3C")
    assert legal_texts(deal, 1) == ["4D 4H", "9C 9H"]
    assert deal.can_pass(1)


def test_dragon_is_beaten_only_by_a_dragon_with_a_higher_two() -> None:
    rules = rules_with(**TWO, hand_size=17, plays=["single", "pair", "dragon"], five_card_order=[])
    low = "4C 5C 6C 7C 8C 9C TC JC QC KC AC"
    high = low.replace("C", "H")
    deal = deal_of(rules, [f"3D 3C {low} 2C", f"3H {high} 2D 2S"])
    assert legal_texts(deal, 0)[-1] == f"3D {low} 2C"
    play(deal, f"0:3D {low} 2C")
    assert legal_texts(deal, 1) == [f"3H {high} 2S"]
    play(deal, f"1:3H {high} 2S")
    assert (deal.over, hand_texts(deal)) == (False, ["3C", "2D"])
    assert legal_texts(deal, 0) == []
    play(deal, "0:-", "1:2D")
    assert (deal.out, deal.points) == ([1], (-1, 0))


def test_act_errors_say_what_was_tried() -> None:
    deal = deal_of(rules_with(players=2), ["3D 7C 4S", "4D 4H 9C JS"])
    with pytest.raises(NotAPlay, match="3D 4S is not a combination in test@1"):
        play(deal, "0:3D 4S")
    with pytest.raises(NotInHand, match="seat 0 does not hold JS"):
        play(deal, "0:JS")
    with pytest.raises(IllegalHere, match="seat 1 has no decision to make now"):
        play(deal, "1:4D")
    play(deal, "0:3D", "1:9C")
    with pytest.raises(IllegalHere, match="7C does not beat 9C"):
        play(deal, "0:7C")


def test_act_after_the_end_is_refused() -> None:
    deal = play(deal_of(rules_with(players=2), ["3D", "4D 4H"]), "0:3D")
    assert deal.over
    with pytest.raises(IllegalHere, match="the deal is over"):
        play(deal, "1:4D")
    with pytest.raises(IllegalHere, match="the deal is over"):
        deal.forfeit(1)
    with pytest.raises(IllegalHere, match="seat 1 has no decision to make"):
        deal.default(1)
    assert deal.legal(1) == []
    assert not deal.can_pass(1)


def test_passing_does_not_bar_from_playing_later() -> None:
    hands = ["4D 6D", "JD 6C", "2C 3C", "AD 6S"]
    deal = deal_of(rules_with(), hands, leader=0)
    play(deal, "0:4D", "1:JD", "2:-", "3:AD", "0:-", "1:-")
    assert deal.turn == 2
    assert legal_texts(deal, 2) == ["2C"]
    play(deal, "2:2C", "3:-", "0:-", "1:-")
    assert (deal.turn, deal.to_beat) == (2, 0)


def test_trick_ends_when_all_others_have_passed_and_its_last_player_leads() -> None:
    deal = deal_of(rules_with(players=3), ["3D 5D 6D", "4D 9D TD", "8C 8D 8H"])
    play(deal, "0:3D", "1:4D", "2:-", "0:-")
    assert (deal.turn, deal.to_beat, deal.last_seat) == (1, 0, -1)


@pytest.mark.parametrize(("step", "order"), [(1, [0, 1, 2, 0]), (-1, [0, 2, 1, 0])])
def test_turns_go_in_the_direction_of_play(step: int, order: list[int]) -> None:
    deal = deal_of(rules_with(players=3), ["3D 9D", "4D TD", "5D JD"], step=step)
    turns = [deal.turn]
    for _ in range(3):
        deal.act(deal.turn, deal.legal(deal.turn)[0] & deal.rules.full)
        turns.append(deal.turn)
    assert turns == order


def test_pass_locks_keeps_who_passed_out_until_the_trick_ends() -> None:
    deal = deal_of(rules_with(players=3, pass_locks=True), ["3D 7D 9D", "4D TD", "5D JD"])
    play(deal, "0:3D", "1:-", "2:5D")
    assert deal.turn == 0
    play(deal, "0:7D")
    assert deal.turn == 2
    play(deal, "2:JD")
    assert deal.over
    deal = deal_of(rules_with(players=3, pass_locks=True), ["3D 7D 9D", "4D TD", "5D JD 8C"])
    play(deal, "0:3D", "1:-", "2:5D", "0:-")
    assert (deal.turn, deal.to_beat) == (2, 0)
    play(deal, "2:8C", "0:9D", "1:TD")
    assert deal.last_seat == 1


# Beating one's own play


def test_beat_own_lets_the_last_player_go_on_while_the_others_are_locked_out() -> None:
    hands = ["3D 3C 8D 8C TD TC", "2D 2C 4S", "5D 6D 7D", "5C 6C 7C"]
    deal = deal_of(rules_with(beat_own=True, pass_locks=True), hands)
    play(deal, "0:3D 3C", "1:-", "2:-", "3:-")
    assert (deal.stage, deal.owing()) == (Stage.BEAT_OWN, (0,))
    assert legal_texts(deal, 0) == ["8D 8C", "TD TC"]
    assert deal.can_pass(0)
    play(deal, "0:8D 8C")
    assert (deal.stage, deal.turn) == (Stage.BEAT_OWN, 0)
    play(deal, "0:TD TC")
    assert (deal.end, deal.out) == ("out", [0])


def test_beat_own_holds_whether_or_not_a_pass_locks() -> None:
    deal = deal_of(rules_with(players=2, beat_own=True), ["3D 8D 9D", "2D 2C"])
    play(deal, "0:3D", "1:-", "0:8D")
    assert (deal.stage, deal.turn) == (Stage.BEAT_OWN, 0)


def test_beat_own_declined_ends_the_trick_and_leads() -> None:
    deal = deal_of(rules_with(players=2, beat_own=True), ["3D 8D 9D", "2D 2C"])
    play(deal, "0:3D", "1:-", "0:-")
    assert (deal.stage, deal.turn, deal.to_beat) == (Stage.PLAY, 0, 0)
    play(deal, "0:8D", "1:2D")
    assert deal.turn == 0


def test_beat_own_turn_is_taken_even_when_nothing_can_be_played() -> None:
    deal = deal_of(rules_with(players=2, beat_own=True), ["3D 8D", "2D 2C 4C"])
    play(deal, "0:3D", "1:2D", "0:-")
    assert (deal.stage, deal.turn, deal.legal(1)) == (
        Stage.BEAT_OWN,
        1,
        [deal.rules.code(deal.rules.parse("2C"))],
    )
    play(deal, "1:2C")
    assert (deal.stage, deal.legal(1), deal.forced(1)) == (Stage.BEAT_OWN, [], True)
    play(deal, "1:-")
    assert (deal.stage, deal.to_beat, deal.turn) == (Stage.PLAY, 0, 1)


def test_beat_own_of_a_seat_that_is_out_is_skipped() -> None:
    rules = rules_with(players=3, beat_own=True, deal_ends="last_holder")
    deal = play(deal_of(rules, ["3D", "4D 5D", "6D 7D"]), "0:3D", "1:-", "2:-")
    assert (deal.stage, deal.turn, deal.to_beat) == (Stage.PLAY, 1, 0)


# The end


def test_deal_ends_when_the_first_seat_is_out() -> None:
    deal = play(deal_of(rules_with(players=3), ["3D", "4D 5D", "6D"]), "0:3D")
    assert (deal.over, deal.end, deal.out, deal.stage) == (True, "out", [0], Stage.OVER)
    assert hand_texts(deal) == ["", "4D 5D", "6D"]


def test_last_holder_plays_on_until_one_seat_holds_cards() -> None:
    rules = rules_with(players=3, deal_ends="last_holder")
    deal = deal_of(rules, ["3D", "4D 5D", "6D 7D"])
    play(deal, "0:3D", "1:4D", "2:6D", "1:-", "2:7D")
    assert (deal.end, deal.out) == ("out", [0, 2])


def test_last_holder_when_the_last_play_of_a_seat_stands_lets_the_next_holder_lead() -> None:
    rules = rules_with(players=4, deal_ends="last_holder")
    deal = deal_of(rules, ["3D 2S", "4D", "5D 6D", "7D 8D"], leader=0)
    play(deal, "0:3D", "1:4D", "2:5D", "3:-", "0:2S")
    assert (deal.out, deal.turn) == ([1, 0], 2)
    play(deal, "2:-", "3:-")
    assert (deal.turn, deal.to_beat) == (2, 0)


def test_last_holder_when_the_last_play_is_beaten_goes_on_in_order() -> None:
    rules = rules_with(players=3, deal_ends="last_holder")
    deal = deal_of(rules, ["3D", "4D 5D", "6D 7D"])
    play(deal, "0:3D", "1:-", "2:6D")
    assert deal.turn == 1
    play(deal, "1:-")
    assert (deal.turn, deal.to_beat) == (2, 0)


def test_next_leads_ends_the_trick_with_the_last_play_of_a_seat() -> None:
    rules = rules_with(players=4, deal_ends="last_holder", after_out="next_leads", pass_locks=True)
    deal = deal_of(rules, ["3D", "4D 9D", "5D 6D", "7D 8D"], leader=2)
    play(deal, "2:5D", "3:-", "0:-", "1:9D", "2:-")
    assert (deal.turn, deal.to_beat) == (1, 0)  # nobody went out
    play(deal, "1:4D")
    assert (deal.out, deal.turn, deal.to_beat, deal.locked) == ([1], 2, 0, 0)
    assert legal_texts(deal, 2) == ["6D"]
    assert not deal.can_pass(2)
    play(deal, "2:6D")
    assert (deal.out, deal.turn) == ([1, 2], 3)
    assert play(deal, "3:8D", "0:-", "3:7D").out == [1, 2, 3]


def test_next_leads_opens_no_window_for_bombs_and_counts_the_play_as_unbeaten() -> None:
    rules = rules_with(
        extends="gamesky",
        players=3,
        hand_size=8,
        deal_ends="last_holder",
        after_out="next_leads",
        bonuses=dict.fromkeys(("straight_flush", "four_twos", "winner", "winner_per_two"), 0)
        | {"quads": 7, "final_times": 2},
        settle="wins",
    )
    deal = deal_of(rules, ["3D 3C 3H 3S 4D", "9D 9C 9H 9S TD 4C", "5D 6D"])
    play(deal, "0:3D 3C 3H 3S 4D")
    assert (deal.stage, deal.turn, deal.to_beat) == (Stage.PLAY, 1, 0)
    play(deal, "1:4C")
    assert deal.stage is Stage.BOMBS
    play(deal, "2:6D", "1:9D 9C 9H 9S TD")
    assert (deal.out, deal.points) == ([0, 1], (8, 14, 0))


def test_forfeit_ends_the_deal_without_a_winner() -> None:
    deal = play(deal_of(rules_with(players=2), ["3D 5D", "4D 9D"]), "0:3D")
    deal.forfeit(1)
    assert (deal.end, deal.out, deal.culprit, deal.points) == ("forfeit", [], 1, (0, -2))
    assert deal.owing() == ()


# What is forced, and the default action


def test_forced_is_a_single_possible_answer() -> None:
    deal = deal_of(rules_with(players=2), ["3D 5D", "4D 9D"])
    assert deal.forced(0)
    play(deal, "0:3D")
    assert not deal.forced(1)
    play(deal, "1:9D")
    assert deal.forced(0)
    assert not deal.forced(1)


def test_default_is_a_pass_else_the_weakest_single() -> None:
    deal = deal_of(rules_with(players=2, suits=["S", "D", "C", "H"]), ["4D 4S 5D", "6D 9D"], leader=0)
    assert deal.rules.text(deal.default(0)) == "4S"
    play(deal, "0:4S")
    assert deal.default(1) == 0


def test_default_when_no_single_is_legal_is_the_first_play_in_canonical_order() -> None:
    rules = rules_with(players=2, guard="must")
    deal = deal_of(rules, ["4D 4C 4H 5D 5C", "6D"])
    assert legal_texts(deal, 0)[0] == "4D 4C"
    assert rules.text(deal.default(0)) == "4D 4C"


# Acting for seats that are forced


def test_act_for_forced_when_a_seat_drew_again_what_it_had_played_then_it_is_asked() -> None:
    rules = rules_with(players=2, leftover="stock", draw_on_pass="as_needed", restock=True)
    deal = deal_of(rules, ["3D 4D 4C 5D 5C 9D", "KD KC 7H 8H"], leader=1)
    play(deal, "1:KD KC", "0:-", "1:7H", "0:9D", "1:-", "0:4D 4C", "1:-", "0:5D 5C")
    deal.act_for_forced()
    assert (deal.turn, legal_texts(deal, 1)) == (1, ["KD KC"])


def test_act_for_forced_when_a_seat_drew_the_second_copies_of_what_it_had_played_then_it_is_asked() -> None:
    rules = rules_with(players=2, decks=2, leftover="stock", draw_on_pass="one")
    hands = ["3D 4D 4C 5D 9D", "KD KC 7H 8H 9H"]
    deal = deal_of(rules, hands, leftover="8D KD KC", leader=1)
    play(deal, "1:KD KC", "0:-", "1:7H", "0:9D", "1:-", "0:3D", "1:-", "0:4D 4C")
    deal.act_for_forced()
    assert (deal.turn, legal_texts(deal, 1)) == (1, ["KD KC"])


def test_act_for_forced_after_a_bomb_passes_for_a_seat_with_only_a_weaker_bomb() -> None:
    rules = rules_with(players=2, bombs=["quads"])
    hands = ["3D 9D 9C 9H 9S 4D 4C TD", "8D 8C 8H 8S 5D 5C"]
    deal = play(deal_of(rules, hands), "0:3D", "1:5D", "0:9D 9C 9H 9S 4D")
    assert legal_texts(deal, 1) == []
    deal.act_for_forced()
    assert (deal.turn, hand_texts(deal)[1]) == (0, "5C 8D 8C 8H 8S")

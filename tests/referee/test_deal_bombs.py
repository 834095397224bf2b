"""Tests for bombs in turn and out of turn."""

import pytest

from referee.deals.deal import Stage
from referee.errors import IllegalHere, PlayError
from tests.referee.deals import deal_of, decline, legal_texts, play, rules_with

QUADS = "5D 5C 5H 5S 6D"
HIGHER = "6C 7D 7C 7H 7S"


def test_bomb_in_turn_beats_any_size() -> None:
    rules = rules_with(players=2, bombs=["quads"])
    deal = play(deal_of(rules, ["3D 4D", f"{QUADS} 2S"]), "0:3D")
    assert QUADS in legal_texts(deal, 1)
    play(deal, f"1:{QUADS}")
    assert (deal.legal(0), deal.stage) == ([], Stage.PLAY)


def test_window_opens_after_a_play_and_asks_all_others_in_order() -> None:
    rules = rules_with(extends="gamesky")
    deal = play(deal_of(rules, ["3D 4D", "4C 9D", "4H 8D", "4S 7D"], step=-1), "0:3D")
    assert (deal.stage, deal.owing(), deal.turn) == (Stage.BOMBS, (3, 2, 1), -1)
    assert all(deal.can_pass(seat) and not deal.forced(seat) for seat in deal.owing())
    assert deal.default(3) == 0


def test_window_takes_the_same_course_whoever_holds_bombs() -> None:
    rules = rules_with(extends="gamesky")
    for hand in ("4C 9D TD JD QD KD", f"{QUADS} 9D"):
        deal = play(deal_of(rules, ["3D 4D", hand, "4H 8D", "4S 7D"]), "0:3D")
        assert deal.owing() == (1, 2, 3)
        decline(deal)
        assert (deal.stage, deal.owing(), len(deal.actions)) == (Stage.PLAY, (1,), 1)


def test_window_offers_bombs_only() -> None:
    rules = rules_with(extends="gamesky")
    deal = play(deal_of(rules, ["3D 4D", "4C 9D", f"{QUADS}", "4S 7D"]), "0:3D")
    assert legal_texts(deal, 1) == []
    assert legal_texts(deal, 2) == [QUADS]
    with pytest.raises(IllegalHere, match="9D is not a bomb and must wait for its turn"):
        deal.act(1, rules.parse("9D"))


def test_bomb_out_of_turn_takes_the_turn_on_from_the_bomber() -> None:
    rules = rules_with(extends="gamesky")
    deal = deal_of(rules, ["3D 4D", "4C 9D", f"{QUADS} 9S", "4S 7D"])
    play(deal, "0:3D", f"2!{QUADS}")
    assert deal.actions[-1] == (2, rules.parse(QUADS), 0, True)
    assert (deal.stage, deal.owing()) == (Stage.BOMBS, (3, 0, 1))
    decline(deal)
    assert (deal.turn, deal.last_seat) == (3, 2)
    play(deal, "3:-", "0:-", "1:-")
    assert (deal.turn, deal.to_beat) == (2, 0)


def test_bombs_of_several_seats_are_settled_by_precedence() -> None:
    rules = rules_with(extends="gamesky")
    deal = play(deal_of(rules, ["3D 4D", f"{QUADS} 9D", f"{HIGHER} 9S", "4S 8D"]), "0:3D")
    deal.act(2, rules.parse(HIGHER))
    deal.act(3, 0)
    assert deal.owing() == (1,)
    deal.act(1, rules.parse(QUADS))
    assert [(action.seat, action.out_of_turn) for action in deal.actions] == [(0, False), (1, True)]
    assert deal.owing() == (2, 3, 0)
    assert legal_texts(deal, 2) == [HIGHER, "7D 7C 7H 7S 9S"]


def test_bomb_may_be_bombed_and_the_bomber_is_not_asked() -> None:
    rules = rules_with(extends="gamesky")
    deal = deal_of(rules, ["3D 4D", f"{QUADS} 9D", f"{HIGHER} 9S", "4S 8D"])
    play(deal, "0:3D", f"1!{QUADS}", f"2!{HIGHER}")
    assert deal.owing() == (3, 0, 1)
    decline(deal)
    assert deal.turn == 3


def test_the_next_in_turn_may_bomb_out_of_turn_or_wait_for_the_turn() -> None:
    rules = rules_with(extends="gamesky")
    for action in (f"1!{QUADS}", f"1:{QUADS}"):
        deal = play(deal_of(rules, ["3D 4D", f"{QUADS} 9D", "4H 8D", "4S 7D"]), "0:3D", action)
        assert deal.actions[-1].out_of_turn == ("!" in action)
        assert deal.owing() == (2, 3, 0)


def test_passes_do_not_open_a_window() -> None:
    rules = rules_with(extends="gamesky")
    deal = play(deal_of(rules, ["3D 4D", "4C 9D", f"{QUADS} 9S", "4S 7D"]), "0:3D", "1:-")
    assert (deal.stage, deal.turn) == (Stage.PLAY, 2)


def test_skipped_seats_lose_that_turn_only() -> None:
    rules = rules_with(extends="gamesky")
    deal = deal_of(rules, ["3D 4D 2S", "4C 9D 2H", f"{QUADS} 3S 3H", "4S 7D 8D"])
    play(deal, "0:3D", f"2!{QUADS}", "3:-", "0:-", "1:-", "2:3H", "3:4S", "0:-", "1:9D")
    assert deal.last_seat == 1


def test_window_does_not_ask_seats_locked_out_or_without_cards() -> None:
    rules = rules_with(extends="gamesky", pass_locks=True)
    deal = deal_of(rules, ["3D 9C", "4C 9D", "5D 8D", "4S 7D"])
    play(deal, "0:3D", "1:-", "2:5D")
    assert deal.owing() == (3, 0)
    rules = rules_with(extends="gamesky", deal_ends="last_holder")
    deal = play(deal_of(rules, ["3D", "4C 9D", "5D 8D", "4S 7D"]), "0:3D")
    assert deal.owing() == (1, 2, 3)
    play(deal, "1:4C")
    assert deal.owing() == (2, 3)


def test_play_that_ends_the_deal_opens_no_window() -> None:
    rules = rules_with(extends="gamesky")
    deal = play(deal_of(rules, ["3D", f"{QUADS} 9D", "4H 8D", "4S 7D"]), "0:3D")
    assert (deal.over, deal.owing()) == (True, ())


def test_bomb_out_of_turn_may_end_the_deal() -> None:
    rules = rules_with(extends="gamesky")
    deal = play(deal_of(rules, ["3D 4D", QUADS, "4H 8D", "4S 7D"]), "0:3D", f"1!{QUADS}")
    assert (deal.end, deal.out) == ("out", [1])


def test_no_window_where_the_own_play_is_beaten() -> None:
    rules = rules_with(extends="gamesky", beat_own=True)
    deal = deal_of(rules, ["3D 4D 6S", "4C 9D", f"{QUADS} 9S", "4S 7D"])
    play(deal, "0:3D", "1:-", "2:-", "3:-", "0:4D")
    assert (deal.stage, deal.turn) == (Stage.BEAT_OWN, 0)


def test_guard_does_not_bind_a_bomb_out_of_turn() -> None:
    rules = rules_with(extends="gamesky", guard="must")
    deal = play(deal_of(rules, ["3D 4D", f"{QUADS} {HIGHER}", "4H", "4S 7D"]), "0:3D")
    assert legal_texts(deal, 1)[0] == QUADS
    assert deal.can_pass(1)


def test_forfeit_in_a_window_ends_the_deal() -> None:
    rules = rules_with(extends="gamesky")
    deal = play(deal_of(rules, ["3D 4D", "4C 9D", "4H 8D", "4S 7D"]), "0:3D")
    deal.forfeit(2)
    assert (deal.end, deal.owing(), len(deal.actions)) == ("forfeit", (), 1)


def test_window_refuses_a_second_answer_and_the_bombed() -> None:
    rules = rules_with(extends="gamesky")
    deal = play(deal_of(rules, ["3D 4D", "4C 9D", "4H 8D", "4S 7D"]), "0:3D")
    deal.act(1, 0)
    for seat in (0, 1):
        with pytest.raises(PlayError):
            deal.act(seat, 0)


RUN_OF_THREE = "3S 3C 4S 4C 5S 5C"


def test_bomb_that_beats_only_twos_waits_for_one() -> None:
    rules = rules_with(extends="tien-len-frame")
    deal = deal_of(rules, ["AS 2S 2C 9H", f"{RUN_OF_THREE} 9S", "3D 4D 5D", "3H 4H 5H"], leader=0)
    play(deal, "0:AS")
    assert legal_texts(deal, 1) == []
    with pytest.raises(IllegalHere, match="3C 3S 4C 4S 5C 5S does not beat AS"):
        deal.act(1, rules.parse(RUN_OF_THREE))
    play(deal, "1:-", "2:-", "3:-", "0:2S")
    assert legal_texts(deal, 1) == ["3C 3S 4C 4S 5C 5S"]
    play(deal, f"1:{RUN_OF_THREE}", "2:-", "3:-")
    assert (legal_texts(deal, 0), deal.forced(0)) == ([], True)
    play(deal, "0:-")
    assert deal.turn == 1


def test_pair_of_twos_takes_a_longer_run_of_pairs_than_a_single_two() -> None:
    rules = rules_with(extends="tien-len-frame")
    four = f"{RUN_OF_THREE} 6S 6C"
    deal = play(deal_of(rules, ["2S 2C 9H", f"{four} 9S", "3D 4D", "3H 4H"], leader=0), "0:2S 2C")
    assert legal_texts(deal, 1) == ["3C 3S 4C 4S 5C 5S 6C 6S"]


def test_window_offers_a_bomb_only_on_what_it_beats() -> None:
    rules = rules_with(extends="gamesky", bombs_beat="twos")
    deal = play(deal_of(rules, ["3D 2S 4D", "4C 9D", f"{QUADS}", "4S 7D"]), "0:3D")
    assert (deal.owing(), legal_texts(deal, 2)) == ((1, 2, 3), [])
    with pytest.raises(IllegalHere, match="does not beat 3D"):
        deal.act(2, rules.parse(QUADS))
    play(deal, "1:-", "2:-", "3:-", "0:2S")
    assert legal_texts(deal, 2) == [QUADS]
    play(deal, f"2!{QUADS}")
    assert (deal.end, deal.out) == ("out", [2])

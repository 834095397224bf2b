"""Tests for drawing from the stock when passing."""

from referee.deals.deal import Action
from referee.deals.shuffle import shuffle
from tests.referee.deals import SEED, deal_of, hand_texts, legal_texts, play, rules_with

STOCK = {"players": 2, "leftover": "stock"}


def test_draw_one_takes_the_stocks_front_at_the_pass() -> None:
    rules = rules_with(**STOCK, draw_on_pass="one")
    deal = play(deal_of(rules, ["3D 9D", "4D 5D"], leftover="2S 2H"), "0:3D", "1:-")
    assert hand_texts(deal)[1] == "4D 5D 2S"
    assert deal.actions[-1] == Action(1, 0, rules.parse("2S"))
    assert len(deal.stock) == 1


def test_draw_one_may_be_played_from_the_next_turn_on() -> None:
    rules = rules_with(**STOCK, draw_on_pass="one")
    deal = play(deal_of(rules, ["3D 9D", "4D 5D"], leftover="2S 2H"), "0:3D", "1:-", "0:9D")
    assert deal.over
    deal = play(deal_of(rules, ["3D 9D TD", "4D 5D"], leftover="2S 2H"), "0:3D", "1:-", "0:9D")
    assert legal_texts(deal, 1) == ["2S"]


def test_draw_as_needed_takes_as_many_as_the_play_to_beat_has() -> None:
    rules = rules_with(**STOCK, draw_on_pass="as_needed")
    deal = deal_of(rules, ["3D 3C 9D", "4D 5D"], leftover="2S 2H TD")
    play(deal, "0:3D 3C", "1:-")
    assert hand_texts(deal)[1] == "4D 5D 2H 2S"
    assert rules.text(deal.actions[-1].drawn) == "2H 2S"


def test_draw_as_needed_takes_fewer_when_there_are_no_more() -> None:
    rules = rules_with(**STOCK, draw_on_pass="as_needed")
    deal = play(deal_of(rules, ["3D 3C 9D", "4D 5D"], leftover="2S"), "0:3D 3C", "1:-")
    assert hand_texts(deal)[1] == "4D 5D 2S"


def test_draw_when_the_stock_is_empty_goes_on_without() -> None:
    rules = rules_with(**STOCK, draw_on_pass="one")
    deal = play(deal_of(rules, ["3D 9D TD", "4D 5D"], leftover="6D"), "0:3D", "1:-", "0:9D", "1:-")
    assert hand_texts(deal)[1] == "4D 5D 6D"
    assert deal.actions[-1] == Action(1, 0)


def test_draw_comes_before_the_pass_ends_the_trick() -> None:
    # The trick's own cards are not set aside yet, so there is nothing to restock from.
    rules = rules_with(**STOCK, draw_on_pass="one", restock=True)
    deal = play(deal_of(rules, ["3D 9D", "4D 5D"]), "0:3D", "1:-")
    assert deal.actions[-1] == Action(1, 0)


def test_restock_shuffles_the_cards_of_finished_tricks_in_the_order_they_were_played() -> None:
    rules = rules_with(**STOCK, draw_on_pass="one", restock=True)
    hands = ["3D 4C 9D TD KD 7C", "4D 5D 8D QD 6C"]
    deal = play(deal_of(rules, hands), "0:3D", "1:5D", "0:9D", "1:-", "0:4C", "1:-")
    aside = rules.cards(rules.parse("3D")) + rules.cards(rules.parse("5D")) + rules.cards(rules.parse("9D"))
    shuffle(SEED, "restock/0", aside)
    assert deal.actions[-1].drawn == rules.mask(aside[:1])
    play(deal, "0:7C", "1:-")
    assert deal.actions[-1].drawn == rules.mask(aside[1:2])
    play(deal, "0:TD", "1:-")
    assert deal.actions[-1].drawn == rules.mask(aside[2:])
    play(deal, "0:KD")
    assert deal.over


def test_restock_takes_each_set_of_cards_once_and_counts_up() -> None:
    rules = rules_with(**STOCK, draw_on_pass="one", restock=True)
    hands = ["3D 4C 9D TD KD 7C", "3C 3H 3S 4D 4H"]
    deal = deal_of(rules, hands, leader=0)
    play(deal, "0:9D", "1:-", "0:TD", "1:-")
    first = deal.actions[-1].drawn
    assert first == rules.parse("9D")
    play(deal, "0:KD", "1:-")
    assert deal.actions[-1].drawn == rules.parse("TD")


def test_restock_happens_at_most_ten_times() -> None:
    rules = rules_with(**STOCK, draw_on_pass="one", restock=True)
    strong = "TD TC TH TS JD JC JH JS QD QC QH QS KD"
    deal = deal_of(rules, [strong, "3D 3C"], leader=0)
    for card in strong.split()[:-1]:
        play(deal, f"0:{card}", "1:-")
    drawn = [rules.text(action.drawn) for action in deal.actions if not action.cards]
    assert drawn == ["", *strong.split()[:10], ""]


def test_draw_by_all_who_pass_and_locked_seats_do_not() -> None:
    rules = rules_with(players=3, leftover="stock", draw_on_pass="one", pass_locks=True)
    deal = deal_of(rules, ["3D 9D", "4D 5D", "6D 7D"], leftover="8C 8H 8S")
    play(deal, "0:3D", "1:-", "2:6D", "0:9D")
    assert deal.over
    deal = deal_of(rules, ["3D 9D TD", "4D 5D", "6D 7D"], leftover="8C 8H 8S")
    play(deal, "0:3D", "1:-", "2:6D", "0:9D", "2:-")
    assert hand_texts(deal) == ["TD", "4D 5D 8C", "7D 8H"]


def test_pass_that_ends_the_own_trick_draws_none() -> None:
    rules = rules_with(**STOCK, draw_on_pass="one", beat_own=True)
    deal = play(deal_of(rules, ["3D 9D", "4D 5D"], leftover="8C 8H"), "0:3D", "1:-", "0:-")
    assert deal.actions[-1] == Action(0, 0)
    assert hand_texts(deal) == ["9D", "4D 5D 8C"]


def test_lead_that_cannot_be_made_draws_one() -> None:
    rules = rules_with(**STOCK, draw_on_pass="as_needed", last_top_card="cannot_win")
    deal = deal_of(rules, ["2H 2S", "4D 5D"], leftover="8C 8H 8S", leader=0)
    play(deal, "0:2H", "1:-", "0:-")
    assert rules.text(deal.actions[-1].drawn) == "8H"
    assert (deal.turn, hand_texts(deal)[0]) == (1, "8H 2S")


def test_declined_bombs_draw_nothing() -> None:
    rules = rules_with(**STOCK, draw_on_pass="one", bombs=["quads"], bombs_out_of_turn=True)
    deal = play(deal_of(rules, ["3D 9D", "4D 5D"], leftover="8C 8H"), "0:3D")
    deal.act(1, 0)
    assert (hand_texts(deal)[1], deal.owing()) == ("4D 5D", (1,))


def test_draw_of_two_packs_may_give_the_second_copy() -> None:
    rules = rules_with(**STOCK, decks=2, draw_on_pass="one")
    deal = play(deal_of(rules, ["3D 9D TD", "4D 5D"], leftover="5D 8H"), "0:3D", "1:-", "0:9D")
    assert hand_texts(deal)[1] == "4D 5D 5D"
    assert "5D 5D" in [rules.text(code & rules.full) for code in rules.list_plays(deal.hands[1])]

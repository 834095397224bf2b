"""Tests for each step from the shuffled pack to the first lead."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.deals.dealing import (
    ANTICLOCKWISE,
    CLOCKWISE,
    deal_cards,
    highest_card,
    instant_winner,
    lowest_card,
    seats_after,
    take_leftover,
)
from referee.deals.shuffle import shuffle
from referee.rules.plays import Rules, compile_ruleset
from referee.ruleset import Ruleset
from referee.ruleset.axes.dealing import INSTANT_WINS
from tests.examples import examples
from tests.referee.deals import SEED, deal_of, hand_texts, legal_texts, play, rules_with
from tests.referee.slow_rules import SlowRules, read
from tests.referee.strategies import CHOICES, hands, rulesets


def shuffled(rules: Rules, label: str = "deal") -> list[int]:
    cards = list(rules.pack)
    shuffle(SEED, label, cards)
    return cards


def masks(rules: Rules, *hands: str) -> tuple[int, ...]:
    return tuple(rules.parse(hand) for hand in hands)


# Dealing


@pytest.mark.parametrize(
    ("dealer", "step", "order"), [(0, CLOCKWISE, (1, 2, 3, 0)), (2, ANTICLOCKWISE, (1, 0, 3, 2))]
)
def test_deal_cards_begins_with_the_seat_after_the_dealer(
    dealer: int, step: int, order: tuple[int, ...]
) -> None:
    rules = rules_with()
    cards = shuffled(rules)
    dealt = deal_cards(rules, SEED, dealer, step)
    assert seats_after(dealer, step, 4) == order
    for place, seat in enumerate(order):
        assert dealt.hands[seat] == rules.mask(cards[place::4])


def test_deal_cards_when_all_are_dealt_gives_extra_cards_to_the_seats_after_the_dealer() -> None:
    rules = rules_with(players=5, hand_size="all")
    dealt = deal_cards(rules, SEED, 3, CLOCKWISE)
    assert [rules.count(hand) for hand in dealt.hands] == [11, 10, 10, 10, 11]
    assert dealt.leftover == ()


def test_deal_cards_leaves_the_rest_in_order_as_the_stock() -> None:
    rules = rules_with(players=2, hand_size=17, leftover="stock")
    dealt = deal_cards(rules, SEED, 0, CLOCKWISE)
    assert list(dealt.leftover) == [rules.mask([card]) for card in shuffled(rules)[34:]]
    assert dealt.opening == dealt.hands


def test_deal_cards_of_two_packs_deals_every_card_twice() -> None:
    rules = rules_with(decks=2, players=8)
    dealt = deal_cards(rules, SEED, 0, CLOCKWISE)
    together = sorted(card for hand in dealt.hands for card in rules.cards(hand))
    assert together == sorted(rules.pack)
    for place, seat in enumerate(seats_after(0, CLOCKWISE, 8)):
        assert sorted(shuffled(rules)[place::8]) == rules.cards(dealt.hands[seat])


def test_deal_cards_of_lectio_deals_sixty_tiles() -> None:
    rules = rules_with(extends="lectio")
    dealt = deal_cards(rules, SEED, 0, CLOCKWISE)
    assert sorted(card for hand in dealt.hands for card in rules.cards(hand)) == list(range(60))


# Leftover cards


def test_take_leftover_unused_leaves_the_hands() -> None:
    rules = rules_with(players=3)
    hands = masks(rules, "3D", "4D", "5D")
    assert take_leftover(rules, hands, masks(rules, "2S"), 0, CLOCKWISE) == hands


def test_take_leftover_to_lowest_goes_to_the_holder_of_the_lowest_card() -> None:
    rules = rules_with(extends="chinese-3")
    hands = take_leftover(rules, masks(rules, "4D KD", "3D 5D", "3C 2H"), masks(rules, "2S"), 0, CLOCKWISE)
    assert [rules.text(hand) for hand in hands] == ["4D KD", "3D 5D 2S", "3C 2H"]


def test_take_leftover_when_it_is_the_lowest_card_goes_to_the_next_lowest_and_leads() -> None:
    rules = rules_with(extends="chinese-3")
    deal = deal_of(rules, ["4D KD", "3H 5D", "3C 6D"], leftover="3D")
    assert hand_texts(deal)[2] == "3D 3C 6D"
    assert deal.leader == 2
    assert legal_texts(deal, 2) == ["3D", "3D 3C"]


def test_take_leftover_to_lowest_looks_at_the_order_of_suits() -> None:
    rules = rules_with(extends="chinese-3", suits=["C", "D", "H", "S"])
    hands = take_leftover(rules, masks(rules, "3D", "3C", "4C"), masks(rules, "2S"), 0, CLOCKWISE)
    assert hands == masks(rules, "3D", "3C 2S", "4C")


def test_take_leftover_of_two_holders_goes_to_the_first_after_the_dealer() -> None:
    rules = rules_with(decks=2, players=5, hand_size=20, leftover="to_lowest")
    hands = masks(rules, "3D", "4D", "3D", "5D", "6D")
    taken = take_leftover(rules, hands, masks(rules, "2S"), 1, CLOCKWISE)
    assert [rules.text(hand) for hand in taken] == ["3D", "4D", "3D 2S", "5D", "6D"]


# Dealing again


def test_deal_cards_with_four_twos_in_a_hand_deals_again_with_the_next_label() -> None:
    rules = rules_with(players=2, hand_size="all", redeal_four_twos=True)
    plain = rules_with(players=2, hand_size="all")
    twos = rules.parse("2D 2C 2H 2S")
    again = 0
    for number in range(40):
        seed = number.to_bytes(32, "big")
        cards, label, redeals = list(rules.pack), "deal", 0
        shuffle(seed, label, cards)
        while any(twos & ~rules.mask(cards[place::2]) == 0 for place in (0, 1)):
            redeals += 1
            cards = list(rules.pack)
            shuffle(seed, f"deal/redeal/{redeals}", cards)
        expected = (rules.mask(cards[1::2]), rules.mask(cards[0::2]))
        assert deal_cards(rules, seed, 0, CLOCKWISE).hands == expected
        assert (deal_cards(plain, seed, 0, CLOCKWISE).hands == expected) == (redeals == 0)
        again += redeals
    assert again > 0


def test_deal_cards_of_two_packs_deals_again_for_one_two_of_each_suit() -> None:
    rules = rules_with(decks=2, players=8, redeal_four_twos=True)
    for number in range(200):
        dealt = deal_cards(rules, number.to_bytes(32, "big"), 0, CLOCKWISE)
        for hand in dealt.hands:
            assert len({card for card in rules.cards(hand) if card >= 48}) < 4


def test_deal_cards_looks_for_four_twos_once_the_leftover_is_taken() -> None:
    rules = rules_with(players=3, hand_size=17, leftover="to_lowest", redeal_four_twos=True)
    twos = rules.parse("2D 2C 2H 2S")
    for number in range(300):
        dealt = deal_cards(rules, number.to_bytes(32, "big"), 0, CLOCKWISE)
        assert all(twos & ~hand for hand in dealt.opening)


# Dragons

DRAGON = "3D 4D 5D 6C 7C 8C 9H TH JH QS KS AS 2S"


def test_dragon_holder_of_one_card_of_every_rank_wins_at_once() -> None:
    rules = rules_with(dragon="wins", players=2)
    deal = deal_of(rules, ["3C 4C 5C", DRAGON])
    assert (deal.over, deal.end, deal.out, deal.actions) == (True, "dragon", [1], [])
    assert hand_texts(deal) == ["3C 4C 5C", ""]
    assert deal.points == (-3, 0)
    assert deal.owing() == ()


def test_dragon_holder_where_the_rules_have_none_plays_on() -> None:
    assert not deal_of(rules_with(players=2), ["3C 4C 5C", DRAGON]).over


def test_dragon_holder_when_there_are_two_is_the_first_after_the_dealer() -> None:
    rules = rules_with(dragon="wins", decks=2, players=2)
    dealt = masks(rules, DRAGON, DRAGON)
    assert instant_winner(rules, dealt, 0, CLOCKWISE) == (1, "dragon")
    assert instant_winner(rules, dealt, 1, CLOCKWISE) == (0, "dragon")


def test_dragon_still_records_who_would_have_led() -> None:
    rules = rules_with(dragon="wins", players=2)
    assert deal_of(rules, ["3C 4C 5C", DRAGON]).leader == 1
    assert deal_of(rules, ["3C 4C 5C", DRAGON], leader=0).leader == 0


def test_dragon_comes_before_the_exchange() -> None:
    rules = rules_with(dragon="wins", players=3, exchange="loser_to_winner")
    deal = deal_of(rules, ["3C 4C 5C", DRAGON, "4H 5H"], exchange=(2, 0))
    assert (deal.end, deal.exchange) == ("dragon", None)


def test_dragon_needs_every_rank() -> None:
    rules = rules_with(dragon="wins", players=2)
    assert not deal_of(rules, ["3C", "3D 4D 5D 6C 7C 8C 9H TH JH QS KS AS AD"]).over


def test_dragon_made_by_leftover_cards_wins() -> None:
    rules = rules_with(extends="chinese-3", dragon="wins")
    deal = deal_of(rules, ["3C", "3D 4D 5D 6C 7C 8C 9H TH JH QS KS AS", "4C"], leftover="2H")
    assert (deal.end, deal.out) == ("dragon", [1])


# Other hands that win at once

SIX_PAIRS = "3D 3C 5D 5C 7H 7S 9H 9S JD JC KD KC AS"
FIVE_AND_THREE = "4D 4C 6D 6C 8D 8C TD TC QD QC AD AC AH"
FOUR_TWOS = "3H 4H 6H 7C 8H 9C TH JS QS 2D 2C 2H 2S"


@pytest.mark.parametrize(
    ("win", "holds", "lacks"),
    [
        ("four_twos", "2D 2C 2H 2S", "2D 2C 2H AS"),
        ("six_pairs", SIX_PAIRS, "3D 3C 3H 5D 5C 7H 7S 9H 9S JD JC JH 2S"),
        ("six_pairs", "3D 3C 3H 3S 5D 5C 5H 5S 7D 7C 2D 2C", "3D 3C 3H 3S 5D 5C 5H 5S 7D 7C 2D AC"),
        ("five_pairs_and_triple", FIVE_AND_THREE, SIX_PAIRS),
        (
            "five_pairs_and_triple",
            "3D 3C 3H 3S 5D 5C 5H 7D 7C 9D 9C JD JC",
            "3D 3C 3H 3S 5D 5C 7D 7C 9D 9C JD JC 2S",
        ),
        ("five_pair_run", "TD TC JD JC QD QC KD KC AD AC", "JD JC QD QC KD KC AD AC 2D 2C"),
        ("five_pair_run", "3D 3C 4D 4C 5D 5C 6D 6C 7D 7C", "3D 3C 4D 4C 5D 5C 6D 7D 7C 8D 8C"),
        ("three_triple_run", "QD QC QH KD KC KH AD AC AH", "KD KC KH AD AC AH 2D 2C 2H"),
        ("dragon_without_two", DRAGON.replace("2S", "AD"), DRAGON.replace("AS", "KD")),
    ],
)
def test_hand_named_by_the_rules_wins_at_once_and_no_other(win: str, holds: str, lacks: str) -> None:
    rules = rules_with(players=2, instant_wins=[win])
    deal = deal_of(rules, ["3D", holds], leader=0)
    assert (deal.over, deal.end, deal.out, deal.actions) == (True, "instant_win", [1], [])
    assert hand_texts(deal) == ["3D", ""]
    assert deal.points == (-1, 0)
    assert not deal_of(rules, ["3D", lacks], leader=0).over


@pytest.mark.parametrize(
    ("fields", "winner"),
    [
        ({"instant_wins": ["six_pairs", "four_twos"]}, (2, "four_twos")),
        ({"instant_wins": ["four_twos", "six_pairs"]}, (1, "six_pairs")),
        ({"instant_wins": ["six_pairs", "four_twos"], "dragon": "wins"}, (0, "dragon")),
        (
            {"instant_wins": ["six_pairs", "four_twos"], "dragon": "wins", "instant_wins_compete": False},
            (1, "six_pairs"),
        ),
    ],
)
def test_of_several_hands_that_win_at_once_the_strongest_or_the_first_wins(
    fields: dict[str, Any], winner: tuple[int, str]
) -> None:
    rules = rules_with(players=3, decks=2, **fields)
    dealt = masks(rules, DRAGON, SIX_PAIRS, FOUR_TWOS)
    assert instant_winner(rules, dealt, 0, CLOCKWISE) == winner


def test_hand_is_the_strongest_that_it_holds() -> None:
    rules = rules_with(players=2, instant_wins=["six_pairs", "five_pairs_and_triple"])
    dealt = masks(rules, FIVE_AND_THREE, SIX_PAIRS)
    assert instant_winner(rules, dealt, 0, CLOCKWISE) == (0, "five_pairs_and_triple")
    assert instant_winner(rules, dealt[::-1], 0, CLOCKWISE) == (1, "five_pairs_and_triple")


@examples(200)
@given(rulesets(most_players=4), st.data())
def test_instant_winner_of_any_hands_is_who_the_slow_rules_say(ruleset: Ruleset, data: st.DataObject) -> None:
    ruleset = replace(
        ruleset,
        dragon=data.draw(st.sampled_from(CHOICES["dragon"])),
        instant_wins=tuple(data.draw(st.lists(st.sampled_from(INSTANT_WINS), unique=True))),
        instant_wins_compete=data.draw(st.booleans()),
    )
    rules = compile_ruleset(ruleset)
    slow, dealt = SlowRules(ruleset), []
    for _ in range(ruleset.players):
        hand = data.draw(hands(rules, most=20))
        also = data.draw(st.sampled_from([slice(0, 0), slice(None), slice(-1), slice(1, None)]))
        hand |= sum(mask & -mask for mask in rules.rank_masks[also] if not mask & hand)
        dealt.append(hand)
    dealer, step = data.draw(st.integers(0, ruleset.players - 1)), data.draw(st.sampled_from([1, -1]))
    best: tuple[int, int, str] | None = None
    order = [*ruleset.instant_wins, "dragon"]
    for turn in range(1, ruleset.players + 1):
        seat = (dealer + step * turn) % ruleset.players
        wins = slow.wins_at_once(tuple(sorted(read(rules.text(dealt[seat])))))
        place = order.index(wins[-1]) if wins else -1
        if wins and (best is None or (ruleset.instant_wins_compete and place > best[0])):
            best = (place, seat, wins[-1])
    assert instant_winner(rules, dealt, dealer, step) == (best and best[1:])


# The lowest and the highest card


@pytest.mark.parametrize(
    ("suits", "lowest", "highest"), [("DCHS", "3D", "2S"), ("CDHS", "3C", "2S"), ("CSHD", "3C", "2D")]
)
def test_lowest_and_highest_card_go_by_the_order_of_suits(suits: str, lowest: str, highest: str) -> None:
    rules = rules_with(suits=list(suits))
    everything = rules.parse("3D 3C 3H 3S 2D 2C 2H 2S")
    assert lowest_card(rules, (0, everything), 0, CLOCKWISE) == (1, rules.parse(lowest))
    assert highest_card(rules, everything) == rules.parse(highest)


def test_highest_card_with_jokers_is_the_red_one() -> None:
    rules = rules_with(jokers=2)
    assert highest_card(rules, rules.parse("2S BJ RJ")) == rules.parse("RJ")
    assert highest_card(rules, rules.parse("2S BJ")) == rules.parse("BJ")


def test_lowest_card_when_cards_are_removed_is_the_lowest_of_the_pack() -> None:
    rules = rules_with(removed_cards=["3D", "3C", "3H"], hand_size="all")
    dealt = deal_cards(rules, bytes(32), 0, CLOCKWISE)
    assert [rules.count(hand) for hand in dealt.hands] == [12, 13, 12, 12]
    assert lowest_card(rules, dealt.hands, 0, CLOCKWISE)[1] == rules.parse("3S")
    no_threes = rules_with(removed_cards=["3D", "3C", "3H", "3S"], hand_size=12)
    assert lowest_card(no_threes, (0, no_threes.full), 0, CLOCKWISE)[1] == no_threes.parse("4D")


@pytest.mark.parametrize("decks", [1, 2, 3, 4])
def test_deal_of_any_pack_shuffles_its_cards_in_canonical_order(decks: int) -> None:
    rules = rules_with(decks=decks, jokers=2, removed_cards=["3C", "3S", "2D"], hand_size=12)
    ranks = "3456789TJQKA2"
    texts = [rank + suit for rank in ranks for suit in "DCHS" if rank + suit not in ("3C", "3S", "2D")]
    cards = [*texts, "BJ", "RJ"] * decks
    shuffle(bytes(32), "deal", cards)
    hands = deal_cards(rules, bytes(32), 3, CLOCKWISE).hands
    assert [sorted(rules.text(hand).split()) for hand in hands] == [
        sorted(cards[seat:48:4]) for seat in range(4)
    ]


def test_dragon_needs_a_card_of_every_rank_in_the_pack_and_no_joker() -> None:
    rules = rules_with(
        dragon="wins", jokers=2, removed_cards=["3D", "3C", "3H", "3S"], hand_size=12, leftover="unused"
    )
    deal = deal_of(rules, ["4C", "4D 5D 6C 7C 8C 9H TH JH QS KS AS 2H"])
    assert (deal.end, deal.out) == ("dragon", [1])


def test_lowest_card_when_the_three_was_not_dealt_is_the_next_lowest() -> None:
    rules = rules_with(players=2)
    assert lowest_card(rules, masks(rules, "3S 4D", "3H 5D"), 0, CLOCKWISE) == (1, rules.parse("3H"))


def test_lowest_card_of_two_holders_is_that_of_the_first_after_the_dealer() -> None:
    rules = rules_with(decks=2)
    hands = masks(rules, "3D", "4D", "3D", "5D")
    assert lowest_card(rules, hands, 0, CLOCKWISE)[0] == 2
    assert lowest_card(rules, hands, 2, CLOCKWISE)[0] == 0
    assert lowest_card(rules, hands, 3, ANTICLOCKWISE)[0] == 2


# The exchange


def exchange_deal() -> tuple[Rules, list[str]]:
    return rules_with(players=3, exchange="loser_to_winner"), ["3D 9D", "4D KD 2H", "5D 6D"]


def test_exchange_gives_the_losers_highest_card_and_asks_the_winner() -> None:
    rules, hands = exchange_deal()
    deal = deal_of(rules, hands, exchange=(1, 2))
    assert hand_texts(deal) == ["3D 9D", "4D KD", "5D 6D 2H"]
    assert deal.owing() == (2,)
    assert legal_texts(deal, 2) == ["5D", "6D", "2H"]
    assert not deal.can_pass(2)
    assert rules.text(deal.default(2)) == "5D"


@pytest.mark.parametrize("returned", ["5D", "2H"])
def test_exchange_takes_back_any_card_even_the_one_received(returned: str) -> None:
    rules, hands = exchange_deal()
    deal = play(deal_of(rules, hands, exchange=(1, 2)), f"2:{returned}")
    assert deal.exchange is not None
    assert rules.text(deal.exchange.returned) == returned
    assert returned in hand_texts(deal)[1]
    assert deal.actions == []


def test_exchange_that_returns_the_lowest_card_moves_the_lead() -> None:
    rules, _ = exchange_deal()
    deal = deal_of(rules, ["4D 9D", "3D 2H KD", "5D 6D"], exchange=(0, 1))
    play(deal, "1:3D")
    assert deal.leader == 0
    assert legal_texts(deal, 0) == ["3D"]


def test_exchange_forfeited_is_undone() -> None:
    rules, hands = exchange_deal()
    deal = deal_of(rules, hands, exchange=(1, 2))
    deal.forfeit(2)
    assert (deal.end, deal.exchange, deal.leader) == ("forfeit", None, None)
    assert hand_texts(deal) == hands
    assert deal.points == (0, 0, -2)

"""Tests for what follows from deal to deal, from the dealer to the loser, and for when a session ends."""

from random import Random
from typing import Any

import pytest

from referee.deals.deal import Deal
from referee.deals.session import Legacy, Session, Setup, direction, legacy, lowest_leads, setup
from referee.deals.showdown import loser
from referee.deals.shuffle import deal_seed
from referee.records.random_play import play_randomly
from referee.ruleset import load_ruleset
from tests.referee.deals import SEED, deal_of, play, rules_with


def ruleset_with(**fields: Any) -> Any:
    return rules_with(**fields).ruleset


def setups(last: Legacy, **fields: Any) -> Setup:
    return setup(ruleset_with(**fields), last.number + 1, last)


WON = Legacy(number=4, dealer=1, winner=2, loser=3)
LOST = Legacy(number=4, dealer=1, winner=None, loser=3)


# Dealer and direction


@pytest.mark.parametrize(
    ("dealer", "direction", "last", "expected"),
    [
        ("rotate", "clockwise", WON, 2),
        ("rotate", "anticlockwise", WON, 0),
        ("rotate", "alternating", WON, 2),
        ("rotate", "clockwise", LOST, 2),
        ("winner", "clockwise", WON, 2),
        ("winner", "clockwise", LOST, 1),
        ("loser", "clockwise", WON, 3),
        ("loser", "clockwise", LOST, 1),
    ],
)
def test_dealer_follows_from_the_last_deal(dealer: str, direction: str, last: Legacy, expected: int) -> None:
    assert setups(last, dealer=dealer, direction=direction).dealer == expected


def test_dealer_of_the_first_deal_is_seat_0() -> None:
    assert setup(ruleset_with(dealer="loser"), 1, None) == Setup(0, -1, None, None)


@pytest.mark.parametrize(
    ("name", "steps"),
    [("clockwise", [1, 1, 1]), ("anticlockwise", [-1, -1, -1]), ("alternating", [1, -1, 1])],
)
def test_direction_by_deal(name: str, steps: list[int]) -> None:
    assert [direction(ruleset_with(direction=name), number) for number in (1, 2, 3)] == steps


# Leader


@pytest.mark.parametrize(
    ("lead", "last", "expected"),
    [
        ("lowest", WON, None),
        ("winner", WON, 2),
        ("winner", LOST, None),
        ("loser", WON, 3),
        ("loser", LOST, 3),
    ],
)
def test_leader_follows_from_the_last_deal(lead: str, last: Legacy, expected: int | None) -> None:
    assert setups(last, lead=lead).leader == expected


def test_lowest_leads_in_every_nth_deal() -> None:
    ruleset = ruleset_with(lead="winner", lowest_lead_every=3)
    assert [number for number in range(1, 11) if lowest_leads(ruleset, number)] == [1, 4, 7, 10]
    ruleset = ruleset_with(lead="winner", lowest_lead_every=1)
    assert all(lowest_leads(ruleset, number) for number in range(1, 11))


def test_lead_by_the_lowest_card_in_a_later_deal_includes_it() -> None:
    session = Session(rules_with(lead="winner", lowest_lead_every=2), SEED)
    included = []
    for _ in range(5):
        deal = session.next_deal()
        included.append(deal.must_include != 0)
        play_randomly(deal, Random(1))
        session.close_deal()
    assert included == [True, False, True, False, True]


# Exchange


def test_exchange_is_between_the_last_deals_loser_and_winner() -> None:
    fields = {"players": 3, "exchange": "loser_to_winner"}
    assert setups(Legacy(1, 0, 1, 2), **fields).exchange == (2, 1)
    assert setups(Legacy(1, 0, None, 2), **fields).exchange is None
    assert setup(ruleset_with(**fields), 1, None).exchange is None
    assert setups(Legacy(1, 0, 1, 2), players=3).exchange is None


# The loser


@pytest.mark.parametrize(
    ("hands", "expected"),
    [
        (("", "3D 4D", "3C 4C 5C", "3H"), 2),
        (("", "3D 4C", "5D 5C", "3H"), 1),
        (("", "3D 5C", "4D 6C", "3H"), 1),
        (("", "5D 5C 6D", "4D 4C 4H", "3H"), 1),
        (("", "3D 4C 5D 6D 7D", "3C 3H 3S 8D 8C", "3H"), 1),
        (("", "3D 5D 7D 9D JD", "3C 4H 5H 6H 7H", "2H"), 2),
        (("", "3D 3C 4D 4C", "5D 6C 7H 9S", "2H"), 2),
    ],
)
def test_loser_of_most_cards_and_then_of_the_best_play(hands: tuple[str, ...], expected: int) -> None:
    rules = rules_with()
    masks = tuple(rules.parse(hand) for hand in hands)
    assert loser(rules, masks, (1, 2, 3)) == expected


def test_loser_tie_goes_by_five_card_order_even_where_kinds_do_not_compete() -> None:
    rules = rules_with(extends="gamesky", bombs=[], bombs_out_of_turn=False)
    masks = tuple(rules.parse(hand) for hand in ("", "3C 4H 5H 6H 7H", "3D 3H 3S 8D 8C", "2H"))
    assert loser(rules, masks, (1, 2, 3)) == 1


def test_loser_tie_puts_runs_of_cards_below_those_of_pairs_and_these_below_those_of_triples() -> None:
    rules = rules_with(plays=["single", "run", "pair_run", "triple_run"], five_card_order=[])
    hands = ("", "3D 3C 3H 4D 4C 4H", "TD TC JD JC QD QC", "9D TH JH QH KH AH")
    masks = tuple(rules.parse(hand) for hand in hands)
    assert loser(rules, masks, (1, 2)) == 2
    assert loser(rules, masks, (1, 2, 3)) == 3


def test_loser_tie_puts_a_run_of_two_pairs_below_bare_quads() -> None:
    rules = rules_with(plays=["single", "pair", "bare_quads", "pair_run"], five_card_order=[])
    masks = tuple(rules.parse(hand) for hand in ("", "3D 3C 3H 3S", "KD KC AD AC", "2H"))
    assert loser(rules, masks, (1, 2, 3)) == 2


def test_loser_of_equal_hands_is_the_first_after_the_dealer() -> None:
    rules = rules_with(decks=2)
    masks = tuple(rules.parse(hand) for hand in ("", "3D 5C", "4D", "3C 5C"))
    assert loser(rules, masks, (1, 2, 3)) == 1
    assert loser(rules, masks, (3, 2, 1)) == 3


def test_legacy_of_a_deal_that_was_won() -> None:
    for rules, loser_told in (rules_with(players=3), None), (rules_with(players=3, lead="loser"), 1):
        deal = play(deal_of(rules, ["3D", "4D 5D", "6D"], dealer=2), "0:3D")
        assert legacy(deal) == Legacy(1, 2, 0, loser_told)


def test_legacy_of_a_last_holder_deal() -> None:
    rules = rules_with(players=3, deal_ends="last_holder", dealer="loser")
    deal = play(deal_of(rules, ["3D", "4D 5D", "6D"]), "0:3D", "1:-", "2:6D")
    assert legacy(deal) == Legacy(1, 0, 0, 1)


def test_legacy_of_a_dragon_finds_the_loser_among_the_others() -> None:
    rules = rules_with(players=3, dragon="wins", exchange="loser_to_winner")
    deal = deal_of(rules, ["3D 4D 5D 6D 7D 8D 9D TD JD QD KD AD 2D", "3C", "4C 5C"])
    assert legacy(deal) == Legacy(1, 0, 0, 2)


def test_legacy_without_a_winner_is_the_culprits() -> None:
    rules = rules_with(players=2, last_top_card="loses")
    assert legacy(play(deal_of(rules, ["3D 2S", "4D 5D"]), "0:3D")) == Legacy(1, 0, None, 0)


# The session


def played(session: Session, points: tuple[int, ...] | None = None) -> Deal:
    """Play a deal at random; if points are given, use them instead of its own."""
    deal = session.next_deal()
    play_randomly(deal, Random(session.deals_played))
    if points is not None:
        deal.points = points
    session.close_deal()
    return deal


def test_session_seeds_numbers_and_scores_its_deals() -> None:
    session = Session(rules_with(), SEED)
    deals = [played(session) for _ in range(3)]
    assert [deal.number for deal in deals] == [1, 2, 3]
    assert [deal.seed for deal in deals] == [deal_seed(SEED, number) for number in (1, 2, 3)]
    assert session.scores == [sum(points) for points in zip(*(deal.points for deal in deals), strict=True)]
    assert [deal.dealer for deal in deals[1:]] == [deal.out[0] for deal in deals[:2]]


def test_session_ends_after_its_deals_or_those_asked_for() -> None:
    for asked_for, expected in [(None, 2), (5, 5), (1, 1)]:
        session = Session(rules_with(session={"deals": 2, "target": None, "chips": None}), SEED, asked_for)
        while not session.over:
            played(session)
        assert session.deals_played == expected


@pytest.mark.parametrize(
    ("end", "points", "over"),
    [
        ({"target": 49}, (48, 0, 0, 0), False),
        ({"target": 49}, (49, 0, 0, 0), True),
        ({"target": -49}, (0, 0, -48, 0), False),
        ({"target": -49}, (0, 0, -50, 0), True),
        ({"chips": 149}, (148, 0, -148, 0), False),
        ({"chips": 149}, (149, 0, -149, 0), True),
    ],
)
def test_session_ends_at_a_target_or_without_chips(
    end: dict[str, int], points: tuple[int, ...], over: bool
) -> None:
    session = Session(rules_with(session={"deals": None, "target": None, "chips": None} | end), SEED)
    played(session, points)
    assert session.over == over


def test_session_asked_for_more_deals_still_ends_at_its_target() -> None:
    session = Session(rules_with(session={"deals": 2, "target": 49, "chips": None}), SEED, 10)
    played(session, (50, 0, 0, 0))
    assert session.over


def test_session_ends_with_a_forfeit() -> None:
    session = Session(rules_with(), SEED)
    session.next_deal().forfeit(2)
    result = session.close_deal()
    assert (session.over, session.forfeited_by) == (True, 2)
    assert result.legacy == Legacy(1, 0, None, 2)
    with pytest.raises(ValueError, match="the session is over"):
        session.next_deal()


def test_session_keeps_its_order_of_calls() -> None:
    session = Session(rules_with(), SEED)
    with pytest.raises(ValueError, match="no deal is over yet"):
        session.close_deal()
    session.next_deal()
    with pytest.raises(ValueError, match="no deal is over yet"):
        session.close_deal()
    with pytest.raises(ValueError, match="the last deal is not closed"):
        session.next_deal()


@pytest.mark.parametrize("preset", ["chinese-2", "chinese-3", "chinese"])
def test_session_exchanges_from_the_second_deal_on(preset: str) -> None:
    session = Session(rules_with(extends=preset, exchange="loser_to_winner"), SEED)
    first, second = played(session), played(session)
    assert first.exchange is None
    assert second.exchange is not None
    assert second.exchange.winner == first.out[0]
    assert second.exchange.loser == legacy(first).loser


@pytest.mark.parametrize("name", ["lectio", "only-a-game", "indonesia"])
def test_session_of_a_preset_ends(name: str) -> None:
    ruleset = load_ruleset(name)
    session = Session(rules_with(extends=name), SEED)
    while not session.over:
        played(session)
    end = ruleset.session
    assert session.deals_played == end.deals or end.target or end.chips

"""Tests for positions as values: making, reading, writing, comparing and continuing them."""

import json
from random import Random

import pytest

import referee.position
from referee.bot.seen import Happened, seen_position
from referee.deals.action import Stage
from referee.deals.deal import Deal
from referee.deals.state import DealState
from referee.errors import IllegalHere, PlayError, PositionError, UnknownCards
from referee.position import Position
from referee.records.random_play import random_records
from referee.rules.plays import Rules
from referee.ruleset import preset_names
from tests.referee.deals import NAMES, deal_of, play, rules_named, rules_with
from tests.referee.test_deal_properties import deal_with_small_stock

HANDS = ["3D 5C 9S", "4D 4C TD", "6H 7H 2S"]
THREE = rules_with(players=3)


def position(*actions: str) -> Position:
    return Position(play(deal_of(THREE, HANDS), *actions))


def code(text: str, rules: Rules = THREE) -> int:
    return rules.code(rules.parse(text))


def test_public_names_are_these() -> None:
    assert referee.position.__all__ == ["Legal", "Position"]
    assert {name for name in dir(Position) if name[0] != "_"} == {
        *("from_record", "parse", "seen", "rules", "owing", "seat", "stage", "to_beat", "hands", "hidden"),
        *("is_complete", "legal", "is_over", "points", "apply", "sample", "playout", "text"),
        *("counts", "last_seat", "actions", "unseen", "with_cards", "deal"),
    }


def test_legal_answers_in_iteration_length_and_truth() -> None:
    legal = position("0:3D").legal
    assert [THREE.text(action & THREE.full) for action in legal] == ["4D", "4C", "TD", ""]
    assert len(legal) == 4
    assert legal
    assert code("4D") in legal
    assert 0 in legal
    for other in (code("4D 4C"), code("5C"), "4D", -1, code("4D") + (1 << 80)):
        assert other not in legal


def test_legal_of_a_lead_that_must_contain_a_card_is_that() -> None:
    first = position()
    assert list(first.legal) == [code("3D")]
    assert code("5C") not in first.legal
    assert 0 not in first.legal


def test_apply_leaves_the_position_as_it_was() -> None:
    before = position()
    text = str(before)
    after = before.apply(code("3D"))
    assert (str(before), before.seat, after.seat) == (text, 0, 1)
    assert after == position("0:3D")
    for other in ("6H", "4D 4C", "4D TD"):
        with pytest.raises(PlayError):
            after.apply(code(other) or THREE.parse(other))


def test_deal_when_copied_then_every_field_is_taken_over() -> None:
    deal = play(deal_of(THREE, HANDS), "0:3D", "1:4D", "2:-")
    copy = Position(deal).deal()
    parts = {"_holdings", "_trick", "hands", "log", "out", "_trick_ends", "stock", "_liability"}
    alike = set(DealState.__slots__) - parts
    assert {name: getattr(copy, name) for name in alike} == {name: getattr(deal, name) for name in alike}
    assert copy.key() == deal.key()
    assert (copy.hands, copy.log, copy.out) == (deal.hands, deal.log, deal.out)
    copy.act(0, 0)
    assert (copy.turn, deal.turn) == (1, 0)


def test_positions_when_the_same_follows_then_they_are_equal_whatever_went_before() -> None:
    one = position("0:3D", "1:4D", "2:-", "0:-", "1:4C", "2:-", "0:-")
    other = position("0:3D", "1:4C", "2:-", "0:-", "1:4D", "2:-", "0:-")
    assert (one, hash(one)) == (other, hash(other))
    assert one != position("0:3D", "1:4D", "2:-", "0:-")
    assert one != 3


def test_points_are_those_of_the_deal_that_is_over() -> None:
    over = position("0:3D", "1:TD", "2:2S", "0:-", "1:-", "2:6H", "0:-", "1:-", "2:7H")
    assert (over.is_over, over.seat, over.owing) == (True, -1, ())
    assert over.points == (-2, -2, 0)
    assert position().points == ()
    with pytest.raises(IllegalHere):
        over.apply(0)


def test_text_reads_as_it_is_documented() -> None:
    assert str(position("0:3D", "1:4D", "2:-")) == (
        "test@1; clockwise; dealer 0; leader 0; hands 3D 5C 9S / 4D 4C TD / 6H 7H 2S; actions 0:3D, 1:4D, 2:-"
    )
    text = "chinese@1; clockwise; dealer 0; leader 2; hands ?2 / 4D 9D / 3D ?1 / 3H 4H; actions 2:3D"
    seen = Position.parse(text)
    assert (seen.seat, seen.hidden, str(seen)) == (3, (2, 0, 1, 0), text)
    assert list(seen.legal) == [code("3H", seen.rules), code("4H", seen.rules), 0]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "'' is not a position"),
        ("chinese@2; clockwise; dealer 0; leader 0; hands 3D / 4D / 5D / 6D; actions ", "not of chinese@1"),
        ("chinese@1; sideways; dealer 0; leader 0; hands 3D / 4D / 5D / 6D; actions ", "sideways"),
        ("chinese@1; clockwise; dealer 0; leader 0; hands 3D / 3D / 5D / 6D; actions ", "3D"),
        ("chinese@1; clockwise; dealer 0; leader 0; hands 3X / 4D / 5D / 6D; actions ", "3X"),
        ("chinese@1; clockwise; dealer 0; leader 0; hands 3D / 4D / 5D / 6D; actions 1:4D", "seat 1"),
        ("chinese@1; clockwise; dealer 0; leader 0; hands 3D / 4D / 5D; actions ", "hands"),
        ("chinese@1; clockwise; dealer 7; leader 0; hands 3D / 4D / 5D / 6D; actions ", "dealer"),
    ],
)
def test_parse_refuses_what_is_no_position(text: str, reason: str) -> None:
    with pytest.raises(PositionError, match=reason):
        Position.parse(text)


def test_what_is_not_known_is_not_told() -> None:
    text = "chinese@1; clockwise; dealer 0; leader 2; hands ?2 / 4D 9D / 3D ?1 / 3H 4H; actions 2:3D"
    seen = Position.parse(text).apply(0)
    assert not seen.is_complete
    for ask in (lambda: seen.legal, lambda: seen.apply(0)):
        with pytest.raises(UnknownCards, match="the hand of seat 0 is not known"):
            ask()


def test_position_in_an_exchange_is_refused() -> None:
    deal = deal_of(rules_with(players=3, exchange="loser_to_winner"), HANDS, exchange=(0, 1))
    with pytest.raises(PositionError):
        Position(deal)


@pytest.mark.parametrize("name", NAMES)
def test_positions_of_a_record_are_written_and_read_and_go_on_to_its_points(name: str) -> None:
    rules = rules_named(name)
    for record in random_records(rules, bytes(32), 2, session_deals=1):
        count = len(json.loads(json.dumps(record["actions"])))
        for index in (0, count // 2, count):
            found = Position.from_record(record, index)
            assert Position.parse(str(found), rules) == found
        assert list(found.points) == record["points"]
        assert len(Position.from_record(record, count // 3).playout(Random(1))) == rules.ruleset.players


@pytest.mark.parametrize("name", preset_names())
def test_position_of_a_view_has_the_legal_actions_of_the_deal(name: str) -> None:
    rules = rules_named(name)
    rng = Random(name)
    for _ in range(10):
        deal = deal_with_small_stock(rules, rng)
        while not deal.over:
            seat = rng.choice(deal.owing())
            check_view(deal, seat, rng)
            deal.act(seat, rng.choice(deal.choices(seat)) & rules.full)


def check_view(deal: Deal, seat: int, rng: Random) -> None:
    window = deal.stage is Stage.BOMBS
    if window and deal.answers:
        return  # whoever is asked now has been asked with the others
    if deal.rules.ruleset.leftover == "stock" and sum(map(int.bit_count, deal.opening)) + len(
        deal.leftover
    ) < len(deal.rules.pack):
        return  # not a whole pack: the stock's size is computed from that
    seen = seen_position(
        deal.rules,
        seat=seat,
        step=deal.step,
        dealer=deal.dealer,
        hand=deal.hands[seat],
        counts=[hand.bit_count() for hand in deal.hands],
        happened=[
            Happened(actor, played, drawn.bit_count(), drawn if actor == seat else 0, out)
            for actor, played, drawn, out in deal.log
        ],
        include=deal.must_include,
        window=window,
    )
    assert seen.hands[seat] == deal.hands[seat]
    assert seen.hidden[seat] == 0
    assert seen.owing == deal.owing()
    if seen.seat == seat:
        assert list(seen.legal) == deal.choices(seat)
        assert all(action in seen.legal for action in deal.choices(seat))
    assert Position.parse(str(seen), deal.rules) == seen
    world = seen.sample(rng)
    assert world.is_complete
    assert world.hands[seat] == deal.hands[seat]
    assert [hand.bit_count() for hand in world.hands] == [hand.bit_count() for hand in deal.hands]
    assert len(world.playout(rng)) == len(deal.hands)


@pytest.mark.parametrize("decks", [1, 2])
@pytest.mark.parametrize("draws", ["one", "as_needed"])
def test_position_of_a_view_where_cards_are_drawn_has_the_legal_actions_of_the_deal(
    draws: str, decks: int
) -> None:
    rules = rules_with(players=3, decks=decks, hand_size=5, leftover="stock", draw_on_pass=draws)
    rng = Random(draws)
    for number in range(3):
        deal = Deal(rules, rng.randbytes(32), number, 0, 1)
        while not deal.over and deal.stock and max(map(int.bit_count, deal.hands)) < 20:
            check_view(deal, deal.turn, rng)
            deal.act(deal.turn, rng.choice(deal.choices(deal.turn)) & rules.full)


PAIRS = "3D 3C 5D 5C 7H 7S 9H 9S JD JC KD KC"


def test_position_of_a_hand_that_won_at_once_is_read_back() -> None:
    rules = rules_with(players=3, instant_wins=["six_pairs"])
    won = Position(deal_of(rules, ["4D", PAIRS, "6H"]))
    assert (won.is_over, won.hands[1], won.points) == (True, 0, (-1, 0, -1))
    text = str(won)
    assert text.endswith("; won at once")
    assert Position.parse(text, rules) == won
    with pytest.raises(PositionError, match="none of the hands wins at once"):
        Position.parse(text.replace("KD KC", "KD AC"), rules)


def test_position_in_play_when_unknown_cards_could_win_at_once_goes_on() -> None:
    rules = rules_with(players=3, instant_wins=["six_pairs", "four_twos"], dragon="wins")
    text = "test@1; clockwise; dealer 0; leader 0; hands 4D 4C / ?13 / ?13; actions 0:4D"
    seen = Position.parse(text, rules)
    assert not seen.is_over
    assert str(seen) == text
    begun = text.replace("0:4D", "").replace("?13 / ?13", f"{PAIRS} / ?12")
    assert not Position.parse(begun, rules).is_over

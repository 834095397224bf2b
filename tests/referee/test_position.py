"""Tests for positions as values: making, reading, writing, comparing and continuing them."""

import json
from collections.abc import Sequence
from hashlib import sha256
from inspect import isgetsetdescriptor, ismemberdescriptor
from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import referee.position
from referee.bot.turn import Turn
from referee.deals.action import Stage
from referee.deals.deal import Deal
from referee.deals.dealing import has_all_twos, highest_card, instant_winner, is_last_card, lead_card
from referee.deals.session import Session, lowest_leads
from referee.deals.state import DealState
from referee.errors import IllegalHere, PlayError, PositionError, UnknownCards
from referee.local.session import LocalView, turn_of
from referee.matches import events
from referee.matches.events import Encodings
from referee.matches.match import Limits
from referee.position import Position
from referee.records.random_play import play_randomly, random_records
from referee.rules.plays import Rules, compile_ruleset
from referee.ruleset import Ruleset, load_ruleset
from tests.examples import examples
from tests.referee.deals import VARIED, deal_of, play, rules_named, rules_with
from tests.referee.strategies import drawing_rulesets, rulesets

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
        *("counts", "last_seat", "actions", "unseen", "with_cards", "deal", "worlds"),
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
    parts = {"_holdings", "hands", "log", "out", "_trick_ends", "stock"}
    fields = {name for name, member in vars(DealState).items() if ismemberdescriptor(member)}
    fields |= {name for name, member in vars(DealState).items() if isgetsetdescriptor(member)}  # compiled
    alike = fields - parts
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
        ("chinese@1; clockwise; dealer ٠; leader 0; hands 3D / 4D / 5D / 6D; actions ", "is not a position"),
        ("chinese@1; clockwise; dealer 0; leader 0; hands 3D / 4D / 5D / ?١; actions ", "١"),
        (f"chinese@1; clockwise; dealer 0; leader 0; hands 3D / 4D / 5D / ?{'9' * 5000}; actions ", "9"),
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


@pytest.mark.parametrize("name", VARIED)
def test_positions_of_a_record_are_written_and_read_and_go_on_to_its_points(name: str) -> None:
    rules = rules_named(name)
    for record in random_records(rules, bytes(32), 2, session_deals=1):
        count = len(json.loads(json.dumps(record["actions"])))
        for index in (0, count // 2, count):
            found = Position.from_record(record, index)
            assert Position.parse(str(found), rules) == found
        assert list(found.points) == record["points"]
        assert len(Position.from_record(record, count // 3).playout(Random(1))) == rules.ruleset.players


SEEN = (
    "chinese@1; clockwise; dealer 0; leader 0; hands 3D ?2 / KD 9D TD / ?3 / 2S ?2; "
    "actions 0:3D, 1:KD, 2:-, 3:2S, 0:-"
)


def often(seen: Position, seat: int, cards: str, *, weighs_passes: bool = False) -> int:
    """Return in how many of 400 samples a seat holds some of these cards."""
    mask, rng = seen.rules.parse(cards), Random(1)
    worlds = [seen.sample(rng, weighs_passes=weighs_passes) for _ in range(400)]
    return sum([bool(world.hands[seat] & mask) for world in worlds])


def test_sample_when_a_seat_passed_then_it_holds_what_beats_less_often_if_passes_weigh() -> None:
    passed, strong = Position.parse(SEEN), "KH KS AD AC AH AS"
    assert often(passed, 2, strong, weighs_passes=True) < often(passed, 2, strong) - 40


def test_sample_when_a_seat_could_not_lead_then_it_holds_the_card_that_may_not_be_the_last() -> None:
    deal = deal_of(compile_ruleset(load_ruleset("hong-kong")), ["2S KS", "4D 5D", "6D 7D", "8D 9D"], leader=0)
    seen = turn_in(play(deal, "0:KS", "1:-", "2:-", "3:-", "0:-"), 1).position()
    assert often(seen, 0, "2S") == 400


def test_view_when_each_has_only_a_card_that_may_not_be_the_last_then_it_may_be() -> None:
    rules = rules_with(
        extends="choi-dai-di", decks=2, last_top_card="cannot_win", last_cards="S", settle="wins"
    )
    deal = deal_of(rules, ["6S 5D", "8S 7D", "9S 8D", "4S 9D"], leader=0)
    play(deal, "0:5D", "1:7D", "2:8D", "3:9D", "0:-", "1:-", "2:-", "3:4S")
    for seat, text in ((0, "6S"), (1, "8S")):
        seen = turn_in(deal, seat).position()
        assert list(seen.legal) == [rules.code(rules.parse(text)), 0]
        world = seen.sample(Random(seat))
        assert all(rules.text(hand).endswith("S") for hand in world.hands if hand)
        assert Position.parse(str(world), rules) == world
        play(deal, f"{seat}:{text}")


def test_view_when_the_first_lead_could_not_be_made_shows_no_card() -> None:
    rules = rules_with(players=3, last_top_card="cannot_win", last_cards="3")
    deal = play(deal_of(rules, ["3D", "4D", "5D"], leader=0), "0:-")
    seen = turn_in(deal, 1).position()
    assert str(seen).endswith("leader 0; hands ?1 / 4D / ?1; actions 0:-")
    assert often(seen, 0, "3D 3C 3H 3S") == 400


def test_sample_when_a_seat_had_to_hinder_the_next_then_it_holds_nothing_higher() -> None:
    rules = rules_with(players=3, guard="must")
    deal = deal_of(rules, ["3D 4D QC", "4C 5D 6C", "KD 6D"], leader=2)
    seen = turn_in(play(deal, "2:6D", "0:QC", "1:-"), 2).position()
    assert often(seen, 0, "KC KH KS AD AC AH AS 2D 2C 2H 2S") > 0  # the next seat had three cards
    assert often(seen, 1, "QH QS KC KH KS AD AC AH AS 2D 2C 2H 2S") == 0  # here it had one


def test_view_in_a_bomb_window_acts_for_its_own_seat() -> None:
    rules = compile_ruleset(load_ruleset("gamesky"))
    hands = ["3D 9D", "4D 8D 8C 8H 8S", "5D 7D 7C 7H 7S 9H", "6D 6C"]
    deal = play(deal_of(rules, hands, leader=0), "0:3D")
    bomb = code("5D 7D 7C 7H 7S", rules)
    seen = turn_in(deal, 2).position()
    assert (seen.owing, seen.seat) == ((1, 2, 3), 2)
    assert {0, bomb} < set(seen.legal)
    world = seen.sample(Random(1))
    assert (world.seat, world.hands[2]) == (2, deal.hands[2])
    after = world.apply(bomb)
    assert (after.owing, after.seat) == ((1, 3), 1)
    assert after.apply(0).apply(0).last_seat == 2


def test_sample_when_cards_were_exchanged_then_both_sides_know_where_they_went() -> None:
    rules = rules_with(players=3, exchange="loser_to_winner")
    deal = deal_of(rules, ["3D 5C KS", "4D 9S 2C", "6H 7H 2S"], exchange=(0, 1))
    deal.act(1, rules.parse("9S"))
    seen = turn_in(play(deal, "0:3D"), 1).position()
    assert (often(seen, 0, "9S"), often(seen, 0, "AD AC AH AS 2D 2H 2S"), often(seen, 2, "9S")) == (400, 0, 0)
    seen = turn_in(play(deal, "1:4D"), 2).position()
    assert 0 < often(seen, 0, "9S") < 400


def test_sample_when_a_card_left_over_was_shown_then_who_took_it_holds_it() -> None:
    deal = Session(compile_ruleset(load_ruleset("chinese-3")), bytes(32)).next_deal()
    taker = max(range(3), key=lambda seat: deal.hands[seat].bit_count())
    shown = deal.undealt[0]
    play(deal, f"{taker}:3D")
    seen = turn_in(deal, deal.turn).position()
    assert seen.hands[taker] == shown


def test_sample_when_the_lowest_card_led_then_nobody_was_dealt_a_lower_one() -> None:
    deal = deal_of(compile_ruleset(load_ruleset("chinese-2")), ["5D 9D TD", "6H 7H 2S"])
    seen = turn_in(play(deal, "0:5D"), 1).position()
    assert often(seen, 0, "3D 3C 3H 3S 4D 4C 4H 4S") == 0


def test_positions_when_the_stock_was_renewed_then_its_cards_are_dealt_too() -> None:
    rules = rules_with(extends="hong-kong-relatives-3", restock=True)
    deal = deal_of(rules, ["3D 3C 9D", "4D 8D 8C", "5D 7D 7C"], leftover="KD", leader=0)
    play(deal, "0:3D", "1:4D", "2:5D", "0:-", "1:-", "2:7D")
    before, after = Position(deal), Position(play(deal, "0:-"))
    assert len(after.deal().stock.renewals) == 1
    for found in (before, after):
        assert Position.parse(str(found), rules) == found
    hands = [(rules.parse("3D 9D 3C"), 0), (rules.parse("4D"), 2), (rules.parse("5D 7D"), 1)]
    actions = [(*entry[:2], False) for entry in deal.log[:-1]]
    stock = [rules.parse("KD")]
    seen = Position.seen(rules, step=1, dealer=0, leader=0, hands=hands, actions=actions, stock=stock)
    drawn = seen.apply(0)
    assert (drawn.hidden, drawn.counts) == ((1, 2, 1), (4, 2, 1))
    assert Position.parse(str(drawn), rules) == drawn
    taken = {drawn.sample(Random(seed)).hands[0] & ~drawn.hands[0] for seed in range(60)}
    assert {rules.text(card) for card in taken} == {"3D", "4D", "5D"}  # those set aside
    assert len(drawn.playout(Random(1))) == 3


def test_text_of_renewed_stocks_tells_with_which_a_card_came_in() -> None:
    rules = rules_with(extends="hong-kong-relatives-3", restock=True)
    hands = ["3D 9D 9C", "4D 8D 8C", "5D 7D 7C 7H TD"]
    deal = deal_of(rules, hands, leftover="KD", leader=0)
    play(deal, "0:3D", "1:4D", "2:5D", "0:-", "1:-", "2:7D", "0:-", "1:-", "2:7C", "0:-", "1:-", "2:7H")
    known = [(rules.parse("3D 9D 9C"), 0), (rules.parse("4D"), 2), (rules.parse("5D 7D 7C 7H"), 1)]
    seen = Position.seen(
        rules,
        step=1,
        dealer=0,
        leader=0,
        hands=known,
        actions=[(*entry[:2], False) for entry in deal.log],
        stock=[rules.parse("KD")],
        drawn={index: entry[2] for index, entry in enumerate(deal.log) if entry[0] == 0 and entry[2]},
    )
    again = Position.parse(str(seen), rules)
    for position in (seen, again):
        assert [slot.renewal for slot in position.worlds.slots if slot.seat == 1] == [0, 0, 1, 2]
    assert again == seen


@pytest.mark.parametrize("name", VARIED)
def test_positions_and_views_of_a_preset_agree_with_its_deals(name: str) -> None:
    rules, rng = rules_named(name), Random(name)
    for _ in range(3):
        session = Session(rules, rng.randbytes(32), 2)
        while not session.over:
            check_to_the_end(session.next_deal(), rng)
            session.close_deal()


@examples(30)
@given(drawing_rulesets() | rulesets(most_players=5, most_cards=7), st.integers(0, 2**32))
def test_positions_and_views_of_any_ruleset_agree_with_its_deals(ruleset: Ruleset, seed: int) -> None:
    rng = Random(seed)
    session = Session(compile_ruleset(ruleset), rng.randbytes(32), 3)
    while not session.over:
        check_to_the_end(session.next_deal(), rng)
        session.close_deal()


def check_to_the_end(deal: Deal, rng: Random) -> None:
    while not deal.over:
        seat = rng.choice(deal.owing())
        if deal.stage is not Stage.EXCHANGE:
            whole = Position(deal)
            assert Position.parse(str(whole), deal.rules) == whole
            check_view(deal, seat, rng)
        if len(deal.log) > 40 or max(map(int.bit_count, deal.hands)) > 20:
            play_randomly(deal, rng)
        else:
            deal.act(seat, rng.choice(deal.choices(seat)) & deal.rules.full)


def check_view(deal: Deal, seat: int, rng: Random) -> None:
    seen = turn_in(deal, seat).position()
    choices = deal.choices(seat)
    assert (seen.seat, seen.hands[seat], seen.hidden[seat]) == (seat, deal.hands[seat], 0)
    assert seen.counts == tuple(map(int.bit_count, deal.hands))
    assert list(seen.legal) == choices
    assert all(action in seen.legal for action in choices)
    again = Position.parse(str(seen), deal.rules)
    assert (again, hash(again)) == (seen, hash(seen))
    if not is_last_card(deal.rules, deal.hands[seat]) or deal.rules.ruleset.last_top_card != "cannot_win":
        check_truth(deal, seen)  # a ban that is lifted tells of some card, and one is taken
    world = seen.sample(rng)
    check_world(deal, seat, seen, world)
    assert len(world.apply(rng.choice(choices)).playout(rng)) == len(deal.hands)


def check_truth(deal: Deal, seen: Position) -> None:
    """Nothing is known that is not true."""
    for seat, (hand, known) in enumerate(zip(deal.hands, seen.hands, strict=True)):
        assert not known & ~hand
        lacks = {slot.lacks for slot in seen.worlds.slots if slot.seat == seat}
        if len(lacks) == 1:
            assert not deal.rules.remove(hand, known) & lacks.pop()


def check_world(deal: Deal, seat: int, seen: Position, world: Position) -> None:
    """A world could have been dealt, and gone as the deal went."""
    rules, ruleset = deal.rules, deal.rules.ruleset
    assert world.is_complete
    assert (world.seat, world.counts, world.hands[seat]) == (seat, seen.counts, deal.hands[seat])
    assert Position.parse(str(world), rules) == world  # so all that was done was legal
    assert [action[:2] for action in world.actions] == [entry[:2] for entry in deal.log]
    starts = world.deal().start
    assert starts[seat] == deal.start[seat]
    openings = possible_openings(deal, seat, starts)
    assert any(instant_winner(rules, hands, deal.dealer, deal.step) is None for hands in openings)
    if ruleset.redeal_four_twos:
        assert any(not any(has_all_twos(rules, hand) for hand in hands) for hands in openings)
    tells = bool(ruleset.lead_includes_lowest) or ruleset.leftover != "stock" or deal.leader == seat
    tells &= not deal.log or deal.log[0][1] > 0  # a lead that could not be made shows no card
    if lowest_leads(ruleset, deal.number) and tells and ruleset.first_lead != "random":
        assert lead_card(rules, starts, deal.dealer, deal.step)[0] == deal.leader
    if deal.exchange is not None and seat in deal.exchange[:2]:
        loser, winner, given, returned = deal.exchange
        assert starts[loser] & returned
        assert starts[winner] & given or given == returned
        assert highest_card(rules, rules.add(rules.remove(starts[loser], returned), given)) == given
    if ruleset.leftover_shown and deal.exchange is None:
        taker = max(range(len(starts)), key=lambda other: deal.start[other].bit_count())
        assert not rules.joined(deal.undealt) & ~starts[taker]


def possible_openings(deal: Deal, seat: int, starts: Sequence[int]) -> list[list[int]]:
    """Return the hands before an exchange that ``seat`` holds for possible, given those after it."""
    rules, openings = deal.rules, [list(starts)]
    if deal.exchange is None:
        return openings
    loser, winner, *cards = deal.exchange
    pairs = [*product(*(rules.choose(starts[party] & rules.ones, 1) for party in (winner, loser)))]
    if seat in (loser, winner):
        same = cards[0] == cards[1]
        pairs, openings = [] if same else [(cards[0], cards[1])], openings if same else []
    for gift, returned in pairs:
        before = rules.add(rules.remove(starts[loser], returned), gift)
        if highest_card(rules, before) == gift:
            after = rules.add(rules.remove(starts[winner], gift), returned)
            hands = {loser: before, winner: after}
            openings.append([hands.get(other, hand) for other, hand in enumerate(starts)])
    return openings


@pytest.mark.parametrize(
    "fields",
    [
        {"instant_wins": ["six_pairs"]},
        {"redeal_four_twos": True},
        {"dragon": "wins", "players": 3, "hand_size": 17},
    ],
)
def test_sample_under_exchanges_deals_no_hand_with_which_the_deal_would_not_have_begun(
    fields: dict[str, Any],
) -> None:
    rules, rng = rules_with(exchange="loser_to_winner", **fields), Random(1)
    for number in range(8):
        session, deals = Session(rules, sha256(bytes([number])).digest(), 2), 0
        while not session.over:
            deal, deals = session.next_deal(), deals + 1
            assert deal.over or deal.stage is (Stage.PLAY if deals == 1 else Stage.EXCHANGE)
            if deal.stage is Stage.EXCHANGE:
                deal.act(deal.turn, rng.choice(deal.choices(deal.turn)) & rules.full)
            if not deal.over:
                for seat in deal.owing():
                    seen = turn_in(deal, seat).position()
                    for _ in range(60):
                        check_world(deal, seat, seen, seen.sample(rng))
                play_randomly(deal, rng)
            session.close_deal()


def test_view_of_an_exchange_knows_who_took_part_and_its_own_cards() -> None:
    rules = rules_with(players=3, exchange="loser_to_winner")
    deal = deal_of(rules, ["3D 5C KS", "4D 9S 2C", "6H 7H 2S"], exchange=(0, 1))
    deal.act(1, rules.parse("9S"))
    assert "; exchange 0:KS 1:9S;" in str(Position(deal))
    assert "; exchange 0:KS 1:9S;" in str(turn_in(deal, 0).position())
    seen = turn_in(play(deal, "0:3D", "1:-"), 2).position()
    assert "; exchange 0:? 1:?;" in str(seen)
    assert Position.parse(str(seen), rules) == seen
    with pytest.raises(PositionError, match="exchange: does not fit 3 seats"):
        Position.parse(str(seen).replace("exchange 0", "exchange 3"), rules)


def test_view_after_a_lead_that_a_ban_made_impossible_is_its_own_text() -> None:
    rules = rules_with(players=2, last_top_card="cannot_win", last_cards="2")
    deal = deal_of(rules, ["3C 5C 2D", "4S"], leader=0)
    seen = turn_in(play(deal, "0:3C", "1:-", "0:5C", "1:-"), 0).position()
    for passed in (seen, seen.apply(0)):
        assert Position.parse(str(passed), rules) == passed
        assert often(passed, 1, "2D 2C 2H 2S") == 0


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


def turn_in(deal: Deal, seat: int) -> Turn:
    """Return the turn of a seat that owes a decision, as its bot gets it."""
    names = tuple(f"bot#{number}" for number in range(deal.rules.ruleset.players))
    info = events.SessionInfo(0, "test", 1, "test", "", deal.rules, names, deal.number, "", Limits())
    view = LocalView(info, seat)
    view.deal_begins(deal)
    view.catch_up(deal, 0)
    turn = events.Turn(info, seat, 1, deal, Encodings())
    turn.time_ms = 1000
    return turn_of(view, turn)

"""Tests for the reference: what it makes of a deal's cards, and what it takes off for a seat's place."""

from collections.abc import Iterator
from random import Random

import pytest

from referee.deals.deal import Deal, Stage
from referee.deals.session import Session
from referee.deals.shuffle import deal_seed, words
from referee.deals.succession import Setup, legacy, setup
from referee.records.random_play import play_randomly
from referee.records.record import deal_record
from referee.reference.values import (
    REFERENCE,
    deal_values,
    place_values,
    record_values,
    reference_values,
)
from referee.rules.plays import Rules, compile_ruleset
from referee.rules.rulebook import rules_of
from referee.ruleset import load_ruleset, preset_names

SESSION = bytes(range(32))
FIRST = 1
"""The number of a deal that the lowest card leads under any ruleset."""

STRONG = {"bare_quads", "quads", "straight_flush", "royal_flush", "straight_flush_plus_two"}


def slow_values(rules: Rules, seed: bytes, number: int) -> list[int]:
    """Do as docs/formats.md says, step by step, for a deal that the lowest card leads."""
    begun = setup(rules.ruleset, number, None)
    totals = [0] * rules.ruleset.players
    for play in range(16):
        deal = Deal(rules, seed, number, begun.dealer, begun.step)
        stream = words(seed, f"reference-1/{play}")
        keeps = [next(stream) % 2 == 1 for _ in totals]
        while not deal.over:
            deal.act(*slow_action(deal, keeps, stream))
        totals = [total + points for total, points in zip(totals, deal.points, strict=True)]
    places = place_values(rules, begun)
    return [total * 256 - place for total, place in zip(totals, places, strict=True)]


def slow_action(deal: Deal, keeps: list[bool], stream: Iterator[int]) -> tuple[int, int]:
    seat, rules = deal.owing()[0], deal.rules
    if deal.stage is not Stage.PLAY:
        return seat, 0
    plays = sorted(deal.legal(seat), key=lambda code: place_of(rules, code))
    actions = [code & rules.full for code in plays] + [0] * deal.can_pass(seat)
    if len(actions) == 1:
        return seat, actions[0]
    word = next(stream)
    if word % 16 == 0:
        return seat, actions[word // 16 % len(actions)]
    counts = [len(rules.cards(hand)) for hand in deal.hands]
    if keeps[seat] and counts[seat] > 6 and min(counts) > 3:
        actions = [cards for cards in actions if not is_kept(rules, cards)] or actions
    most = max(len(rules.cards(cards)) for cards in actions)
    return seat, next(cards for cards in actions if len(rules.cards(cards)) == most)


def place_of(rules: Rules, code: int) -> tuple[bool, int, int, int, int]:
    """Return what orders plays: bombs last, then by kind, number of pairs, strength, and cards."""
    ruleset, kind = rules.ruleset, rules.kind(code)
    fives: list[str] = [*ruleset.five_card_order]
    kinds = [*(kind for kind in ruleset.plays if kind not in (*fives, "pair_run")), "pair_run", *fives]
    at = 0 if rules.is_bomb(code) else kinds.index(kind)
    pairs = rules.count(code & rules.full) if kind == "pair_run" and not rules.is_bomb(code) else 0
    return rules.is_bomb(code), at, pairs, code >> rules.width, code & rules.full


def is_kept(rules: Rules, cards: int) -> bool:
    top = rules.ruleset.ranks[-1]
    texts = rules.text(cards).split()
    return any(text[:-1] == top for text in texts) or (cards > 0 and rules.kind(rules.code(cards)) in STRONG)


@pytest.mark.parametrize("name", preset_names())
def test_values_are_what_the_formats_say(name: str) -> None:
    rules = compile_ruleset(load_ruleset(name))
    for number in (1, 2):
        seed = deal_seed(SESSION, number)
        values = reference_values(rules, seed, setup(rules.ruleset, FIRST, None))
        assert list(values) == slow_values(rules, seed, FIRST)


@pytest.mark.parametrize(
    "fields",
    [
        {"extends": "hong-kong", "beat_own": True},
        {"extends": "hong-kong", "last_top_card": "loses"},
        {"extends": "chinese", "guard": "must"},
        {"extends": "only-a-game-bombs", "bombs_out_of_turn": True},
    ],
)
def test_values_are_what_the_formats_say_under_rare_rules(fields: dict[str, object]) -> None:
    rules = rules_of(fields)
    seed = deal_seed(SESSION, 1)
    values = reference_values(rules, seed, setup(rules.ruleset, FIRST, None))
    assert list(values) == slow_values(rules, seed, FIRST)


EXCHANGING = {"extends": "chinese-3", "exchange": "loser_to_winner", "lead": "winner"}


@pytest.mark.parametrize("fields", [{"extends": "hong-kong"}, EXCHANGING])
def test_a_deal_and_its_record_have_the_same_values_at_any_stage(fields: dict[str, object]) -> None:
    rules = rules_of(fields)
    session, last = Session(rules, SESSION, 3), None
    while not session.over:
        begun = setup(rules.ruleset, session.deals_played + 1, last)
        deal = session.next_deal()
        values = reference_values(rules, deal.seed, begun)
        assert deal_values(deal) == values
        play_randomly(deal, Random(1))
        assert deal_values(deal) == record_values(rules, deal_record(deal)) == values
        session.close_deal()
        last = legacy(deal)


def test_what_a_place_is_worth_is_known_by_who_leads_and_taken_off() -> None:
    rules = compile_ruleset(load_ruleset("hong-kong"))
    assert place_values(rules, Setup(2, -1, None, None)) == (0, 0, 0, 0)
    leads = place_values(rules, Setup(0, -1, 0, None))
    assert max(leads) == leads[0] > REFERENCE.parts // 4
    assert 0 <= sum(leads) < len(leads)
    assert place_values(rules, Setup(2, -1, 2, None)) == (*leads[2:], *leads[:2])
    uneven = compile_ruleset(load_ruleset("choi-dai-di-3"))
    assert any(place_values(uneven, Setup(0, 1, None, None)))


def test_values_of_many_deals_are_as_good_for_the_leader_as_for_others() -> None:
    """The leader of these deals makes nearly a point more; none of it may be left in the values."""
    rules = compile_ruleset(load_ruleset("hong-kong"))
    begun = Setup(0, -1, 0, None)
    totals = [0] * 4
    for number in range(100):
        for seat, value in enumerate(reference_values(rules, deal_seed(SESSION, number), begun)):
            totals[seat] += value
    ahead = totals[0] / 100 / REFERENCE.parts - sum(totals) / 400 / REFERENCE.parts
    assert abs(ahead) < 0.94 / 2


def test_the_winner_returns_its_lowest_card_in_an_exchange() -> None:
    rules = rules_of(EXCHANGING)
    seed = deal_seed(SESSION, 2)
    begun = Setup(1, -1, 2, (0, 2))
    deal = Deal(rules, seed, 2, 1, -1, leader=2, exchange=(0, 2))
    before = reference_values(rules, seed, begun)
    deal.act(2, max(rules.code(1 << at) & rules.full for at in range(rules.width) if deal.hands[2] >> at & 1))
    assert deal_values(deal) == before

"""Tests for the reference: what it makes of a deal's cards, and what it takes off for a seat's place."""

from collections.abc import Iterator
from hashlib import sha256
from random import Random

import pytest

from referee.deals.deal import Deal, Stage
from referee.deals.session import Session, Setup, legacy, setup
from referee.deals.shuffle import deal_seed, words
from referee.records.random_play import play_randomly
from referee.records.record import deal_record
from referee.reference.values import (
    PIECES,
    REFERENCE,
    deal_values,
    has_reference,
    place_piece,
    place_values,
    record_values,
    reference_points,
    reference_values,
)
from referee.reference.values import (
    place_of as values_of_places,
)
from referee.rules.plays import Rules, compile_ruleset
from referee.rules.rulebook import rules_of
from referee.ruleset import load_ruleset, preset_names

SESSION = bytes(range(32))
STRONG = {"bare_quads", "quads", "straight_flush", "royal_flush", "straight_flush_plus_two"}


def slow_points(rules: Rules, seed: bytes) -> list[tuple[int, ...]]:
    """Play a session's first deal as docs/formats.md says, step by step."""
    begun = setup(rules.ruleset, 1, None)
    played = []
    for play in range(16):
        deal = Deal(rules, seed, 1, begun.dealer, begun.step)
        stream = words(seed, f"reference-1/{play}")
        keeps = [next(stream) % 2 == 1 for _ in deal.hands]
        while not deal.over:
            deal.act(*slow_action(deal, keeps, stream))
        played.append(deal.points)
    return played


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
def test_deals_are_played_as_the_formats_say(name: str) -> None:
    rules = compile_ruleset(load_ruleset(name))
    for number in (1, 2):
        seed = deal_seed(SESSION, number)
        assert reference_points(rules, seed, setup(rules.ruleset, 1, None)) == slow_points(rules, seed)


@pytest.mark.parametrize(
    "fields",
    [
        {"extends": "hong-kong", "beat_own": True},
        {"extends": "hong-kong", "last_top_card": "loses"},
        {"extends": "chinese", "guard": "must"},
        {"extends": "only-a-game-bombs", "bombs_out_of_turn": True},
    ],
)
def test_deals_are_played_as_the_formats_say_under_rare_rules(fields: dict[str, object]) -> None:
    rules = rules_of(fields)
    seed = deal_seed(SESSION, 1)
    assert reference_points(rules, seed, setup(rules.ruleset, 1, None)) == slow_points(rules, seed)


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


def test_a_value_is_the_mean_of_the_points_less_what_the_place_is_worth() -> None:
    rules = compile_ruleset(load_ruleset("hong-kong"))
    seed, begun = deal_seed(SESSION, 2), Setup(1, -1, 1, None)
    sums = map(sum, zip(*reference_points(rules, seed, begun), strict=True))
    places = place_values(rules, begun)
    expected = [256 * points - place for points, place in zip(sums, places, strict=True)]
    assert list(reference_values(rules, seed, begun)) == expected
    assert places[1] == max(places)


def test_what_a_place_is_worth_is_known_by_who_leads_and_taken_off() -> None:
    rules = compile_ruleset(load_ruleset("hong-kong"))
    assert place_values(rules, Setup(2, -1, None, None)) == (0, 0, 0, 0)
    leads = place_values(rules, Setup(0, -1, 0, None))
    assert max(leads) == leads[0] > REFERENCE.parts // 4
    assert 0 <= sum(leads) < len(leads)
    assert place_values(rules, Setup(2, -1, 2, None)) == (*leads[2:], *leads[:2])


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


@pytest.mark.parametrize("name", preset_names())
def test_preset_has_a_reference(name: str) -> None:
    assert has_reference(rules_of(name))


def test_ruleset_when_its_plays_are_as_the_page_counts_them_then_it_has_a_reference_or_none() -> None:
    for hand_size in (8, 13, 17, 22):
        rules = compile_ruleset(load_ruleset(many_plays(hand_size)))
        assert has_reference(rules) == (slow_count(rules, 16_000) <= 16_000)
    assert not has_reference(compile_ruleset(load_ruleset(many_plays(22))))
    assert has_reference(compile_ruleset(load_ruleset(many_plays(8))))


def many_plays(hand_size: int) -> dict[str, object]:
    """Return a ruleset with many plays in a hand."""
    return {
        **load_ruleset("chinese").to_object(),
        "name": "many",
        "players": 8,
        "decks": 4,
        "hand_size": hand_size,
        "five_card_order": ["two_pair"],
        "plays": ["single", "pair", "triple", "two_pair", "bare_quads", "run", "pair_run", "triple_run"],
    }


def slow_count(rules: Rules, most: int) -> int:
    """Count plays as docs/formats.md says, until there are more than ``most``."""
    count = 0
    for number in range(8):
        seed = sha256(f"reference-1/place/{number}".encode()).digest()
        deal = Deal(rules, seed, 1, 0, setup(rules.ruleset, 1, None).step)
        count += sum(len(rules.list_plays(hand)) for hand in deal.hands)
        stream = words(seed, "reference-1/0")
        keeps = [next(stream) % 2 == 1 for _ in deal.hands]
        while not deal.over and count <= most:
            count += len(deal.choices(deal.turn)) if deal.stage is Stage.PLAY else 0
            deal.act(*slow_action(deal, keeps, stream))
    return count


def test_places_when_they_are_computed_in_pieces_then_they_are_worth_the_same() -> None:
    rules, begun = rules_of("hong-kong"), Setup(0, -1, 0, None)
    pieces = [place_piece(rules, begun, piece) for piece in range(PIECES)]
    asked: list[Setup] = []

    def places(_: Rules, at: Setup) -> tuple[int, ...]:
        asked.append(at)
        return values_of_places(pieces)

    assert place_values(rules, Setup(2, -1, 2, None), places) == place_values(rules, Setup(2, -1, 2, None))
    assert asked == [begun]

"""Tests for fields of observations and features of plays, compared with slow ways to compute them."""

import dataclasses
from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

from referee.deals.deal import Deal
from referee.learning.boss import Bosses
from referee.learning.encoder import Encoder
from referee.learning.features import PLAY_FIELDS, Floats, Needed
from referee.learning.sight import Onlooker
from referee.learning.tables import LearningTable
from referee.protocol.numbers import card_numbers
from referee.protocol.version import MAX_MESSAGE_BYTES
from referee.rules.plays import Rules, compile_ruleset
from referee.rules.rulebook import rules_of
from referee.ruleset import Ruleset, load_ruleset, preset_names
from referee.ruleset.axes.dealing import most_cards
from referee.ruleset.bounds import MOST_LISTED_BYTES, most_listed_bytes, most_plays
from referee.v1 import bots_pb2
from tests.referee.deals import TELLING, rules_with

FEW = [rank + suit for rank in "89TJQKA2" for suit in "DCHS"]
PACKS = [
    load_ruleset(
        {"name": "short", "removed_cards": ["3D", "3C", "3H", "2S", "9H"], "hand_size": 12, "jokers": 1}
    ),
    load_ruleset(
        {
            "name": "three",
            "hand_size": 12,
            "decks": 3,
            "jokers": 2,
            "removed_cards": [*FEW, "3S", "4S", "5S", "6S", "7S"],
        }
    ),
    load_ruleset(
        {
            "name": "four",
            "players": 5,
            "decks": 4,
            "removed_cards": [*FEW, "3S", "4S", "5S"],
        }
    ),
]
"""Rulesets with packs that no preset has."""


def field(encoder: Encoder, observation: Floats, name: str) -> list[float]:
    before = list(encoder.fields)[: list(encoder.fields).index(name)]
    start = sum(encoder.fields[other] for other in before)
    values: list[float] = observation[start : start + encoder.fields[name]].tolist()
    return values


def random_tables(rules: Rules, deals: int) -> Iterator[LearningTable]:
    """Yield a table at every decision of random play."""
    rng = Random(7)
    for number in range(deals):
        table = LearningTable(rules, bytes([number + 1] * 32), 1)
        while not table.over:
            yield table
            sight = table.sight(table.seat)
            first = 0 if sight.can_pass else 1
            table.act(rng.randint(first, len(sight.plays)))


@pytest.mark.parametrize(
    "ruleset",
    ["chinese", "only-a-game-8", "hong-kong-relatives-3", *PACKS],
    ids=lambda ruleset: getattr(ruleset, "name", ruleset),
)
def test_observation_when_a_deal_is_played_then_its_fields_are_what_the_seat_sees(
    ruleset: str | Ruleset,
) -> None:
    encoder = Encoder(ruleset)
    rules, players = encoder.rules, encoder.ruleset.players
    for table in random_tables(rules, 2):
        deal, seat = table.deal, table.seat
        assert deal is not None
        seen = encoder.observe([table.sight(seat)]).observation[0]
        hand = np.rint(np.array(field(encoder, seen, "hand")) * rules.decks)
        assert [index for index, count in enumerate(hand) for _ in range(int(count))] == rules.cards(
            deal.hands[seat]
        )
        order = [(seat + deal.step * turn) % players for turn in range(players)]
        counts = [deal.hands[other].bit_count() / most_cards(encoder.ruleset) for other in order]
        assert np.allclose(field(encoder, seen, "counts"), counts)
        last = [float(other == deal.last_seat) for other in order]
        assert field(encoder, seen, "last") == last
        others = sum(deal.hands[other].bit_count() for other in order[1:])
        others += len(deal.stock if encoder.ruleset.leftover == "stock" else deal.leftover)
        assert np.isclose(sum(field(encoder, seen, "unseen")) * rules.decks, others)
        beaten = field(encoder, seen, "to_beat")
        assert np.isclose(sum(beaten) * rules.decks, (deal.to_beat & rules.full).bit_count())


def test_passed_when_a_pass_locks_then_it_is_who_is_locked_out() -> None:
    rules = rules_of("indonesia")
    locked = 0
    for table in random_tables(rules, 20):
        sight, deal = table.sight(table.seat), table.deal
        assert deal is not None
        if sight.kind == "play":
            assert sight.passed == deal.locked
            locked += sight.passed != 0
    assert locked > 100


@pytest.mark.parametrize("ruleset", [*TELLING, *PACKS], ids=lambda ruleset: getattr(ruleset, "name", ruleset))
def test_boss_when_the_unseen_plays_are_listed_then_none_beats_it(ruleset: str | Ruleset) -> None:
    encoder = Encoder(ruleset)
    rules = encoder.rules
    place = PLAY_FIELDS.index("boss")
    bosses = beaten = 0
    for table in random_tables(rules, 6):
        sight = table.sight(table.seat)
        hidden = sight.unseen
        if hidden.bit_count() > 30:
            continue  # such lists are long and take too much time
        others = rules.list_plays(hidden)
        most = max(count for seat, count in enumerate(sight.counts) if seat != sight.seat)
        plays = encoder.observe([sight]).plays
        for code, features in zip(sight.plays, plays[1:], strict=True):
            length = (code & rules.full).bit_count()
            beyond = rules.limited.over(code) if rules.limited else rules.ruleset.bombs
            too_long = not beyond and length > most
            is_boss = too_long or not any(rules.beats(other, code) for other in others)
            assert features[place] == is_boss, (rules.text(code & rules.full), rules.text(hidden))
            bosses += is_boss
            beaten += not is_boss
    assert bosses > 2
    assert beaten > 50


def test_dragon_when_the_unseen_cards_have_a_higher_one_then_it_is_no_boss() -> None:
    rules = rules_with(extends="chinese-2", plays=["single", "dragon"], five_card_order=[])
    low = "3D 4D 5D 6D 7D 8D 9D TD JD QD KD AD"
    code = rules.code(rules.parse(f"{low} 2C"))
    higher, lower = rules.parse(f"{low} 2H 2S"), rules.parse(f"{low} 2D")
    bosses = Bosses(rules)
    assert code | rules.full < bosses.against(code, "dragon", higher, 17)
    assert code | rules.full >= bosses.against(code, "dragon", higher, 12)
    assert code | rules.full >= bosses.against(code, "dragon", lower, 17)
    assert bosses.against(code, "dragon", rules.parse("2S"), 17) == 0


def test_needed_when_a_dragon_is_held_then_it_is_one_play() -> None:
    rules = rules_with(extends="chinese-2", plays=["single", "dragon"], five_card_order=[])
    counts = np.array([[1] * 13, [2, *[1] * 12], [0, 2, *[1] * 11]], np.int8)
    assert Needed(rules).count(counts).tolist() == [1, 2, 13]


def slowly_needed(rules: Rules, hand: int) -> int:
    """Return the smallest number of plays for a hand, found by trying every play with its lowest card."""
    if not hand:
        return 0
    lowest = hand & -hand
    plays = [play & rules.full for play in rules.list_plays(hand) if play & lowest]
    return 1 + min(slowly_needed(rules, hand & ~mask) for mask in plays)


@pytest.mark.parametrize("ruleset", ["chinese", "singapore", "only-a-game-bombs"])
def test_needed_when_hands_are_small_then_so_many_plays_suffice_and_mostly_no_fewer(ruleset: str) -> None:
    rules, rng = rules_of(ruleset), Random(3)
    needed = Needed(rules)
    exact = 0
    for _ in range(60):
        hand = rules.mask(rng.sample(range(52), 7))
        ranks = np.array([[(hand & rank).bit_count() for rank in rules.rank_masks]], np.int8)
        found = needed.count(ranks)[0]
        slowly = slowly_needed(rules, hand)
        assert found >= slowly
        exact += found == slowly
    assert exact >= 48


def test_needed_when_a_triple_a_pair_and_a_straight_are_held_then_two_plays_suffice() -> None:
    rules = rules_of("chinese")
    hand = rules.parse("3D 3C 3H 4D 4C 6D 7C 8D 9D TD")
    ranks = np.array([[(hand & rank).bit_count() for rank in rules.rank_masks]], np.int8)
    assert Needed(rules).count(ranks).tolist() == [2]


@pytest.mark.parametrize(
    "ruleset", [*preset_names(), *PACKS], ids=lambda ruleset: getattr(ruleset, "name", ruleset)
)
def test_slots_when_hands_are_dealt_or_of_one_suit_then_they_suffice(ruleset: str | Ruleset) -> None:
    rules, rng = compile_ruleset(load_ruleset(ruleset) if isinstance(ruleset, str) else ruleset), Random(5)
    cards, bound = most_cards(rules.ruleset), most_plays(rules.ruleset)
    pack = list(rules.pack)
    hands = [rng.sample(pack, min(cards, len(pack))) for _ in range(20)]
    by_suit = sorted(pack, key=lambda card: (card & 3, card))
    by_rank = sorted(pack)
    hands += [by_suit[:cards], by_suit[-cards:], by_rank[:cards], by_rank[-cards:]]
    sizes = [len(rules.list_plays(rules.mask(hand))) for hand in hands]
    assert max(sizes) <= bound
    assert max(sizes) > bound / 6 or ruleset in PACKS


@pytest.mark.parametrize("ruleset", ["chinese", "only-a-game-bombs", "taiwan-latta", "only-a-game-8"])
def test_slots_when_hands_are_made_to_have_many_plays_then_they_suffice(ruleset: str) -> None:
    rules, rng = rules_of(ruleset), Random(11)
    bound = most_plays(rules.ruleset)
    pack = list(rules.pack)
    for _ in range(6):
        hand = rng.sample(pack, 13)
        best = len(rules.list_plays(rules.mask(hand)))
        for _ in range(150):
            out, more = rng.randrange(13), rng.choice(pack)
            changed = [*hand[:out], *hand[out + 1 :], more]
            if changed.count(more) > pack.count(more):
                continue
            size = len(rules.list_plays(rules.mask(changed)))
            if size >= best:
                hand, best = changed, size
        assert best <= bound


def test_encoder_when_a_ruleset_has_other_rules_then_the_observation_tells() -> None:
    ruleset = load_ruleset("chinese")
    changed = dataclasses.replace(ruleset, name="other", pass_locks=True)
    first, second = Encoder(ruleset), Encoder(changed)
    deal = Deal(first.rules, bytes(32), 1, 0, 1)
    choices = deal.choices(deal.turn)
    seen = [
        one.observe([Onlooker(deal, (0, 0, 0, 0)).sight(deal.turn, choices)]).observation[0]
        for one in (first, second)
    ]
    assert first.fields == second.fields
    assert (seen[0] != seen[1]).sum() == 1


def test_plays_when_as_many_as_a_ruleset_allows_are_listed_then_a_turn_fits_into_a_message() -> None:
    rules = rules_with(
        name="large",
        plays=["single", "pair", "triple", "pair_run"],
        five_card_order=[],
        players=2,
        hand_size=24,
    )
    message, numbers = bots_pb2.Turn(), card_numbers(rules)
    for code in rules.list_plays(rules.parse(" ".join(rank + suit for rank in "345678" for suit in "DCHS"))):
        message.legal_plays.add().cards.extend(numbers.numbers(code & rules.full))
    listed = message.ByteSize()
    assert MOST_LISTED_BYTES / 4 < listed <= most_listed_bytes(rules.ruleset) <= MOST_LISTED_BYTES
    assert MOST_LISTED_BYTES == MAX_MESSAGE_BYTES

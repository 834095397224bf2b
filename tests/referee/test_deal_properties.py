"""Tests for whole deals under random rulesets: they agree with the slow deal, and keep the invariants."""

from collections import Counter
from collections.abc import Iterable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.deals.deal import Deal, Stage
from referee.deals.dealing import Dealt
from referee.deals.session import Session
from referee.errors import PlayError
from referee.records.random_play import play_randomly
from referee.rules.plays import Rules, compile_ruleset
from referee.ruleset import Ruleset
from referee.ruleset.axes.scoring import MOST_POINTS, most_points
from tests.examples import examples
from tests.referee.deals import VARIED, rules_named
from tests.referee.slow_deal import SlowDeal
from tests.referee.slow_rules import Card, Cards, SlowRules, read
from tests.referee.strategies import drawing_rulesets, rulesets

LARGE = 11
"""The largest hand, grown by drawing, with which the slow deal is still fast enough to continue."""

ZERO_SUM = ("pairwise", "winner_collects", "better_collect", "difference", "loser_only")


def random_session(ruleset: Ruleset, seed: int) -> tuple[Session, Random]:
    return Session(compile_ruleset(ruleset), seed.to_bytes(32, "big")), Random(seed)


def texts(rules: Rules, codes: list[int]) -> set[Cards]:
    return {tuple(sorted(read(rules.text(code & rules.full)))) for code in codes}


def lead_card(ruleset: Ruleset, held: Iterable[Card]) -> Card:
    """Return the card that decides who leads."""
    ordered = SlowRules(ruleset).one_pack()
    named = ruleset.first_lead
    start = 0 if named == "lowest" else ordered.index((named[:-1], named[-1]))
    return min(held, key=lambda card: (ordered.index(card) - start) % len(ordered))


def slow_of(deal: Deal) -> SlowDeal:
    rules = deal.rules
    include = None
    if deal.must_include:
        include = lead_card(rules.ruleset, [card for hand in deal.start for card in read(rules.text(hand))])
        assert include in read(rules.text(deal.hands[deal.turn]))
    stock = [read(rules.card_text(card))[0] for card in deal.leftover]
    return SlowDeal(
        ruleset=rules.ruleset,
        seed=deal.seed,
        hands=[list(read(rules.text(hand))) for hand in deal.start],
        stock=stock if rules.ruleset.leftover == "stock" else [],
        step=deal.step,
        turn=deal.turn,
        include=include,
    )


@examples(100)
@given(rulesets(most_players=5, most_cards=7), st.integers(0, 2**32))
def test_deal_of_any_ruleset_goes_as_the_slow_deal(ruleset: Ruleset, seed: int) -> None:
    session, rng = random_session(ruleset, seed)
    while not session.over and session.deals_played < 3:
        deal = session.next_deal()
        if deal.stage is Stage.EXCHANGE:
            winner = deal.turn
            deal.act(winner, rng.choice(deal.legal(winner)) & deal.rules.full)
        if not deal.over:
            compare_to_the_end(deal, slow_of(deal), rng)
        session.close_deal()


@examples(100)
@given(drawing_rulesets(), st.integers(0, 2**32))
def test_deal_with_a_stock_that_runs_out_goes_as_the_slow_deal(ruleset: Ruleset, seed: int) -> None:
    rng = Random(seed)
    deal = deal_with_small_stock(compile_ruleset(ruleset), rng)
    compare_to_the_end(deal, slow_of(deal), rng)


@examples(100)
@given(drawing_rulesets() | rulesets(most_players=5, most_cards=7), st.integers(0, 2**32))
def test_forced_turns_of_any_ruleset_are_those_of_the_slow_deal(ruleset: Ruleset, seed: int) -> None:
    rng = Random(seed)
    deal = deal_with_small_stock(compile_ruleset(ruleset), rng)
    compare_to_the_end(deal, slow_of(deal), rng, forced=True)


@pytest.mark.parametrize("name", VARIED)
def test_deals_of_a_preset_go_as_the_slow_deal(name: str) -> None:
    rules = rules_named(name)
    for seed in range(8):
        for forced in (False, True):
            rng = Random(f"{name} {seed}")
            deal = deal_with_small_stock(rules, rng)
            compare_to_the_end(deal, slow_of(deal), rng, forced=forced)


def deal_with_small_stock(rules: Rules, rng: Random) -> Deal:
    """Return a deal with few cards of a few ranks, so that there is much to play, draw and restock."""
    players, ranks = rules.ruleset.players, len(rules.rank_masks)
    size = rng.randint(2, 6)
    some = rng.sample(range(ranks), min(ranks, players * size // (2 * rules.decks) + 2))
    cards = [card for card in rules.pack if card >> 2 in some]
    rng.shuffle(cards)
    hands = tuple(rules.mask(cards[seat * size : (seat + 1) * size]) for seat in range(players))
    left = tuple(rules.mask([card]) for card in cards[players * size :][: rng.randint(0, 3)])
    dealt = Dealt(hands, left if rules.ruleset.leftover == "stock" else (), hands)
    return Deal(rules, rng.randbytes(32), 1, 0, rng.choice([1, -1]), dealt=dealt)


def slow_acts_for_forced(slow: SlowDeal) -> None:
    while not slow.end and not slow.window:
        legal, may_pass = slow.legal(slow.turn)
        if len(legal) + may_pass > 1:
            return
        slow.act(slow.turn, () if may_pass else min(legal))


def compare_to_the_end(deal: Deal, slow: SlowDeal, rng: Random, *, forced: bool = False) -> None:
    rules = deal.rules
    while True:
        if forced:
            deal.act_for_forced()
            slow_acts_for_forced(slow)
        assert [Counter(read(rules.text(hand))) for hand in deal.hands] == [Counter(h) for h in slow.hands]
        if deal.over:
            break
        if max(len(hand) for hand in slow.hands) > LARGE:
            play_randomly(deal, rng)
            return
        assert list(deal.owing()) == slow.owing()
        assert not slow.end
        seat = rng.choice(deal.owing())
        legal, may_pass = slow.legal(seat)
        plays = deal.legal(seat)
        assert texts(rules, plays) == legal
        assert deal.can_pass(seat) == may_pass
        answers = [play & rules.full for play in plays] + [0] * may_pass
        refuse_all_else(deal, seat, answers, rng)
        mask = rng.choice(answers)
        deal.act(seat, mask)
        slow.act(seat, tuple(sorted(read(rules.text(mask)))))
    assert (deal.end, deal.out) == (slow.end, slow.out)


def refuse_all_else(deal: Deal, seat: int, answers: list[int], rng: Random) -> None:
    """Try answers that are not legal; assert that they change nothing."""
    before = (list(deal.hands), list(deal.actions), deal.owing(), deal.stage)
    some = deal.rules.mask(rng.sample(deal.rules.pack, rng.randint(1, 5)))
    for mask in (0, some, deal.hands[seat], -1, deal.rules.full + 1):
        if mask not in answers:
            with pytest.raises(PlayError):
                deal.act(seat, mask)
    for other in set(range(len(deal.hands))) - set(deal.owing()):
        with pytest.raises(PlayError):
            deal.act(other, 0)
    assert before == (list(deal.hands), list(deal.actions), deal.owing(), deal.stage)


@given(rulesets(), st.integers(0, 2**32))
def test_random_session_of_any_ruleset_ends_and_conserves_the_cards(ruleset: Ruleset, seed: int) -> None:
    session, rng = random_session(ruleset, seed)
    rules = session.rules
    pack = Counter(rules.pack)
    while not session.over:
        deal = session.next_deal()
        assert (
            Counter(card for hand in deal.dealt for card in rules.cards(hand)) + Counter(deal.leftover)
            == pack
        )
        held = Counter(card for hand in deal.opening for card in rules.cards(hand))
        play_randomly(deal, rng)
        if deal.end not in ("dragon", "instant_win"):
            drawn = Counter(card for action in deal.actions for card in rules.cards(action.drawn))
            played = Counter(card for action in deal.actions for card in rules.cards(action.cards))
            left = Counter(card for hand in deal.left for card in rules.cards(hand))
            assert played + left == held + drawn
        session.close_deal()


@given(rulesets(), st.integers(0, 2**32), st.booleans())
def test_points_of_any_ruleset_stay_within_what_it_is_said_to_come_to_at_most(
    ruleset: Ruleset, seed: int, forfeit: bool
) -> None:
    session, rng = random_session(ruleset, seed)
    while not session.over:
        deal = session.next_deal()
        if forfeit and not deal.over:
            deal.forfeit(rng.randrange(ruleset.players))
        play_randomly(deal, rng)
        assert max(map(abs, deal.points)) <= most_points(ruleset) <= MOST_POINTS
        session.close_deal()


@given(rulesets(), st.integers(0, 2**32))
def test_zero_sum_settlings_sum_to_zero(ruleset: Ruleset, seed: int) -> None:
    session, rng = random_session(ruleset, seed)
    while not session.over:
        deal = session.next_deal()
        play_randomly(deal, rng)
        if ruleset.settle in ZERO_SUM and ruleset.bonuses is None:
            assert sum(deal.points) == 0
        session.close_deal()

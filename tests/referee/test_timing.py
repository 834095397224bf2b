"""Tests for the bot that reads the time: its inference, how it is scored, and a run over real sockets."""

import math
from itertools import combinations
from random import Random

import pytest

from benchmarks.spying import (
    Counting,
    Inference,
    Pass,
    Seen,
    after_passes,
    choose,
    forced_actions,
    partition,
    posterior,
)
from benchmarks.timing.figures import estimate, leak, surprise, worth
from benchmarks.timing.run import play
from benchmarks.timing.setting import QUICK, Guess, Played, Setting
from referee.deals.deal import Deal
from referee.rules.plays import compile_ruleset
from referee.ruleset import load_ruleset

RULES = compile_ruleset(load_ruleset("chinese"))
COUNTING = Counting(RULES, samples=50)


def code(cards: str) -> int:
    return RULES.code(RULES.parse(cards))


# Inference


def test_posterior_when_the_time_tells_nothing_then_it_is_the_prior() -> None:
    assert posterior([0.2, 0.9], [0.5, 0.5, 0.5]) == pytest.approx([0.2, 0.9])


def test_posterior_when_no_decision_can_have_been_made_then_all_were_forced() -> None:
    assert posterior([0.2, 0.9, 0.5], [1.0, 0.0, 0.0, 0.0]) == [1, 1, 1]


def test_posterior_when_one_of_two_was_chosen_then_the_likelier_one_was() -> None:
    first, second = posterior([0.5, 0.8], [0.0, 1.0, 0.0])
    assert first == pytest.approx(0.2)  # 0.5 * 0.2 against 0.5 * 0.8
    assert second == pytest.approx(0.8)


@pytest.mark.parametrize(("slower", "least", "most"), [(0.030, 0.8, 1.1), (0.0, -0.05, 0.02)])
def test_inference_when_it_has_learned_then_it_tells_what_the_time_tells(
    slower: float, least: float, most: float
) -> None:
    rng, inference = Random(3), Inference()
    note = Pass(0, 1, code("9D"), 0.5)
    guesses = []
    for number in range(600):
        forced = rng.random() < 0.5
        seconds = 0.010 + rng.uniform(0, 0.002) + (0 if forced else slower)
        prior = inference.prior("bot", RULES, note)
        (timed,) = inference.read(seconds, 0, [prior])
        guesses.append(Guess(number, prior, timed, forced))
        inference.learn_pass("bot", RULES, note, forced)
        inference.learn_gap(seconds, 1, not forced)
    assert least <= leak(guesses[200:]).told.mean <= most


def test_inference_when_it_does_not_read_then_it_keeps_the_prior() -> None:
    inference = Inference(reads=False)
    for _ in range(50):
        inference.learn_gap(0.001, 1, 0)
        inference.learn_gap(0.1, 1, 1)
    assert inference.read(0.001, 0, [0.3]) == [0.3]


# Card counting


@pytest.mark.parametrize("to_beat", ["9D", "KS", "2S", "8D 8C", "AD AH", "4D 4C 4H"])
def test_counting_when_hands_are_listed_then_the_chance_is_about_the_share_that_cannot_beat(
    to_beat: str,
) -> None:
    unseen = RULES.parse("5D 9C 9H JC JD JS KC AC AS 2D")
    hands = [RULES.mask(cards) for cards in combinations(RULES.cards(unseen), 4)]
    unable = [not RULES.following(RULES.list_plays(hand), code(to_beat)) for hand in hands]
    exact = sum(unable) / len(hands)
    slack = 1e-9 if " " not in to_beat else 0.1
    assert COUNTING.unable(code(to_beat), 4, unseen) == pytest.approx(exact, abs=slack)


def test_counting_when_cards_are_fewer_than_the_play_has_then_it_is_certain() -> None:
    assert COUNTING.unable(code("3D 4D 5D 6D 8D"), 4, RULES.full) == 1


def test_after_passes_when_it_was_forced_then_nothing_stronger_is_beaten_either() -> None:
    assert after_passes(9, 0.8, [(5, 0.4, 1.0)]) == pytest.approx(1)
    assert after_passes(3, 0.2, [(5, 0.4, 1.0)]) == pytest.approx(0.5)


def test_after_passes_when_it_was_chosen_then_the_strong_play_is_likelier_there() -> None:
    assert after_passes(9, 0.8, [(5, 0.4, 0.0)]) == pytest.approx((0.8 - 0.4) / 0.6)
    assert after_passes(3, 0.2, [(5, 0.4, 0.0)]) == 0


def test_after_passes_when_they_tell_nothing_new_then_the_chance_stays() -> None:
    assert after_passes(6, 0.5, [(5, 0.4, 0.4), (8, 0.7, 0.7)]) == pytest.approx(0.5)


# Deals


def test_seen_when_a_deal_is_played_then_it_keeps_up_with_it_and_only_legal_plays_are_chosen() -> None:
    for number in range(20):
        deal = Deal(RULES, number.to_bytes(32, "big"), 1, 0, -1)
        seen = [Seen(RULES, COUNTING, seat, deal.hands[seat], [13] * 4) for seat in range(4)]
        masks, forced = [], []
        while not deal.over:
            seat = deal.turn
            assert seen[seat].to_beat == deal.to_beat
            assert seen[seat].counts == [RULES.count(hand) for hand in deal.hands]
            forced.append(deal.forced(seat))
            mask = choose(seen[seat], deal.hands[seat], deal.legal(seat), deal.can_pass(seat))
            deal.act(seat, mask)
            masks.append(mask)
            for one in seen:
                noted = one.take(seat, mask)
                assert (noted is not None) == (not mask and one.seat != seat)
        assert forced_actions(RULES, deal.dealt, 0, -1, masks) == forced


def test_partition_when_it_is_played_then_the_hand_is_gone() -> None:
    hand = RULES.parse("3D 3C 4H 5S 6D 7D 9C 9H 9S JD JC KS 2H")
    parts = partition(RULES.list_plays(hand), hand, RULES.full)
    assert sum(part & RULES.full for part in parts) == hand


# Figures


def test_surprise_when_one_is_wrong_and_sure_then_it_is_bounded() -> None:
    assert surprise(0.5, True) == 1
    assert surprise(0.25, False) == pytest.approx(-math.log2(0.75))
    assert surprise(1.0, False) == pytest.approx(-math.log2(0.001))


def test_leak_when_the_time_settles_it_then_a_bit_is_told() -> None:
    guesses = [Guess(n // 2, 0.5, 0.999 if n % 2 else 0.001, bool(n % 2)) for n in range(200)]
    found = leak(guesses)
    assert (found.passes, found.deals, found.forced, found.timed) == (200, 100, 0.5, 1)
    assert found.told.mean == pytest.approx(1, abs=0.01)
    assert found.told.half == pytest.approx(0, abs=1e-9)


def test_worth_when_deals_differ_then_only_those_of_both_count() -> None:
    reading, blind = Played(points={1: 9, 2: 0, 3: -2, 4: 5}), Played(points={1: 0, 2: -1, 3: -3, 5: 1})
    assert worth(reading, blind, 1) == estimate([1, 1])


# All of it, over real sockets


@pytest.mark.parametrize(
    "setting",
    [
        Setting(QUICK, tables=2),
        Setting(QUICK, sessions=4, one_by_one=True, ask_forced=True),
        Setting(QUICK, ask_forced=True, hasty=True, watches=True),
    ],
    ids=["alone", "one by one", "watched"],
)
def test_play_when_the_spy_plays_then_every_deal_is_played_and_its_guesses_are_settled(
    setting: Setting,
) -> None:
    played = play(setting, 8)
    assert sorted(played.points) == list(range(1, 9))
    guessed = {guess.session for guess in played.guesses}  # a deal may end without a pass to guess at
    assert guessed
    assert guessed <= set(range(1, 9))
    assert {guess.forced for guess in played.guesses} == {True, False}
    assert all(0 <= chance <= 1 for guess in played.guesses for chance in (guess.prior, guess.timed))

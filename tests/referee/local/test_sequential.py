"""Tests for the sequential test and its intervals, against figures computed independently of the code."""

import random
from dataclasses import replace
from functools import reduce
from math import inf, log, sqrt
from statistics import fmean, pstdev, stdev

import pytest

from referee.local.sequential import (
    FEWEST,
    MOST_MOVED,
    SequentialTest,
    Sums,
    Verdict,
    expected_blocks,
    fixed_interval,
    watched_interval,
)


def sums_of(values: list[float]) -> Sums:
    return reduce(Sums.add, values, Sums())


def drawn(count: int, mean: float, seed: int = 0) -> list[float]:
    rng = random.Random(seed)
    return [rng.gauss(mean, 1.0) for _ in range(count)]


def test_sums_of_values_are_their_mean_and_deviation() -> None:
    values = drawn(300, 5.0)
    sums = sums_of(values)
    assert (sums.count, sums.mean, sums.deviation) == pytest.approx((300, fmean(values), pstdev(values)))
    assert sums.t == pytest.approx(fmean(values) / pstdev(values))
    apart = [(value - sums.mean) / sums.deviation for value in values]
    skewness, excess = (fmean(one**power for one in apart) for power in (3, 4))
    assert (sums.skewness, sums.excess) == pytest.approx((skewness, max(0.0, excess - 3)))
    alike = Sums()
    assert (alike.deviation, alike.t, alike.skewness, alike.excess) == (0.0, 0.0, 0.0, 0.0)


def test_sums_of_values_of_which_some_lie_far_above_tell_how_far_and_how_rare() -> None:
    sums = sums_of([0.0] * 9 + [1.0])  # of a share p of ones: (1 - 2p) / √(p(1 - p)), and 1 / (p(1 - p)) - 6
    assert (sums.skewness, sums.excess) == pytest.approx((0.8 / 0.3, 1 / 0.09 - 6))


@pytest.mark.parametrize(
    ("mean", "llr"),
    # N/2 ln[(1 + t²)/(1 + (t - 0.1)²)] for N = 400, by hand
    [(0.0, -1.990066), (0.05, 0.0), (0.1, 1.990066), (0.2, 5.854076), (-0.1, -5.854076)],
)
def test_llr_when_skewness_is_not_doubted_then_it_is_that_of_fishtest(
    mean: float, llr: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.local.sequential.CAUTION", 0.0)
    sums = Sums(400, mean * 2, 400 * 4.0)
    assert SequentialTest(t1=0.1).llr(sums) == pytest.approx(llr, abs=1e-6)


def test_llr_when_all_values_are_alike_then_it_is_0() -> None:
    assert SequentialTest().llr(sums_of([2.0] * 500)) == 0.0


@pytest.mark.parametrize(("skewness", "side"), [(-2.0, "less"), (2.0, "more")])
def test_llr_when_values_lie_far_off_now_and_then_then_it_takes_more_to_be_better_or_less(
    skewness: float, side: str
) -> None:
    normal, test = 5.854076 / 400, SequentialTest()
    # computed independently: t 0.2, excess 5; 400 / 421 of the skewness is known, its error √(36 / 400)
    off, on = 0.2 - test.t0, 0.2 - test.t1
    at_0, at_1 = ((skewness - each * (5 - 1.5 * 4)) * 400 / 421 - 1.5 * 0.3 for each in (off, on))
    moved = at_0 * off**3 / 3 - at_1 * (0.1 * on**2 / 2 + on**3 / 3)
    assert {"less": moved < 0, "more": moved > 0}[side]
    sums = Sums(400, 0.2, 400.0, 400 * skewness, 400 * 8.0)
    assert test.llr(sums) == pytest.approx(400 * (normal + moved))


@pytest.mark.parametrize("t", [-1.5, -0.3, 0.02, 0.08, 0.4, 1.5])
@pytest.mark.parametrize("skewness", [-30.0, -1.0, 1.0, 30.0])
def test_llr_when_values_are_skewed_then_its_sign_stays_and_it_moves_by_a_share_at_most(
    t: float, skewness: float
) -> None:
    skewed = SequentialTest(t1=0.1).llr(Sums(100, t, 100.0, 100 * skewness))
    normal = 50 * log((1 + t**2) / (1 + (t - 0.1) ** 2))
    assert 1 - MOST_MOVED - 1e-12 <= skewed / normal <= 1 + MOST_MOVED + 1e-12


def test_test_of_values_that_lie_far_below_now_and_then_errs_as_seldom_as_it_says() -> None:
    wrong = 0
    test = SequentialTest(0.1, 0.1, 0.0, 0.2)
    for seed in range(300):
        rng, sums = random.Random(seed), Sums()
        while test.verdict(sums) is Verdict.OPEN:
            sums = sums.add(1.0 - rng.expovariate(1.0))  # skewness -2, kurtosis 9
        wrong += test.verdict(sums) is Verdict.BETTER
    assert wrong <= 0.12 * 300  # it would be 54 if the values were treated as normal


def test_bounds_are_walds() -> None:
    bounds = SequentialTest(0.05, 0.1, 0.0, 0.2).bounds
    assert (bounds.low, bounds.high) == pytest.approx((log(0.1 / 0.95), log(0.9 / 0.05)))


@pytest.mark.parametrize("t", [1.0, 3.0, 30.0, inf])
def test_verdict_when_the_difference_is_huge_then_it_falls_at_the_fewest_blocks(t: float) -> None:
    # by the ratio alone it would take about t / t1 · ln(19) blocks, and for ever if all values are alike
    spread = 0.0 if t == inf else FEWEST / t**2
    test = SequentialTest()
    for mean, verdict in ((1.0, Verdict.BETTER), (-1.0, Verdict.NOT_BETTER)):
        assert test.verdict(Sums(FEWEST - 1, mean, spread)) is Verdict.OPEN
        assert test.verdict(Sums(FEWEST, mean, spread)) is verdict
        assert test.blocks_to_go(Sums(FEWEST, mean, spread)) == 0


def test_verdict_before_the_fewest_blocks_is_open() -> None:
    values = drawn(FEWEST, 3.0)
    assert SequentialTest().verdict(sums_of(values[:-1])) is Verdict.OPEN
    assert SequentialTest(t1=0.5).verdict(sums_of(values)) is Verdict.BETTER
    assert SequentialTest(t1=0.5).verdict(sums_of([-value for value in values])) is Verdict.NOT_BETTER


@pytest.mark.parametrize(("t1", "blocks"), [(0.1, 533), (0.2, 136), (0.5, FEWEST)])
def test_verdict_when_no_value_differs_then_it_takes_as_many_as_would_have_shown_t1(
    t1: float, blocks: int
) -> None:
    # ln(10 / 0.05) / ln(1 + t1²) = 532.5, 135.1, 23.7; it is never less than ``FEWEST``
    assert SequentialTest(t1=t1).verdict(Sums(blocks - 1)) is Verdict.OPEN
    assert SequentialTest(t1=t1).verdict(Sums(blocks)) is Verdict.NOT_BETTER
    assert SequentialTest(t1=t1).blocks_to_go(Sums(blocks - 10)) == pytest.approx(10, abs=1)


def test_verdict_when_no_value_differs_and_t1_is_not_above_0_then_it_stays_open() -> None:
    assert SequentialTest(t0=-0.1, t1=0.0).enough_alike == inf
    assert SequentialTest(t0=-0.1, t1=0.0).verdict(Sums(10**6)) is Verdict.OPEN


@pytest.mark.parametrize(
    ("t1", "t", "blocks"),
    [(0.1, 0.0, 530), (0.1, 0.1, 530), (0.1, 0.05, 867), (0.2, 0.2, 132), (0.2, 0.1, 217)],
)
def test_expected_blocks_are_those_known(t1: float, t: float, blocks: int) -> None:
    assert expected_blocks(SequentialTest(t1=t1), t) == pytest.approx(blocks, abs=1)


@pytest.mark.parametrize("t", [-0.1, 0.05, 0.1, 0.2])
def test_expected_blocks_are_those_that_simulated_tests_take(t: float) -> None:
    test = SequentialTest(t1=0.2, alpha=0.1, beta=0.1)
    taken = []
    for seed in range(400):
        rng, sums = random.Random(seed), Sums()
        while test.verdict(sums) is Verdict.OPEN:
            sums = sums.add(rng.gauss(t, 1.0))
        taken.append(sums.count)
    least = max(expected_blocks(test, t), FEWEST)
    # none ends before ``FEWEST``, and not relying on a skewness of 0 takes some more
    assert least * 0.85 < fmean(taken) < least * 1.35 + 12


def test_blocks_to_go_when_a_bound_is_near_then_they_are_few() -> None:
    test = SequentialTest(t1=0.1)
    far, near = Sums(100, 0.1, 100.0), Sums(500, 0.1, 500.0)
    assert test.blocks_to_go(near) < test.blocks_to_go(far)
    assert test.blocks_to_go(Sums(5, 1.0, 5.0)) == FEWEST - 5
    assert test.blocks_to_go(Sums(1000, 1.0, 1000.0)) == 0
    assert SequentialTest(t1=0.5).blocks_to_go(Sums(10, 1.0, 20.0)) == FEWEST - 10


def test_fixed_interval_is_the_usual_one() -> None:
    values = drawn(50, 1.0)
    interval = fixed_interval(sums_of(values))
    assert interval is not None
    error = 1.959964 * stdev(values) / sqrt(50)
    assert (interval.low, interval.high) == pytest.approx((fmean(values) - error, fmean(values) + error))
    assert fixed_interval(sums_of([1.0])) is None


def test_watched_interval_is_that_of_the_confidence_sequence() -> None:
    values = drawn(200, 1.0)
    interval = watched_interval(sums_of(values), 530)
    assert interval is not None
    r2 = (-2 * log(0.05) + log(-2 * log(0.05)) + 1) / 530
    inside = 2 * (200 * r2 + 1) * log(sqrt(200 * r2 + 1) / 0.05) / (200**2 * r2)
    assert (interval.high - interval.low) / 2 == pytest.approx(stdev(values) * sqrt(inside))
    assert watched_interval(sums_of(values[: FEWEST - 1]), 530) is None


def test_watched_interval_is_tightest_where_it_is_asked_to_be() -> None:
    def width(tightest: float) -> float:
        interval = watched_interval(Sums(500, 0.0, 500.0), tightest)
        assert interval is not None
        return interval.high

    assert width(500) < min(width(200), width(1500))
    fixed = fixed_interval(Sums(500, 0.0, 500.0))
    assert fixed is not None
    assert 1.3 < width(500) / fixed.high < 1.7


def test_watched_interval_holds_all_along_where_the_fixed_one_does_not() -> None:
    missed = {"watched": 0, "fixed": 0}
    for seed in range(300):
        seen, sums = set(), Sums()
        for value in drawn(600, 0.0, seed):
            sums = sums.add(value)
            for name, interval in (("watched", watched_interval(sums, 200)), ("fixed", fixed_interval(sums))):
                if interval is not None and sums.count >= FEWEST and interval.low * interval.high > 0:
                    seen.add(name)
        for name in seen:
            missed[name] += 1
    assert missed["watched"] <= 0.05 * 300 + 6
    assert missed["fixed"] >= 0.2 * 300


def test_test_of_other_hypotheses_moves_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.local.sequential.CAUTION", 0.0)
    test = SequentialTest(t0=0.1, t1=0.2)
    assert test.llr(Sums(400, 0.15, 400.0)) == pytest.approx(0.0)
    assert test.llr(Sums(400, 0.25, 400.0)) == pytest.approx(
        replace(test, t0=0.0, t1=0.1).llr(Sums(400, 0.15, 400.0))
    )

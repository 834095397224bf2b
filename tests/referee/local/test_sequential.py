"""The sequential test and its intervals, against figures worked out apart from the code."""

import random
from dataclasses import replace
from functools import reduce
from math import inf, log, sqrt
from statistics import fmean, pstdev, stdev

import pytest

from referee.local.sequential import (
    FEWEST,
    SequentialTest,
    Verdict,
    expected_blocks,
    fixed_interval,
    watched_interval,
)
from referee.local.sums import Sums


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
    assert (Sums().deviation, Sums().t) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("mean", "llr"),
    # N/2 ln[(1 + t²)/(1 + (t - 0.1)²)] for N = 400, by hand
    [(0.0, -1.990066), (0.05, 0.0), (0.1, 1.990066), (0.2, 5.854076), (-0.1, -5.854076)],
)
def test_llr_of_a_mean_in_deviations_is_that_of_fishtest(mean: float, llr: float) -> None:
    sums = Sums(400, mean * 2, 400 * 4.0)
    assert SequentialTest(t1=0.1).llr(sums) == pytest.approx(llr, abs=1e-6)


def test_llr_when_all_values_are_alike_then_it_is_0_and_nothing_is_decided() -> None:
    sums = sums_of([2.0] * 5000)
    assert SequentialTest().llr(sums) == 0.0
    assert SequentialTest().verdict(sums) is Verdict.OPEN


def test_bounds_are_walds_less_the_mean_overshoot() -> None:
    bounds = SequentialTest(0.05, 0.1, 0.0, 0.2).bounds
    assert bounds.high == pytest.approx(log(0.9 / 0.05) - 0.583 * 0.2)
    assert bounds.low == pytest.approx(log(0.1 / 0.95) + 0.583 * 0.2)


def test_verdict_before_the_fewest_blocks_is_open() -> None:
    values = drawn(FEWEST, 3.0)
    assert SequentialTest().verdict(sums_of(values[:-1])) is Verdict.OPEN
    assert SequentialTest(t1=0.5).verdict(sums_of(values)) is Verdict.BETTER
    assert SequentialTest(t1=0.5).verdict(sums_of([-value for value in values])) is Verdict.NOT_BETTER


@pytest.mark.parametrize(("t1", "blocks"), [(0.1, 533), (0.2, 136), (0.5, FEWEST + 4)])
def test_verdict_when_no_value_differs_then_it_takes_as_many_as_would_have_shown_t1(
    t1: float, blocks: int
) -> None:
    # ln(10 / 0.05) / ln(1 + t1²) = 532.5, 135.1, 23.7
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
def test_expected_blocks_without_overshoot_are_those_known(
    t1: float, t: float, blocks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.local.sequential.OVERSHOOT", 0.0)
    assert expected_blocks(SequentialTest(t1=t1), t) == pytest.approx(blocks, abs=1)


@pytest.mark.parametrize("t", [-0.2, 0.05, 0.1, 0.3])
def test_expected_blocks_are_those_that_simulated_tests_take(t: float) -> None:
    test = SequentialTest(t1=0.3, alpha=0.1, beta=0.1)
    taken = []
    for seed in range(400):
        rng, sums = random.Random(seed), Sums()
        while test.verdict(sums) is Verdict.OPEN:
            sums = sums.add(rng.gauss(t, 1.0))
        taken.append(sums.count)
    least = max(expected_blocks(test, t), FEWEST)
    assert least * 0.85 < fmean(taken) < least * 1.15 + 12  # none ends before the fewest


def test_blocks_to_go_when_a_bound_is_near_then_they_are_few() -> None:
    test = SequentialTest(t1=0.1)
    far, near = Sums(100, 0.1, 100.0), Sums(500, 0.1, 500.0)
    assert test.blocks_to_go(near) < test.blocks_to_go(far)
    assert test.blocks_to_go(Sums(5, 1.0, 5.0)) == pytest.approx(expected_blocks(test, 1.0) - 5, abs=6)
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


def test_test_of_other_hypotheses_moves_with_them() -> None:
    test = SequentialTest(t0=0.1, t1=0.2)
    assert test.llr(Sums(400, 0.15, 400.0)) == pytest.approx(0.0)
    assert test.llr(Sums(400, 0.25, 400.0)) == pytest.approx(
        replace(test, t0=0.0, t1=0.1).llr(Sums(400, 0.15, 400.0))
    )

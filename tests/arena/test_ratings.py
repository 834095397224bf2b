"""Elo ratings at tables of two or more bots."""

import math
from random import Random
from statistics import stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.core.elo import START, UNKNOWN, K, apply_match, expected, match_weight, spread, uncertainty


def test_apply_match_of_two_equals_is_elos_own_formula() -> None:
    assert apply_match({}, {1: 5, 2: 3}) == {1: START + K / 2, 2: START - K / 2}


def test_apply_match_of_two_unequals_moves_by_the_surprise() -> None:
    after = apply_match({1: 1700.0, 2: 1500.0}, {1: 0, 2: 1})
    assert after[2] - 1500 == pytest.approx(32 / (1 + 10 ** (-200 / 400)))
    assert after[1] - 1700 == pytest.approx(1500 - after[2])


def test_apply_match_of_four_sums_the_pairs() -> None:
    assert apply_match({}, {1: 0, 2: -5, 3: -9, 4: -9}) == pytest.approx(
        {1: 1500 + 16, 2: 1500 + 16 / 3, 3: 1500 - 32 / 3, 4: 1500 - 32 / 3}
    )


@pytest.mark.parametrize(
    ("sessions", "deals", "weight"), [(1, 4, 0.1), (4, 5, 0.5), (4, 10, 1.0), (600, 10, 1.0), (4, 1000, 1.0)]
)
def test_match_weight_is_that_of_its_deals_up_to_full_length(
    sessions: int, deals: int, weight: float
) -> None:
    assert match_weight(sessions, deals) == weight
    assert apply_match({}, {1: 5, 2: 3}, weight=weight)[1] == START + weight * K / 2


def test_apply_match_of_a_draw_between_equals_changes_nothing() -> None:
    assert apply_match({1: 1510.0, 2: 1510.0, 3: 1510.0}, {1: 7, 2: 7, 3: 7}) == dict.fromkeys(
        (1, 2, 3), 1510.0
    )


def test_apply_match_leaves_its_input_alone() -> None:
    ratings = {1: 1600.0, 9: 1400.0}
    assert set(apply_match(ratings, {1: 0, 2: 1})) == {1, 2}
    assert ratings == {1: 1600.0, 9: 1400.0}


def test_expected_of_400_points_is_ten_to_one() -> None:
    assert expected(1900, 1500) == pytest.approx(10 / 11)
    assert expected(1500, 1500) == 0.5
    assert expected(1e300, 0) == 1
    assert expected(0, 1e300) == pytest.approx(0)


tables = st.dictionaries(
    st.integers(1, 99), st.tuples(st.floats(500, 2500), st.integers(-50, 50)), min_size=2, max_size=8
)


@given(tables)
def test_apply_match_of_any_table_sums_to_zero_and_moves_by_k_at_most(
    table: dict[int, tuple[float, int]],
) -> None:
    before = {who: rating for who, (rating, _) in table.items()}
    after = apply_match(before, {who: points for who, (_, points) in table.items()})
    assert math.isclose(sum(after.values()), sum(before.values()), abs_tol=1e-6)
    assert all(abs(after[who] - before[who]) <= K + 1e-9 for who in table)


@given(tables)
def test_apply_match_favours_who_has_more_points_among_equals(table: dict[int, tuple[float, int]]) -> None:
    points = {who: scored for who, (_, scored) in table.items()}
    after = apply_match({}, points)
    by_points = sorted(points, key=lambda who: points[who])
    assert [after[who] for who in by_points] == pytest.approx(sorted(after.values()))


@pytest.mark.parametrize("size", [2, 4, 8])
def test_uncertainty_shrinks_with_matches_down_to_the_swing_of_the_latest(size: int) -> None:
    found = [uncertainty(matches, size) for matches in range(400)]
    assert found[0] == pytest.approx(1.96 * UNKNOWN)
    assert found == sorted(found, reverse=True)
    assert 2 * K < found[-1] < 5 * K
    assert found[-2] - found[-1] < 0.01


@pytest.mark.parametrize("size", [2, 4, 8])
@pytest.mark.parametrize("matches", [1, 5, 20, 60])
def test_uncertainty_holds_the_true_rating_about_95_times_in_100(size: int, matches: int) -> None:
    rng = Random(f"{size} {matches}")
    inside = total = 0
    for _ in range(25):
        true = {bot: rng.gauss(START, UNKNOWN) for bot in range(32)}
        mean = sum(true.values()) / len(true)
        ratings = dict.fromkeys(true, START)
        for _ in range(matches):
            order = rng.sample(list(true), len(true))
            for at in range(0, len(order), size):
                table = order[at : at + size]
                ratings |= apply_match(ratings, {bot: performance(true[bot], rng) for bot in table})
        errors = [ratings[bot] - START - (true[bot] - mean) for bot in true]
        inside += sum(abs(error) <= uncertainty(matches, size) for error in errors)
        total += len(errors)
    assert 0.91 <= inside / total <= 0.99


def performance(rating: float, rng: Random) -> float:
    """Draw a performance; of two, each is higher as often as Elo expects: a logistic share (Luce, Gumbel)."""
    return rating / 400 * math.log(10) - math.log(-math.log(1 - rng.random()))


def test_spread_of_a_sum_is_that_of_its_values() -> None:
    values = [3.0, -1.0, 4.0, 1.0, -5.0]
    found = spread(len(values), sum(values), sum(value * value for value in values))
    assert found == pytest.approx(1.96 * stdev(values) * len(values) ** 0.5)
    assert spread(1, 3.0, 9.0) is None
    assert spread(4, 8.0, 16.0) == 0

"""Strengths from sums: the fit, rank ranges, tiers, and the scale."""

import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest

from arena.core.ranking import ScoreKind
from arena.results.strength.counts import Array, Counts, Kind, groups_of
from arena.results.strength.equations import Graph, Matrices
from arena.results.strength.fit import fit_counts
from arena.results.strength.ranges import places
from arena.results.strength.scale import figure
from arena.results.strength.sums import Scored, Sums, scored
from arena.results.strength.versions import Lineages
from benchmarks.coverage import held, seasons
from benchmarks.worlds import Row, synthetic


def season(row: Row, versions: int = 1) -> tuple[Sums, Array]:
    """Return the sums of a synthetic season of fifteen rounds, and each bot's true strength in it."""
    rng = np.random.default_rng(0)
    world = synthetic(rng, row.bots, row.spread, row.gain, versions)
    sums = Sums(row.size)
    for _ in range(15):
        order = rng.permutation(row.bots)
        for at in range(0, row.bots - row.size + 1, row.size):
            sums.add(world.play([int(bot) for bot in order[at : at + row.size]], row.deals))
    return sums, world.truth


def test_scored_when_deals_are_given_then_scores_are_relative_to_the_table() -> None:
    match = scored([7, 3], [(4.0, 0.0), (2.0, 2.0), (-1.0, -5.0)])
    assert match is not None
    assert match[:3] == ((7, 3), 3, (4.0, -4.0))
    assert match.within == pytest.approx((8 - 16 / 3, 8 - 16 / 3))
    assert scored([7, 3], []) is None


def test_groups_when_some_never_met_then_they_stand_apart_the_largest_first() -> None:
    met = [([0], [4]), ([1, 1], [3, 2])]
    assert groups_of(5, [(np.array(one), np.array(other)) for one, other in met]).tolist() == [1, 0, 0, 0, 1]
    chain = np.random.default_rng(0).permutation(1000)
    assert not groups_of(1000, [(chain[:-1], chain[1:])]).any()
    assert groups_of(3, []).tolist() == [0, 1, 2]


def by_definition(
    matches: Sequence[Scored], size: int, related: Array, s: float, tau: float, g: float
) -> tuple[Array, Array]:
    """Return the mean and covariance of theta given b, with strengths and gains written out one by one."""
    bots = len(related)
    pairs = list(combinations(range(bots), 2))
    causes = np.zeros((len(matches) * size, bots + len(pairs)))  # columns: strengths, then gains
    noise = np.zeros((len(matches) * size, len(matches) * size))
    gather = np.zeros((bots, len(matches) * size))
    scores = np.zeros(len(matches) * size)
    for number, match in enumerate(matches):
        for seat, bot in enumerate(match.bots):
            at = number * size + seat
            causes[at, bot] += 1
            causes[at, list(match.bots)] -= 1 / size
            for other in match.bots:
                if other != bot:
                    sign = 1 if bot < other else -1
                    causes[at, bots + pairs.index((min(bot, other), max(bot, other)))] += sign / size
            scores[at] = match.scores[seat] / match.deals
            gather[bot, at] = match.deals / s**2
            for there in range(size):
                noise[at, number * size + there] = s**2 / match.deals * ((seat == there) - 1 / size)
    asked = np.zeros((bots, bots + len(pairs)))
    asked[:, :bots] = np.eye(bots) - 1 / bots
    for at, (one, other) in enumerate(pairs):
        asked[one, bots + at], asked[other, bots + at] = 1 / bots, -1 / bots
    prior = np.diag([g**2] * (bots + len(pairs)))
    prior[:bots, :bots] = tau**2 * related
    told = gather @ causes
    inverse = np.linalg.pinv(told @ prior @ told.T + gather @ noise @ gather.T, rcond=1e-10)
    shared = asked @ prior @ told.T
    return shared @ inverse @ gather @ scores, asked @ prior @ asked.T - shared @ inverse @ shared.T


def spread_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the prior of strengths the same normal distribution for all bots, without a drift."""
    monkeypatch.setattr("arena.results.strength.equations.spreads_of", lambda off, *_: np.ones(len(off)))
    monkeypatch.setattr("arena.results.strength.equations.DRIFTS", (0.0,))
    monkeypatch.setattr("arena.results.strength.equations.DRIFT_CHANCES", (1.0,))


def related_by(lines: Sequence[Sequence[int]], bots: int) -> Array:
    """Return the covariances of strengths that differ by steps of variance 1/4 from version to version."""
    steps = np.eye(bots)
    for line in lines:
        for number, one in enumerate(line):
            steps[one, list(line[:number])] = 0.5
            steps[one, line[0]] = 1.0
            steps[one, one] = 0.5 if number else 1.0
    return np.asarray(steps @ steps.T)


@pytest.mark.parametrize("lines", [(), ((0, 3), (5, 1, 4))], ids=["single versions", "several versions"])
@pytest.mark.parametrize(("tau", "g"), [(1.0, 0.5), (0.2, 1.0), (2.0, 0.0)])
def test_posterior_when_spread_and_gain_are_known_then_it_is_that_of_the_joint_distribution(
    tau: float, g: float, lines: Sequence[Sequence[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.results.strength.equations.SHARES", (0.5,))
    spread_alike(monkeypatch)
    rng = np.random.default_rng(1)
    world = synthetic(rng, 7, 1.0, 0.5)
    tables = [(0, 1, 2), (0, 1, 3), (4, 5, 6), (0, 1, 2), (2, 3, 4), (5, 1, 6)]
    matches = [world.play(table, 10 + at) for at, table in enumerate(tables)]
    sums = Sums(3)
    for match in matches:
        sums.add(match)
    kind = Kind.of(Counts.of(sums), range(7))
    kind.variance = 25.0
    system = Matrices([kind], Lineages(range(7), lines))
    system.grid = np.array([tau])
    found = system.posterior(g**2, np.zeros(7, dtype=np.intp))
    mean, covariance = by_definition(matches, 3, related_by(lines, 7), 5.0, tau, g)
    assert found.covariances is not None
    np.testing.assert_allclose(found.strengths, mean, atol=1e-6)
    np.testing.assert_allclose(found.covariances, covariance, atol=1e-6)


def test_fit_when_nothing_was_played_then_there_is_none() -> None:
    assert fit_counts([Counts.of(Sums(4))]) is None


@pytest.mark.parametrize(
    "row",
    [
        Row("", 8, 4, 60, "round-robin", 1.0, 0.4),
        Row("", 32, 4, 40, "closeness", 1.0, 0.4),
        Row("", 32, 2, 20, "swiss", 1.0, 0.3),
    ],
    ids=["few", "closeness", "two at a table"],
)
def test_fit_when_seasons_are_drawn_then_intervals_hold_about_as_often_as_they_say(row: Row) -> None:
    drawn = []
    for number in range(12):
        rng = np.random.default_rng(number)
        drawn += [one.all for _, one in seasons(synthetic(rng, row.bots, row.spread, row.gain), row, rng)]
    assert 0.90 < np.mean(drawn) < 0.99


def test_fit_when_matches_have_one_deal_then_the_deviation_comes_from_between_them() -> None:
    sums, _ = season(Row("", 32, 4, 1, "round-robin", 0.5, 0.0))
    found = fit_counts([Counts.of(sums)])
    assert found is not None
    assert found.deviation == pytest.approx(5.0, rel=0.1)


def test_fit_when_duplicate_deals_vary_less_then_they_weigh_more() -> None:
    plain, exact = Sums(2), Sums(2)
    plain.add(Scored((1, 2), 100, (50.0, -50.0), (2500.0, 2500.0)))
    exact.add(Scored((1, 2), 100, (100.0, -100.0), (100.0, 100.0)))
    both, alone = (
        fit_counts([Counts.of(plain), Counts.of(exact, ScoreKind.DUPLICATE)]),
        fit_counts([Counts.of(plain)]),
    )
    assert both is not None
    assert alone is not None
    assert both.variances[0] < alone.variances[0] / 4
    assert both.strengths[0] > 0.85  # 0.5 by the plain deals, 1 by the others


def test_fit_when_groups_never_met_then_each_has_its_own_mean() -> None:
    sums = Sums(2)
    for one, other, score in ((1, 2, 90.0), (3, 4, 20.0), (3, 5, 30.0), (4, 5, 10.0)):
        sums.add(Scored((one, other), 100, (score, -score), (450.0, 450.0)))
    found = fit_counts([Counts.of(sums)])
    assert found is not None
    assert found.groups == (1, 1, 0, 0, 0)
    assert found.strengths[:2].sum() == pytest.approx(0, abs=1e-9)
    assert found.strengths[2:].sum() == pytest.approx(0, abs=1e-9)
    assert [one.rank for one in places(found)] == [1, 2, 1, 2, 3]


@pytest.mark.parametrize("versions", [1, 2, 4])
def test_graph_when_a_pool_is_large_then_it_is_near_the_matrices(
    versions: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.results.strength.equations.SHARES", (0.25,))
    spread_alike(monkeypatch)
    sums, _ = season(Row("", 160, 4, 40, "round-robin", 1.0, 0.4), versions)
    kind = Kind.of(Counts.of(sums), range(160))
    kind.variance = 25.0
    lines = Lineages(range(160), np.arange(160).reshape(-1, versions).tolist())
    exact, near = Matrices([kind], lines), Graph([kind], lines)
    groups = np.zeros(160, dtype=np.intp)
    one, other = exact.posterior(0.16, groups), near.posterior(0.16, groups)
    assert np.abs(one.strengths - other.strengths).max() < 0.2 * np.sqrt(one.variances.min())
    np.testing.assert_allclose(np.sqrt(other.variances), np.sqrt(one.variances), rtol=0.05)


def test_places_when_bots_are_equal_then_all_may_have_any_rank_and_share_a_tier() -> None:
    sums, _ = season(Row("", 12, 4, 40, "round-robin", 0.0, 0.0))
    found = fit_counts([Counts.of(sums)])
    assert found is not None
    assert {(one.best, one.worst, one.tier) for one in places(found)} == {(1, 12, 1)}


def test_places_when_bots_differ_then_ranges_hold_the_true_ranks_and_tiers_follow_the_order() -> None:
    sums, truth = season(Row("", 16, 4, 100, "round-robin", 3.0, 0.1))
    found = fit_counts([Counts.of(sums)])
    assert found is not None
    standing = places(found)
    true = [1 + int((truth > one).sum()) for one in truth]
    assert all(one.best <= rank <= one.worst for one, rank in zip(standing, true, strict=True))
    by_rank = sorted(standing, key=lambda one: one.rank)
    assert [one.tier for one in by_rank] == sorted(one.tier for one in standing)
    assert by_rank[-1].tier > 3
    assert by_rank[0].worst < 6
    assert held(found, truth).ranks == 1.0


@pytest.mark.parametrize(("strength", "figure_is"), [(0.0, 1500), (1.0, 1757), (-1.0, 1243), (1e9, 7582)])
def test_figure_when_a_strength_is_given_then_it_is_that_of_forty_deals(
    strength: float, figure_is: int
) -> None:
    assert round(figure(strength, 5.0)) == figure_is


def test_figure_when_points_never_differ_then_all_are_alike() -> None:
    assert figure(1.0, 0.0) == 1500


def test_fits_when_they_are_computed_then_they_take_one_thread() -> None:
    named = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    program = "import os, arena.results.strength.equations; print(len(os.listdir('/proc/self/task')))"
    ended = subprocess.run([sys.executable, "-c", program], env=named, check=True, capture_output=True)
    assert int(ended.stdout) == 1

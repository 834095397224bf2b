"""How much each bot varies, and what follows: weights, tails, and limits for many comparisons."""

import numpy as np
import pytest
from sqlmodel import select

from arena.queries.names import rated_pools
from arena.queries.versus import compared
from arena.results.strength.counts import Counts, Kind
from arena.results.strength.fit import fit_counts
from arena.results.strength.fitting import counts_of, fit_due
from arena.results.strength.ranges import Above, Stood, range_limit, shifts
from arena.results.strength.sums import Sums
from arena.results.strength.tails import spreads_of, t_quantile
from arena.results.strength.variances import weigh
from arena.store.models import BotVersion
from benchmarks.worlds import of_bots
from tests.arena.world import World


def season(deviations: list[float], deals: int = 20, rounds: int = 40, size: int = 4) -> Counts:
    """Return the sums of equal bots with these deviations; the last plays a tenth of the rounds."""
    rng, count = np.random.default_rng(1), len(deviations)
    world = of_bots(rng, np.zeros(count), np.zeros((count, count)), deviations=np.array(deviations))
    sums = Sums(size)
    for number in range(rounds):
        order = [int(bot) for bot in rng.permutation(count - bool(number % 10))]
        for at in range(0, len(order) - size + 1, size):
            sums.add(world.play(order[at : at + size], deals))
    return Counts.of(sums)


@pytest.mark.parametrize("size", [2, 4])
def test_variances_when_bots_vary_unlike_then_each_has_its_own(size: int) -> None:
    true = [12.0] * 4 + [4.0] * 13
    counts = season(true, size=size)
    kind = Kind.of(counts, range(17))
    kind.variance = counts.within / counts.within_freedom
    vary = weigh([kind])
    np.testing.assert_allclose(np.sqrt(vary.own * kind.variance)[:16], true[:16], rtol=0.25)
    assert vary.freedom[16] < vary.freedom[15]
    fit = fit_counts([counts])
    assert fit is not None
    assert fit.variances[:4].min() > 1.2 * fit.variances[4:16].max()


def test_variances_when_bots_vary_alike_then_they_hardly_differ() -> None:
    counts = season([5.0] * 17)
    kind = Kind.of(counts, range(17))
    kind.variance = counts.within / counts.within_freedom
    vary = weigh([kind])
    np.testing.assert_allclose(vary.own, 1.0, atol=0.1)
    np.testing.assert_allclose(kind.shares, 1 / 4, rtol=0.1)


def test_variances_when_matches_have_one_deal_then_they_come_from_between_them() -> None:
    fit = fit_counts([season([12.0] * 4 + [4.0] * 13, deals=1, rounds=400)])
    assert fit is not None
    assert fit.noise[:4].min() > 2 * fit.noise[4:16].max()


def test_variances_when_points_never_differ_then_the_fit_is_finite() -> None:
    fit = fit_counts([season([0.0] * 9)])
    assert fit is not None
    assert np.isfinite(fit.variances).all()
    np.testing.assert_allclose(fit.strengths, 0.0, atol=1e-9)


@pytest.mark.parametrize(("freedom", "quantile"), [(3, 3.182), (5, 2.571), (10, 2.228), (30, 2.042)])
def test_quantile_of_t_when_the_normal_one_is_given_then_it_is_that_of_the_tables(
    freedom: float, quantile: float
) -> None:
    assert t_quantile(1.96, np.array([freedom]))[0] == pytest.approx(quantile, rel=0.015)


@pytest.mark.parametrize(("count", "quantile"), [(2, 2.772), (3, 3.314), (10, 4.474), (20, 5.012)])
def test_range_of_equal_bots_when_they_are_counted_then_it_is_that_of_tukeys_tables(
    count: int, quantile: float
) -> None:
    assert range_limit(count) * 2**0.5 == pytest.approx(quantile, abs=1e-3)
    assert range_limit(2) == pytest.approx(1.96, abs=1e-3)


def test_spreads_when_one_bot_is_far_from_the_rest_then_it_alone_may_be() -> None:
    off = np.concatenate([np.random.default_rng(0).normal(0, 0.3, 19), [6.0]])
    spreads = spreads_of(off, np.full(20, 1 / 0.09), np.zeros(20), np.zeros(20, dtype=np.intp))
    assert spreads.mean() == pytest.approx(1)
    assert spreads[19] > 50 * spreads[:19].max()


def test_shift_when_a_strong_bot_becomes_an_anchor_then_it_is_by_how_much_the_mean_moves() -> None:
    fit = fit_counts([season([5.0] * 9)])
    assert fit is not None
    anchored = float(fit.strengths[:2].mean())
    above = [Above(float(value) - anchored, 0.1, True) for value in fit.strengths]
    before = {bot: Stood(1, bot == 0, 0.5) for bot in range(8)}
    moved = shifts(fit, above, before)
    assert moved == pytest.approx([0.5 + anchored - float(fit.strengths[0])] * 9)


def test_comparison_when_two_bots_have_strengths_then_its_error_is_that_of_the_fit(world: World) -> None:
    world.finish(world.tournament(8, rounds=3, sessions=4, deals=3).id)
    fit_due(world.storage, world.clock())
    with world.storage.read() as tx:
        fit = fit_counts(counts_of(tx, rated_pools(tx)[0].pool))
        names = {version.id: version.name for version in tx.exec(select(BotVersion))}
        pool = rated_pools(tx)[0]
    assert fit is not None
    for one, other in ((0, 1), (5, 2), (7, 0)):
        verdict = compared(world.storage, pool, names[fit.bots[one]], names[fit.bots[other]])
        assert verdict.plus_minus == pytest.approx(1.96 * fit.variance_between(one, other) ** 0.5, rel=1e-5)

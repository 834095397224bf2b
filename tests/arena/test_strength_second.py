"""The fit against a second implementation, which shares nothing with it but the sums."""

import numpy as np
import pytest

from arena.core.ranking import ScoreKind
from arena.results.strength.counts import Counts
from arena.results.strength.fit import fit_counts
from arena.results.strength.fitting import counts_of
from arena.results.strength.pools import Pool
from arena.results.strength.sums import Sums
from benchmarks.worlds import synthetic
from tests.arena.second_fit import second_fit
from tests.arena.world import World


@pytest.fixture(autouse=True)
def every_spread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the fit leave out no spread, however small its weight."""
    monkeypatch.setattr("arena.results.strength.equations.NEGLIGIBLE", 0.0)


def agree(kinds: list[Counts]) -> None:
    """Compare the fit of these sums with the second one."""
    found, second = fit_counts(kinds), second_fit(kinds)
    assert found is not None
    assert found.covariances is not None
    assert (found.deviation, found.gain) == pytest.approx((second.deviation, second.gain), rel=1e-6)
    assert found.spread == pytest.approx(second.spread, rel=1e-6)
    np.testing.assert_allclose(found.strengths, second.strengths, atol=1e-6)
    np.testing.assert_allclose(found.covariances, second.covariances, atol=1e-6)


@pytest.mark.parametrize(("spread", "gain"), [(1.0, 0.4), (0.0, 0.0), (0.3, 1.5)])
def test_fit_when_a_second_implementation_has_the_same_sums_then_they_agree(
    spread: float, gain: float
) -> None:
    rng = np.random.default_rng(7)
    world = synthetic(rng, 13, spread, gain)
    kinds = [Sums(4), Sums(4)]
    for number in range(60):
        table = [int(bot) for bot in rng.permutation(13)[:4]]
        kinds[number % 3 == 0].add(world.play(table, int(rng.integers(2, 60))))
    agree([Counts.of(kinds[0]), Counts.of(kinds[1], ScoreKind.DUPLICATE)])


def test_fit_when_a_tournament_was_played_then_a_second_implementation_agrees(world: World) -> None:
    world.finish(world.tournament(8, sessions=6, deals=4).id)
    with world.storage.read() as tx:
        agree(counts_of(tx, Pool(1, 4)))

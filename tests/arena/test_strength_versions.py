"""Versions of one bot: a new one starts from the old one's strength."""

from collections.abc import Sequence

import numpy as np
import pytest

from arena.bots.versions import register_version
from arena.results.strength.counts import Array, Counts
from arena.results.strength.fit import Fit, fit_counts
from arena.results.strength.pools import Pool, lines_in
from arena.results.strength.sums import Scored, Sums
from arena.results.strength.versions import Lineages, walk
from benchmarks.worlds import POINTS, synthetic
from tests.arena.fakes import ROOT
from tests.arena.world import World

FIELD = 15
"""Number of bots with one version each."""
AGAIN = range(FIELD, FIELD + 6)
"""The versions of one bot, registered six times."""


def season(rng: np.random.Generator, strengths: Array, versions: Sequence[int]) -> Sums:
    """Return the sums of the field and a bot, of which each version plays for three rounds."""
    sums = Sums(4)
    for version in np.repeat(versions, 3):
        order = rng.permutation([*range(FIELD), version])
        for table in order.reshape(-1, 4):
            means = strengths[table] + rng.normal(0.0, POINTS / np.sqrt(20), 4)
            within = POINTS**2 * rng.chisquare(3 * 19) / 4
            scores = tuple(float(score) for score in 20 * (means - means.mean()))
            sums.add(Scored(tuple(int(bot) for bot in table), 20, scores, (float(within),) * 4))
    return sums


def errors(found: Fit | None, strengths: Array, bots: Sequence[int]) -> Array:
    """Return how much stronger the bots look than they are, relative to the field."""
    assert found is not None
    places = [found.bots.index(bot) for bot in bots]
    field = np.array([found.strengths[found.bots.index(bot)] for bot in range(FIELD)])
    seen = found.strengths[places] - field.mean()
    return np.asarray(seen - (strengths[list(bots)] - strengths[:FIELD].mean()))


@pytest.mark.parametrize("own", [-1.5, 1.5], ids=["weak", "strong"])
def test_bot_when_it_is_registered_again_and_again_then_its_newest_version_looks_no_better(
    own: float,
) -> None:
    related, apart = [], []
    for number in range(30):
        rng = np.random.default_rng(number)
        strengths = np.concatenate([rng.normal(0.0, 1.0, FIELD), np.full(len(AGAIN), own)])
        sums = season(rng, strengths, AGAIN)
        related.append(errors(fit_counts([Counts.of(sums)], [list(AGAIN)]), strengths, AGAIN))
        apart.append(errors(fit_counts([Counts.of(sums)]), strengths, AGAIN))
    assert np.mean(related, axis=0)[-1] == pytest.approx(0, abs=0.2)
    assert abs(np.mean(apart, axis=0)[-1]) > 0.1  # drawn towards the mean, which helps the weak
    assert np.max(related, axis=1).mean() < np.max(apart, axis=1).mean()


def test_fit_when_bots_have_several_versions_then_intervals_are_narrower_and_hold() -> None:
    held, widths = [], []
    for number in range(12):
        rng = np.random.default_rng(number)
        world, sums = synthetic(rng, 32, 1.0, 0.3, 4), Sums(4)
        for round in range(30):
            order = [int(bot) for bot in 4 * rng.permutation(8) + round * 4 // 30]
            sums.add(world.play(order[:4], 40))
            sums.add(world.play(order[4:], 40))
        for lines in (np.arange(32).reshape(8, 4).tolist(), []):
            found = fit_counts([Counts.of(sums)], lines)
            assert found is not None
            off = np.abs(found.strengths - (world.truth - world.truth.mean()))
            held.append(float(np.mean(off < 1.96 * np.sqrt(found.variances))))
            widths.append(float(np.sqrt(found.variances).mean()))
    assert 0.90 < np.mean(held[::2]) < 0.99
    assert np.mean(widths[::2]) < 0.9 * np.mean(widths[1::2])


def test_lines_when_versions_are_given_then_each_differs_by_a_step_from_the_one_before() -> None:
    lines = Lineages([10, 11, 12, 13, 14], [[12, 10, 14, 99], [11]])
    related = lines.prior(0.5)
    assert related[0, 0] + related[2, 2] - 2 * related[0, 2] == 0.25
    assert related[4, 4] + related[2, 2] - 2 * related[4, 2] == 0.5
    assert related[1].tolist() == [0, 1, 0, 0, 0]
    assert walk(3, 2.0).tolist() == [[1, 1, 1], [1, 5, 5], [1, 5, 9]]
    assert [side.tolist() for side in lines.pairs()] == [[2, 0], [0, 4]]
    assert not Lineages([10, 11], [[10], [11, 99]])


def test_lines_when_a_pool_is_read_then_they_are_the_versions_that_played_in_it(world: World) -> None:
    names = world.register(5)
    world.finish(world.tournament_of(names[:4], name="first").id)
    for bot in ("owner-0/bot-0", "owner-1/bot-1"):
        register_version(world.storage, ROOT, bot, world.clock())
    again = ["owner-0/bot-0@2", *names[2:5]]
    world.finish(world.tournament_of(again, name="second").id)
    with world.storage.read() as tx:
        lines = lines_in(tx, Pool(1, 4))
    assert sorted(lines) == [[1, 6], [2], [3], [4], [5]]

"""How often a bot finishes ahead: the second figure of strengths."""

from itertools import combinations
from math import erf

import numpy as np
import pytest

from arena.queries.leaderboards import leaderboard
from arena.results.strength import ahead as module
from arena.results.strength.ahead import Ahead, Results, abilities_of, finishing_ahead
from arena.results.strength.counts import MEETING, SCORE, Array, Counts
from arena.results.strength.fit import fit_counts
from arena.results.strength.fitting import fit_due
from tests.arena.world import World

POINTS = 5.0


def played(rng: np.random.Generator, strengths: Array, rounds: int, deals: int) -> Counts:
    """Return the counts of bots that play at tables of four and whose points are normally distributed."""
    count = len(strengths)
    met, ahead, leads = np.zeros((3, count, count))
    scores, squares = np.zeros((2, count))
    for _ in range(rounds):
        for table in rng.permutation(count).reshape(-1, 4):
            points = strengths[table] + rng.normal(0, POINTS, (deals, 4))
            own = points - points.mean(axis=1, keepdims=True)
            scores[table] += own.sum(axis=0)
            squares[table] += own.sum(axis=0) ** 2 / deals
            for one, other in combinations(range(4), 2):
                pair = table[one], table[other]
                won = int((points[:, one] > points[:, other]).sum())
                leads[pair] += float((points[:, one] - points[:, other]).sum())
                leads[pair[::-1]] -= float((points[:, one] - points[:, other]).sum())
                ahead[pair] += won
                ahead[pair[::-1]] += deals - won
                met[pair] += deals
                met[pair[::-1]] += deals
    pairs = [
        (one, other, met[one, other], ahead[one, other], ahead[other, one], leads[one, other])
        for one, other in combinations(range(count), 2)
    ]
    meetings = np.array(pairs, dtype=MEETING)
    bots = np.zeros(count, dtype=SCORE)
    bots["bot"], bots["deals"], bots["score"] = np.arange(count), rounds * deals, scores
    matches = rounds * count // 4
    bots["matches"], bots["between"] = rounds, squares
    bots["within"] = POINTS**2 * 3 / 4 * rounds * (deals - 1)
    within, between = (float(bots[name].sum()) for name in ("within", "between"))
    return Counts(
        4, matches, matches * deals, within, between, 0.0, 0.0, bots, meetings[meetings["deals"] > 0]
    )


def truth(strengths: Array) -> Array:
    """Return how often each bot truly finishes ahead of the others."""
    far = (strengths[:, None] - strengths[None, :]) / (POINTS * np.sqrt(2)) / np.sqrt(2)
    chances = (1 + np.vectorize(erf)(far)) / 2
    return np.asarray((chances.sum(axis=1) - 0.5) / (len(strengths) - 1))


def shares(counts: Counts) -> list[Ahead]:
    found = fit_counts([counts])
    assert found is not None
    ahead = finishing_ahead([counts], found)
    assert ahead is not None
    return ahead


def test_abilities_when_results_are_given_then_they_are_those_of_an_independent_computation() -> None:
    """The other computation is Zermelo's minorisation-maximisation, in chances instead of logarithms."""
    results = Results(
        np.array([0, 0, 1, 2]),
        np.array([1, 2, 2, 3]),
        np.array([10.0, 4, 7, 5]),
        np.array([7.0, 1, 3.5, 5]),
        1.0,
    )
    wins, met = np.full(5, 0.5), np.zeros((5, 5))
    met[:4, 4] = met[4, :4] = 1.0  # the ghost
    for one, other, deals, won in zip(*results[:4], strict=True):
        wins[one] += won
        wins[other] += deals - won
        met[one, other] = met[other, one] = deals
    worth = np.ones(5)
    for _ in range(3000):
        worth[:4] = (wins / (met / (worth[:, None] + worth[None, :])).sum(axis=1))[:4]
    np.testing.assert_allclose(abilities_of(results, 4), np.log(worth[:4]), atol=1e-5)


def test_shares_when_points_are_normal_then_intervals_hold_about_as_often_as_they_say() -> None:
    held = []
    for number in range(40):
        rng = np.random.default_rng(number)
        strengths = rng.normal(0, 1.5, 12)
        for rounds, deals in ((5, 4), (10, 20)):
            right = truth(strengths)
            found = shares(played(rng, strengths, rounds, deals))
            held.append(
                np.mean([one.low <= share <= one.high for one, share in zip(found, right, strict=True)])
            )
            assert all(one.low < one.share < one.high for one in found)
    assert 0.92 < np.mean(held) < 0.985


def test_shares_when_a_pool_is_large_then_they_are_near_those_of_a_small_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(1)
    counts = played(rng, rng.normal(0, 1.5, 120), 30, 20)
    found = fit_counts([counts])
    assert found is not None
    exact = finishing_ahead([counts], found)
    monkeypatch.setattr(module, "DENSE", 10)
    near = finishing_ahead([counts], found)
    assert exact is not None
    assert near is not None
    np.testing.assert_allclose([one.share for one in near], [one.share for one in exact], atol=2e-3)
    widths = [[one.high - one.low for one in found] for found in (exact, near)]
    np.testing.assert_allclose(widths[1], widths[0], rtol=0.15)


def test_shares_when_nothing_tells_who_was_ahead_then_there_are_none() -> None:
    counts = played(np.random.default_rng(1), np.zeros(8), 2, 2)
    counts.meetings["ahead"] = counts.meetings["behind"] = 0
    found = fit_counts([counts])
    assert found is not None
    assert finishing_ahead([counts], found) is None


def test_shares_when_a_bot_always_won_then_it_is_not_certain() -> None:
    [best, *_, worst] = sorted(shares(played(np.random.default_rng(1), np.array([99.0, 0, 0, -99]), 3, 2)))
    assert 0 < best.low < best.high < 0.5 < worst.low < worst.high < 1


def test_shares_when_rounds_have_closed_then_the_leaderboard_has_them(world: World) -> None:
    world.finish(world.tournament(8, sessions=6, deals=4).id)
    fit_due(world.storage, world.clock())
    found = [line.strength for line in leaderboard(world.storage).leaderboard if line.strength is not None]
    assert sum(one.ahead or 0 for one in found) == pytest.approx(4, abs=0.02)
    assert all(0 < (one.ahead_low or 0) < (one.ahead or 0) < (one.ahead_high or 0) for one in found)

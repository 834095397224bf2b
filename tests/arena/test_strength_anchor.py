"""The anchor of strengths: baselines, and what depends on them."""

import numpy as np
import pytest
from sqlmodel import col, select

from arena.actors import Actor, Role
from arena.errors import NotAllowed, StateError, UnknownError
from arena.queries.leaderboards import leaderboard
from arena.queries.operator import ChangeQuery, changes
from arena.results.strength.counts import Counts
from arena.results.strength.fit import Fit, fit_counts
from arena.results.strength.fitting import fit_due
from arena.results.strength.pools import add_baselines, are_fitted, list_baselines, remove_baselines
from arena.results.strength.ranges import above_anchor
from arena.results.strength.sums import Scored, Sums
from arena.store.models import Strength, StrengthFit, StrengthPoint
from benchmarks.worlds import synthetic
from tests.arena.fakes import ROOT, listed_versions
from tests.arena.world import World


def fitted(rng: np.random.Generator, bots: int, rounds: int) -> Fit:
    """Return the fit of a synthetic season."""
    world, sums = synthetic(rng, bots, 1.0, 0.0), Sums(4)
    for _ in range(rounds):
        order = [int(bot) for bot in rng.permutation(bots)]
        for at in range(0, bots - 3, 4):
            sums.add(world.play(order[at : at + 4], 20))
    found = fit_counts([Counts.of(sums)])
    assert found is not None
    return found


def test_anchor_when_nobody_is_a_baseline_then_it_is_the_mean() -> None:
    found = fitted(np.random.default_rng(1), 8, 10)
    above = above_anchor(found, set(), set())
    assert [one.value for one in above] == pytest.approx(found.strengths)
    assert [one.error for one in above] == pytest.approx(np.sqrt(found.variances))
    assert {one.anchored for one in above} == {False}


def test_anchor_when_there_are_baselines_then_strengths_are_differences_to_their_mean() -> None:
    found = fitted(np.random.default_rng(1), 8, 10)
    above = above_anchor(found, {2, 5, 99}, set())
    weights = np.eye(8)
    weights[:, [2, 5]] -= 0.5
    assert found.covariances is not None
    assert [one.value for one in above] == pytest.approx(weights @ found.strengths)
    errors = np.sqrt(np.diag(weights @ found.covariances @ weights.T))
    assert [one.error for one in above] == pytest.approx(errors)
    assert {one.anchored for one in above} == {True}


def test_anchor_when_a_newcomer_has_hardly_played_then_the_others_are_as_certain_as_before() -> None:
    rng = np.random.default_rng(4)
    world, sums = synthetic(rng, 9, 1.0, 0.0), Sums(4)
    for _ in range(40):
        sums.add(world.play([int(bot) for bot in rng.permutation(8)][:4], 20))
    before = fit_counts([Counts.of(sums)])
    sums.add(world.play([0, 1, 2, 8], 1))
    after = fit_counts([Counts.of(sums)])
    assert before is not None
    assert after is not None
    old, new = above_anchor(before, set(), set(range(8))), above_anchor(after, set(), set(range(8)))
    assert [one.error for one in new[:8]] == pytest.approx([one.error for one in old], rel=0.02)
    assert [one.value for one in new[:8]] == pytest.approx([one.value for one in old], abs=0.1)
    assert new[8].error > 3 * new[0].error
    assert {one.anchored for one in new} == {False}
    assert above_anchor(after, set(), set())[0].error > 1.1 * new[0].error


def test_anchor_when_a_bot_is_the_only_baseline_then_its_own_strength_is_certain() -> None:
    above = above_anchor(fitted(np.random.default_rng(1), 8, 10), {3}, set())
    assert above[3].value == 0.0
    assert above[3].error == pytest.approx(0.0, abs=1e-6)


def test_anchor_when_a_group_has_no_baseline_then_it_stays_on_its_mean() -> None:
    sums = Sums(2)
    for one, other, score in ((1, 2, 90.0), (3, 4, 20.0), (3, 5, 30.0), (4, 5, 10.0)):
        sums.add(Scored((one, other), 100, (score, -score), (450.0, 450.0)))
    found = fit_counts([Counts.of(sums)])
    assert found is not None
    above = above_anchor(found, {1}, set())
    assert [one.anchored for one in above] == [True, True, False, False, False]
    assert above[0].value == 0
    assert sum(one.value for one in above[2:]) == pytest.approx(0, abs=1e-9)


def test_anchor_when_a_pool_is_large_then_errors_of_different_bots_are_independent() -> None:
    exact = fitted(np.random.default_rng(1), 40, 10)
    large = Fit(**{name: getattr(exact, name) for name in Fit.__slots__} | {"covariances": None})
    near, true = above_anchor(large, {1, 2, 3}, set()), above_anchor(exact, {1, 2, 3}, set())
    assert [one.value for one in near] == pytest.approx([one.value for one in true])
    assert [one.error for one in near] == pytest.approx([one.error for one in true], rel=0.15)


def test_scale_when_strong_newcomers_join_then_it_sinks_without_a_baseline_only() -> None:
    rng = np.random.default_rng(4)
    sums, strengths = Sums(2), np.concatenate([np.zeros(6), np.full(6, 3.0)])

    def play(bots: int, rounds: int) -> Fit:
        for _ in range(rounds):
            order = [int(bot) for bot in rng.permutation(bots)]
            for one, other in zip(order[::2], order[1::2], strict=True):
                score = float(100 * (strengths[one] - strengths[other]) / 2 + rng.normal(0, 30))
                sums.add(Scored((one, other), 100, (score, -score), (99 * 9.0, 99 * 9.0)))
        found = fit_counts([Counts.of(sums)])
        assert found is not None
        return found

    before = play(6, 20)
    after = play(12, 40)
    assert after.strengths[1] - before.strengths[1] == pytest.approx(-1.5, abs=0.2)
    moved = above_anchor(after, {0}, set())[1].value - above_anchor(before, {0}, set())[1].value
    assert moved == pytest.approx(0, abs=0.25)


def test_baselines_when_named_then_the_next_fit_hangs_on_them_and_the_audit_has_it(world: World) -> None:
    world.finish(world.tournament(4).id)
    fit_due(world.storage, world.clock())
    points = {
        line.bot: line.strength.points for line in leaderboard(world.storage).leaderboard if line.strength
    }
    add_baselines(world.storage, ROOT, ["owner-0/bot-0"], world.clock())
    assert list_baselines(world.storage) == ["owner-0/bot-0@1"]
    assert not are_fitted(world.storage)
    world.clock.move(3600)
    assert fit_due(world.storage, world.clock()) == 1
    assert are_fitted(world.storage)
    lines = {line.bot: line.strength for line in leaderboard(world.storage).leaderboard if line.strength}
    assert lines["owner-0/bot-0@1"].figure == 1500
    assert {line.anchor for line in lines.values()} == {"baselines"}
    assert {name: line.points for name, line in lines.items()} == pytest.approx(points)
    with world.storage.read() as tx:
        assert tx.exec(select(StrengthFit.baselines)).all() == [[1]]  # in place of the previous one
        assert len(tx.exec(select(Strength)).all()) == 4
        told = select(StrengthPoint.anchored).where(StrengthPoint.version_id == 2)
        assert tx.exec(told.order_by(col(StrengthPoint.id))).all() == [False, True]
    assert changes(world.storage, ROOT, ChangeQuery(), 1).entries[0].action == "rating.baseline"


def test_baselines_when_taken_back_then_the_mean_is_the_anchor_again(world: World) -> None:
    world.finish(world.tournament(4).id)
    add_baselines(world.storage, ROOT, ["owner-0/bot-0"], world.clock())
    fit_due(world.storage, world.clock())
    remove_baselines(world.storage, ROOT, ["owner-0/bot-0@1"], world.clock())
    world.clock.move(3600)
    assert fit_due(world.storage, world.clock()) == 1
    assert {line.strength.anchor for line in leaderboard(world.storage).leaderboard if line.strength} == {
        "mean"
    }
    assert changes(world.storage, ROOT, ChangeQuery(), 1).entries[0].action == "rating.baseline.remove"


def test_baselines_when_a_house_bot_was_never_run_then_it_is_registered(world: World) -> None:
    for wrong, error in ((Actor(Role.AUTHOR, "ann"), NotAllowed), (ROOT, UnknownError)):
        with pytest.raises(error):
            add_baselines(world.storage, wrong, ["house/sagedeep"], world.clock())
    with pytest.raises(NotAllowed):
        add_baselines(world.storage, Actor(Role.AUTHOR, "ann"), ["house/sage"], world.clock())
    assert listed_versions(world.storage) == []
    add_baselines(world.storage, ROOT, ["house/sage", "house/keeper@1"], world.clock())
    remove_baselines(world.storage, ROOT, ["house/keeper"], world.clock())
    add_baselines(world.storage, ROOT, ["house/keeper"], world.clock())
    assert list_baselines(world.storage) == ["house/keeper@1", "house/sage@1"]
    assert len(listed_versions(world.storage)) == 2


def test_baselines_when_they_cannot_be_changed_then_nothing_is(world: World) -> None:
    world.register(2)
    with pytest.raises(UnknownError):
        add_baselines(world.storage, ROOT, ["owner-0/bot-0", "nobody/bot"], world.clock())
    with pytest.raises(StateError, match="owner-0/bot-0@1 is not a baseline"):
        remove_baselines(world.storage, ROOT, ["owner-0/bot-0"], world.clock())
    with pytest.raises(NotAllowed):
        add_baselines(world.storage, Actor(Role.AUTHOR, "owner-0"), ["owner-0/bot-0"], world.clock())
    assert list_baselines(world.storage) == []
    add_baselines(world.storage, ROOT, ["owner-0/bot-0"], world.clock())
    with pytest.raises(StateError, match="owner-0/bot-0@1 is a baseline already"):
        add_baselines(world.storage, ROOT, ["owner-0/bot-0"], world.clock())

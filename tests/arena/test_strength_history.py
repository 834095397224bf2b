"""What is kept of fits: snapshots that are thinned, and the points of each bot's history."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np
import pytest
from sqlmodel import col, select

from arena.queries.histories import HistoryKind, HistoryQuery, history
from arena.results.strength.counts import Counts
from arena.results.strength.fit import fit_counts
from arena.results.strength.fitting import fit_due, forget_between, has_changed
from arena.results.strength.pools import Pool
from arena.results.strength.sums import Sums
from arena.store.models import StrengthFit, StrengthPoint
from arena.store.storage import Storage
from benchmarks.worlds import synthetic
from tests.arena.world import World

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
POOL = Pool(1, 4)


def keep(storage: Storage, matches: int, at: datetime) -> None:
    """Keep a fit of this many matches."""
    with storage.write() as tx:
        forget_between(tx, POOL, at)
        numbers = {"deals": 0, "deviation": 0.0, "spread": 0.0, "gain": 0.0, "seconds": 0.0}
        fields = POOL._asdict() | numbers | {"matches": matches, "fitted_at": at, "lines": b""}
        tx.add(StrengthFit.model_validate(fields))


def kept(storage: Storage) -> list[int]:
    """Return the numbers of matches of the snapshots that are kept."""
    with storage.read() as tx:
        return list(tx.exec(select(StrengthFit.matches).order_by(col(StrengthFit.id))))


def test_snapshots_when_a_pool_is_young_then_each_round_is_kept(world: World) -> None:
    world.tournament(4)  # stores the ruleset
    for matches in range(2, 100, 2):
        keep(world.storage, matches, NOON)
    assert kept(world.storage) == list(range(2, 100, 2))


def test_snapshots_when_a_pool_goes_on_for_days_then_a_hundredth_of_growth_and_each_day_are_kept(
    world: World,
) -> None:
    world.tournament(4)
    for number in range(300):
        keep(world.storage, 600 + number, NOON + timedelta(minutes=20 * number))
    matches = kept(world.storage)
    ends_of_days = [600 + 35 + 72 * day for day in range(4)]
    assert set(ends_of_days) < set(matches)
    assert matches[-1] == 899
    assert len(matches) <= 1 + np.log(1.5) / np.log(1.01) + len(ends_of_days)
    grown = [one for one in matches[:-1] if one not in ends_of_days]
    assert all(after >= 1.01 * before for before, after in pairwise(grown))


@pytest.mark.parametrize(
    ("now", "changed"),
    [
        ((1.0, 0.4), False),
        ((1.09, 0.4), False),
        ((1.11, 0.4), True),
        ((0.85, 0.4), True),
        ((1.0, 0.29), True),
    ],
    ids=["the same", "hardly moved", "better", "worse", "better known"],
)
def test_strength_when_it_is_told_again_then_only_a_change_is_one(
    now: tuple[float, float], changed: bool
) -> None:
    assert has_changed((1.0, 0.4), now) == changed


def test_history_when_rounds_close_then_it_follows_them(world: World) -> None:
    names = world.register(4)
    for number in range(3):
        world.clock.move(3600)
        world.finish(world.tournament_of(names, name=f"cup-{number}", deals=3 * 4**number).id)
        fit_due(world.storage, world.clock())
    found = history(world.storage, HistoryQuery(names[0], kind=HistoryKind.STRENGTH)).history
    assert [one.deals for one in found] == [189, 45, 9]
    assert [one.at for one in found] == sorted((one.at for one in found), reverse=True)
    assert all((one.figure_low or 0) < (one.figure or 0) < (one.figure_high or 0) for one in found)


def test_history_when_hardly_anything_changed_then_it_does_not_grow(world: World) -> None:
    names = world.register(4)
    world.finish(world.tournament_of(names, name="long", deals=200).id)
    fit_due(world.storage, world.clock())
    world.finish(world.tournament_of(names, name="short", deals=1).id)
    world.clock.move(3600)
    assert fit_due(world.storage, world.clock()) == 1
    with world.storage.read() as tx:
        assert len(tx.exec(select(StrengthPoint)).all()) == 4


def test_history_when_matches_go_on_then_it_grows_with_their_logarithm() -> None:
    rng = np.random.default_rng(0)
    world, sums = synthetic(rng, 8, 1.0, 0.4), Sums(4)
    told: dict[int, tuple[float, float]] = {}
    points, after = 0, []
    for matches in range(1, 641):
        order = [int(bot) for bot in rng.permutation(8)]
        for at in range(0, 8, 4):
            sums.add(world.play(order[at : at + 4], 20))
        found = fit_counts([Counts.of(sums)])
        assert found is not None
        for bot, value, variance in zip(found.bots, found.strengths, found.variances, strict=True):
            now = float(value), float(variance) ** 0.5
            if bot not in told or has_changed(told[bot], now):
                told[bot], points = now, points + 1
        if matches in (40, 160, 640):
            after.append(points / 8)
    assert after[0] < 30
    assert after[2] - after[1] == pytest.approx(after[1] - after[0], rel=0.6)

"""Stored strengths: sums that follow rounds, fits when they are due, and what the leaderboard shows."""

import json
import zlib
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import combinations

import pytest
from sqlmodel import col, select

from arena.queries.leaderboards import leaderboard
from arena.results.ratings.rebuild import mend, rebuild
from arena.results.standings.outcomes import outcomes
from arena.results.strength.fitting import counts_of, fit_due
from arena.results.strength.pools import Pool, are_fitted
from arena.store.models import Session, Strength, StrengthFit, StrengthScore, Tournament
from arena.store.storage import Storage
from tests.arena.fakes import ROOT
from tests.arena.world import World


def fits(storage: Storage) -> list[tuple[int, int]]:
    """Return the numbers of matches and deals of each fit, in order."""
    with storage.read() as tx:
        rows = select(StrengthFit.matches, StrengthFit.deals).order_by(col(StrengthFit.id))
        return [(matches, deals) for matches, deals in tx.exec(rows)]


def points(storage: Storage) -> dict[str, float]:
    """Return the strengths of the pool's bots."""
    return {
        line.bot: line.strength.points
        for line in leaderboard(storage).leaderboard
        if line.strength is not None
    }


def test_sums_when_a_tournament_is_played_then_they_follow_from_its_deals(world: World) -> None:
    world.finish(world.tournament(4, sessions=4, deals=3).id)
    with world.storage.read() as tx:
        [sums] = counts_of(tx, Pool(1, 4))
        sessions = tx.exec(select(Session)).all()
    points, ahead = [0.0] * 4, 0
    for session in sessions:
        for deal in session.deal_points:
            mean = sum(deal) / 4
            ahead += sum(one != other for one, other in combinations(deal, 2))
            for seat, position in enumerate(session.seating):
                points[position] += deal[seat] - mean
    assert (sums.matches, sums.deals) == (1, 12)
    assert sorted(sums.scores["score"]) == pytest.approx(sorted(points))
    assert sums.scores["deals"].tolist() == [12] * 4
    met = sums.meetings
    assert met["deals"].tolist() == [12] * 6
    assert sum(met["ahead"] + met["behind"]) == ahead
    assert len({*zip(met["one"].tolist(), met["other"].tolist(), strict=True)}) == 6


def test_sums_when_deals_are_duplicate_then_they_are_kept_apart(world: World) -> None:
    names = world.register(8)
    world.finish(world.tournament_of(names, name="plain", ruleset="hong-kong", rounds=1, deals=1).id)
    world.finish(
        world.tournament_of(names, name="same", ruleset="hong-kong", rounds=1, deals=1, duplicate=True).id
    )
    with world.storage.read() as tx:
        plain, same = counts_of(tx, Pool(1, 4))
        tournament = tx.exec(select(Tournament).where(Tournament.name == "same")).one()
        counted = [outcome.points for outcome in outcomes(tx, tournament)]
    assert (plain.matches, same.matches) == (2, 2)
    scores = [own - sum(points.values()) / 4 for points in counted for own in points.values()]
    assert sorted(same.scores["score"]) == pytest.approx(sorted(scores))
    assert rebuild(world.storage).problem is None


def test_fit_when_rounds_have_closed_then_the_board_has_strengths_by_tier_and_rank(world: World) -> None:
    world.finish(world.tournament(8, sessions=6, deals=4).id)
    assert not are_fitted(world.storage)
    assert {line.strength for line in leaderboard(world.storage).leaderboard} == {None}
    assert fit_due(world.storage, world.clock()) == 1
    assert are_fitted(world.storage)
    lines = leaderboard(world.storage).leaderboard
    strengths = [line.strength for line in lines if line.strength is not None]
    assert [one.rank for one in strengths] == list(range(1, 9))
    assert sum(one.points for one in strengths) == pytest.approx(0, abs=1e-6)
    assert all(one.figure_low < one.figure < one.figure_high for one in strengths)
    assert all(one.best <= one.rank <= one.worst for one in strengths)
    assert {(one.deals, one.group) for one in strengths} == {(7 * 24, 1)}


def test_fit_when_nothing_changed_then_none_is_made_and_soon_after_one_none_either(world: World) -> None:
    names = world.register(4)
    world.finish(world.tournament_of(names, name="one").id)
    assert fit_due(world.storage, world.clock()) == 1
    assert fit_due(world.storage, world.clock()) == 0
    world.finish(world.tournament_of(names, name="two").id)
    with world.storage.write() as tx:
        tx.exec(select(StrengthFit)).one().seconds = 3.0
    assert fit_due(world.storage, world.clock()) == 0  # the last one took three seconds, and is a moment old
    world.clock.move(61)
    assert fit_due(world.storage, world.clock() - timedelta(hours=1)) == 1  # a clock was set back
    assert fits(world.storage) == [(1, 6), (2, 12)]


def test_fit_when_several_workers_make_it_at_once_then_it_is_kept_once(world: World) -> None:
    world.finish(world.tournament(4).id)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: fit_due(world.storage, world.clock()), range(4)))
    assert fits(world.storage) == [(1, 6)]
    with world.storage.read() as tx:
        assert len(tx.exec(select(Strength)).all()) == 4


def test_fit_when_kept_then_its_snapshot_has_the_strength_of_each_bot(world: World) -> None:
    world.finish(world.tournament(4).id)
    fit_due(world.storage, world.clock())
    with world.storage.read() as tx:
        lines = json.loads(zlib.decompress(tx.exec(select(StrengthFit)).one().lines))
        rows = {row.version_id: row.value for row in tx.exec(select(Strength))}
    assert {version_id: value for version_id, value, _ in lines} == pytest.approx(rows, abs=1e-4)


def test_rebuild_when_a_sum_is_wrong_then_it_is_named_and_mended(world: World) -> None:
    world.finish(world.tournament(8).id)
    fit_due(world.storage, world.clock())
    before = points(world.storage)
    with world.storage.write() as tx:
        tx.exec(select(StrengthScore)).all()[2].score += 1
    assert rebuild(world.storage).problem == (
        "chinese@1, tables of 4: the sums of deals, from which strengths follow, are wrong"
    )
    assert mend(world.storage, ROOT, world.clock()).mended == 1
    assert rebuild(world.storage).problem is None
    assert fit_due(world.storage, world.clock()) == 1
    assert points(world.storage) == pytest.approx(before)

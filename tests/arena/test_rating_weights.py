"""How much matches of different lengths count within one pool."""

import json

import pytest
from sqlmodel import col, select

from arena.core.elo import K
from arena.results.ratings.rebuild import mend, rebuild
from arena.store.models import Rating, RatingChange
from tests.arena.exported import check, lines_of, play_by_table, problem, with_new_digests
from tests.arena.fakes import ROOT
from tests.arena.world import World


def moved(world: World) -> list[float]:
    with world.storage.read() as tx:
        return [
            abs(one.after - one.before)
            for one in tx.exec(select(RatingChange).order_by(col(RatingChange.id)))
        ]


def test_pool_when_matches_are_of_different_lengths_then_short_ones_weigh_less(world: World) -> None:
    names = world.register(4)
    for name, deals in (("cup", 1), ("long", 20)):
        terms = {"name": name, "sessions": 2, "deals": deals, "rounds": 1}
        world.finish(world.tournament_of(names, **terms).id, play_by_table)
    short, long = moved(world)[:4], moved(world)[4:]
    assert max(short) <= K * 2 / 40
    assert max(long) > K / 3
    with world.storage.read() as tx:
        assert {rating.weight for rating in tx.exec(select(Rating))} == {1 + 2 / 40}
    assert rebuild(world.storage).problem is None
    assert [check(lines_of(world, name)).problem for name in ("cup", "long")] == [None, None]


def test_pool_when_a_weight_is_wrong_then_it_is_found_and_mended(world: World) -> None:
    world.finish(world.tournament(4, rounds=1).id, play_by_table)
    with world.storage.write() as tx:
        tx.get_one(Rating, 1).weight = 9.0
    assert "weight: is 9, should be 0.15" in str(rebuild(world.storage).problem)
    assert mend(world.storage, ROOT, world.clock()).mended == 1
    assert rebuild(world.storage).problem is None


@pytest.mark.parametrize("factor", [2.0, 40 / 6])
def test_export_when_a_short_match_weighs_more_than_it_should_then_verify_finds_it(
    world: World, factor: float
) -> None:
    world.finish(world.tournament(4, rounds=1).id, play_by_table)
    objects = [json.loads(line) for line in lines_of(world)]
    (end,) = [one for one in objects if one.get("part") == "round_end"]
    for change in end["ratings"][0]:
        change["after"] = change["before"] + factor * (change["after"] - change["before"])
    assert "after: is" in problem(with_new_digests([json.dumps(one) for one in objects]))

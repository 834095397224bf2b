"""Deal records in exports and in views of matches."""

import json

import pytest

from arena.errors import UnknownError
from arena.queries.sessions import played_match, shown_deals
from arena.trust.exports.write import export_records
from tests.arena.random_play import play_randomly
from tests.arena.world import World


@pytest.fixture
def played(world: World) -> World:
    """Play a tournament: two rounds of two tables, three sessions of two deals each."""
    world.finish(world.tournament(8, format="swiss", rounds=2).id, play_randomly)
    return world


def test_export_when_all_is_played_then_the_records_stand_in_order(played: World) -> None:
    records = [json.loads(line) for line in export_records(played.storage, "cup")]
    places = [(one["round"], one["table"], one["session"], one["deal"]) for one in records]
    assert places == [(r, t, s, d) for r in (1, 2) for t in (1, 2) for s in (1, 2, 3) for d in (1, 2)]
    assert {one["tournament"] for one in records} == {"cup"}
    assert all(one["ruleset"]["name"] == "chinese" and len(set(one["seats"])) == 4 for one in records)


def test_export_when_nothing_is_played_then_it_is_empty(world: World) -> None:
    world.tournament(4)
    assert list(export_records(world.storage, "cup")) == []


def test_match_when_done_then_points_are_those_of_the_deals(played: World) -> None:
    view = played_match(played.storage, "cup", 2, 1)
    assert (view.state, view.problem, [one.session for one in view.sessions]) == ("done", None, [1, 2, 3])
    totals = dict.fromkeys(view.bots, 0)
    for session in view.sessions:
        for record in shown_deals(played.storage, "cup", 2, 1, session.session):
            for name, own in zip(session.bots, record["points"], strict=True):
                totals[name] += own
    assert view.points == tuple(totals[name] for name in view.bots)


def test_match_when_not_done_then_there_are_no_points_yet(world: World) -> None:
    world.advance(world.tournament(4).id)
    view = played_match(world.storage, "cup", 1, 1)
    assert (view.state, view.points, view.sessions) == ("waiting", None, ())


@pytest.mark.parametrize("place", [("cap", 1, 1), ("cup", 3, 1), ("cup", 1, 3)])
def test_match_when_there_is_none_then_that_is_said(played: World, place: tuple[str, int, int]) -> None:
    with pytest.raises(UnknownError, match=r"no (tournament 'cap'|round \d, table \d in tournament 'cup')"):
        played_match(played.storage, *place)

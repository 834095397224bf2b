"""Tournaments that are not rated: they change no rating, and their exports say so."""

import json

import pytest
from sqlmodel import select

from arena.host.settings import Settings
from arena.queries.leaderboards import leaderboard
from arena.results.ratings.rebuild import rebuild
from arena.store.models import Rating, RatingChange, Round, StoredRuleset
from tests.arena.cli import make_arena
from tests.arena.exported import changed, check, lines_of, play_by_table, problem
from tests.arena.world import World

FORMATS: dict[str, dict[str, object]] = {
    "round-robin": {"rounds": 2},
    "swiss": {"rounds": 2},
    "knockout": {},
    "gauntlet": {},
    "continuous": {"rounds": 3},
    "duplicate": {"format": "round-robin", "rounds": 1, "duplicate": True, "deals": 1},
}


def unrated(world: World, format: str = "swiss", **fields: object) -> list[str]:
    """Play a tournament that is not rated, and return its export."""
    terms: dict[str, object] = {"format": format, "rated": False, "deals": 1} | FORMATS[format] | fields
    world.finish(world.tournament(8, **terms).id, play_by_table)
    return lines_of(world)


@pytest.mark.parametrize("format", FORMATS)
def test_tournament_when_it_is_not_rated_then_no_rating_changes_and_its_export_is_right(
    world: World, format: str
) -> None:
    lines = unrated(world, format)
    assert check(lines).problem is None
    with world.storage.read() as tx:
        assert tx.exec(select(RatingChange)).first() is None
        assert tx.exec(select(Rating)).first() is None
        assert set(tx.exec(select(StoredRuleset.rated_matches))) == {0}
        assert set(tx.exec(select(Round.rated_after))) == {None}
    assert leaderboard(world.storage).leaderboard == ()
    assert rebuild(world.storage).problem is None


def test_tournament_when_it_is_not_rated_then_ratings_from_others_stay_as_they_are(world: World) -> None:
    names = world.register(8)
    for name, rated in (("one", True), ("two", False), ("cup", True)):
        world.finish(world.tournament_of(names, name=name, rounds=1, rated=rated).id, play_by_table)
    assert {line.matches for line in leaderboard(world.storage).leaderboard} == {2}
    assert rebuild(world.storage).problem is None
    assert [check(lines_of(world, name)).problem for name in ("one", "two", "cup")] == [None] * 3


@pytest.mark.parametrize(
    ("part", "fields"),
    [
        ("round", {"pool": [{"bot": "owner-0/bot-0@1", "rating": 1500.0, "since": None}]}),
        ("round_end", {"rated_after": 0}),
        ("round_end", {"ratings": []}),
    ],
)
def test_export_when_it_claims_ratings_that_do_not_count_then_verify_finds_it(
    world: World, part: str, fields: dict[str, object]
) -> None:
    assert "rated" in problem(changed(unrated(world), part, **fields))


def test_export_when_a_rated_tournament_leaves_its_ratings_out_then_verify_finds_it(world: World) -> None:
    lines = unrated(world, rated=True)
    assert "are there" in problem(changed(lines, "round_end", rated_after=None, ratings=None))


def test_tournaments_when_listed_and_shown_then_it_says_which_are_not_rated(
    world: World, migrated: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    arena = make_arena(migrated.data, capsys)
    names = world.register(4)
    for name, rated in (("cup", True), ("fun", False)):
        world.tournament_of(names, name=name, rated=rated)
    listed = json.loads(arena("tournament", "list", "--json").out)["tournaments"]
    assert {one["tournament"]: one["rated"] for one in listed} == {"cup": True, "fun": False}
    assert "not rated" in arena("tournament", "show", "fun").out
    assert "not rated" not in arena("tournament", "show", "cup").out

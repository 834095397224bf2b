"""Rebuilding the ratings from the points of the deals."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy.orm.exc import StaleDataError
from sqlmodel import col, select

from arena.host.settings import Settings, load_settings
from arena.results.ratings.rebuild import mend, rebuild
from arena.store.models import BotVersion, Rating, RatingChange, Seat, Session
from arena.store.storage import open_storage
from tests.arena.cli import Arena, assert_one_line, make_arena
from tests.arena.databases import open_new
from tests.arena.fakes import ROOT, Clock
from tests.arena.interleaving import once_at
from tests.arena.world import World, results


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the database after two tournaments in one pool, one of them with byes, and one in another."""
    settings = load_settings({"data": tmp_path_factory.mktemp("played")})
    with open_new(settings) as storage:
        world = World(storage, Clock())
        names = world.register(9)
        world.finish(world.tournament_of(names[:8], name="one", rounds=2).id)
        world.finish(world.tournament_of(names, name="two", format="swiss", rounds=3).id)
        world.finish(world.tournament_of(names[:8], name="three", ruleset="hong-kong", rounds=1).id)
    return (settings.data / "arena.db").read_bytes()


@pytest.fixture
def rated(migrated: Settings, played: bytes) -> Iterator[World]:
    """Open an arena with these tournaments."""
    (migrated.data / "arena.db").write_bytes(played)
    with open_storage(migrated) as storage:
        yield World(storage, Clock())


@pytest.fixture
def arena(migrated: Settings, capsys: pytest.CaptureFixture[str]) -> Arena:
    return make_arena(migrated.data, capsys)


def test_rebuild_of_what_was_played_gives_the_same_ratings(rated: World) -> None:
    told: list[str] = []
    found = rebuild(rated.storage, told.append)
    assert (found.problem, found.pools, found.matches, found.ratings) == (None, 2, 4 + 6 + 2, 9 + 8)
    assert told == [
        "comparing luck",
        *(f"rating again: {matches} of 12 matches" for matches in (2, 4, 6, 8, 10, 12)),
        "comparing standings",
        "counting again: 36 of 36 sessions",
    ]


def test_rebuild_before_the_first_match_finds_nothing(world: World) -> None:
    found = rebuild(world.storage)
    assert (found.problem, found.pools, found.matches, found.ratings) == (None, 0, 0, 0)


def test_rebuild_names_the_rating_that_is_not_what_its_changes_gave(rated: World) -> None:
    with rated.storage.write() as tx:
        rating = tx.get_one(Rating, 3)
        rating.value += 1
        name = tx.get_one(BotVersion, rating.version_id).name
    found = rebuild(rated.storage)
    assert found.problem is not None
    assert f"{name}: rating: is " in found.problem


def test_rebuild_that_mends_gives_the_ratings_back(rated: World) -> None:
    before = results(rated.storage)
    with rated.storage.write() as tx:
        for rating in tx.exec(select(Rating)):
            rating.value, rating.matches, rating.deals = 1500.0, 0, 0
    found = mend(rated.storage, ROOT, rated.clock())
    assert (found.problem, found.mended) == (None, 17)
    assert results(rated.storage) == before
    assert rebuild(rated.storage).problem is None


@pytest.mark.parametrize("field", ["before", "after"])
def test_rebuild_names_the_change_that_is_wrong_and_mends_nothing(rated: World, field: str) -> None:
    with rated.storage.write() as tx:
        change = tx.exec(select(RatingChange).order_by(col(RatingChange.id)).offset(5)).first()
        assert change is not None
        setattr(change, field, getattr(change, field) + 0.5)
    before = results(rated.storage)
    found = mend(rated.storage, ROOT, rated.clock())
    assert found.problem is not None
    assert found.problem.startswith("one, round 1, table 2, seat 1: rating " + field)
    assert results(rated.storage) == before


def test_rebuild_names_the_seat_whose_points_are_not_those_of_its_deals(rated: World) -> None:
    with rated.storage.write() as tx:
        tx.get_one(Seat, 1).points += 1
    problem = rebuild(rated.storage).problem
    assert problem is not None
    assert problem.startswith("one, round 1, table 1, seat 0: points: is ")


def test_rebuild_names_the_deal_whose_points_were_changed(rated: World) -> None:
    with rated.storage.write() as tx:
        session = tx.get_one(Session, 1)
        session.deal_points = [[points[0] - 1, *points[1:]] for points in session.deal_points]
    assert "points: is " in str(rebuild(rated.storage).problem)


def test_rating_rebuild_tells_what_is_right_and_exits_1_for_what_is_wrong(arena: Arena, rated: World) -> None:
    assert arena("rating", "rebuild").out == ("ok: 17 ratings in 2 pools follow from 12 matches\n")
    with rated.storage.write() as tx:
        rating = tx.get_one(Rating, 1)
        rating.value += 1
        name = tx.get_one(BotVersion, rating.version_id).name
    wrong = arena("rating", "rebuild", "--json")
    assert (wrong.status, wrong.json["problem"].partition(":")[0]) == (1, name)
    assert "1 were wrong and have been corrected" in arena("rating", "rebuild", "--mend").out
    assert arena("rating", "rebuild").status == 0


def test_missing_rating_change_is_named_by_the_rebuild_and_by_an_export(
    arena: Arena, rated: World, tmp_path: Path
) -> None:
    with rated.storage.write() as tx:
        change = tx.get_one(RatingChange, 1)
        seat = tx.get_one(Seat, change.seat_id)
        name = tx.get_one(BotVersion, seat.version_id).name
        tx.delete(change)
    refused = arena("export", "one", "--output", tmp_path / "one.jsonl")
    assert_one_line(refused, 1, f"round 1, table 1: {name}: its rating change is missing")
    assert not (tmp_path / "one.jsonl").exists()
    wrong = arena("rating", "rebuild")
    assert (wrong.status, wrong.err) == (1, "")


def test_mending_while_it_reads_then_others_can_write(rated: World, migrated: Settings) -> None:
    def write() -> None:
        with sqlite3.connect(migrated.data / "arena.db", timeout=0, isolation_level=None) as others:
            others.execute("BEGIN IMMEDIATE")

    with once_at("sessions.deal_points", write):
        assert mend(rated.storage, ROOT, rated.clock()).problem is None


def test_rating_when_it_was_written_after_it_was_read_then_it_is_not_written_over(rated: World) -> None:
    with rated.storage.read() as tx:
        stale = tx.get_one(Rating, 1)
        tx.expunge_all()
    with rated.storage.write() as tx:
        tx.get_one(Rating, 1).value += 1
    stale.value -= 1
    with pytest.raises(StaleDataError), rated.storage.write() as tx:
        tx.add(stale)

"""Exports while the tournament goes on, and deal records in them and in views of matches."""

import json
from collections.abc import Callable, Generator
from datetime import timedelta

import pytest
from sqlalchemy import event, update
from sqlalchemy.pool import Pool
from sqlmodel import col

from arena.errors import StateError, UnknownError
from arena.queries.sessions import played_match, shown_deals
from arena.store.models import Round
from arena.store.storage import Storage, changed
from arena.tournaments import corrections
from arena.trust.exports import reading
from arena.trust.exports.write import export_lines, export_records
from tests.arena.exported import check
from tests.arena.fakes import DECISION_KEY, ROOT
from tests.arena.random_play import play_randomly
from tests.arena.world import World

DAY = timedelta(days=1)
Export = Callable[[Storage, str], Generator[str]]


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


@pytest.mark.parametrize("export", [export_lines, export_records])
def test_export_when_the_tournament_goes_on_meanwhile_then_it_is_as_it_was_when_it_began(
    export: Export, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "PAGE", 1)
    cup = world.tournament(8, format="swiss", rounds=2).id
    world.advance(cup)
    for _ in range(3):  # the last is one of two tables in the second round
        world.play(world.messages.pop(0), play_randomly)
        world.advance(cup)
    whole, lines = list(export(world.storage, "cup")), export(world.storage, "cup")
    begun = next(lines)
    world.finish(cup, play_randomly)
    assert [begun, *lines] == whole
    assert len(list(export(world.storage, "cup"))) > len(whole)


def test_export_when_the_organiser_corrects_something_meanwhile_then_it_is_right_without_it(
    played: World,
) -> None:
    whole, lines = list(export_lines(played.storage, "cup")), export_lines(played.storage, "cup")
    begun = [next(lines) for _ in range(30)]
    bot = json.loads(whole[-1])["standings"][0]["bot"]
    out = corrections.NewCorrection(bot, "disqualified", "two bots, one author")
    corrections.correct(played.storage, ROOT, "cup", out, played.clock(), DECISION_KEY)
    assert [*begun, *lines] == whole
    assert check(whole).problem is None
    after = list(export_lines(played.storage, "cup"))
    assert (check(after).problem, json.loads(after[-1])["standings"][-1]["bot"]) == (None, bot)


@pytest.mark.parametrize("export", [export_lines, export_records])
def test_export_when_the_database_is_put_back_meanwhile_then_it_ends_with_an_error(
    export: Export, played: World
) -> None:
    lines = export(played.storage, "cup")
    next(lines)
    with played.storage.write() as tx:
        changed(tx, update(Round).where(col(Round.number) == 2).values(finished_at=played.clock() + DAY))
    with pytest.raises(StateError, match=r"restored while it was exported: round 2 .*; export it again"):
        list(lines)


@pytest.mark.parametrize("export", [export_lines, export_records])
def test_export_when_its_reader_is_slow_then_no_transaction_is_open_between_lines(
    export: Export, played: World
) -> None:
    used = []

    def take(*connection: object) -> None:
        used.append(connection)

    def give_back(*_: object) -> None:
        used.pop()

    event.listen(Pool, "checkout", take)
    event.listen(Pool, "checkin", give_back)
    try:
        with played.storage.read() as tx:
            tx.connection()
            assert used
        assert {len(used) for _ in export(played.storage, "cup")} == {0}
    finally:
        event.remove(Pool, "checkout", take)
        event.remove(Pool, "checkin", give_back)

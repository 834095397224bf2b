"""The tables of a round at a glance: what is stored about them, and what is visible of those in play."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlmodel import select

from arena.errors import UnknownError
from arena.host.settings import Settings
from arena.leagues import applying
from arena.play.matches.leases import claim
from arena.queries.highlights import HighlightQuery, find_deals
from arena.queries.now import on_now
from arena.queries.sessions import played_match
from arena.queries.tournaments import round_tables
from arena.store.models import HighlightKind, Match, MatchState
from arena.tournaments import creation
from arena.web.app import make_app
from arena.web.pages.links import deal_url
from arena.web.pages.now import EACH, LISTED
from tests.arena.fakes import ROOT
from tests.arena.leagues import winter
from tests.arena.random_play import play_randomly
from tests.arena.web.markup import Read
from tests.arena.web.test_pages import client as client
from tests.arena.world import LEASE, SEED, World
from tests.referee.support import LEGAL_PLAYS, WireBot, lowest, match_spec, play_match, referee, sdk_bots
from tests.waiting import DEADLINE, until

LIVE = "/tournaments/cup/rounds/1/live"


def test_tables_when_a_round_is_played_then_each_has_its_points_and_pages_of_them_go_on(
    world: World, anybody: TestClient
) -> None:
    names = world.register(9, owners=9)
    cup = world.tournament_of(names, name="cup", format="swiss", rounds=1)
    world.finish(cup.id, play_randomly)
    found = round_tables(world.storage, "cup", 1)
    assert (found.count, [one.table for one in found.tables], len(found.byes)) == (2, [1, 2], 1)
    assert {*found.byes, *(name for one in found.tables for name in one.bots)} == {*names}
    for one in found.tables:
        match = played_match(world.storage, "cup", 1, one.table)
        assert (one.state, one.bots, one.points) == (MatchState.DONE, match.bots, match.points)
        assert one.sessions == len(match.sessions)
    assert round_tables(world.storage, "cup", 1, 1, 1).tables == found.tables[1:]
    first = anybody.get("/tournaments/cup/rounds/1/tables?limit=1").json()
    asked = anybody.get(f"/tournaments/cup/rounds/1/tables?limit=1&cursor={first['next']}").json()
    assert asked["next"] is None
    assert (asked["count"], asked["byes"]) == (2, list(found.byes))
    assert [(one["table"], one["bots"], one["points"]) for one in asked["tables"]] == [
        (one.table, list(one.bots), list(one.points or ())) for one in found.tables[1:]
    ]
    assert anybody.get("/tournaments/cup/rounds/2/tables").status_code == 404
    with pytest.raises(UnknownError, match="no round 2 in cup: 1 paired so far"):
        round_tables(world.storage, "cup", 2)


def test_page_when_a_round_waits_and_when_it_is_played_then_tables_lead_where_they_are_seen(
    world: World, client: TestClient
) -> None:
    cup = world.tournament(8, rounds=1)
    world.advance(cup.id)
    page = Read(client.get(LIVE).text)
    assert "/matches/cup/1/1" in page.links
    assert page.text.count("waits") == 2
    assert "data-again" in page.attributes
    assert "data-again" in Read(client.get(f"{LIVE}/tables").text).attributes
    world.finish(cup.id, play_randomly)
    done = Read(client.get(f"{LIVE}?offset=1").text)
    assert "data-again" not in done.attributes
    assert ("/matches/cup/1/1" in done.links, "/matches/cup/1/2" in done.links) == (False, True)
    for wrong, status in (
        ("/tournaments/cup/rounds/7/live", 404),
        ("/tournaments/no/rounds/1/live/tables", 404),
    ):
        assert client.get(wrong).status_code == status


def test_now_when_several_tournaments_are_played_then_their_tables_stand_in_turn_and_starts_are_counted_down(
    world: World, app: FastAPI, client: TestClient
) -> None:
    names = world.register(8)
    cups = [
        world.tournament_of(names, name="one"),
        world.tournament_of(names, name="same", duplicate=True, sessions=1, deals=None),
        world.tournament_of(names[:4], name="over", rounds=1),
    ]
    world.finish(cups[2].id, play_randomly)
    creation.create(world.storage, ROOT, world.spec(names, name="later"), world.clock(), SEED)
    applying.apply(world.storage, ROOT, winter(start=world.clock() + timedelta(hours=50)), world.clock())
    for cup in cups[:2]:
        world.advance(cup.id)
    assert Read(client.get("/now").text).text.count("No table is being played") == 1
    for match_id in world.match_ids(MatchState.WAITING):
        assert claim(world.storage, match_id, world.clock(), LEASE) is not None
    found = on_now(world.storage, 3)
    assert [one.tournament for one in found.running] == ["same", "one"]
    assert [one.tournament for one in found.waiting] == ["later"]
    assert [(one.tournament, one.table) for one in found.tables] == [("one", 1), ("same", 1), ("one", 2)]
    assert [one.points is None for one in found.tables] == [False, True, False]  # others play its deals, too
    for table in found.tables:
        assert table.bots == played_match(world.storage, table.tournament, table.round, table.table).bots
    app.state.web = replace(app.state.web, clock=world.clock)
    page = Read(client.get("/now").text)
    assert {"/matches/one/1/1/live", "/tournaments/later", "/leagues/winter"} <= {*page.links}
    assert "over" not in page.text
    assert "season 1: " in page.text
    assert "in 2 d 2 h" in page.text
    world.clock.move(51 * 3600)
    assert "any moment now" in Read(client.get("/now").text).text


def test_notable_deals_when_they_are_read_then_they_are_those_of_the_whole_arena(
    pool: World, client: TestClient
) -> None:
    page = Read(client.get("/deals").text)
    for kind in HighlightKind:
        for line in find_deals(pool.storage, HighlightQuery(kind), EACH).deals:
            assert deal_url(line.tournament, line.round, line.table, line.session, line.deal) in page.links
    swings = find_deals(pool.storage, HighlightQuery(HighlightKind.SWING, tournament="later"), LISTED)
    page = Read(client.get("/deals?kind=swing&tournament=later&bot=").text)
    links = [link for link in page.links if link.startswith("/matches/")]
    assert links == [
        deal_url(one.tournament, one.round, one.table, one.session, one.deal) for one in swings.deals
    ]
    assert client.get("/deals?tournament=none").status_code == 404


async def test_tables_when_one_is_in_play_then_cards_in_hand_are_seen_and_it_is_let_go_when_nobody_looks(
    world: World, migrated: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.web.readings.FRESH", 0.0)
    monkeypatch.setattr("arena.web.watching.RETRY_SECONDS", 0.02)
    monkeypatch.setattr("arena.web.watching.LINGERS", 1.0)
    cup = world.tournament(4, rounds=1)
    world.advance(cup.id)
    with world.storage.write() as tx:
        [match] = tx.exec(select(Match)).all()
        match.state = MatchState.RUNNING
    async with referee() as address, sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)):
        app = make_app(migrated.model_copy(update={"referees": (address,)}), world.storage)
        glancing, watching = app.state.web.glancing, app.state.web.watching
        started = asyncio.Event()
        running = asyncio.create_task(play_match(address, match_spec(deals=3, match_id="cup/1/1"), started))
        async with WireBot(address, 4, wants=LEGAL_PLAYS) as slow:
            await started.wait()
            await slow.next("turn")
            async with asyncio.timeout(DEADLINE):
                while "deal 1 of 3" not in (drawn := await glancing.tables("cup", 1, 0)).text:
                    await asyncio.sleep(0.01)
            assert drawn.text.count('class="held"') == 4
            assert watching.watched == 1
        await until(lambda: not watching.watched)
        async with sdk_bots(address, {4: lowest}):
            await running

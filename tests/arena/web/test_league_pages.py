"""The pages of leagues: they show what the use cases return."""

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from arena.host.settings import load_settings
from arena.leagues import overview
from arena.store.storage import open_storage
from arena.web.app import make_app
from arena.web.pages.leagues import graph
from arena.web.pages.links import bot_url, tournament_url
from tests.arena.fakes import Clock
from tests.arena.leagues import LeagueWorld, winter
from tests.arena.web.markup import Read
from tests.arena.world import World


@pytest.fixture(scope="module")
def league(tmp_path_factory: pytest.TempPathFactory, empty_database: bytes) -> Iterator[LeagueWorld]:
    settings = load_settings({"data": tmp_path_factory.mktemp("league")})
    (settings.prepare().data / "arena.db").write_bytes(empty_database)
    with open_storage(settings) as storage:
        league = LeagueWorld(World(storage, Clock()), winter())
        league.join(*(f"member-{number}/bot" for number in range(10)))
        for week in (1, 2, 3):
            league.week(week)
            league.strengths["member-9/bot"] = week  # rises from the lowest division
        league.join("late/bot")
        yield league


@pytest.fixture(scope="module")
def client(league: LeagueWorld) -> TestClient:
    app = make_app(load_settings({"data": "unused"}), league.world.storage, clock=league.world.clock)
    return TestClient(app, headers={"Accept": "text/html"}, raise_server_exceptions=False)


def test_leagues_when_they_are_listed_then_each_has_its_page(client: TestClient) -> None:
    assert "/leagues/winter" in Read(client.get("/leagues").text).links


def test_league_when_it_is_read_then_divisions_have_their_places_and_who_rises_and_falls(
    client: TestClient, league: LeagueWorld
) -> None:
    page = Read(client.get("/leagues/winter").text)
    season = league.season()
    for division in season.divisions:
        assert division.division in page.text
        if division.tournament is not None:
            assert tournament_url(division.tournament) in page.links
        for line in division.lines:
            assert bot_url(line.bot) in page.links
    ways = [line.goes for division in season.divisions for line in division.lines]
    for way, word in (("promoted", "goes up"), ("relegated", "goes down"), ("stayed", "stays")):
        assert page.text.count(word) == ways.count(way)
    assert bot_url("late/bot") in page.links
    assert "Round-robin under chinese@1 , every 7 days:" in page.text
    assert "/rules/chinese@1" in page.links
    assert "The next season starts 26 Jan 2026 18:00 , in 7 d 0 h ." in page.text


def test_league_when_an_earlier_season_is_asked_for_then_it_is_shown(client: TestClient) -> None:
    assert "Season 1" in Read(client.get("/leagues/winter?season=1").text).text
    for path, code in (
        ("/leagues/winter?season=9", 404),
        ("/leagues/none", 404),
        ("/leagues/winter?season=x", 422),
    ):
        assert client.get(path).status_code == code


def test_graph_when_seasons_were_played_then_it_has_each_place_of_each_member(league: LeagueWorld) -> None:
    world = league.world
    seasons = overview.history(world.storage, "winter", world.clock())
    drawn = graph(overview.orders(world.storage, "winter", 10))
    assert drawn is not None
    assert [number for number, _ in drawn.seasons] == [season.season for season in reversed(seasons)]
    places = {way.member: way.places for way in drawn.ways}
    for at, season in enumerate(reversed(seasons)):
        before = 0
        for division in season.divisions:
            for line in division.lines:
                assert places[line.member][at] == before + line.rank
            before += len(division.lines)
    assert [way.last for way in drawn.ways] == [*range(1, len(drawn.ways) + 1)]


def test_graph_when_there_is_one_season_then_there_is_nothing_to_draw(league: LeagueWorld) -> None:
    world = league.world
    latest = overview.orders(world.storage, "winter", 1)
    assert [season.number for season in latest] == [3]
    assert graph(latest) is None

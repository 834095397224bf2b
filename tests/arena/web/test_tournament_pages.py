"""The pages of tournaments and matches: they show what the queries return."""

import re
from collections.abc import Iterator
from itertools import permutations
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient

from arena.host.settings import load_settings
from arena.play.rounds.overview import pairings
from arena.queries import matches, scoreboard
from arena.queries.highlights import HighlightQuery, find_deals
from arena.queries.sessions import played_match
from arena.store.models import HighlightKind
from arena.store.storage import Storage, open_storage
from arena.tournaments import corrections, creation
from arena.tournaments.overview import status
from arena.web.app import make_app
from arena.web.pages import figures
from arena.web.pages.links import bot_url, deal_url, match_url, round_url, tournament_url
from arena.web.pages.tournaments import StandingsAsked
from tests.arena.fakes import DECISION_KEY, ROOT, Clock
from tests.arena.random_play import play_with_faults
from tests.arena.web.markup import Read
from tests.arena.world import World

HOSTILE = "</li><script>alert(1)</script>"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, empty_database: bytes) -> Iterator[World]:
    settings = load_settings({"data": tmp_path_factory.mktemp("tournaments")})
    (settings.prepare().data / "arena.db").write_bytes(empty_database)
    with open_storage(settings) as storage:
        world = World(storage, Clock())
        names = world.register(9)
        world.finish(world.tournament_of(names, format="swiss", rounds=3).id)
        world.finish(world.tournament_of(names, name="knock", format="knockout").id)
        world.finish(world.tournament_of(names[:4], name="faults").id, play_with_faults)
        world.finish(world.tournament_of(names[:4], name="decided", rounds=1, confirm=True).id)
        wanted = corrections.NewCorrection(names[0], "disqualified", HOSTILE)
        corrections.correct(storage, ROOT, "decided", wanted, world.clock(), DECISION_KEY)
        flowing = world.tournament_of(names[:8], name="flow", format="continuous")
        world.advance(flowing.id)
        world.play(world.messages.pop(0))
        creation.create(storage, ROOT, world.spec(names, name="waiting"), world.clock())
        yield world


@pytest.fixture(scope="module")
def client(world: World) -> TestClient:
    app = make_app(load_settings({"data": "unused"}), world.storage, clock=world.clock)
    return TestClient(app, headers={"Accept": "text/html"}, raise_server_exceptions=False)


@pytest.fixture(scope="module")
def storage(world: World) -> Storage:
    return world.storage


def read(client: TestClient, path: str) -> Read:
    answer = client.get(path)
    assert answer.status_code == 200, path
    return Read(answer.text)


def test_tournaments_when_they_are_listed_then_each_has_its_page_and_its_state(client: TestClient) -> None:
    page = read(client, "/tournaments")
    for name in ("cup", "knock", "faults", "flow", "waiting"):
        assert tournament_url(name) in page.links
    running = read(client, "/tournaments?state=running")
    assert tournament_url("flow") in running.links
    assert tournament_url("cup") not in running.links
    assert client.get("/tournaments?state=lost").status_code == 422


def test_tournament_when_it_is_read_then_bots_stand_in_the_order_of_the_standings(
    client: TestClient, storage: Storage
) -> None:
    page = read(client, "/tournaments/cup")
    lines = scoreboard.standings(storage, "cup")
    first, second, *_ = scoreboard.scoreboard(storage, "cup").standings
    assert first.rank < second.rank
    assert "Won by" in page.text
    assert str(scoreboard.certainty(first, second)) in page.text
    winner, *shown = [link for link in page.links if link.startswith("/bots/")]
    assert winner == bot_url(lines[0].bot)
    assert shown[: len(lines)] == [bot_url(line.bot) for line in lines]
    telling = find_deals(storage, HighlightQuery(HighlightKind.SWING, tournament="cup"), 1).deals[0]
    assert (
        deal_url(*(telling.tournament, telling.round, telling.table, telling.session, telling.deal))
        in page.links
    )
    found = status(storage, "cup")
    for proof in (found.commitment, found.seed_hash, found.seed):
        assert str(proof) in page.text
    assert "arena verify cup.jsonl" in page.text
    assert "Decided by score" in page.text


def test_standings_when_there_are_rounds_then_each_bot_has_its_place_at_every_table(
    client: TestClient, storage: Storage
) -> None:
    page = client.get(tournament_url("cup")).text
    lines = matches.find_matches(storage, matches.MatchQuery(tournament="cup")).matches
    assert {line.round for line in lines} == {1, 2, 3}
    for line in lines:
        places = sorted(1 + sum(more > own for more in line.points) for own in line.points)
        link = f'href="{match_url(line.tournament, line.round, line.table)}"'
        assert sorted(map(int, re.findall(rf'{link}[^>]*title="Round [^>]*>(\d)<', page))) == places
    with_byes = scoreboard.standings(storage, "cup")
    assert page.count("<span>–</span>") == sum(3 - line.matches for line in with_byes)
    assert 'class="sheet"' not in client.get(tournament_url("knock")).text


def test_tournament_when_it_still_runs_then_its_events_are_followed_and_its_seed_is_secret(
    client: TestClient,
) -> None:
    answer = client.get("/tournaments/flow")
    page = Read(answer.text)
    assert 'data-events="/api/v1/tournaments/flow/events"' in answer.text
    assert any(link.endswith("/live.js") for link in page.links)
    assert "secret until" in page.text
    assert "not final" in page.text
    assert not any(link.endswith("/live.js") for link in read(client, "/tournaments/cup").links)


def test_tournament_when_it_is_continuous_then_its_latest_matches_are_there(
    client: TestClient, storage: Storage
) -> None:
    [line] = matches.find_matches(storage, matches.MatchQuery(tournament="flow")).matches
    assert match_url("flow", line.round, line.table) in read(client, "/tournaments/flow").links


def test_knockout_when_it_is_read_then_its_bracket_marks_who_goes_on(
    client: TestClient, storage: Storage
) -> None:
    answer = client.get("/tournaments/knock")
    rounds = pairings(storage, "knock").rounds
    later = [{who for table in one.tables for who in table} | {*one.byes} for one in rounds[1:]]
    on = sum(
        who in after
        for one, after in zip(rounds, later, strict=False)
        for table in one.tables
        for who in table
    )
    assert answer.text.count('<li class="on">') == on + 1  # plus the winner of the final
    assert {round_url("knock", one.round) for one in rounds} <= {*Read(answer.text).links}


def test_round_when_it_is_read_then_each_table_has_its_result(client: TestClient, storage: Storage) -> None:
    page = read(client, round_url("cup", 2))
    lines = matches.find_matches(storage, matches.MatchQuery(tournament="cup", round=2)).matches
    for line in lines:
        assert match_url("cup", 2, line.table) in page.links
        for points in line.points:
            assert str(abs(points)) in page.text
    [one] = pairings(storage, "cup", 2).rounds
    assert "sitting out" in page.text
    assert len(one.byes) == 1


def test_round_when_it_is_asked_why_then_the_reasons_are_there(client: TestClient) -> None:
    assert "gap" not in read(client, round_url("cup", 2)).text
    assert "gap" in read(client, round_url("cup", 2) + "?why=true").text
    assert "seeding" in read(client, round_url("knock", 1) + "?why=true").text
    for wrong, code in (("/tournaments/cup/rounds/9", 404), ("/tournaments/cup/rounds/x", 422)):
        assert client.get(wrong).status_code == code


def test_crosstable_when_it_is_read_then_each_cell_has_its_share(
    client: TestClient, storage: Storage
) -> None:
    crossed = scoreboard.crosstable(storage, "cup")
    answer = client.get("/tournaments/cup/crosstable")
    for (row, one), (column, other) in permutations(enumerate(crossed.bots), 2):
        ahead, behind = crossed.before[row][column], crossed.before[column][row]
        if ahead or behind:
            assert f"{one} ahead of {other}: {ahead} of {crossed.deals[row][column]}" in answer.text
    assert Read(answer.text).tags >= {"abbr"}
    assert (
        client.get(f"/tournaments/cup/crosstable?around={crossed.bots[-1]}").text.count('class="mine"') == 1
    )
    assert "no a/b among the entrants" in client.get("/tournaments/cup/crosstable?around=a/b").text


def test_part_of_the_standings_when_it_is_around_a_bot_then_it_is_within_them(storage: Storage) -> None:
    board = scoreboard.scoreboard(storage, "cup")
    count = len(board.standings)
    for place, line in enumerate(board.standings):
        begin, trouble = StandingsAsked(around=line.bot).begin(board, 4)
        assert trouble is None
        assert begin <= place < begin + 4 <= count
    assert StandingsAsked(offset=2).begin(board, 4) == (2, None)


def test_standings_when_the_organiser_decided_then_it_is_told_and_what_was_written_does_nothing(
    client: TestClient,
) -> None:
    page = read(client, "/tournaments/decided")
    assert "provisional" in page.text
    assert page.text.count("disqualified") == 2
    assert HOSTILE in page.text
    assert page.inner_scripts == ""


@pytest.mark.parametrize(
    "path",
    [
        "/matches?bot={}",
        "/matches?tournament={}",
        "/board?around={}",
        "/board?a={}&b={}",
        "/board?owner={}",
        "/tournaments/{}",
        "/rules/{}",
        "/bots/{}/x",
        "/leagues/winter?season={}",
    ],
)
def test_page_when_it_is_asked_for_with_markup_then_it_is_only_shown(client: TestClient, path: str) -> None:
    mark = quote("'\"><script>alert(1)</script>\u202e", safe="")
    page = Read(client.get(path.format(mark, mark)).text)
    assert page.inner_scripts == ""
    assert not [name for name in page.attributes if name.startswith("on")]
    assert "\u202e" not in page.text


def test_match_when_it_is_read_then_it_has_sessions_points_and_a_link_to_each_deal(
    client: TestClient, storage: Storage
) -> None:
    page = read(client, "/matches/faults/1/1")
    found = played_match(storage, "faults", 1, 1)
    assert len(found.sessions) == 3
    for session in found.sessions:
        assert session.deal_points is not None
        for number, points in enumerate(session.deal_points, start=1):
            assert deal_url("faults", 1, 1, session.session, number) in page.links
            assert len(points) == 4
        assert tuple(map(sum, zip(*session.deal_points, strict=True))) == session.points
    faults = sum(sum(session.faults) for session in found.sessions)
    assert faults
    assert sum(map(int, re.findall(r"(\d+) faults?", page.text.partition("Session 1")[2]))) == faults
    for path, code in (("/matches/faults/1/9", 404), ("/matches/none/1/1", 404), ("/matches/cup/0/1", 422)):
        assert client.get(path).status_code == code


def test_matches_when_they_are_filtered_then_the_form_keeps_its_fields_and_pages_follow(
    client: TestClient, storage: Storage
) -> None:
    answer = client.get("/matches?bot=owner-0/bot-0&opponent=&faults=")
    lines = matches.find_matches(storage, matches.MatchQuery(bot="owner-0/bot-0")).matches
    page = Read(answer.text)
    assert {match_url(one.tournament, one.round, one.table) for one in lines} <= {*page.links}
    assert 'value="owner-0/bot-0"' in answer.text
    assert client.get("/matches?opponent=owner-0/bot-0").status_code == 422
    assert "No finished match" in read(client, "/matches?tournament=waiting").text


@pytest.mark.parametrize("path", ["/tournaments/none", "/tournaments/none/crosstable", "/tournaments/NO!"])
def test_tournament_when_there_is_none_then_a_page_says_so(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code in (404, 422)
    assert "text/html" in answer.headers["content-type"]


def test_rounds_when_there_are_many_then_each_can_be_reached(client: TestClient) -> None:
    assert figures.numbers_near(3, 3) == [1, 2, 3]
    assert figures.numbers_near(100, 100) == [1, *range(61, 101)]
    assert figures.numbers_near(100, 50) == [1, *range(30, 70), 100]
    led = client.get("/tournaments/cup/rounds?round=57", follow_redirects=False)
    assert (led.status_code, led.headers["location"]) == (303, "/tournaments/cup/rounds/57")


def test_tournament_when_it_is_running_then_its_page_leads_to_its_tables(
    world: World, client: TestClient
) -> None:
    live = f"{round_url('flow', world.status('flow').round)}/live"
    assert live in Read(client.get("/tournaments/flow").text).links
    assert not [link for link in Read(client.get("/tournaments/cup").text).links if link.endswith("/live")]

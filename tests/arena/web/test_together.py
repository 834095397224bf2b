"""A deal at all tables of a duplicate round: the same cards, compared seat by seat."""

import pytest
from fastapi.testclient import TestClient

from arena.core.duplicate import PlayedSession, deal_scores
from arena.queries.deals import same_deal
from arena.queries.replays.make import make_replay
from arena.queries.replays.steps import Kind, spoken
from arena.queries.replays.table import after_trick, plays_in, tricks_of
from arena.queries.sessions import played_match, shown_deals
from arena.web.pages import deals
from arena.web.pages.links import deal_url
from tests.arena.exported import play_by_table
from tests.arena.replays.records import NAMES, played
from tests.arena.test_bot_deals import play_one_table
from tests.arena.test_verify_forfeits import played_with
from tests.arena.web.markup import Read
from tests.arena.web.test_pages import client as client
from tests.arena.world import World

PAGE = "/tournaments/cup/rounds/1/sessions/2/deals/{}"
RULES = "choi-dai-di"
"""A ruleset whose sessions may have several deals in a duplicate tournament."""


@pytest.fixture
def cup(world: World) -> World:
    """Play a duplicate cup of four tables, 3 sessions of 2 deals each."""
    status = world.tournament(16, format="swiss", rounds=1, duplicate=True, ruleset=RULES)
    world.finish(status.id, play_by_table)
    return world


def test_same_deal_when_it_is_compared_then_cards_are_the_same_and_swings_those_that_count(
    cup: World,
) -> None:
    found = same_deal(cup.storage, "cup", 1, 2, 1)
    assert [one.table for one in found.tables] == [1, 2, 3, 4]
    assert (found.deals, found.sessions) == (2, (1, 2, 3))
    records = [one.record for one in found.tables]
    assert all(record is not None for record in records)
    assert len({tuple(record["hands"]) for record in records if record}) == 1
    views = [played_match(cup.storage, "cup", 1, table) for table in (1, 2, 3, 4)]
    deals = [shown_deals(cup.storage, "cup", 1, table, 2) for table in (1, 2, 3, 4)]
    points = [[record["points"] for record in records] for records in deals]
    sessions = [[PlayedSession(2, range(4), deals, None)] for deals in points]
    assert [(one.scores, one.fouled) for one in found.tables] == [one[0][0] for one in deal_scores(sessions)]
    assert [one.bots for one in found.tables] == [view.sessions[1].bots for view in views]
    for seat in range(4):
        assert sum(one.scores[seat] for one in found.tables) == pytest.approx(0)


def test_same_deal_when_the_api_is_asked_then_it_is_the_same(cup: World, anybody: TestClient) -> None:
    path = "/tournaments/cup/rounds/1/sessions/2/deals/1"
    cursor = anybody.get(f"{path}?limit=1").json()["next"]
    answer = anybody.get(f"{path}?limit=2&cursor={cursor}").json()
    found = same_deal(cup.storage, "cup", 1, 2, 1, first=2, most=2)
    assert [one["scores"] for one in answer["tables"]] == [list(one.scores) for one in found.tables]
    assert [one["bots"] for one in answer["tables"]] == [list(one.bots) for one in found.tables]
    assert [one["record"] for one in answer["tables"]] == [one.record for one in found.tables]
    assert anybody.get(f"{path}?most=99").json()["problems"][0]["field"] == "most"
    assert anybody.get(path.replace("deals/1", "deals/9")).status_code == 404


def test_same_deal_when_there_are_many_tables_then_the_records_of_some_are_read(cup: World) -> None:
    found = same_deal(cup.storage, "cup", 1, 2, 1, first=2, most=2)
    assert [one.record is not None for one in found.tables] == [False, True, True, False]


def test_page_when_there_are_many_tables_then_it_has_the_results_of_those_near(
    cup: World, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deals, "MOST", 1)
    monkeypatch.setattr(deals, "LISTED", 2)
    page = PAGE.format(1)
    for first, listed in ((1, [1, 2]), (2, [1, 2]), (3, [3, 4])):
        shown = Read(
            client.get(f"{page}?first={first}")
            .text.partition("Points and swing</h2>")[2]
            .partition("</section>")[0]
        )
        links = [deal_url("cup", 1, table, 2, 1) for table in (1, 2, 3, 4)]
        assert [table for table, link in enumerate(links, start=1) if link in shown.links] == listed
        assert f"These are tables {listed[0]} to {listed[1]}; " in shown.text


def test_tricks_of_the_page_when_each_is_asked_for_then_every_table_stands_after_it(
    cup: World, client: TestClient
) -> None:
    replays = [make_replay(one.record) for one in same_deal(cup.storage, "cup", 1, 2, 2).tables if one.record]
    last = max(map(tricks_of, replays))
    page = PAGE.format(2)
    for trick in (0, 1, last // 2, last):
        answer = client.get(f"{page}?trick={trick}")
        assert answer.status_code == 200
        text, links = Read(answer.text).text, Read(answer.text).links
        beside = [PAGE.format(1), PAGE.format(1).replace("sessions/2", "sessions/3")]
        assert {*beside, "/tournaments/cup/rounds/1"} <= {*links}
        assert ("The cards as dealt" if trick == 0 else f"After trick {trick}") in text
        tables = answer.text.split('<section class="one"')[1:]
        for shown, replay in zip(tables, replays, strict=True):
            held = [spoken(card) for hand in after_trick(replay, trick).hands for card in hand]
            hands = shown.partition('<p class="did">')[0]
            assert [part.partition('"')[0] for part in hands.split('role="img" aria-label="')[1:]] == held
            assert ("score" in hands) == (trick >= tricks_of(replay))
    for link in Read(client.get(page).text).links:
        if link.startswith((page, "/matches", "?", "/static")):
            assert client.get(page + link if link[0] == "?" else link).status_code == 200


def test_page_when_what_is_asked_is_not_there_then_it_says_what_is_wrong(
    cup: World, client: TestClient
) -> None:
    for path, status, told in (
        (f"{PAGE.format(1)}?trick=999", 422, "trick must be a whole number from 0 to"),
        (f"{PAGE.format(1)}?trick=-1", 422, "trick"),
        (PAGE.format(3), 404, "round 1 of cup has no finished deal 2/3"),
        ("/tournaments/cup/rounds/2/sessions/1/deals/1", 404, "no round 2"),
        ("/tournaments/cap/rounds/1/sessions/1/deals/1", 404, "cap"),
    ):
        answer = client.get(path)
        assert answer.status_code == status
        assert told in Read(answer.text).text
    assert client.get(f"{PAGE.format(1)}?first=99").status_code == 200


def test_deal_when_its_tables_play_their_own_or_still_play_then_nobody_sees_them_together(
    world: World, client: TestClient
) -> None:
    own = world.tournament(8, format="swiss", rounds=1)
    world.finish(own.id, play_by_table)
    assert client.get("/tournaments/cup/rounds/1/sessions/1/deals/1").status_code == 409
    names = world.register(8)
    other = world.tournament_of(names, name="other", format="swiss", rounds=1, deals=1, duplicate=True)
    world.messages.clear()
    world.advance(other.id)
    for match in world.messages:
        world.play(match, play_one_table)
    answer = client.get("/tournaments/other/rounds/1/sessions/1/deals/1")
    assert answer.status_code == 409
    assert "other tables still have to play these deals" in Read(answer.text).text


def test_page_when_a_bot_forfeited_the_deal_then_it_is_fouled_at_every_table_without_another_to_compare(
    world: World, client: TestClient
) -> None:
    fields = {"rounds": 1, "sessions": 2, "deals": 1, "duplicate": True, "join_seconds": 10}
    world.finish(world.tournament(8, **fields).id, played_with(lambda number: number != 2))
    found = same_deal(world.storage, "cup", 1, 2, 1)
    assert [one.fouled for one in found.tables] == [True, True]
    assert {
        score
        for one in found.tables
        for name, score in zip(one.bots, one.scores, strict=True)
        if name != "owner-1/bot-1@1"
    } == {0}
    assert Read(client.get(PAGE.format(1)).text).text.count("fouled") == 5


@pytest.mark.parametrize("name", NAMES)
def test_tricks_when_they_are_taken_together_then_they_are_all_actions_of_the_deal(name: str) -> None:
    for record in played(name):
        replay = make_replay(record)
        deals = [step for trick in range(1, tricks_of(replay) + 1) for step in plays_in(replay, trick)]
        assert len(deals) == len(record["actions"])
        assert after_trick(replay, tricks_of(replay)).kind is Kind.END
        for trick in range(1, tricks_of(replay)):
            assert after_trick(replay, trick).won_by is not None
            assert plays_in(replay, trick)[0].options is not None

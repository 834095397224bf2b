"""Matches and deals over HTTP; cards that others have yet to play are shown to nobody."""

import json

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlmodel import select

from arena.actors import Role
from arena.store.models import Match
from arena.trust.exports.write import export_records
from tests.arena.cli import make_arena
from tests.arena.exported import play_by_table
from tests.arena.test_bot_deals import play_one_table
from tests.arena.web.conftest import Ask
from tests.arena.world import World

BOT = "owner-0/bot-0"


@pytest.fixture
def played(world: World) -> World:
    """Return an arena with a cup whose matches have 3 sessions of 2 deals."""
    world.finish(world.tournament(8, format="swiss", rounds=1).id, play_by_table)
    return world


def test_match_when_it_is_shown_then_it_is_what_the_command_prints_but_for_the_deals(
    played: World, anybody: TestClient, app: FastAPI, capsys: pytest.CaptureFixture[str]
) -> None:
    arena = make_arena(app.state.web.settings.data, capsys)
    printed = arena("match", "show", "cup", 1, 2, "--json").json
    found = anybody.get("/matches/cup/1/2").json()
    del printed["output"]
    assert printed["withheld"] is None
    for session in printed["sessions"]:
        del session["records"]
        session["finished_at"] = session["finished_at"].replace("+00:00", "Z")
    assert found == printed
    assert len(found["sessions"]) == 3


def test_deals_when_they_are_read_session_by_session_then_they_are_those_of_the_export(
    played: World, anybody: TestClient
) -> None:
    exported = [json.loads(line) for line in export_records(played.storage, "cup")]
    read = []
    for table in (1, 2):
        for session in (1, 2, 3):
            path = f"/matches/cup/1/{table}/sessions/{session}/deals"
            whole = anybody.get(path).json()
            first = anybody.get(f"{path}?limit=1").json()
            rest = anybody.get(f"{path}?limit=1&cursor={first['next']}").json()
            assert (first["deals"] + rest["deals"], whole["next"], rest["next"]) == (
                whole["deals"],
                None,
                None,
            )
            assert [anybody.get(f"{path}/{deal}").json() for deal in (1, 2)] == whole["deals"]
            read += whole["deals"]
    assert read == exported
    assert len(read) == 12


@pytest.mark.parametrize(
    ("path", "status", "field"),
    [
        ("/matches/cap/1/1", 404, None),
        ("/matches/cup/2/1", 404, None),
        ("/matches/cup/1/0", 422, "table"),
        ("/matches/cup/1/99999999999", 422, "table"),
        ("/matches/cup/1/1/sessions/4/deals", 404, None),
        ("/matches/cup/1/1/sessions/1/deals?cursor=x", 422, "cursor"),
        ("/matches/cup/1/1/sessions/1/deals/3", 404, None),
        ("/matches/cup/1/1/sessions/1/deals/0", 422, "deal"),
        ("/matches?bot=nobody", 422, "bot"),
        ("/matches?bot=no/body", 404, None),
        ("/matches?result=won", 422, "bot"),
        ("/matches?round=1", 422, "tournament"),
        ("/matches?since=yesterday", 422, "since"),
        ("/matches?since=0001-01-01T00:00:00%2B14:00", 422, "since"),
        ("/matches?cursor=x", 422, "cursor"),
        ("/matches/%00/1/1", 422, "path"),
        ("/matches?tournament=%00", 422, "query"),
        ("/deals", 422, "kind"),
        ("/deals?kind=best", 422, "kind"),
        ("/deals?kind=swing&tournament=cap", 404, None),
    ],
)
def test_match_when_there_is_none_or_the_request_is_wrong_then_that_is_said(
    played: World, anybody: TestClient, path: str, status: int, field: str | None
) -> None:
    answer = anybody.get(path)
    assert answer.status_code == status, answer.text
    assert [one["field"] for one in answer.json()["problems"]] == ([] if field is None else [field])


@pytest.mark.parametrize("duplicate", [False, True])
def test_deals_when_other_tables_still_play_them_then_nobody_sees_them(
    world: World, anybody: TestClient, client_of: Ask, duplicate: bool
) -> None:
    cup = world.tournament(8, format="swiss", rounds=1, deals=1, duplicate=duplicate)
    world.advance(cup.id)
    for match in world.messages:
        world.play(match, play_one_table)
    with world.storage.read() as tx:
        first = tx.exec(select(Match).where(Match.table_number == 1)).one()
        assert first.sessions_done == 3
    author, operator = client_of("owner-0"), client_of("boss", Role.OPERATOR)
    session = "/matches/cup/1/1/sessions/1/deals"
    paths = [session, f"{session}/1"]
    for client in (anybody, author, operator):
        for path in paths:
            answer = client.get(path)
            assert answer.status_code == (409 if duplicate else 200)
            assert not duplicate or ("hands" not in answer.text and "not-now" in answer.text)
        shown = client.get("/matches/cup/1/1")
        assert (len(shown.json()["sessions"]), "hands" in shown.text) == (3, False)
        assert (client.get("/deals?kind=swing").json()["deals"] == []) == duplicate
        own = client.get(f"/bots/{BOT}/deals")
        if client is anybody:
            assert own.status_code == 401
        elif duplicate:
            assert own.json() == {"deals": [], "next": None}
    world.clock.move(60)
    world.finish(cup.id, play_by_table)
    assert [anybody.get(path).status_code for path in paths] == [200, 200]
    assert author.get(f"/bots/{BOT}/deals").json()["deals"]


def test_own_deals_when_their_author_reads_them_in_pages_then_they_are_what_the_command_prints(
    played: World, client_of: Ask, app: FastAPI, capsys: pytest.CaptureFixture[str]
) -> None:
    arena = make_arena(app.state.web.settings.data, capsys)
    author = client_of("owner-0")
    for query, options in (
        ("", ()),
        ("&lost=true", ("--lost",)),
        ("&session=cup/1/1/2", ("--session", "cup/1/1/2")),
    ):
        lines = arena("bot", "games", BOT, *options, "--json").out.splitlines()
        printed = [json.loads(line) for line in lines][::-1]
        found: list[dict[str, object]] = []
        cursor: str | None = ""
        while cursor is not None:
            page = author.get(
                f"/bots/{BOT}/deals?limit=2{query}" + (f"&cursor={cursor}" if cursor else "")
            ).json()
            found += page["deals"]
            cursor = page["next"]
        for one in printed:
            del one["output"]
            one["at"] = one["at"].replace("+00:00", "Z")
        assert found == printed
    assert len(author.get(f"/bots/{BOT}/deals").json()["deals"]) == 6

"""Leagues over the API: how they stand, what applying changes, who joins and leaves."""

import json

import pytest
from fastapi.testclient import TestClient

from arena.actors import Role
from arena.host.settings import Settings
from tests.arena.cli import make_arena
from tests.arena.leagues import START, WINTER, LeagueWorld, winter
from tests.arena.web.conftest import Ask
from tests.arena.world import World

SENT = WINTER | {"start": START.isoformat()}


@pytest.fixture
def league(world: World) -> LeagueWorld:
    """Make a league with a season that is over."""
    league = LeagueWorld(world, winter())
    league.join(*(f"member-{number}/bot" for number in range(10)))
    league.week(1)
    return league


@pytest.mark.parametrize(
    ("path", "command"),
    [
        ("/leagues", "list"),
        ("/leagues/winter", "show winter"),
        ("/leagues/winter?season=1", "show winter --season 1"),
        ("/leagues/winter/history", "history winter"),
    ],
)
def test_league_when_it_is_read_then_it_is_told_as_by_the_command_line(
    anybody: TestClient,
    league: LeagueWorld,
    migrated: Settings,
    capsys: pytest.CaptureFixture[str],
    path: str,
    command: str,
) -> None:
    told = make_arena(migrated.data, capsys)("league", *command.split(), "--json").out
    found = anybody.get(path).json()
    assert {"output": "bigtwo-cli/1", **found} == _zulu(told)


def _zulu(told: str) -> object:
    return json.loads(told.replace("+00:00", "Z"))


def test_organiser_when_it_applies_a_league_then_it_is_its_own(client_of: Ask) -> None:
    olga, otto, ann = client_of("olga", Role.ORGANISER), client_of("otto", Role.ORGANISER), client_of("ann")
    first = olga.post("/leagues/winter/preview", json=SENT).json()
    assert (first["applied"], olga.get("/leagues").json()) == (False, {"leagues": []})
    applied = olga.put("/leagues/winter", json=SENT).json()
    assert applied == first | {"applied": True}
    assert {"field": "interval_hours", "before": None, "after": 168.0} in applied["changes"]
    assert olga.put("/leagues/winter", json=SENT).json()["changes"] == []
    assert [one.put("/leagues/winter", json=SENT).status_code for one in (otto, ann)] == [403, 403]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"seasons": 0}, "seasons"),
        ({"name": "summer"}, "name"),
        ({"start": "tomorrow"}, "start"),
        ({"tournament": {"format": "round-robin", "ruleset": "/etc/x.toml"}}, "tournament.ruleset"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_league_when_fields_are_wrong_then_each_is_told(
    client_of: Ask, fields: dict[str, object], problem: str
) -> None:
    answer = client_of("olga", Role.ORGANISER).put("/leagues/winter", json=SENT | fields)
    assert answer.status_code == 422
    assert problem in [one["field"] for one in answer.json()["problems"]]


def test_bots_when_they_join_and_leave_then_their_authors_say_so(client_of: Ask, league: LeagueWorld) -> None:
    league.register("ann/one")
    ann, bob = client_of("ann"), client_of("bob")
    path, sent = "/leagues/winter/members", {"bot": "ann/one"}
    joined = ann.post(path, json=sent)
    next_at = ann.get("/leagues/winter").json()["next_at"]
    told = {"league": "winter", **sent, "state": "joined", "next_at": next_at}
    assert (joined.status_code, joined.json()) == (201, told)
    assert [one.post(path, json=sent).status_code for one in (ann, bob)] == [409, 403]
    assert bob.delete(f"{path}/ann/one").status_code == 403
    assert ann.delete(f"{path}/ann/one").json() == {"league": "winter", **sent}
    assert ann.delete(f"{path}/ann/one").status_code == 409


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/leagues/nothing", 404),
        ("/leagues/nothing/history", 404),
        ("/leagues/winter?season=9", 404),
        ("/leagues/winter?season=0", 422),
        ("/leagues/No%20name", 422),
    ],
)
def test_league_when_there_is_none_then_that_is_told(
    anybody: TestClient, league: LeagueWorld, path: str, status: int
) -> None:
    assert anybody.get(path).status_code == status


def test_bot_when_the_organiser_decides_then_it_asks_and_is_answered(
    client_of: Ask, league: LeagueWorld
) -> None:
    for bot in ("ann/one", "ann/two"):
        league.register(bot)
    ann, ora = client_of("ann"), client_of("ora", Role.ORGANISER)
    fields = {**SENT, "name": "spring", "entries": "approved"}
    assert ora.put("/leagues/spring", json=fields).status_code == 200
    for bot in ("ann/one", "ann/two"):
        asked = ann.post("/leagues/spring/members", json={"bot": bot})
        assert (asked.status_code, asked.json()["state"]) == (201, "asked")
    requests = "/leagues/spring/requests/ann"
    assert ann.post(f"{requests}/one/approve").status_code == 403
    assert ora.post(f"{requests}/one/approve").json()["state"] == "joined"
    declined = ora.post(f"{requests}/two/decline", json={"reason": "too late"})
    assert (declined.json()["state"], declined.json()["reason"]) == ("declined", "too late")
    assert ann.post("/leagues/spring/members", json={"bot": "ann/two"}).json()["detail"] == (
        "ann/two was declined in league spring: too late"
    )
    assert ora.post("/leagues/spring/invitations", json={"invited": ["ann"]}).status_code == 201
    assert ann.post("/leagues/spring/members", json={"bot": "ann/two"}).json()["state"] == "joined"
    assert ora.delete("/leagues/spring/invitations?invited=ann").status_code == 204
    shown = ann.get("/leagues/spring/entries").json()
    assert [one["state"] for one in shown["requests"]] == ["approved", "approved"]
    assert ann.get("/leagues/spring").json()["entries"] == "approved"

"""Tournaments over the API: the same status as on the command line, who may steer them, and errors."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import text

from arena.actors import Role
from arena.bots.versions import register_version
from arena.errors import BrokerError
from arena.host.settings import Settings
from arena.store.models import Tournament
from arena.store.storage import Storage
from arena.tournaments.referees import NO_REFEREE, nobody_asked
from referee.ruleset import load_ruleset
from tests.arena.cli import make_arena
from tests.arena.fakes import ROOT
from tests.arena.web.conftest import Ask
from tests.arena.world import World, open_bots


@pytest.fixture
def woken(app: FastAPI) -> list[int]:
    """Keep the application from asking referees; return the tournaments for which workers are woken."""
    woken: list[int] = []
    app.state.web = replace(app.state.web, ask=nobody_asked, wake=woken.append)
    return woken


@pytest.fixture
def organiser(client_of: Ask, woken: list[int]) -> Iterator[TestClient]:
    """Return a client of an organiser."""
    with client_of("olga", Role.ORGANISER) as client:
        yield client


def wanted(world: World, count: int = 8, **fields: object) -> dict[str, object]:
    """Return a request to create a small tournament of new bots."""
    small = {"name": "new", "format": "swiss", "ruleset": "chinese", "sessions": 3, "deals": 2, "rounds": 2}
    return small | {"allow_same_owner": True, "entrants": world.register(count)} | fields


@pytest.mark.parametrize(
    ("path", "command"),
    [
        ("", "tournament show cup"),
        ("/standings", "tournament standings cup"),
        ("/pairings", "tournament pairings cup"),
        ("/pairings?round=2&explain=true", "tournament pairings cup --round 2 --explain"),
    ],
)
def test_tournament_when_it_is_read_then_it_is_told_as_by_the_command_line(
    anybody: TestClient,
    woken: list[int],
    world: World,
    migrated: Settings,
    capsys: pytest.CaptureFixture[str],
    path: str,
    command: str,
) -> None:
    world.finish(world.tournament(9, format="swiss", rounds=3).id)
    told = make_arena(migrated.data, capsys)(*command.split(), "--json").json
    del told["output"]
    answer = anybody.get(f"/tournaments/cup{path}")
    assert answer.status_code == 200, answer.text
    assert _times(answer.json()) == _times(told)


def _times(found: Any) -> Any:
    """Return JSON values with all times in one form."""
    if isinstance(found, dict):
        return {key: _times(value) for key, value in found.items()}
    if isinstance(found, list):
        return [_times(one) for one in found]
    return found.replace("+00:00", "Z") if isinstance(found, str) else found


def test_crosstable_when_it_is_read_then_it_is_told_as_by_the_command_line(
    anybody: TestClient, world: World, migrated: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    world.finish(world.tournament(5).id)
    told = make_arena(migrated.data, capsys)("tournament", "standings", "cup", "--crosstable", "--json").json
    answer = anybody.get("/tournaments/cup/crosstable").json()
    assert answer == {"tournament": "cup", "crosstable": told["crosstable"], "next": None}
    cursor = anybody.get("/tournaments/cup/crosstable?limit=3").json()["next"]
    part = anybody.get(f"/tournaments/cup/crosstable?limit=2&cursor={cursor}").json()["crosstable"]
    assert (part["bots"], part["offset"], part["entrants"]) == (answer["crosstable"]["bots"][3:], 3, 5)


def test_tournaments_when_they_are_listed_then_pages_follow_each_other(
    anybody: TestClient, world: World
) -> None:
    bots = world.register(8)
    for name in ("one", "two", "three"):
        world.tournament_of(bots, name=name)
    first = anybody.get("/tournaments?limit=2").json()
    second = anybody.get(f"/tournaments?limit=2&cursor={first['next']}").json()
    names = [one["tournament"] for page in (first, second) for one in page["tournaments"]]
    assert (names, second["next"]) == (["three", "two", "one"], None)
    assert anybody.get("/tournaments?state=finished").json()["tournaments"] == []
    other = anybody.get(f"/tournaments?state=running&cursor={first['next']}")
    assert (other.status_code, other.json()["problems"][0]["field"]) == (422, "cursor")


def test_head_when_a_tournament_is_locked_then_it_has_its_commitment_and_what_happened(
    anybody: TestClient, world: World
) -> None:
    world.finish(world.tournament().id)
    found = anybody.get("/tournaments/cup/head").json()
    assert found["commitment"] == found["head"]["digest"] == world.status().commitment
    assert [one["event"] for one in found["events"]] == ["started", "finished"]
    assert found["events"][0]["previous"] == found["commitment"]


def test_organiser_when_it_runs_a_tournament_then_each_step_tells_how_it_stands(
    organiser: TestClient, world: World, woken: list[int]
) -> None:
    made = organiser.post("/tournaments", json=wanted(world, beacon="drand round 1", beacon_form="hex:4"))
    assert (made.status_code, made.json()["state"], made.json()["warnings"]) == (201, "created", [])
    path = "/tournaments/new"
    assert organiser.post(f"{path}/lock").json()["commitment"] is not None
    early = organiser.post(f"{path}/start")
    assert (early.status_code, early.json()["type"]) == (409, "/problems/not-now")
    started = organiser.post(f"{path}/start", json={"beacon": "00ff"}).json()
    assert (started["state"], started["beacon_value"]) == ("running", "00ff")
    assert started["warnings"] == [
        f"no referee reports which bots are connected: {NO_REFEREE}; "
        "is `arena up` or `arena referee` running?"
    ]
    assert len(woken) == 1
    states = [organiser.post(f"{path}/{step}").json()["state"] for step in ("pause", "resume", "stop")]
    assert states == ["paused", "running", "running"]
    cancelled = organiser.post(f"{path}/cancel").json()
    assert (cancelled["state"], organiser.post(f"{path}/cancel").status_code) == ("cancelled", 409)
    assert "id" not in cancelled


def test_start_when_the_broker_is_away_then_it_is_started_and_that_is_told(
    organiser: TestClient, app: FastAPI, world: World
) -> None:
    def fail(tournament_id: int) -> None:
        raise BrokerError("setting broker_url: it is away")

    app.state.web = replace(app.state.web, wake=fail)
    organiser.post("/tournaments", json=wanted(world))
    started = organiser.post("/tournaments/new/start")
    assert (started.status_code, started.json()["state"]) == (200, "running")
    assert started.json()["warnings"][-1].endswith("next beat: setting broker_url: it is away")


@pytest.mark.parametrize(
    ("fields", "problems"),
    [
        ({"sessions": 0, "colour": "red"}, {"sessions", "colour"}),
        ({"name": "A b"}, {"name"}),
        ({"entrants": ["nobody/one"] * 2}, {"entrants"}),
        ({"ruleset": {"name": "x", "players": 99}}, {"ruleset.players"}),
        ({"options": [1]}, {"options"}),
    ],
)
def test_create_when_fields_are_wrong_then_each_is_told(
    organiser: TestClient, world: World, fields: dict[str, object], problems: set[str]
) -> None:
    for path in ("/tournaments", "/tournaments/preview"):
        answer = organiser.post(path, json=wanted(world) | fields)
        assert answer.status_code == 422, answer.text
        assert {one["field"] for one in answer.json()["problems"]} == problems


def test_create_when_its_ruleset_is_a_file_then_no_file_of_the_server_is_read(
    organiser: TestClient, world: World, tmp_path: Path
) -> None:
    file = tmp_path / "secret.toml"
    file.write_text('name = "secret"\n', encoding="utf-8")
    for ruleset in (str(file), "~/secret.toml", {"extends": str(file)}):
        answer = organiser.post("/tournaments", json=wanted(world) | {"ruleset": ruleset})
        assert answer.status_code == 422
        assert answer.json()["problems"][0]["field"].startswith("ruleset")


def test_preview_when_it_is_asked_for_then_nothing_is_stored(
    organiser: TestClient, world: World, storage: Storage
) -> None:
    bots = world.register(9)
    sent = wanted(world, 0, sessions=1, deals=1, rounds=3, entrants=bots)
    found = organiser.post("/tournaments/preview", json=sent).json()
    counted = {key: found[key] for key in ("entrants", "table_size", "rounds", "matches", "sessions")}
    assert counted == {"entrants": 9, "table_size": 4, "rounds": 3, "matches": 6, "sessions": 6}
    assert found["warnings"] == [
        "a match is a single deal: who wins it is mostly luck (see sessions, deals, duplicate)"
    ]
    seated = [bot for table in [*found["tables"], found["byes"]] for bot in table]
    assert sorted(seated) == sorted(bots)
    with storage.read() as tx:
        assert tx.get(Tournament, 1) is None
    assert organiser.get("/tournaments/new").status_code == 404


@pytest.mark.parametrize("format", ["round-robin", "knockout", "gauntlet", "swiss", "continuous"])
def test_tournament_when_it_is_announced_then_every_answer_says_how_many_are_missing(
    organiser: TestClient, world: World, format: str
) -> None:
    sent = wanted(world, 5, format=format)
    bots = sent.pop("entrants")
    assert isinstance(bots, list)
    if format == "knockout":
        del sent["rounds"]
    told = ["entrants: a table needs at least 4, has 0; add 4 before the start"]
    assert organiser.post("/tournaments/preview", json=sent).json()["warnings"] == told
    assert organiser.post("/tournaments", json=sent).json()["warnings"] == told
    assert organiser.get("/tournaments/new").json()["warnings"] == told
    for step in ("lock", "start"):
        refused = organiser.post(f"/tournaments/new/{step}")
        assert (refused.status_code, refused.json()["detail"]) == (422, told[0])
    for path in ("/standings", "/pairings", "/crosstable", "/export"):
        assert organiser.get(f"/tournaments/new{path}").status_code == 200
    for bot in bots:
        entered = organiser.post("/tournaments/new/entrants", json={"bot": bot})
        assert (entered.status_code, entered.json()["first_round"]) == (201, 1)
    assert organiser.post("/tournaments/new/start").json()["state"] == "running"


def test_preview_when_the_ruleset_has_too_many_plays_then_it_says_that_it_has_no_reference(
    organiser: TestClient, world: World
) -> None:
    chinese = load_ruleset("chinese").to_object()
    many = {"name": "many", "players": 8, "decks": 4, "hand_size": 21, "five_card_order": ["two_pair"]}
    plays = ["single", "two_pair", "run", "pair_run", "triple_run"]
    sent = wanted(world, 8, ruleset={**chinese, **many, "plays": plays})
    told = "many@1 has too many plays for a reference: card values are not computed"
    assert told in organiser.post("/tournaments/preview", json=sent).json()["warnings"]


@pytest.mark.parametrize("format", ["round-robin", "knockout", "gauntlet", "continuous"])
def test_preview_when_the_format_is_another_then_it_is_previewed_too_while_others_write(
    organiser: TestClient, world: World, format: str
) -> None:
    sent = wanted(world, 8, format=format)
    asked = {k: v for k, v in sent.items() if k != "rounds"}
    organiser.get("/me")  # this notes that the key is used today
    with world.storage.write() as tx:  # there can be only one at a time
        tx.connection().execute(text("UPDATE owners SET name = name"))
        found = organiser.post("/tournaments/preview", json=asked)
    assert found.status_code == 200, found.text
    assert bool(found.json()["tables"]) == (format != "continuous")
    created = organiser.post("/tournaments", json=asked).json()
    alike = ("ruleset", "table_size", "entrants")
    assert {key: found.json()[key] for key in alike} == {key: created[key] for key in alike}
    sessions = 14 * 3 if format == "round-robin" else created["sessions_total"]  # planned at its start
    assert found.json()["sessions"] == sessions
    assert found.json()["warnings"] == created["warnings"]


def test_steering_when_the_tournament_is_of_somebody_else_then_it_is_refused(
    organiser: TestClient, anybody: TestClient, client_of: Ask, world: World
) -> None:
    organiser.post("/tournaments", json=wanted(world))
    other, author = client_of("otto", Role.ORGANISER), client_of("ann")
    for step in ("lock", "start", "pause", "resume", "stop", "cancel"):
        assert anybody.post(f"/tournaments/new/{step}").status_code == 401
        for client in (other, author):
            assert client.post(f"/tournaments/new/{step}").status_code == 403
    for path in ("/tournaments", "/tournaments/preview"):
        assert author.post(path, json=wanted(world)).status_code == 403
        assert anybody.post(path, json=wanted(world)).status_code == 401


def test_bots_when_they_enter_and_leave_then_authors_may_that_with_theirs_and_organisers_with_all(
    organiser: TestClient, client_of: Ask, world: World, storage: Storage
) -> None:
    organiser.post("/tournaments", json=wanted(world))
    author = client_of("ann")
    for bot in ("ann/one", "bob/one"):
        register_version(storage, ROOT, bot, world.clock())
    path = "/tournaments/new/entrants"
    entered = author.post(path, json={"bot": "ann/one"})
    assert (entered.status_code, entered.json()) == (
        201,
        {"tournament": "new", "bot": "ann/one", "state": "entered", "first_round": 1, "warnings": []},
    )
    assert author.post(path, json={"bot": "ann/one"}).status_code == 409
    assert author.post(path, json={"bot": "bob/one"}).status_code == 403
    invited = organiser.post(path, json={"bot": "bob/one"})
    assert (invited.status_code, invited.json()["state"], invited.json()["first_round"]) == (
        201,
        "invited",
        None,
    )
    assert organiser.delete(f"{path}/bob/one").status_code == 409
    open_bots(storage)
    assert organiser.post(path, json={"bot": "bob/one"}).json()["state"] == "entered"
    assert author.delete(f"{path}/bob/one").status_code == 403
    left = author.delete(f"{path}/ann/one@1")
    assert left.json() == {"tournament": "new", "bot": "ann/one@1", "last_round": 0}
    assert organiser.delete(f"{path}/bob/one").status_code == 200


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/tournaments/nothing", 404),
        ("/tournaments/nothing/standings", 404),
        ("/tournaments/nothing/crosstable", 404),
        ("/tournaments/nothing/pairings", 404),
        ("/tournaments/nothing/head", 404),
        ("/tournaments/No%20name", 422),
        ("/tournaments/%00/standings", 422),
        ("/tournaments?state=broken", 422),
        ("/tournaments?cursor=x", 422),
    ],
)
def test_tournament_when_there_is_none_then_that_is_told(anybody: TestClient, path: str, status: int) -> None:
    assert anybody.get(path).status_code == status

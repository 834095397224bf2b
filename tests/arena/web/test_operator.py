"""The operator's view over HTTP."""

import pytest
from fastapi.testclient import TestClient

from arena.actors import KeyScope, Role
from tests.arena.web.conftest import Ask
from tests.arena.world import World


@pytest.fixture
def root(client_of: Ask) -> TestClient:
    """Return a client of an operator."""
    return client_of("root", Role.OPERATOR)


def test_tokens_when_they_are_made_rotated_and_revoked_then_only_the_first_answers_have_them(
    root: TestClient,
) -> None:
    made = root.post("/operator/tokens", json={"name": "board", "scope": "spectator", "expires_in": 3})
    assert (made.status_code, made.json()["scope"]) == (201, "spectator")
    rotated = root.post("/operator/tokens/board/rotate", json={})
    assert rotated.json()["token"] not in ("", made.json()["token"])
    [listed] = root.get("/operator/tokens").json()["tokens"]
    assert (listed["name"], listed["expires_at"], listed["revoked_at"]) == ("board", None, None)
    assert root.delete("/operator/tokens/board").json()["revoked_at"] is not None
    assert root.delete("/operator/tokens/board").status_code == 409
    assert root.post("/operator/tokens/board/rotate", json={}).status_code == 409
    assert root.post("/operator/tokens/nothing/rotate", json={}).status_code == 404


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"name": "Board", "scope": "spectator"}, "name"),
        ({"name": "board", "scope": "all"}, "scope"),
        ({"name": "board", "scope": "worker", "expires_in": 0}, "expires_in"),
        ({"name": "board", "scope": "worker", "expires_in": 10**400}, "expires_in"),
        ({"name": "board"}, "scope"),
        ({"name": "board", "scope": "worker", "more": 1}, "more"),
    ],
)
def test_token_when_a_field_is_wrong_then_it_is_named(
    root: TestClient, sent: dict[str, object], field: str
) -> None:
    refused = root.post("/operator/tokens", json=sent)
    assert (refused.status_code, [one["field"] for one in refused.json()["problems"]]) == (422, [field])


def test_audit_when_it_is_read_in_pages_then_every_change_is_there_once(root: TestClient) -> None:
    for number in range(5):
        root.post("/operator/tokens", json={"name": f"board-{number}", "scope": "spectator"})
    whole = root.get("/operator/audit").json()
    assert whole["next"] is None
    pages: list[object] = []
    asked: dict[str, str | int] | None = {"limit": 2}
    while asked is not None:
        page = root.get("/operator/audit", params=asked).json()
        pages += page["entries"]
        asked = {"limit": 2, "cursor": page["next"]} if page["next"] else None
    assert pages == whole["entries"]
    latest = whole["entries"][0]
    assert (latest["action"], latest["actor"]) == ("token.create", {"role": "operator", "account": "root"})
    [one] = root.get("/operator/audit", params={"subject": "board-3", "account": "root"}).json()["entries"]
    assert one["subject"] == "board-3"
    assert root.get("/operator/audit", params={"account": "nobody"}).json()["entries"] == []


def test_findings_when_the_arena_stands_still_then_they_are_those_of_the_doctor(root: TestClient) -> None:
    found = {one["check"]: one for one in root.get("/operator/findings").json()["findings"]}
    assert found["database"]["level"] == "ok"
    assert {"settings", "python", "broker", "leases", "matches"} <= found.keys()


def test_referees_when_none_can_be_asked_then_it_is_told_why(root: TestClient) -> None:
    answer = root.get("/operator/referees").json()
    assert answer["referees"] == []
    assert "ARENA_WORKER_TOKEN" in answer["problem"]


def test_work_when_nothing_runs_then_nothing_waits(root: TestClient) -> None:
    assert root.get("/operator/work").json() == {"waiting": 0, "running": 0, "matches": [], "stuck": []}


def test_work_when_a_tournament_runs_then_its_matches_wait_and_are_told(
    root: TestClient, world: World
) -> None:
    world.advance(world.tournament().id)
    answer = root.get("/operator/work", params={"limit": 1}).json()
    assert (answer["waiting"] > 1, answer["running"], len(answer["matches"])) == (True, 0, 1)
    [match] = answer["matches"]
    assert (match["tournament"], match["round"], match["table"], match["state"]) == ("cup", 1, 1, "waiting")


@pytest.mark.parametrize("path", ["findings", "audit", "referees", "work", "tokens"])
def test_operators_view_when_others_ask_then_it_is_refused(
    anybody: TestClient, client_of: Ask, path: str
) -> None:
    assert anybody.get(f"/operator/{path}").status_code == 401
    assert client_of("otto", Role.ORGANISER).get(f"/operator/{path}").status_code == 403
    assert client_of("root", Role.OPERATOR, (KeyScope.READ,)).get(f"/operator/{path}").status_code == 403

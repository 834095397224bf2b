"""The operator's pages: what is running, what is waiting, what is wrong, and who changed what."""

from dataclasses import replace

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from arena.actors import Role
from arena.bots.versions import register_version
from tests.arena.everywhere import all_connected
from tests.arena.fakes import ROOT
from tests.arena.random_play import play_with_faults
from tests.arena.web.markup import Read
from tests.arena.web.test_desk import Browse
from tests.arena.web.test_desk import browse as browse
from tests.arena.world import World

PAGES = ("/operator", "/operator/findings", "/operator/audit")


@pytest.fixture
def root(browse: Browse) -> TestClient:
    """Return the browser of an operator."""
    return browse("root", Role.OPERATOR)


def test_page_when_nothing_has_happened_then_it_says_so_and_why_referees_are_not_asked(
    root: TestClient,
) -> None:
    text = Read(root.get("/operator").text).text
    for said in ("ARENA_WORKER_TOKEN", "No match is waiting", "No bot has made a fault", "account.create"):
        assert said in text


def test_page_when_matches_wait_and_bots_made_faults_then_both_are_told(
    root: TestClient, world: World
) -> None:
    world.finish(world.tournament(4, rounds=1, rated=True).id, play_with_faults)
    cup = world.tournament_of(world.register(8, owners=8), name="next", rounds=1)
    world.advance(cup.id)
    page = Read(root.get("/operator").text)
    assert "/matches/next/1/1" in page.links
    assert "Matches waiting for one 2" in page.text
    assert "The versions with the most faults" in page.text
    assert "/operator" in Read(root.get("/").text).links


def test_referees_when_they_answer_then_it_is_told_who_is_connected_to_them(
    app: FastAPI, root: TestClient, world: World
) -> None:
    register_version(world.storage, ROOT, "ann/greedy", world.clock())
    app.state.web = replace(app.state.web, ask=all_connected)
    page = Read(root.get("/operator").text)
    assert "/bots/ann/greedy?version=1" in page.links
    assert "1 connected bot" in page.text


def test_audit_when_it_is_narrowed_then_only_those_changes_are_shown_and_pages_go_on(
    root: TestClient, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.web.pages.operating.CHANGES", 2)
    for bot in ("ann/one", "ann/two", "ann/three"):
        register_version(world.storage, ROOT, bot, world.clock())
    page = Read(root.get("/operator/audit?subject=ann/two@1").text)
    assert ("ann/two@1" in page.text, "ann/three@1" in page.text) == (True, False)
    assert "There are no such changes." in Read(root.get("/operator/audit?account=nobody").text).text
    first = Read(root.get("/operator/audit").text)
    [further] = [link for link in first.links if "cursor=" in link]
    assert "ann/three@1" in first.text
    assert "ann/one@1" in Read(root.get(further).text).text
    assert root.get("/operator/audit?cursor=wrong").status_code == 422


def test_findings_when_they_are_read_then_they_are_those_of_the_doctor(root: TestClient) -> None:
    text = Read(root.get("/operator/findings").text).text
    for said in ("migrations", "leases", "disk"):
        assert said in text


def test_pages_when_somebody_else_asks_then_they_are_told_that_it_is_not_for_them(browse: Browse) -> None:
    olga = browse("olga", Role.ORGANISER)
    for path in PAGES:
        assert olga.get(path).status_code == 403
    assert "/operator" not in Read(olga.get("/").text).links

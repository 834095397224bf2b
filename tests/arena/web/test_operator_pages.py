"""The operator's pages: what is running, what is waiting, what is wrong, and who changed what."""

import re
from dataclasses import astuple, replace
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from arena.actors import Role
from arena.bots.versions import register_version
from arena.operations.local import make_context
from arena.operations.operation import Context
from arena.play.rounds.advance import note_problem
from arena.queries.faults import FaultQuery, faults_by_bot
from arena.results.ratings.rebuild import Rebuilt, rebuild
from arena.running import backups
from arena.store.encryption import Seal, Unsealable
from arena.store.models import Rating
from arena.web.asking import COOKIE
from arena.web.checking import Checked
from arena.web.pages import once
from referee.matches.kinds import FaultKind
from tests.arena.everywhere import all_connected
from tests.arena.fakes import ROOT
from tests.arena.random_play import play_with_faults
from tests.arena.web.markup import Read
from tests.arena.web.test_desk import Browse
from tests.arena.web.test_desk import browse as browse
from tests.arena.world import World
from tests.waiting import wait_for

PAGES = (
    *("/operator", "/operator/findings", "/operator/audit", "/operator/accounts", "/operator/accounts/olga"),
    *("/operator/tokens", "/operator/ratings", "/operator/data"),
)


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


def test_page_when_a_tournament_cannot_be_advanced_then_it_says_so_with_the_error(
    root: TestClient, world: World
) -> None:
    note_problem(world.storage, world.tournament(4).id, KeyError("deal"))
    assert "cup cannot be advanced: KeyError: 'deal'" in Read(root.get("/operator").text).text


def test_faults_when_bots_made_some_then_they_are_listed_by_owner_and_kind(
    root: TestClient, world: World
) -> None:
    world.finish(world.tournament(4, rounds=1, rated=True).id, play_with_faults)

    def listed(query: str) -> list[tuple[int, ...]]:
        rows = root.get(f"/faults{query}").text.split("<tr>")[2:]
        return [tuple(map(int, re.findall(r'<td class="num[^>]*>(\d+)</td>', row))) for row in rows]

    lines = faults_by_bot(world.storage).bots
    assert listed("") == [astuple(line)[1:] for line in lines]
    owner, kind = lines[0].bot.partition("/")[0], next(one for one in FaultKind if getattr(lines[0], one))
    narrowed = faults_by_bot(world.storage, FaultQuery(owner=owner, kind=kind)).bots
    assert 0 < len(narrowed) < len(lines)
    assert listed(f"?owner={owner}&kind={kind}") == [astuple(line)[1:] for line in narrowed]
    assert root.get("/faults?kind=late").status_code == 422


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
    assert "No such changes." in Read(root.get("/operator/audit?account=nobody").text).text
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


def test_account_when_it_is_made_and_changed_then_its_pages_say_so_and_refusals_keep_what_was_typed(
    root: TestClient,
) -> None:
    refused = root.post("/operator/accounts", data={"account": "An n", "role": "organiser"})
    assert refused.status_code == 422
    assert 'name="account" type="text" value="An n"' in refused.text
    assert '<option value="organiser" selected>' in refused.text
    assert refused.text.count("&#39;An n&#39; is not a name") == 2  # on top, and beside the field
    for name in ("ann", "anna", "bob"):
        root.post("/operator/accounts", data={"account": name, "role": "author"})
    assert {"ann", "anna"} == names_in(root, "?name=ann")
    assert {"ann", "anna", "bob", "root"} == names_in(root, "")
    assert "organiser" in Read(root.post(f"{ANN}/role", data={"role": "organiser"}).text).text
    assert "organiser" in Read(root.get("/operator/accounts?name=ann").text).text
    disabled = root.post(f"{ANN}/disable", data={"disabled": "true"})
    assert (disabled.url.path, "Enable the account" in disabled.text) == (ANN, True)
    again = root.post(f"{ANN}/disable", data={"disabled": "true"})
    assert (again.status_code, "account ann is disabled already" in again.text) == (409, True)
    assert "Enable the account" not in root.post(f"{ANN}/enable", data={"disabled": "false"}).text
    assert root.get("/operator/accounts/nobody").status_code == 404


ANN = "/operator/accounts/ann"


def names_in(browser: TestClient, query: str) -> set[str]:
    links = Read(browser.get(f"/operator/accounts{query}").text).links
    return {one.rpartition("/")[2] for one in links if one.startswith("/operator/accounts/")}


def test_accounts_when_there_are_many_then_the_list_goes_on(
    root: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.web.pages.upkeep.LISTED", 2)
    for name in ("ann", "anna", "bob"):
        root.post("/operator/accounts", data={"account": name, "role": "author"})
    [further] = [link for link in Read(root.get("/operator/accounts").text).links if "cursor=" in link]
    assert names_in(root, further.partition("/operator/accounts")[2]) == {"bob", "root"}


def test_token_when_it_is_made_or_replaced_then_it_is_shown_until_it_is_put_away(root: TestClient) -> None:
    made = root.post("/operator/tokens", data={"name": "w", "scope": "worker"}, follow_redirects=False)
    assert (made.status_code, made.headers["location"]) == (303, "/operator/tokens")
    shown = root.get("/operator/tokens")
    assert shown.text.count("bt_worker_") == 1
    assert shown.headers["cache-control"] == "no-store"
    assert root.get("/operator/tokens").text.count("bt_worker_") == 1
    replaced = root.post("/operator/tokens/w/rotate", data={"expires_in": "3"})
    assert (replaced.url.path, replaced.text.count("bt_worker_")) == ("/operator/tokens/w", 1)
    away = root.post("/operator/secrets/put-away", data={"page": "/operator/tokens/w"})
    assert (away.url.path, "bt_worker_" in away.text) == ("/operator/tokens/w", False)
    assert "bt_worker_" not in root.get("/operator/tokens").text
    revoked = root.post("/operator/tokens/w/revoke")
    assert "revoked" in Read(revoked.text).text
    assert "Revoke the token" not in revoked.text
    elsewhere = root.post(
        "/operator/secrets/put-away", data={"page": "//example.org"}, follow_redirects=False
    )
    assert elsewhere.headers["location"] == "/operator"


def test_secrets_when_there_is_no_room_for_another_then_none_is_made(root: TestClient) -> None:
    for number in range(once.MOST):
        root.post("/operator/tokens", data={"name": f"w{number}", "scope": "worker"})
    refused = root.post("/operator/tokens", data={"name": "late", "scope": "worker"})
    assert (refused.status_code, "put them away first" in refused.text) == (409, True)
    assert "/operator/tokens/late" not in Read(root.get("/operator/tokens").text).links


def test_secrets_when_a_cookie_of_another_site_on_the_host_is_odd_then_only_their_session_opens_them(
    root: TestClient,
) -> None:
    session = root.cookies["arena_session"]
    made = root.post(
        "/operator/tokens",
        data={"name": "w", "scope": "worker"},
        headers={"Cookie": f'other={{"a": "b"}}; {COOKIE}={session}'},
        follow_redirects=False,
    )
    [sealed] = re.findall(rf'{once.COOKIE}="?([^";]+)', made.headers["set-cookie"])
    with pytest.raises(Unsealable):
        Seal(b"", once.PURPOSE).open(sealed)
    assert b"bt_worker_" in Seal(session.encode(), once.PURPOSE).open(sealed)


def test_password_when_it_was_forgotten_then_an_operators_link_sets_another_once(
    root: TestClient, browse: Browse
) -> None:
    ann = browse("ann", Role.AUTHOR)
    [link] = re.findall(r"(/reset-password\?code=[\w-]+)", root.post(f"{ANN}/reset").text)
    code = link.partition("=")[2]
    assert "For the account ann" in Read(ann.get(link).text).text
    refused = ann.post("/reset-password", data={"code": code, "password": "short"})
    assert refused.status_code == 422
    assert f'name="code" value="{code}"' in refused.text
    assert "short" not in refused.text
    sent = {"code": code, "password": "another horse battery"}
    assert ann.post("/reset-password", data=sent).url.path == "/sign-in"
    assert "Sign in" in Read(ann.get("/").text).text  # signed out everywhere
    again = ann.post("/reset-password", data=sent)
    assert (again.status_code, "This link cannot be used" in again.text) == (422, True)
    assert "This link cannot be used" in ann.get("/reset-password?code=guessed").text
    ann.post("/sign-in", data={"account": "ann", "password": sent["password"]})
    assert "ann" in Read(ann.get("/me").text).text


def test_invitation_when_it_is_made_then_its_link_is_shown_until_it_is_put_away(root: TestClient) -> None:
    made = root.post("/operator/invitations", data={"role": "organiser"})
    assert made.text.count("/sign-up?invitation=bt_invitation_") == 1
    assert "Invitation 1, for an organiser" in made.text
    assert "No unused invitations." in root.post("/operator/invitations/1/revoke").text


def test_ratings_when_they_are_checked_then_the_page_says_what_is_wrong_and_mends_it(
    root: TestClient, world: World
) -> None:
    world.finish(world.tournament(4, rounds=1, rated=True).id, play_with_faults)
    with world.storage.write() as tx:
        tx.get_one(Rating, 1).value += 1

    def checked(do: str) -> str:
        assert root.post(f"/operator/ratings/{do}").url.path == "/operator/ratings"
        wait_for(lambda: "since" not in latest())
        return latest()

    def latest() -> str:
        page = root.get("/operator/ratings").text
        return Read(page[page.index('<div id="latest"') : page.index('<h2 id="references"')]).text

    assert "rating: is 1" in checked("check")
    assert "1 were wrong and have been corrected" in checked("mend")
    assert "4 ratings in 1 pool follow from 1 matches" in checked("check")


def test_ratings_when_a_check_runs_then_another_is_refused(app: FastAPI, root: TestClient) -> None:
    so_far = "rating again: 3 of 12 matches"
    app.state.web.checking.latest = Checked(False, app.state.web.clock(), so_far=so_far)
    assert root.post("/operator/ratings/check").status_code == 409
    told = Read(root.get("/operator/ratings").text).text
    assert ("running" in told, "Rating again: 3 of 12 matches." in told) == (True, True)


def test_ratings_when_a_check_tells_how_far_it_is_then_the_page_knows(app: FastAPI) -> None:
    checking, seen = app.state.web.checking, list[str]()

    def operation(context: Context) -> Rebuilt:
        def tell(told: str) -> None:
            context.tell(told)
            seen.append(checking.latest.so_far)

        return rebuild(context.storage, tell)

    web = app.state.web
    checking.start(operation, make_context(web.storage, web.settings, ROOT), web.clock, mends=False)
    wait_for(lambda: checking.latest.ended_at is not None)
    assert seen == ["comparing luck", "comparing standings"]
    assert checking.latest.so_far == ""


def test_baselines_when_they_are_added_and_removed_then_the_page_lists_them(
    root: TestClient, world: World
) -> None:
    for bot in ("ann/one", "ann/two"):
        register_version(world.storage, ROOT, bot, world.clock())
    added = root.post("/operator/ratings/baselines", data={"bots": "ann/one\r\nann/two@1\r\n"})
    assert {"/bots/ann/one?version=1", "/bots/ann/two?version=1"} <= {*Read(added.text).links}
    removed = root.post("/operator/ratings/baselines/remove", data={"bots": "ann/one@1"})
    assert "/bots/ann/one?version=1" not in Read(removed.text).links
    refused = root.post("/operator/ratings/baselines", data={"bots": "ann/three"})
    assert (refused.status_code, "ann/three</textarea>" in refused.text) == (404, True)


def test_backup_when_it_is_downloaded_then_it_is_the_database_and_is_noted(
    app: FastAPI, root: TestClient, browse: Browse, world: World, tmp_path: Path
) -> None:
    world.tournament(4)
    found = root.get("/api/v1/operator/backup")
    assert found.headers["content-disposition"] == 'attachment; filename="arena-2026-01-01-0000.db"'
    assert int(found.headers["content-length"]) == len(found.content)
    (tmp_path / "copy.db").write_bytes(found.content)
    kept = backups.contents(tmp_path / "copy.db")
    assert kept is not None
    assert kept.tournaments.keys() == {"cup"}
    assert "arena.backup" in Read(root.get("/operator/audit?subject=database").text).text
    assert [one for one in app.state.web.settings.data.iterdir() if "download" in one.name] == []
    assert found.headers["cache-control"] == "no-store"
    ann = browse("ann", Role.AUTHOR)
    with app.state.web.backups.held(""):
        assert root.get("/api/v1/operator/backup").status_code == 429
        refused = [one.get("/api/v1/operator/backup").status_code for one in (ann, TestClient(app))]
    assert refused == [403, 401]  # they neither take the place nor learn that it is taken
    foreign = root.get("/api/v1/operator/backup", headers={"Sec-Fetch-Site": "cross-site"})
    assert foreign.status_code == 403


def test_data_when_the_page_is_read_then_it_says_what_is_kept_and_how_large_the_database_is(
    app: FastAPI, root: TestClient
) -> None:
    text = Read(root.get("/operator/data").text).text
    for said in ("14 days after it was last used", "its latest 5,000 entries", "Download a backup"):
        assert said in text
    size = root.get("/api/v1/operator/retention").json()["database_bytes"]
    assert size >= (app.state.web.settings.data / "arena.db").stat().st_size

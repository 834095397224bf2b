"""Joining in a browser: an account, a bot, its token, and how far it has got."""

import html
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from arena.actors import Role
from arena.bots.checks import submit_check
from arena.bots.journal import DatabaseJournal
from arena.bots.versions import find_versions, register_version
from arena.leagues import applying
from arena.people import accounts, invitations
from arena.people.tokens import hash_token
from arena.store.storage import Storage
from arena.tournaments.referees import Answer
from referee.check import SCENARIOS, Report, Result
from referee.matches.journal import Entry, EntryKind
from referee.matches.match import Presence
from referee.net.client import RefereeStatus
from tests.arena.everywhere import all_connected
from tests.arena.fakes import ROOT, Clock
from tests.arena.leagues import winter
from tests.arena.random_play import play_with_faults
from tests.arena.web.conftest import PASSWORD
from tests.arena.web.markup import Read
from tests.arena.world import World

Browse = Callable[[], TestClient]


@pytest.fixture
def browse(app: FastAPI) -> Browse:
    """Return a function that opens a browser in which nobody has signed in."""

    def opened() -> TestClient:
        headers = {"Accept": "text/html", "Sec-Fetch-Site": "same-origin"}
        return TestClient(app, base_url="https://arena.test", headers=headers, raise_server_exceptions=False)

    return opened


@pytest.fixture
def ann(browse: Browse, storage: Storage, clock: Clock) -> TestClient:
    """Return the browser of an author who has signed in."""
    accounts.create_account(storage, ROOT, "ann", Role.AUTHOR, clock(), PASSWORD)
    browser = browse()
    signed_in = browser.post("/sign-in", data={"account": "ann", "password": PASSWORD})
    assert (signed_in.status_code, signed_in.url.path) == (200, "/me")
    return browser


def token_in(text: str) -> str:
    found = re.search(r'<code id="secret-1">(\S+)</code>', text)
    assert found is not None
    return found[1]


def test_first_account_when_its_link_is_opened_then_it_is_the_operators(
    browse: Browse, storage: Storage, clock: Clock
) -> None:
    first = invitations.invite_first(storage, clock())
    assert first is not None
    browser = browse()
    form = browser.get("/sign-up", params={"invitation": first.code})
    assert first.code in form.text
    sent = {"account": "root", "password": PASSWORD, "invitation": first.code}
    signed_up = browser.post("/sign-up", data=sent)
    assert (signed_up.status_code, signed_up.url.path) == (200, "/me")
    assert "operator" in Read(signed_up.text).text
    again = browse().post("/sign-up", data={**sent, "account": "other"})
    assert again.status_code == 422
    assert "used already" in again.text


def test_bot_when_it_is_registered_then_its_token_is_shown_till_it_is_put_away_and_lights_tell_how_far_it_is(
    browse: Browse, storage: Storage
) -> None:
    browser = browse()
    joining = browser.post("/sign-up", data={"account": "bob", "password": PASSWORD})
    assert joining.url.path == "/join"
    made = browser.post("/join", data={"owner": "bob", "bot": "first", "language": "go"})
    assert (made.status_code, str(made.url.path)) == (200, "/bots/bob/first/start")
    assert made.headers["Cache-Control"] == "no-store"
    assert made.headers["Content-Encoding"] == "identity"  # a compressed page could leak it
    with storage.read() as tx:
        [version] = find_versions(tx, ["bob/first"], None)
        assert version.token_hash == hash_token(token_in(made.text))
        assert version.language == "go"
    assert token_in(browser.get("/bots/bob/first/start").text) == token_in(made.text)
    start = browser.post("/bots/bob/first/token/put-away")
    assert "secret-1" not in start.text
    told = Read(start.text).text
    for light in ("Registered as bob/first@1", "No referee can be asked", "Not checked", "No test match yet"):
        assert light in told
    again = browser.post("/join", data={"owner": "bob", "bot": "first", "language": "go"})
    assert again.status_code == 409
    assert "bot bob/first already exists" in again.text
    assert 'value="first"' in again.text


def test_token_when_it_is_made_anew_then_the_old_one_is_good_no_longer(
    ann: TestClient, storage: Storage
) -> None:
    old = token_in(ann.post("/join", data={"owner": "ann", "bot": "one", "language": "python"}).text)
    new = token_in(ann.post("/bots/ann/one/token").text)
    with storage.read() as tx:
        [version] = find_versions(tx, ["ann/one"], None)
    assert version.token_hash == hash_token(new) != hash_token(old)


def test_test_match_when_no_referee_answers_then_the_page_says_so(ann: TestClient) -> None:
    ann.post("/join", data={"owner": "ann", "bot": "one", "language": "python"})
    unknown = ann.post("/bots/ann/one/test-match", data={"ruleset": "chinese", "against": "nobody"})
    assert (unknown.status_code, 'id="lights"' in unknown.text) == (404, True)
    refused = ann.post("/bots/ann/one/test-match", data={"ruleset": "chinese", "against": ""})
    assert refused.status_code == 409
    assert "cannot determine whether ann/one@1 is connected" in refused.text
    assert 'id="lights"' in refused.text


@pytest.mark.parametrize("bot", ["", "no name", "../up", "a" * 40, "<i>", "\x1b[31m"])
def test_bot_when_its_name_can_be_none_then_the_form_says_so(ann: TestClient, bot: str) -> None:
    refused = ann.post("/join", data={"owner": "ann", "bot": bot, "language": "python"})
    assert refused.status_code == 422
    assert 'role="alert"' in refused.text
    assert "<i>" not in refused.text


@pytest.mark.parametrize("path", ["/bots/ann/one/start", "/me"])
def test_page_of_ones_own_when_nobody_has_signed_in_then_it_leads_there(browse: Browse, path: str) -> None:
    refused = browse().get(path)
    assert refused.status_code == 401
    assert f"/sign-in?next={path.replace('/', '%2F')}" in refused.text
    assert '<a href="/sign-in">Sign in</a>' in refused.text


def test_bot_when_it_is_somebody_elses_then_nothing_can_be_done_with_it(
    ann: TestClient, browse: Browse
) -> None:
    ann.post("/join", data={"owner": "ann", "bot": "one", "language": "python"})
    other = browse()
    other.post("/sign-up", data={"account": "bob", "password": PASSWORD})
    assert other.get("/bots/ann/one/start").status_code == 403
    for path in ("token", "test-match"):
        assert other.post(f"/bots/ann/one/{path}", data={"ruleset": "chinese"}).status_code == 403
    assert other.post("/join", data={"owner": "ann", "bot": "two", "language": "go"}).status_code == 403


@pytest.mark.parametrize(
    ("next", "path"),
    [
        ("/leagues", "/leagues"),
        ("//evil.test/", "/me"),
        ("https://evil.test/", "/me"),
        ("/\\evil.test", "/me"),
    ],
)
def test_sign_in_when_a_page_sent_there_then_it_leads_back_but_never_away(
    ann: TestClient, browse: Browse, next: str, path: str
) -> None:
    browser = browse()
    signed_in = browser.post("/sign-in", data={"account": "ann", "password": PASSWORD, "next": next})
    assert (signed_in.url.host, signed_in.url.path) == ("arena.test", path)


def test_sign_in_when_the_password_is_wrong_then_the_form_keeps_the_name(
    ann: TestClient, browse: Browse
) -> None:
    refused = browse().post("/sign-in", data={"account": "ann", "password": "wrong password"})
    assert refused.status_code == 403
    assert "wrong account name or password" in refused.text
    assert 'value="ann"' in refused.text
    assert "wrong password" not in refused.text


def test_sign_out_when_it_is_done_then_the_pages_are_nobodys(ann: TestClient) -> None:
    ann.post("/sign-out")
    assert ann.get("/me").status_code == 401


@pytest.mark.parametrize(
    "path", ["/sign-in", "/sign-up", "/sign-out", "/join", "/me/keys", "/me/password", "/bots/ann/one/token"]
)
def test_form_when_a_page_of_another_site_sends_it_then_it_is_refused(ann: TestClient, path: str) -> None:
    sent = {"account": "ann", "password": PASSWORD}
    refused = ann.post(path, data=sent, headers={"Sec-Fetch-Site": "cross-site"})
    assert refused.status_code == 403


def test_key_when_it_is_made_then_it_is_shown_once_and_can_be_revoked(
    ann: TestClient, anybody: TestClient
) -> None:
    made = ann.post("/me/keys", data={"name": "script", "scopes": ["read", "bots"]})
    [key] = re.findall(r"bt_key_[A-Za-z0-9_-]+", made.text)
    bearer = {"Authorization": f"Bearer {key}"}
    assert anybody.get("/me", headers=bearer).json()["account"] == "ann"
    assert key in ann.get("/me").text
    assert key not in ann.post("/me/secrets/put-away").text
    ann.post("/me/keys/script/revoke")
    assert anybody.get("/me", headers=bearer).status_code == 401
    assert ann.post("/me/keys", data={"name": "none"}).status_code == 422


@pytest.mark.parametrize(
    ("path", "sent", "told"),
    [
        ("keys", {"name": "x", "scopes": "all"}, "scopes: must be one of read, bots, tournaments"),
        ("keys", {"expires_in": "soon"}, "expires in: must be a whole number"),
        ("keys/none/revoke", {}, "no key 'none'"),
        ("owners", {"owner": "No Name"}, "'No Name' is not a name"),
        ("invitations/0/revoke", {}, "number: must be a whole number from 1 to"),
        ("invitations/use", {"invitation": " "}, "invitation: is missing"),
        ("password", {"password": "a" * 12}, "old password: is missing"),
    ],
)
def test_form_of_ones_account_when_it_is_refused_then_its_page_says_why(
    ann: TestClient, path: str, sent: dict[str, str], told: str
) -> None:
    refused = ann.post(f"/me/{path}", data=sent)
    assert refused.status_code in (404, 422)
    assert "Register a bot" in refused.text
    [alert] = re.findall(r'<div class="box warned" role="alert">(.*?)</div>', refused.text, re.DOTALL)
    assert re.search(told, html.unescape(re.sub(r"<.*?>", " ", alert).replace(" :", ":")))


def test_invitation_when_a_member_makes_it_then_another_joins_the_owner(
    ann: TestClient, browse: Browse
) -> None:
    assert ann.post("/me/owners", data={"owner": "team"}).status_code == 200
    invited = ann.post("/me/invitations", data={"owner": "team", "role": "author"})
    [code] = re.findall(r"bt_invitation_[A-Za-z0-9_-]+", invited.text)
    other = browse()
    other.post("/sign-up", data={"account": "bob", "password": PASSWORD})
    joined = other.post("/me/invitations/use", data={"invitation": code})
    assert '<b><bdi>team</bdi></b> <span class="sub">has no bots yet' in joined.text
    assert ann.post("/me/invitations", data={"role": "author"}).status_code == 403


def test_ones_own_page_when_an_owner_is_called_as_its_only_member_then_the_name_is_there_once(
    ann: TestClient, browse: Browse, storage: Storage, clock: Clock
) -> None:
    accounts.create_account(storage, ROOT, "olga", Role.ORGANISER, clock(), PASSWORD)
    olga = browse()
    organises = olga.post("/sign-in", data={"account": "olga", "password": PASSWORD}).text
    for name, page, hooks in (("ann", ann.get("/me").text, 0), ("olga", organises, 1)):
        owners = re.findall('<h2 id="owners">.*?</ul>', page, re.DOTALL)
        assert [one.count(name) for one in owners] == [1]
        assert page.count('href="/webhooks"') == hooks


def test_password_when_it_is_changed_then_browsers_are_signed_out(ann: TestClient) -> None:
    wrong = ann.post("/me/password", data={"old_password": "not this one", "password": "a" * 12})
    assert wrong.status_code in (403, 422)
    changed = ann.post("/me/password", data={"old_password": PASSWORD, "password": "another password"})
    assert changed.url.path == "/sign-in"
    assert ann.get("/me").status_code == 401
    assert ann.post("/sign-in", data={"account": "ann", "password": "another password"}).url.path == "/me"


def test_session_when_it_was_not_used_for_weeks_then_it_takes_a_new_sign_in(
    ann: TestClient, clock: Clock
) -> None:
    clock.now += timedelta(days=15)
    assert ann.get("/me").status_code == 401


def test_version_when_a_check_of_it_is_stored_then_its_page_shows_the_report(
    ann: TestClient, storage: Storage, clock: Clock
) -> None:
    register_version(storage, ROOT, "ann/one", clock())
    page = "/bots/ann/one/versions/1"
    assert "It has not been checked" in Read(ann.get(page).text).text
    for file in ("not JSON", "[]", '{"name": "package"}'):
        refused = ann.post(f"{page}/check", data={"report": file})
        assert (refused.status_code, "writes, check.json" in refused.text) == (422, True)
    bad, odd, *fine = SCENARIOS
    results = [
        Result(bad.code, bad.title, "failed", "it <never> answered", 1.25, ("a line", "another")),
        Result(odd.code, odd.title, "warned", "it was slow", 0.5),
        *(Result(one.code, one.title, "passed", "", 0.1) for one in fine),
    ]
    report = Report("ann/one@1", "bigtwo-bot/9", 1, tuple(results))
    submit_check(storage, ROOT, "ann/one@1", report, clock())
    text = ann.get(page).text
    told = Read(text).text
    assert (
        f"It fails the check : 1 of {len(fine) + 2} , 1 with a warning, as its author reports; made with"
        in told
    )
    web_url = ann.app.state.web.settings.web_url  # type: ignore[attr-defined]
    own = f"{web_url}/bots/ann/one"
    assert f"[![Big Two check]({own}/check.svg)]({own})</code>" in text
    table = text.partition('id="check"')[2]
    rows = [row for row in re.findall(r"<tr><th.*?</tr>", table, re.DOTALL) if "<code>" in row]
    assert [re.findall("<code>(.*?)</code>", row) for row in rows] == [[one.code] for one in SCENARIOS]
    first = Read(rows[0]).text
    assert ("failed it <never> answered" in first, "a line\nanother" in rows[0]) == (True, True)
    assert [ann.get(link).status_code for link in Read(rows[0]).links] == [200]


def test_versions_when_they_are_made_replaced_and_retired_then_the_pages_of_the_bot_show_it(
    ann: TestClient, storage: Storage
) -> None:
    ann.post("/join", data={"owner": "ann", "bot": "one", "language": "python"})
    ann.post("/bots/ann/one/token/put-away")
    manage = "/bots/ann/one/manage"
    made = ann.post("/bots/ann/one/versions", data={"language": "go", "expires_in": "30"})
    assert (made.url.path, "Token of ann/one@2" in made.text) == (manage, True)
    replaced = ann.post("/bots/ann/one/versions/1/rotate")
    shown = dict(re.findall(r"Token of (\S+)</h3>.*?<code id=.*?>([\w-]+)<", replaced.text, re.DOTALL))
    with storage.read() as tx:
        first, second = find_versions(tx, ["ann/one@1", "ann/one@2"], None)
    assert (first.token_hash, second.token_hash) == (
        hash_token(shown[first.name]),
        hash_token(shown[second.name]),
    )
    away = ann.post("/bots/ann/one/token/put-away", data={"page": manage})
    assert (away.url.path, "secret-1" in away.text) == (manage, False)
    told = Read(away.text).text
    assert ("until 2026-01-31" in told, "unknown" in told) == (True, True)  # no referee can be asked
    retired = Read(ann.post("/bots/ann/one/versions/1/revoke").text).text
    assert ("revoked" in retired, "Retire" in retired) == (True, False)
    again = ann.post("/bots/ann/one/versions/1/revoke")
    assert (again.status_code, "is revoked already" in again.text) == (409, True)
    assert ann.get("/bots/ann/one/versions/3").status_code == 404
    refused = ann.post("/bots/ann/one/versions", data={"language": "no language", "expires_in": "x"})
    assert (refused.status_code, 'value="no language"' in refused.text) == (422, True)
    described = ann.post("/bots/ann/one/describe", data={"language": "zig", "link": "https://example.org/"})
    assert 'value="https://example.org/"' in described.text
    emptied = ann.post("/bots/ann/one/describe", data={"language": "zig"})
    assert ('value="zig"' in emptied.text, "example.org/" in emptied.text) == (True, False)


def test_bots_when_a_file_lists_them_then_their_tokens_are_downloaded_or_it_says_what_is_wrong(
    ann: TestClient, storage: Storage
) -> None:
    file = '[[bots]]\nbot = "ann/one"\n\n[[bots]]\nbot = "ann/two"\nlanguage = "go"\n'
    wrong = ann.post("/join/together", data={"file": file.replace('"go"', "1")})
    assert (wrong.status_code, "file:6: bots no. 2.language" in Read(wrong.text).text) == (422, True)
    sent = ann.post("/join/together", data={"file": file.replace("\n", "\r\n")})
    assert sent.headers["content-disposition"] == 'attachment; filename="tokens.txt"'
    assert sent.headers["cache-control"] == "no-store"
    tokens = dict(line.split() for line in sent.text.splitlines())
    with storage.read() as tx:
        hashes = {one.name: one.token_hash for one in find_versions(tx, ["ann/one", "ann/two"], None)}
    assert hashes == {name: hash_token(token) for name, token in tokens.items()}
    again = ann.post("/join/together", data={"file": file})
    assert (again.status_code, "all 2 are registered already" in again.text) == (422, True)
    for file, told in (("[[bots", "is not TOML"), ("", "is missing"), ("[[bots]]\nbot = 'bob/x'", "bob")):
        assert told in ann.post("/join/together", data={"file": file}).text


def test_owner_when_another_member_leaves_then_only_the_others_manage_it(
    ann: TestClient, browse: Browse
) -> None:
    code = re.findall(
        r"bt_invitation_[A-Za-z0-9_-]+", ann.post("/me/invitations", data={"owner": "ann"}).text
    )[0]
    bob = browse()
    bob.post("/sign-up", data={"account": "bob", "password": PASSWORD})
    bob.post("/me/invitations/use", data={"invitation": code})
    refused = bob.post("/me/owners/ann/members/ann/remove")
    assert refused.status_code == 403
    assert "remove-ann-bob" in ann.get("/me").text
    left = bob.post("/me/owners/ann/members/bob/remove")
    assert (left.url.path, "remove-ann-ann" in left.text) == ("/me", False)
    assert "remove-ann" not in ann.get("/me").text  # the last member stays


def nobody_connected(version_ids: Sequence[int], _: object) -> list[Answer]:
    bots = tuple(Presence(False, 0, 0) for _ in version_ids)
    return [Answer(":1", RefereeStatus(False, 0, 0, 0, 0, bots))]


def test_own_bot_when_it_has_played_then_its_state_its_log_and_its_lost_deals_are_there(
    browse: Browse, app: FastAPI, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = world.register(4)
    world.finish(world.tournament_of(names, rounds=1).id, play_with_faults)
    running = world.tournament_of(names, name="running", format="continuous")
    world.advance(running.id)
    with DatabaseJournal(world.storage, "127.0.0.1:8710", clock=world.clock) as journal:
        journal.add(Entry(1, EntryKind.FAULT, "timeout", "too late", "cup/1/1/1", {"deal": 2, "seat": 3}))
        journal.add(Entry(1, EntryKind.LOST, "keepalive", "the connection broke"))
        journal.add(Entry(2, EntryKind.LOST, "keepalive", "somebody else's"))
    app.state.web = replace(app.state.web, ask=all_connected)
    accounts.create_account(world.storage, ROOT, "owner-0", Role.AUTHOR, world.clock(), PASSWORD)
    author, manage = browse(), "/bots/owner-0/bot-0/manage"
    author.post("/sign-in", data={"account": "owner-0", "password": PASSWORD})
    glance = Read(author.get("/me").text)
    assert "bot-0 @1 now –" in glance.text
    assert {manage, "/bots/owner-0/bot-0/log?kind=fault"} <= {*glance.links}
    told = Read(author.get(manage).text).text
    assert ("Connected now Matches to play 1" in told, "timeout" in told) == (True, True)
    app.state.web = replace(app.state.web, ask=nobody_connected)
    told = Read(author.get(manage).text).text
    assert "Connected no since 1 Jan 2026 00:00 : the connection broke" in told
    log = Read(author.get("/bots/owner-0/bot-0/log?kind=fault").text)
    assert ("Where deal 2, seat 3" in log.text, "/matches/cup/1/1" in log.links) == (True, True)
    assert ("keepalive" in log.text, "somebody" in log.text) == (False, False)
    assert "No such entries" in author.get("/bots/owner-0/bot-0/log?session=cup/2").text
    monkeypatch.setattr("arena.web.pages.managing.DEALS", 1)
    lost = author.get("/bots/owner-0/bot-0/deals?lost=true")
    [further] = [link for link in Read(lost.text).links if "cursor=" in link and ".jsonl" not in link]
    [file] = [link for link in Read(lost.text).links if ".jsonl" in link]
    line = json.loads(author.get(file).text)
    place = "/".join(
        str(line["record"][name]) for name in ("tournament", "round", "table", "session", "deal")
    )
    assert line["lost"]
    assert f"/matches/{place}?view={line['seat']}" in Read(lost.text).links
    [record] = [link for link in Read(lost.text).links if link.startswith("/api/v1/matches/")]
    assert author.get(record).json() == line["record"]
    assert place not in author.get(further).text


def test_league_when_ones_bots_are_listed_then_each_says_what_can_be_done_and_why_not(
    ann: TestClient, world: World
) -> None:
    applying.apply(world.storage, ROOT, winter(versions_per_owner=1), world.clock())
    applying.apply(world.storage, ROOT, winter(name="spring", entries="approved"), world.clock())
    for bot in ("ann/one", "ann/two"):
        register_version(world.storage, ROOT, bot, world.clock())
    joined = Read(ann.post("/leagues/winter/join", data={"bot": "ann/one"}).text).text
    assert "one is in it Withdraw" in joined
    assert "two league winter allows 1 per owner; in it already: ann/one" in joined
    refused = ann.post("/leagues/winter/join", data={"bot": "ann/two"})
    assert (refused.status_code, "allows 1 per owner" in refused.text) == (409, True)
    assert "may join" in Read(ann.post("/leagues/winter/leave", data={"bot": "ann/one"}).text).text
    assert "Ask to join" in ann.get("/leagues/spring").text
    asked = Read(ann.post("/leagues/spring/join", data={"bot": "ann/one"}).text).text
    assert "one has asked, no answer yet Take it back" in asked
    sent = {"league": "spring", "bot": "ann/one", "page": "/bots/ann/one/manage"}
    taken_back = ann.post("/me/requests/withdraw", data=sent)
    assert (taken_back.url.path, "spring" in taken_back.text) == ("/bots/ann/one/manage", False)

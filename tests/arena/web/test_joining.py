"""Joining in a browser: an account, a bot, its token, and how far it has got."""

import html
import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from arena.actors import Role
from arena.bots.versions import find_versions
from arena.people import accounts, invitations
from arena.people.tokens import hash_token
from arena.store.storage import Storage
from tests.arena.fakes import ROOT, Clock
from tests.arena.web.conftest import PASSWORD
from tests.arena.web.markup import Read

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
    found = re.search(r'<code id="token-text">(\S+)</code>', text)
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
    assert "token-text" not in start.text
    told = Read(start.text).text
    for light in ("Registered as bob/first@1", "No referee can be asked", "Not checked", "No test match yet"):
        assert light in told
    again = browser.post("/join", data={"owner": "bob", "bot": "first", "language": "go"})
    assert again.status_code == 409
    assert "there already is a bot bob/first" in again.text
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
    assert "nobody says whether ann/one@1 is connected" in refused.text
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
    assert "no account has this name and this password" in refused.text
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
        ("keys", {"expires_in": "soon"}, "expires_in: must be a whole number"),
        ("keys/none/revoke", {}, "no key 'none'"),
        ("owners", {"owner": "No Name"}, "'No Name' is not a name"),
        ("invitations/0/revoke", {}, "number: must be a whole number from 1 to"),
        ("invitations/use", {"invitation": " "}, "invitation: is missing"),
        ("password", {"password": "a" * 12}, "old_password: is missing"),
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
    assert "team has no bots yet" in joined.text
    assert ann.post("/me/invitations", data={"role": "author"}).status_code == 403


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

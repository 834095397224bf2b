"""An operator's work in a browser: with scripts, and without them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from arena.actors import Role
from arena.people import accounts, browsers, tokens
from arena.store.models import utc_now
from arena.web.asking import COOKIE
from tests.arena.fakes import ROOT
from tests.arena.web.browser.conftest import Site, site
from tests.arena.web.conftest import PASSWORD


@pytest.fixture(scope="module")
def arena(
    tmp_path_factory: pytest.TempPathFactory, empty_database: bytes, browser: Browser
) -> Iterator[Site]:
    with site(tmp_path_factory.mktemp("site"), empty_database, browser, web_listen="127.0.0.1:1") as found:
        for name, role in (("root", Role.OPERATOR), ("ann", Role.AUTHOR)):
            accounts.create_account(found.world.storage, ROOT, name, role, utc_now(), PASSWORD)
        yield found


def as_operator(arena: Site, **options: object) -> Page:
    session, _ = browsers.sign_in(arena.world.storage, "root", PASSWORD, utc_now())
    window = arena.window(base_url=arena.url, viewport={"width": 360, "height": 800}, **options)
    window.add_cookies([{"name": COOKIE, "value": session, "url": arena.url}])
    return window.new_page()


def test_token_when_it_is_made_then_a_reload_makes_no_other_and_it_stays_until_it_is_put_away(
    arena: Site,
) -> None:
    page = as_operator(arena)
    page.goto("/operator/tokens")
    page.get_by_label("Name", exact=True).fill("board")
    page.get_by_label("Scope").select_option("spectator")
    page.get_by_role("button", name="Make the token").click()
    secret = page.locator("#secret-1")
    expect(secret).to_contain_text("bt_spectator_")
    page.reload()
    expect(secret).to_contain_text("bt_spectator_")
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    page.get_by_role("button", name="Put it away").click()
    expect(secret).to_have_count(0)
    assert [one.name for one in tokens.list_tokens(arena.world.storage, ROOT)] == ["board"]


def test_link_for_a_password_when_there_are_no_scripts_then_it_is_made_and_used_and_works_once(
    arena: Site,
) -> None:
    page = as_operator(arena, java_script_enabled=False)
    page.goto("/operator/accounts/ann")
    page.get_by_role("button", name="Make a link").click()
    link = page.locator("#secret-1").inner_text()
    assert link.startswith("http://127.0.0.1:1/reset-password?code=")
    person = arena.window(base_url=arena.url, java_script_enabled=False).new_page()
    person.goto(f"/reset-password?{link.partition('?')[2]}")
    person.get_by_label("New password").fill("another horse battery")
    person.get_by_role("button", name="Set the password").click()
    person.get_by_label("Account").fill("ann")
    person.get_by_label("Password").fill("another horse battery")
    person.get_by_role("button", name="Sign in").click()
    expect(person.get_by_role("heading", name="ann")).to_be_visible()


def test_grave_step_when_there_are_no_scripts_then_it_is_explained_before_it_can_be_taken(
    arena: Site,
) -> None:
    tokens.create_token(arena.world.storage, ROOT, "grave", "worker", utc_now())
    page = as_operator(arena, java_script_enabled=False)
    page.goto("/operator/tokens/grave")
    revoke = page.get_by_role("button", name="Revoke the token", exact=True)
    expect(revoke).to_be_hidden()
    page.get_by_text("Revoke the token…").click()
    expect(page.get_by_text("for good, and its name cannot be used again")).to_be_visible()
    revoke.click()
    expect(page.locator(".tag", has_text="revoked")).to_be_visible()


def test_ratings_when_they_are_checked_then_the_page_follows_the_check_to_its_end(arena: Site) -> None:
    page = as_operator(arena)
    page.goto("/operator/ratings")
    page.get_by_role("button", name="Check the ratings").click()
    expect(page.locator("#latest .tag", has_text="ok")).to_be_visible()
    page.goto("/operator/data")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download a backup").click()
    assert Path(download.value.path()).read_bytes().startswith(b"SQLite format 3\0")

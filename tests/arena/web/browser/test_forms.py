"""Forms in a browser: what was typed comes back, secrets stay till they are put away, grave steps ask."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect
from sqlmodel import select

from arena.actors import Actor, Role
from arena.bots.checks import latest_check
from arena.bots.versions import register_version
from arena.people import accounts, browsers, invitations
from arena.people.tokens import hash_token
from arena.store.models import BotVersion, utc_now
from arena.tournaments import admission, entry, lifecycle
from arena.tournaments.overview import find_tournament
from arena.tournaments.referees import nobody_asked
from arena.web.asking import COOKIE
from referee.check import SCENARIOS
from tests.arena.fakes import ROOT
from tests.arena.web.browser.conftest import Site, site
from tests.arena.web.conftest import PASSWORD
from tests.arena.web.permissions import CHECK
from tests.arena.world import open_bots

ODD = 'a<b>&"\u202e\u0007 é'
"""Text with markup, and with characters that a terminal must not get."""

CUP = """
name = "NAME"\t# a blank line before, and a tab
format = "swiss"
rounds = 2
ruleset = "chinese"
sessions = 1
deals = 2
entries = "approved"
entrants = ["zed/bot-0", "zed/bot-1", "zed/bot-2", "zed/bot-3"]
allow_same_owner = true
"""


@pytest.fixture(scope="module")
def arena(
    tmp_path_factory: pytest.TempPathFactory, empty_database: bytes, browser: Browser
) -> Iterator[Site]:
    with site(tmp_path_factory.mktemp("site"), empty_database, browser) as found:
        for name, role in (("ann", Role.AUTHOR), ("olga", Role.ORGANISER), ("olive", Role.OPERATOR)):
            accounts.create_account(found.world.storage, ROOT, name, role, utc_now(), PASSWORD)
        for number in range(6):
            register_version(found.world.storage, ROOT, f"zed/bot-{number}", utc_now())
        open_bots(found.world.storage)
        yield found


@pytest.fixture
def window(arena: Site) -> Iterator[BrowserContext]:
    """Open a window in which refusals, which browsers report as errors, are none."""
    with arena.browser.new_context(base_url=arena.url, viewport={"width": 1280, "height": 900}) as context:
        yield context


def sign_in(arena: Site, window: BrowserContext, account: str) -> Actor:
    session, actor = browsers.sign_in(arena.world.storage, account, PASSWORD, utc_now())
    window.add_cookies([{"name": COOKIE, "value": session, "url": arena.url}])
    return actor


def token_hash(arena: Site, version: str) -> str:
    with arena.world.storage.read() as tx:
        return tx.exec(select(BotVersion.token_hash).where(BotVersion.name == version)).one()


def create(page: Page, name: str) -> None:
    page.goto("/desk")
    page.get_by_text("File", exact=True).click()
    page.get_by_label("file (TOML)").fill(CUP.replace("NAME", name))
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(f"Desk of {name}")


def send(page: Page, button: str, within: Locator | None = None) -> None:
    """Send a form, and wait for the page that answers."""
    with page.expect_navigation():
        (within or page.locator("main")).get_by_role("button", name=button).click()


def ask(page: Page, word: str, within: Locator | None = None) -> Locator:
    """Open what asks before a step, and return its form."""
    found = (within or page.locator("main")).locator("details.ask", has=page.get_by_text(f"{word}…"))
    found.locator("summary").click()
    return found.locator("form")


def test_tournament_file_when_it_is_previewed_again_and_again_then_it_stays_as_typed_and_is_created(
    arena: Site, window: BrowserContext
) -> None:
    sign_in(arena, window, "olga")
    page = window.new_page()
    page.goto("/desk")
    page.get_by_text("File", exact=True).click()
    file = page.get_by_label("file (TOML)")
    assert 'format = "swiss"' in file.input_value()  # an example to begin with
    typed = f"{CUP.replace('NAME', 'typed')}# {ODD}\n\n"
    file.fill(typed)
    send(page, "Preview")
    expect(page.get_by_role("alert")).to_contain_text("is not TOML")  # which has no such characters
    assert file.input_value() == typed
    typed = CUP.replace("NAME", "typed")
    file.fill(typed)
    for _ in range(2):
        send(page, "Preview")
        expect(page.get_by_role("heading", name="Preview of typed")).to_be_visible()
        assert file.input_value() == typed
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Desk of typed")
    page.go_back()
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_contain_text("A new tournament")


def test_forms_when_they_are_refused_then_they_come_back_on_their_page_with_what_was_typed(
    arena: Site, window: BrowserContext
) -> None:
    page = window.new_page()

    def refused(form: str, button: str, **typed: str) -> Locator:
        for name, text in typed.items():
            field = page.locator(f'{form} [name="{name}"]')
            kind = field.evaluate("one => one.type")
            field.select_option(text) if kind == "select-one" else field.fill(text)
        page.locator(form).evaluate("form => form.noValidate = true")
        send(page, button, page.locator(form))
        expect(page.get_by_role("alert").first).to_be_visible()
        for name, text in typed.items():
            if name not in ("password", "old_password"):
                assert page.locator(f'{form} [name="{name}"]').input_value() == text, (form, name)
        return page.locator(form)

    page.goto("/sign-in?next=/rules")
    refused('form[action="/sign-in"]', "Sign in", account=ODD, password="wrong")
    expect(page.locator('[name="next"]')).to_have_value("/rules")
    page.goto("/matches")
    refused('form[action="/matches"]', "Show", bot="nobody/none", ruleset="chinese", result="won")
    page.goto("/sign-up")
    form = refused('form[action="/sign-up"]', "Sign up", account=ODD, password="wrong", invitation=ODD)
    assert form.locator('[name="password"]').input_value() == ""
    sign_in(arena, window, "olive")
    page.goto("/join")
    refused('form[action="/join"]', "Register", bot=ODD, language="typescript")
    page.goto("/me")
    read = page.get_by_label("read", exact=True)
    read.uncheck()
    page.get_by_label("bots", exact=True).check()
    refused('form[action="/me/keys"]', "Create a key", name="two\twords", expires_in="100000")
    assert not read.is_checked()
    assert page.get_by_label("bots", exact=True).is_checked()
    refused('form[action="/me/owners"]', "Add", owner=ODD)
    refused('form[action="/me/invitations/use"]', "Join", invitation=ODD)
    refused('form[action="/me/password"]', "Change", old_password="wrong", password="a" * 10)
    create(page, "refusing")
    entry.enter(
        arena.world.storage, ann := actor_of(arena), "refusing", bot_of(arena, ann), utc_now(), nobody_asked
    )
    page.reload()
    asked = '#asked form:has([name="reason"])'
    refused(asked, "Decline", reason="x" * 400)
    assert page.locator('#entering [name="bot"]').input_value() == ""
    refused("#entering form", "Enter it", bot=ODD)
    assert page.locator(f'{asked} [name="reason"]').input_value() == ""
    page.goto("/bots/ann/asking/start")
    refused('form[action$="/test-match"]', "Play a test match", ruleset="hong-kong")
    for path, shown in (
        ("/me/keys", "/me"),
        ("/tournaments/refusing/desk/entries", "/tournaments/refusing/desk"),
    ):
        page.goto(path)
        page.wait_for_url(f"**{shown}")


def actor_of(arena: Site) -> Actor:
    return browsers.sign_in(arena.world.storage, "ann", PASSWORD, utc_now())[1]


def bot_of(arena: Site, actor: Actor) -> str:
    return register_version(arena.world.storage, actor, "ann/asking", utc_now()).bot


def test_token_when_the_page_is_left_and_loaded_again_then_it_stays_till_it_is_put_away_and_no_other_is_made(
    arena: Site, window: BrowserContext
) -> None:
    sign_in(arena, window, "ann")
    window.grant_permissions(["clipboard-read", "clipboard-write"])
    page = window.new_page()
    page.goto("/join")
    page.locator("main").get_by_label("Bot").fill("kept")
    page.get_by_role("button", name="Register", exact=True).click()
    shown = page.locator("#secret-1")
    token = shown.inner_text()
    page.get_by_role("link", name="typescript").click()
    expect(shown).to_have_text(token)
    page.reload()
    expect(shown).to_have_text(token)
    assert token_hash(arena, "ann/kept@1") == hash_token(token)
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == token
    form = ask(page, "Make a new token")
    expect(form).to_contain_text("cannot be brought back")
    page.reload()
    assert token_hash(arena, "ann/kept@1") == hash_token(token)
    ask(page, "Make a new token").get_by_role("button").click()
    expect(shown).not_to_have_text(token)
    page.reload()
    assert token_hash(arena, "ann/kept@1") == hash_token(shown.inner_text()) != hash_token(token)
    send(page, "Put it away")
    expect(shown).to_have_count(0)
    page.reload()
    expect(shown).to_have_count(0)


def test_key_and_invitation_when_they_are_made_then_both_stay_and_say_when_they_are_used_or_revoked(
    arena: Site, window: BrowserContext
) -> None:
    operator = sign_in(arena, window, "olive")
    page = window.new_page()
    page.goto("/me")
    page.locator("#key-name").fill("script")
    send(page, "Create a key")
    send(page, "Create an invitation")
    page.reload()
    link, key = page.locator("#secret-1").inner_text(), page.locator("#secret-2").inner_text()
    assert key.startswith("bt_key_")
    code = link.partition("invitation=")[2]
    with arena.browser.new_context() as elsewhere:
        other = elsewhere.new_page()
        other.goto(f"{arena.url}/sign-up?invitation={code}")
        other.get_by_label("Account").fill("invited")
        other.get_by_label("Password").fill(PASSWORD)
        other.get_by_role("button", name="Sign up").click()
        other.wait_for_url("**/join")
        other.goto(f"{arena.url}/sign-up?invitation={code}")
        expect(other.get_by_role("alert")).to_contain_text("used already")
    page.reload()
    secrets = page.locator("section", has=page.locator("#secrets"))
    expect(secrets).to_contain_text("It works no longer")
    assert invitations.list_invitations(arena.world.storage, operator, utc_now()) == []
    row = page.get_by_role("row", name="script")
    ask(page, "Revoke", row).get_by_role("button").click()
    expect(row).to_contain_text("revoked")
    secrets.get_by_role("button", name="Put them away").click()
    expect(secrets).to_have_count(0)


def test_desk_when_the_tournament_moves_on_then_state_steps_and_lists_follow_and_grave_steps_ask(
    arena: Site, window: BrowserContext
) -> None:
    olga, world = sign_in(arena, window, "olga"), arena.world
    page = window.new_page()
    create(page, "followed")
    steps, state = page.locator("#steps"), page.locator("#state")
    ask(page, "Withdraw", page.get_by_role("row", name="zed/bot-3")).get_by_role("button").click()
    expect(page.locator("#doubts")).to_contain_text("add 1 before the start")
    expect(steps.locator("summary, button:visible")).to_have_text(
        ["Cancel it…", "Delete it…"]
    )  # others would be refused
    for bot in ("zed/bot-4", "zed/bot-5"):
        entry.enter(world.storage, olga, "followed", bot, utc_now(), nobody_asked)
    expect(page.get_by_role("row", name="zed/bot-5")).to_be_visible()
    form = ask(page, "Close the entries")
    expect(form).to_contain_text("cannot be opened again")
    assert world.status("followed").commitment is None
    form.get_by_role("button").click()
    expect(steps).not_to_contain_text("Close the entries")
    expect(page.get_by_role("button", name="Enter it")).to_have_count(0)
    page.get_by_role("button", name="Start it").click()
    expect(page.get_by_role("button", name="Pause it")).to_be_visible()
    expect(page.get_by_role("button", name="Enter it")).to_be_visible()
    picked = page.locator(".pick").get_by_role("button", name="+ zed/bot-0")
    admission.invite(world.storage, olga, find_tournament, "followed", ["zed/bot-1"], utc_now())
    expect(page.locator("#inviting").get_by_role("row", name="zed/bot-1")).to_be_visible()
    picked.click()
    expect(page.get_by_label("Invited")).to_have_value("zed/bot-0\n")  # now it is kept
    page.get_by_label("Invited").fill("")
    ask(page, "Cancel it")
    lifecycle.pause(world.storage, olga, "followed", utc_now())
    expect(state).to_have_text("paused")
    expect(page.locator("#progress li")).to_have_text("paused")  # and no command: there is a button
    expect(page.get_by_role("button", name="Continue")).to_be_visible()
    expect(steps).to_contain_text("for good")  # what was opened stays open
    lifecycle.resume(world.storage, olga, "followed", utc_now())
    world.finish(world.status("followed").id)
    expect(state).to_have_text("finished")
    expect(steps.locator("summary, button")).to_have_count(0)
    expect(page.get_by_role("button", name="Enter it")).to_have_count(0)
    expect(page.locator("#entered .ask")).to_have_count(0)
    expect(page.get_by_role("button", name="Invite")).to_have_count(0)
    page.reload()
    expect(state).to_have_text("finished")


def test_desk_when_the_tournament_is_another_organisers_then_nothing_leads_there(
    arena: Site, window: BrowserContext
) -> None:
    sign_in(arena, window, "olga")
    names = [f"zed/bot-{number}" for number in range(4)]
    arena.world.tournament_of(names, name="others")
    page = window.new_page()
    page.goto("/tournaments/others")
    expect(page.get_by_role("heading", level=1)).to_have_text("others")
    expect(page.get_by_role("link", name="Desk")).to_have_count(0)
    assert page.goto("/tournaments/others/desk").status == 403  # type: ignore[union-attr]


def test_author_when_there_are_no_scripts_then_a_version_is_made_described_entered_and_withdrawn(
    arena: Site,
) -> None:
    options = {"viewport": {"width": 360, "height": 800}, "java_script_enabled": False}
    with arena.browser.new_context(base_url=arena.url, **options) as window:  # type: ignore[arg-type]
        olga = sign_in(arena, window, "olga")
        page = window.new_page()
        create(page, "entered")
        sign_in(arena, window, "ann")
        page.goto("/join")
        page.locator("main").get_by_label("Bot").fill("walked")
        page.get_by_role("button", name="Register", exact=True).click()
        page.get_by_role("link", name="Manage").click()
        expect(page.locator("#secret-1")).to_have_text(re.compile("^bt_bot_"))
        page.get_by_role("button", name="Register the next version").click()
        expect(page.locator(".secrets h3")).to_have_text(["Token of ann/walked@2", "Token of ann/walked@1"])
        assert token_hash(arena, "ann/walked@2") == hash_token(page.locator("#secret-1").inner_text())
        page.get_by_role("button", name="Put them away").click()
        page.get_by_label("Link").fill("https://example.org/walked")
        page.get_by_role("button", name="Change").click()
        page.get_by_role("link", name="Public page").click()
        expect(page.get_by_role("link", name="https://example.org/walked")).to_be_visible()
        page.goto("/tournaments/entered")
        page.get_by_text("Enter a bot of yours").click()
        row = page.locator("#enter li", has_text="walked")
        row.get_by_role("button", name="Ask to enter").click()
        entry.approve(arena.world.storage, olga, "entered", "ann/walked", utc_now(), nobody_asked)
        page.goto("/tournaments/entered")
        page.get_by_text("Your bots: 1 entered").click()
        expect(row).to_contain_text("is in it")
        form = ask(page, "Withdraw", row)
        expect(form).to_contain_text("It still plays the rounds that are paired")
        form.get_by_role("button").click()
        page.get_by_text("Enter a bot of yours").click()
        expect(row).to_contain_text("may enter")  # it was approved once


def test_check_when_its_file_is_handed_in_then_the_version_has_passed_it(
    arena: Site, window: BrowserContext, tmp_path: Path
) -> None:
    actor = sign_in(arena, window, "ann")
    register_version(arena.world.storage, actor, "ann/checked", utc_now())
    printed = json.dumps({"output": "bigtwo-cli/1", **CHECK, "bot": "ann/checked"}, indent=2)
    (tmp_path / "check.json").write_text(printed)
    page = window.new_page()
    page.goto("/bots/ann/checked/versions/1")
    page.get_by_label("Result").fill("{]")
    send(page, "Store the result")
    expect(page.locator(".warned")).to_contain_text("report: is not the result of a check")
    expect(page.get_by_label("Result")).to_have_value("{]")
    page.get_by_label("A file of yours").set_input_files(tmp_path / "check.json")
    expect(page.get_by_label("Result")).to_have_value(printed)
    send(page, "Store the result")
    expect(page).to_have_url(re.compile("/bots/ann/checked/versions/1#check$"))
    expect(page.locator("main")).to_contain_text(
        f"It passes the check: {len(SCENARIOS)} of {len(SCENARIOS)}, as its author reports; made with none."
    )
    assert latest_check(arena.world.storage, actor, "ann/checked@1") == {**CHECK, "bot": "ann/checked@1"}


def test_tournament_when_it_is_made_by_a_form_then_it_is_previewed_created_changed_and_deleted(
    arena: Site, window: BrowserContext
) -> None:
    olga, world = sign_in(arena, window, "olga"), arena.world
    page = window.new_page()
    page.goto("/desk")
    assert "Milliseconds allowed for a decision" in page.locator("form.spec").inner_text()
    page.get_by_label("Name", exact=True).fill("by-form")
    page.get_by_label("Find a bot").fill("zed/")
    for number in (0, 1, 2, 3):
        page.get_by_role("button", name=f"+ zed/bot-{number}").click()
    entrants = page.get_by_label("Entrants")
    assert entrants.input_value() == "zed/bot-0\nzed/bot-1\nzed/bot-2\nzed/bot-3\n"
    page.get_by_text("File", exact=True).click()
    file = page.get_by_label("file (TOML)")
    file.fill(f"# {ODD}")
    page.get_by_text("Form", exact=True).click()
    page.get_by_label("Sessions in a match").fill("3")
    page.get_by_role("button", name="Preview").locator("visible=true").click()
    preview = page.locator("section.box", has=page.get_by_role("heading", name="Preview of by-form"))
    expect(preview).to_contain_text("Rounds5")
    expect(preview).to_contain_text(
        "Time, estimatedabout 1 min 48 s"
    )  # 5 rounds, 3 sessions, 6 deals, 24 times 50 ms
    expect(preview).to_contain_text("with no owner twice at a table")
    preview.get_by_text("As a file").click()
    assert tomllib.loads(preview.locator("#as-file").inner_text()) == {
        "name": "by-form",
        "format": "swiss",
        "ruleset": "chinese",
        "rounds": 5,
        "sessions": 3,
        "deals": 6,
        "entrants": [f"zed/bot-{number}" for number in range(4)],
    }
    assert (entrants.input_value().split(), file.input_value()) == (
        [f"zed/bot-{number}" for number in range(4)],
        f"# {ODD}",
    )
    page.get_by_text("More: Most bots of an owner").click()
    page.get_by_label("Bots of one owner may meet").check()
    page.get_by_role("button", name="Create").locator("visible=true").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Desk of by-form")
    entry.enter(world.storage, olga, "by-form", "zed/bot-4", utc_now(), nobody_asked)

    page.get_by_role("link", name="Change it").click()
    assert page.get_by_label("Sessions in a match").input_value() == "3"
    page.get_by_label("Sessions in a match").fill("30000")
    page.locator("form.spec").evaluate("form => form.noValidate = true")
    page.get_by_role("button", name="Change it").locator("visible=true").click()
    expect(page.get_by_label("Sessions in a match")).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Sessions in a match").fill("4")
    page.get_by_label("Format", exact=True).select_option("round-robin")
    page.locator("[name=rounds]").fill("")
    page.get_by_role("button", name="Preview").locator("visible=true").click()
    for line in ("format swiss round-robin", "rounds 5 –", "Sessions in a match 3 4"):
        expect(page.get_by_role("row", name=line)).to_be_visible()
    assert world.status("by-form").sessions == 3
    page.get_by_role("button", name="Change it").locator("visible=true").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Desk of by-form")
    status = world.status("by-form")
    assert (status.format, status.sessions, status.entrants) == ("round-robin", 4, 5)

    form = ask(page, "Delete it")
    expect(form).to_contain_text("5 entrants")
    form.get_by_role("button").click()
    page.wait_for_url("**/tournaments")
    assert "by-form" not in [one.tournament for one in world.statuses()]


def test_draft_when_the_session_expires_and_the_browser_is_closed_then_it_is_back_till_it_is_made(
    arena: Site, window: BrowserContext
) -> None:
    sign_in(arena, window, "olga")
    page = window.new_page()
    page.goto("/desk")
    page.get_by_text("File", exact=True).click()
    file, typed = page.get_by_label("file (TOML)"), CUP.replace("NAME", "drafted")
    file.fill(typed)
    window.clear_cookies()
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("alert")).to_contain_text("everything that you typed is sent")
    page.go_back()
    assert file.input_value() == typed
    page.close()  # and signs in again another day
    sign_in(arena, window, "olga")
    page = window.new_page()
    page.goto("/desk")
    expect(page.get_by_role("status").first).to_contain_text("What you typed here")
    assert page.get_by_label("file (TOML)").input_value() == typed
    window.clear_cookies()
    page.get_by_role("button", name="Create").click()
    page.get_by_label("Account", exact=True).fill("olga")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in and go on").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Desk of drafted")
    page.goto("/desk")
    assert page.get_by_label("file (TOML)").input_value() != typed
    assert "What you typed" not in page.locator("main").inner_text()
    page.get_by_label("Name", exact=True).fill("discarded")
    page.reload()
    expect(page.get_by_label("Name", exact=True)).to_have_value("discarded")
    page.get_by_role("button", name="Discard it").click()
    page.reload()
    expect(page.get_by_label("Name", exact=True)).to_have_value("")

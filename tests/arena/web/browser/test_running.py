"""An arena of real processes in a browser: an author joins it, and an organiser runs a tournament."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from arena.actors import Role
from arena.bots.versions import register_version
from arena.people import accounts
from arena.store.models import utc_now
from tests.arena.fakes import ROOT
from tests.arena.ports import free_address
from tests.arena.running import RunningArena, running_arena
from tests.arena.web.conftest import PASSWORD
from tests.tied import tied
from tests.waiting import DEADLINE, wait_for

MILLISECONDS = DEADLINE * 1000
HOLDING = Path(__file__).with_name("holding_bot.py")

CUP = """\
name = "cup"
format = "swiss"
rounds = 1
ruleset = "chinese"
sessions = 1
deals = 2
rated = false
entrants = ["house/keeper", "house/greedy", "house/pairs-first", "zed/spare"]
allow_same_owner = true
decision_ms = 3600000
"""


@dataclass(frozen=True, slots=True)
class Site:
    """A running arena, and the address of its pages."""

    arena: RunningArena
    url: str
    browser: Browser

    def page(self) -> Page:
        """Open a page."""
        page = self.browser.new_context(base_url=self.url).new_page()
        page.set_default_timeout(MILLISECONDS)
        return page


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Iterator[Site]:
    address = free_address()
    settings = {"house_bots": 3, "web_listen": address, "sign_up": "open"}
    with running_arena(tmp_path_factory.mktemp("running") / "arena", {}, **settings) as arena:
        yield Site(arena, f"http://{address}", browser)


@contextmanager
def held(file: Path) -> Iterator[Path]:
    """Make the file that keeps a bot from deciding anything while it exists, and remove it at the end."""
    file.touch()
    try:
        yield file
    finally:
        file.unlink(missing_ok=True)


@contextmanager
def running(command: list[str], token: str, referee: str) -> Iterator[None]:
    environment = os.environ | {"ARENA_TOKEN": token, "ARENA_REFEREE": referee}
    with subprocess.Popen(tied(*command), env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.terminate()
            assert process.wait(DEADLINE) == 0


def has_started(page: Page) -> bool:
    """Ask for a test match, and return whether there is one; house bots may take longer to connect."""
    with page.expect_navigation():
        page.get_by_role("button", name="Play a test match").click()
    return not page.get_by_role("alert").is_visible()


def test_author_when_starting_from_an_address_then_the_lights_turn_green_and_a_test_match_is_played(
    site: Site, tmp_path: Path
) -> None:
    page = site.page()
    page.goto("/")
    page.get_by_role("link", name="Join").click()
    page.get_by_role("link", name="Sign up").click()
    page.get_by_label("Account").fill("ann")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign up").click()
    page.locator("main").get_by_label("Bot").fill("first")
    page.get_by_role("button", name="Register", exact=True).click()
    token = page.locator("#secret-1").inner_text()
    program = tmp_path / "my_bot.py"
    program.write_text(page.locator("pre", has_text="from referee.bot import").inner_text())
    expect(page.get_by_text("Not connected")).to_be_visible()
    expect(page.get_by_role("button", name="Play a test match")).to_be_disabled()
    with running([sys.executable, str(program)], token, site.arena.settings.listen):
        expect(page.get_by_text("Connected", exact=True)).to_be_visible(timeout=MILLISECONDS)
        wait_for(lambda: has_started(page), seen=lambda: page.get_by_role("alert").inner_text())
        expect(page.get_by_text("Played a test match")).to_be_visible(timeout=MILLISECONDS)
        expect(page.locator("#result .points")).to_have_count(4)
    page.get_by_role("link", name="See its deals").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("test-")
    expect(page.get_by_role("link", name="ann/first@1").first).to_be_visible()


def test_organiser_when_making_a_tournament_on_the_desk_then_it_is_watched_live_to_its_end(
    site: Site, tmp_path: Path
) -> None:
    storage = site.arena.storage
    accounts.create_account(storage, ROOT, "olga", Role.ORGANISER, utc_now(), PASSWORD)
    token = register_version(storage, ROOT, "zed/slow", utc_now()).token
    register_version(storage, ROOT, "zed/spare", utc_now())
    page = site.page()
    page.goto("/sign-in")
    page.get_by_label("Account").fill("olga")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="New tournament").click()
    page.locator("label", has_text="File").first.click()
    page.get_by_label("file (TOML)").fill(CUP)
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Desk of cup")
    page.locator("main").get_by_role("textbox", name="Bot", exact=True).fill("zed/slow")
    page.get_by_role("button", name="Enter it").click()
    expect(page.get_by_role("link", name="zed/slow@1")).to_be_visible()
    spare = page.get_by_role("row", name="zed/spare@1")
    spare.get_by_text("Withdraw…").click()
    spare.get_by_role("button", name="Withdraw").click()
    expect(page.get_by_text("Withdraw…")).to_have_count(4)
    command = [sys.executable, str(HOLDING), str(tmp_path / "hold")]
    with running(command, token, site.arena.settings.listen), held(tmp_path / "hold") as hold:
        page.get_by_role("button", name="Start it").click()
        expect(page.locator("#progress")).to_contain_text("0 of 1 session, round 1")
        page.goto("/tournaments/cup/rounds/1")
        page.get_by_role("link", name="Watch all tables").click()
        expect(page.locator(".held")).to_have_count(4, timeout=MILLISECONDS)
        expect(page.locator("#tables")).to_contain_text("session 1, deal 1 of 2")
        page.get_by_role("link", name="Table 1").click()
        expect(page.locator("#signal")).to_have_text("live", timeout=MILLISECONDS)
        expect(page.locator("#table .hand.down")).to_have_count(4)
        hold.unlink()
        expect(page.locator("#signal")).to_contain_text("The match is over", timeout=MILLISECONDS)
        page.get_by_role("link", name="all its deals").click()
    expect(page.get_by_role("link", name="Deal 2")).to_be_visible()
    page.goto("/tournaments/cup")
    expect(page.locator("#state")).to_contain_text("Won by", timeout=MILLISECONDS)
    expect(page.locator("#standings")).to_contain_text("slow")

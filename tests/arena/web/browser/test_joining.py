"""From the address of an arena, and nothing else, to a bot that plays."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.arena.ports import free_address
from tests.arena.running import running_arena
from tests.arena.waiting import DEADLINE, wait_for
from tests.tied import tied

MILLISECONDS = DEADLINE * 1000


@contextmanager
def running(program: Path, token: str, referee: str) -> Iterator[None]:
    environment = os.environ | {"ARENA_TOKEN": token, "ARENA_REFEREE": referee}
    with subprocess.Popen(
        tied(sys.executable, str(program)), env=environment, stderr=subprocess.DEVNULL
    ) as process:
        yield
        process.terminate()
        assert process.wait(DEADLINE) == 0


def has_started(page: Page) -> bool:
    """Ask for a test match, and return whether there is one; house bots may take longer to connect."""
    with page.expect_navigation():
        page.get_by_role("button", name="Play a test match").click()
    return not page.get_by_role("alert").is_visible()


def test_author_when_starting_from_an_address_then_the_lights_turn_green_and_a_test_match_is_played(
    tmp_path: Path, browser: Browser
) -> None:
    address = free_address()
    settings = {"house_bots": 3, "web_listen": address, "sign_up": "open"}
    with running_arena(tmp_path / "arena", {}, **settings) as arena:
        page = browser.new_context(base_url=f"http://{address}").new_page()
        page.set_default_timeout(MILLISECONDS)
        page.goto("/")
        page.get_by_role("link", name="Join").click()
        page.get_by_role("link", name="Sign up").click()
        page.get_by_label("Account").fill("ann")
        page.get_by_label("Password").fill("correct horse battery")
        page.get_by_role("button", name="Sign up").click()
        page.get_by_label("Bot").fill("first")
        page.get_by_role("button", name="Register it").click()
        token = page.locator("#token-text").inner_text()
        program = tmp_path / "my_bot.py"
        program.write_text(page.locator("pre", has_text="from referee.bot import").inner_text())
        expect(page.get_by_text("Not connected")).to_be_visible()
        with running(program, token, arena.settings.listen):
            expect(page.get_by_text("Connected", exact=True)).to_be_visible(timeout=MILLISECONDS)
            wait_for(lambda: has_started(page), told=lambda: page.get_by_role("alert").inner_text())
            expect(page.get_by_text("Played a test match")).to_be_visible(timeout=MILLISECONDS)
        page.get_by_role("link", name="See its deals").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("test-")
        expect(page.get_by_role("link", name="ann/first@1").first).to_be_visible()

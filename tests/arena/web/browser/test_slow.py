"""Pages on a slow network, in a browser: what is loaded, what can be read before that, and what shifts."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route, expect

from tests.arena.web.browser.conftest import Site, be_slow
from tests.arena.web.browser.shifts import SHIFTED, note_shifts, shifted

FIRST_LOAD = 100_000
"""Maximum number of bytes of a page with everything that it loads, as transferred over the network."""

LOADED = """() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .map((one) => one.transferSize)"""
"""Returns how many bytes were transferred for each file."""

FIRST = ("theme.js", "cards.js")
"""Scripts that run before the page is drawn; each is a few lines."""

PLAYED = 10
"""Number of steps of a deal that are viewed."""


@pytest.fixture
def page(arena: Site) -> Iterator[Page]:
    """Return a page on a phone with a slow network."""
    with arena.window(viewport={"width": 360, "height": 740}) as window:
        opened = window.new_page()
        note_shifts(opened)
        be_slow(window.new_cdp_session(opened))
        yield opened


@pytest.mark.parametrize("path", ["/", "/bots/owner-0/bot-0", "/tournaments/cup", "/matches/cup/1/1/1/1"])
def test_page_when_the_network_is_slow_then_little_is_loaded_and_nothing_shifts(
    arena: Site, page: Page, path: str
) -> None:
    page.goto(arena.url + path)
    page.wait_for_load_state("networkidle")
    sizes = page.evaluate(LOADED)
    assert min(sizes) > 0
    assert sum(sizes) < FIRST_LOAD
    assert shifted(page) <= SHIFTED


def test_deal_when_the_network_is_slow_then_it_is_read_before_its_scripts_come_and_then_needs_no_network(
    arena: Site, page: Page
) -> None:
    held: list[Route] = []
    holding = True

    def hold(route: Route) -> None:
        if holding and not route.request.url.endswith(FIRST):
            held.append(route)
        else:
            route.fallback()

    page.route("**/*.js", hold)
    page.goto(f"{arena.url}/matches/cup/1/1/1/1", wait_until="commit")
    expect(page.locator("#log li").last).to_be_attached()
    expect(page.locator("#table .seat .card").first).to_be_visible()
    expect(page.locator("#now .words")).to_be_visible()
    expect(page.locator(".controls [data-go=on]")).to_have_attribute("href", "?step=1&view=open")
    expect(page.locator("#said")).to_have_count(0)
    holding = False
    for route in held:
        route.continue_()
    expect(page.locator("#said")).to_have_count(1)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for number in range(1, PLAYED):
        page.keyboard.press("ArrowRight")
        expect(page.locator("#number")).to_have_text(str(number))
    page.wait_for_url(f"**?step={PLAYED - 1}&view=open")
    # The browser asks for its tab's icon whenever it likes.
    assert [url for url in asked if not url.endswith("/icon.svg")] == []
    assert shifted(page) <= SHIFTED

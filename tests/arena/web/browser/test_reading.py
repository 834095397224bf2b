"""Reading pages in a browser: by keyboard, on a phone, without scripts, in the dark theme, during a match."""

import re
from collections.abc import Iterator
from datetime import timedelta

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Response, ViewportSize, expect

from arena.actors import Role
from arena.people import accounts, browsers
from arena.queries.leaderboards import leaderboard
from arena.store.models import utc_now
from arena.tournaments import creation
from arena.web.asking import COOKIE
from arena.web.pages.figures import until
from arena.web.pages.links import bot_url
from tests.arena.fakes import ROOT
from tests.arena.random_play import play_randomly
from tests.arena.web.browser.conftest import Site
from tests.arena.web.browser.shifts import SHIFTED, note_shifts, shifted
from tests.arena.web.conftest import PASSWORD
from tests.arena.world import SEED
from tests.waiting import wait_for

PAGES = (
    "/",
    "/board",
    "/board?a=owner-0/bot-0&b=owner-1/bot-1&since=2025-01-01",
    "/bots/owner-0/bot-0",
    "/crosstable?bot=owner-0/bot-0&bot=owner-1/bot-1&bot=owner-2/bot-2",
    "/deals",
    "/deals?kind=worst-made",
    "/faults",
    "/guide",
    "/guide/protocol",
    "/bots/owner-0/bot-0/versus?opponent=owner-1/bot-1",
    "/leagues/winter",
    "/matches?bot=owner-0/bot-0",
    "/matches/cup/1/1",
    "/matches/cup/1/1/1/1",
    "/now",
    "/proto",
    "/rules/hong-kong?other=chinese",
    "/rules/gamesky?cards=9D9C9H9S3C&against=XX",
    "/rules/only-a-game-8?cards=9D9D&against=9C9S",
    "/search?q=b",
    "/tournaments",
    "/tournaments/cup",
    "/tournaments/cup/crosstable",
    "/tournaments/cup/rounds/2?why=true",
    "/tournaments/cup/rounds/1/live",
)

SIGNED_IN = (
    *("/operator", "/operator/accounts", "/operator/accounts/zoe", "/operator/audit", "/operator/data"),
    *("/operator/findings", "/operator/ratings", "/operator/tokens", "/operator/tokens/organiser"),
    *("/tournaments/cup/desk", "/desk", "/me"),
    *("/bots/owner-1/bot-1/manage", "/bots/owner-1/bot-1/versions/1", "/bots/owner-1/bot-1/log"),
    *("/bots/owner-1/bot-1/deals", "/join/together"),
    *("/tournaments/cup/desk/corrections", "/desk/league", "/webhooks"),
    *("/tournaments/soon/desk/change", "/leagues/winter/desk", "/leagues/winter/desk/change"),
)
"""Pages for a signed-in operator."""

FIRST_LOAD = 100_000
"""Maximum number of bytes of the leaderboard's page, with everything that it loads."""

INK = "Math.max(...getComputedStyle(document.querySelector('main td')).color.match(/[0-9]+/g).slice(0, 3))"
"""The brightest component of the colour in which standings are written."""

HELD_BACK = """[...document.querySelectorAll("main .scroll")]
  .filter((one) => getComputedStyle(one).overflowY !== "visible").length"""
"""The number of tables of which only the visible part would be printed."""

TABS = 40
"""Maximum number of presses of Tab to reach the first bot on the leaderboard."""


@pytest.fixture
def page(arena: Site) -> Iterator[Page]:
    with arena.window(viewport={"width": 1280, "height": 900}) as window:
        yield window.new_page()


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1600, "dark")])
def test_pages_when_axe_looks_at_them_then_it_finds_nothing(arena: Site, width: int, scheme: str) -> None:
    size, found = ViewportSize(width=width, height=900), []
    with arena.window(viewport=size, color_scheme=scheme) as window:
        page = window.new_page()
        for path in PAGES:
            page.goto(arena.url + path)
            violations = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
            found += [(path, one["id"], one["nodes"][0]["html"]) for one in violations]
    assert found == []


def test_pages_of_an_operator_when_axe_looks_at_them_on_a_phone_then_it_finds_nothing(arena: Site) -> None:
    accounts.create_account(arena.world.storage, ROOT, "olive", Role.OPERATOR, utc_now(), PASSWORD)
    session, _ = browsers.sign_in(arena.world.storage, "olive", PASSWORD, utc_now())
    creation.create(arena.world.storage, ROOT, arena.world.spec([], name="soon"), utc_now(), SEED)
    found = []
    with arena.window(viewport=ViewportSize(width=360, height=900)) as window:
        window.add_cookies([{"name": COOKIE, "value": session, "url": arena.url}])
        page = window.new_page()
        for path in SIGNED_IN:
            page.goto(arena.url + path)
            violations = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
            found += [(path, one["id"], one["nodes"][0]["html"]) for one in violations]
            if page.evaluate("document.documentElement.scrollWidth") > 360:
                found.append((path, "sticks out", ""))
    assert found == []


def test_pages_when_the_window_is_narrow_or_wide_then_nothing_sticks_out(arena: Site, page: Page) -> None:
    found = []
    for path in (*PAGES, "/docs"):
        page.goto(arena.url + path)
        for width in (360, 800, 1600):
            page.set_viewport_size(ViewportSize(width=width, height=900))
            if page.evaluate("document.documentElement.scrollWidth") > width:
                found.append((path, width))
    assert found == []


OUTSIDE = """[...document.querySelectorAll("svg.axis text, .timeline :is(text, circle)")].filter((one) => {
  const [inner, outer] = [one.getBoundingClientRect(), one.closest("svg").getBoundingClientRect()];
  if (!outer.width) return false;
  const down = one.closest(".axis") ? 0 : Math.max(outer.top - inner.top, inner.bottom - outer.bottom);
  return Math.max(outer.left - inner.left, inner.right - outer.right, down) > 1;
}).map((one) => one.textContent.trim())"""
"""The labels and marks of charts that are not within their frames."""


def test_charts_and_names_when_the_window_is_narrow_or_wide_then_they_are_whole(
    arena: Site, page: Page
) -> None:
    found = []
    for width in (360, 800, 1600):
        page.set_viewport_size(ViewportSize(width=width, height=900))
        for path in ("/board", "/bots/owner-0/bot-0", "/bots/owner-1/bot-1"):
            page.goto(arena.url + path)
            found += [(path, width, label) for label in page.evaluate(OUTSIDE)]
    assert found == []
    page.set_viewport_size(ViewportSize(width=360, height=900))
    page.goto(f"{arena.url}/tournaments/cup/crosstable")
    rows = page.locator(".cross tbody th").all_inner_texts()
    assert ["/" in row for row in rows] == [True] * len(rows)
    assert page.locator(".places").evaluate("one => one.scrollWidth - one.clientWidth") <= 0
    page.goto(f"{arena.url}/matches/cup/1/1")
    names = page.locator(".session thead .bot").all_inner_texts()
    assert ["/" in name for name in names] == [True] * 4


def test_board_when_only_keys_are_used_then_a_reader_comes_to_the_contents_and_to_a_bot(
    arena: Site, page: Page
) -> None:
    page.goto(arena.url)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    for _ in range(TABS):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('a.bot')"):
            break
    page.keyboard.press("Enter")
    best = leaderboard(arena.world.storage, limit=1).leaderboard[0]
    page.wait_for_url(f"**{bot_url(best.bot)}")
    expect(page.locator("h1")).to_contain_text(best.bot.partition("@")[0])


def test_board_when_it_is_read_for_the_first_time_then_little_is_loaded(arena: Site, page: Page) -> None:
    answers: list[Response] = []
    page.on("response", lambda answer: answers.append(answer))
    page.goto(arena.url)
    page.wait_for_load_state("networkidle")
    assert len(answers) >= 3
    assert sum(len(answer.body()) for answer in answers) < FIRST_LOAD


def test_search_when_somebody_types_then_names_are_suggested_and_one_is_led_to(
    arena: Site, page: Page
) -> None:
    page.goto(f"{arena.url}/tournaments")
    field = page.get_by_label("Search for a bot")
    field.press_sequentially("owner-0/b")
    options = page.locator("#suggested option")
    expect(options.first).to_have_attribute("value", "owner-0/bot-0")
    assert all((one.get_attribute("value") or "").startswith("owner-0/b") for one in options.all())
    field.fill("owner-0/bot-0")
    page.get_by_role("button", name="Search").click()
    page.wait_for_url("**/bots/owner-0/bot-0")


def test_starts_when_they_are_counted_down_then_the_script_says_what_the_server_says(
    arena: Site, page: Page
) -> None:
    page.goto(f"{arena.url}/now")
    at = utc_now() + timedelta(days=3, hours=1)
    shown = re.sub("<[^>]+>", "", until(at, utc_now()))
    assert shown == "in 3 d 0 h"
    page.evaluate(
        "html => document.querySelector('main').insertAdjacentHTML('beforeend', html)", until(at, at)
    )
    expect(page.locator("main time.until").last).to_have_text(shown)


def test_pages_when_they_are_loaded_then_nothing_shifts(arena: Site) -> None:
    with arena.window(viewport={"width": 360, "height": 740}) as window:
        page = window.new_page()
        note_shifts(page)
        found = {}
        for path in PAGES:
            page.goto(arena.url + path)
            found[path] = shifted(page)
    assert {path for path, by in found.items() if by > SHIFTED} == set()


@pytest.mark.parametrize("path", ["/board", "/tournaments/cup"])
def test_standings_when_they_are_printed_in_the_dark_then_they_are_black_on_white_and_whole(
    arena: Site, path: str
) -> None:
    with arena.window(color_scheme="dark") as window:
        page = window.new_page()
        page.goto(arena.url + path)
        expect(page.locator(".top")).to_be_visible()
        page.emulate_media(media="print")
        expect(page.locator(".top")).to_be_hidden()
        expect(page.locator("main table").first).to_be_visible()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgba(0, 0, 0, 0)"
        assert page.evaluate(INK) < 0x80
        assert page.evaluate(HELD_BACK) == 0


def test_theme_when_it_is_switched_then_it_holds_on_the_next_page(arena: Site) -> None:
    with arena.window(color_scheme="light") as window:
        page = window.new_page()
        page.goto(arena.url)
        paper = "getComputedStyle(document.body).backgroundColor"
        light = page.evaluate(paper)
        page.locator("[data-theme-switch]").click()
        dark = page.evaluate(paper)
        page.goto(f"{arena.url}/tournaments")
        assert page.evaluate(paper) == dark != light
        assert window.cookies() == []


def test_pages_when_there_is_no_script_then_everything_but_motion_is_there(arena: Site) -> None:
    with arena.window(java_script_enabled=False) as window:
        page = window.new_page()
        for path in PAGES:
            page.goto(arena.url + path)
            expect(page.locator("main h1")).to_be_visible()
            expect(page.locator("main")).not_to_be_empty()
        page.goto(f"{arena.url}/tournaments/cup")
        expect(page.locator("[data-theme-switch]")).to_be_hidden()
        page.get_by_role("button", name="session").click()
        meaning = page.get_by_text("Deals in a row with the same bots in the same seats.")
        expect(meaning).to_be_visible()
        page.keyboard.press("Escape")
        expect(meaning).to_be_hidden()
        page.locator("summary", has_text="Check every deal").click()
        expect(page.locator("pre").last).to_contain_text("arena verify cup.jsonl")


def test_tournament_when_a_match_is_played_then_its_page_moves_without_reloading(
    arena: Site, page: Page
) -> None:
    world = arena.world
    names = world.register(4, owners=4)
    started = world.tournament_of(names, name="live", rounds=1)
    page.goto(f"{arena.url}/tournaments/live")
    expect(page.locator("#live")).to_be_visible()
    text = page.locator("#progress-text")
    expect(text).to_contain_text(f"0 of {started.sessions_total} sessions")
    world.finish(started.id, play_randomly)
    total = world.status("live").sessions_total
    expect(text).to_contain_text(f"{total} of {total} sessions", timeout=30_000)
    expect(page.locator("#state")).to_contain_text("Won by", timeout=60_000)


def test_tournament_when_its_stream_is_answered_with_errors_then_its_page_asks_again_till_it_is_live(
    arena: Site,
) -> None:
    names = arena.world.register(4, owners=4)
    arena.world.tournament_of(names, name="followed", rounds=1)
    errors = [502, 503]
    with arena.browser.new_context() as window:  # what a browser says about such answers is not an error here
        page = window.new_page()
        page.clock.install()
        page.route("**/events", lambda one: one.fulfill(status=errors.pop()) if errors else one.continue_())
        page.goto(f"{arena.url}/tournaments/followed")
        live = page.locator("#live")
        wait_for(live.is_visible, meanwhile=lambda: page.clock.run_for(10_000))
        assert errors == []


def test_sandbox_when_cards_are_clicked_then_it_says_what_they_are_and_the_address_has_them(
    arena: Site, page: Page
) -> None:
    page.goto(f"{arena.url}/rules/chinese")
    for card in ("3 of diamonds", "3 of spades", "4 of hearts"):
        page.get_by_role("button", name=card).click()
    expect(page.locator("#tried")).to_contain_text("No play")
    page.get_by_role("button", name="4 of hearts", pressed=True).click()
    expect(page.locator("#tried")).to_contain_text("Pair of 3s")
    page.get_by_label("Against these").focus()
    page.keyboard.type("2d2s")
    expect(page.locator("#tried")).to_contain_text("The second beats the first.")
    expect(page.get_by_role("button", name="2 of spades", pressed=True)).to_be_visible()
    page.keyboard.type("xx")
    expect(page.get_by_role("alert")).to_contain_text("'XX' is not a card")
    page.wait_for_url("**?cards=3D+3S&against=2d2sxx#sandbox")
    page.get_by_role("link", name="Clear").click()
    expect(page.locator("#tried")).to_be_empty()

"""A deal's page in a browser: by keyboard, by mouse, without scripts, and in a file of its own."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect
from sqlmodel import col, select

from arena.actors import Role
from arena.people import accounts
from arena.queries.deals import one_deal
from arena.queries.matches import MatchQuery, find_matches
from arena.queries.replays.make import make_replay
from arena.queries.replays.moments import steps_of_actions
from arena.queries.replays.steps import Replay
from arena.queries.replays.table import words_for
from arena.queries.sessions import deal_scores_at, deals_beside
from arena.store.models import Account, DealEstimate, Session
from arena.tournaments import corrections
from arena.web.pages.figures import signed
from arena.web.pages.links import bot_url
from tests.arena.exported import play_by_table
from tests.arena.fakes import DECISION_KEY, ROOT
from tests.arena.random_play import play_randomly
from tests.arena.replays.records import plain
from tests.arena.test_luck import weigh
from tests.arena.web.browser.conftest import Site, site

DEAL = "/matches/cup/1/1/1/2"

HOUR = 3600
"""The second at which a test's clock stands still."""

SPEEDS = (("1", 1000), ("2", 500), ("10", 100))
"""How many times faster, and milliseconds per step."""

NORMAL = """() => {
  const shown = [];
  for (const id of ["table", "now", "log"]) {
    const part = document.getElementById(id).cloneNode(true);
    const texts = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
    const blank = [];
    while (texts.nextNode()) {
      const text = texts.currentNode;
      text.data = text.data.replace(/\\s+/g, " ");
      if (!text.data.trim() && !text.parentElement.closest("p, a, .sitter")) blank.push(text);
    }
    blank.forEach((text) => text.remove());
    shown.push(part.innerHTML.replaceAll("> <", "><"));
  }
  return shown;
}"""
"""Returns what is drawn, without the blanks between elements."""


def scored(score: float) -> str:
    """Return what counts, as pages show it."""
    return signed(score, 0 if score == int(score) else 1)


@pytest.fixture(scope="module")
def arena(
    tmp_path_factory: pytest.TempPathFactory, empty_database: bytes, browser: Browser
) -> Iterator[Site]:
    with site(tmp_path_factory.mktemp("site"), empty_database, browser) as found:
        found.world.finish(found.world.tournament(4, rounds=1).id, play_by_table)
        names = found.world.register(8)
        shared = {"format": "swiss", "rounds": 1, "duplicate": True, "deals": None}
        found.world.finish(found.world.tournament_of(names, name="shared", **shared).id, play_by_table)
        found.world.finish(found.world.tournament_of(names, name="decided", rounds=3).id, play_randomly)
        weigh(found.world)
        yield found


@pytest.fixture(scope="module")
def replay(arena: Site) -> Replay:
    return make_replay(one_deal(arena.world.storage, "cup", 1, 1, 1, 2))


@pytest.fixture
def page(arena: Site) -> Iterator[Page]:
    with arena.window(viewport={"width": 1280, "height": 900}) as window:
        yield window.new_page()


def at_step(page: Page, number: int) -> None:
    expect(page.locator("#number")).to_have_text(str(number))


def test_steps_when_they_are_drawn_by_the_script_then_they_are_those_of_the_server(
    arena: Site, page: Page, replay: Replay
) -> None:
    with arena.window(java_script_enabled=False) as plain_window:
        without = plain_window.new_page()
        for view in ("open", "2"):
            page.goto(f"{arena.url}{DEAL}?view={view}")
            for number in range(0, replay.last + 1, 11):
                without.goto(f"{arena.url}{DEAL}?step={number}&view={view}")
                page.locator("#slider").fill(str(number))
                at_step(page, number)
                assert page.evaluate(NORMAL) == without.evaluate(NORMAL), number


def test_deal_when_keys_are_pressed_then_it_goes_there_and_the_address_with_it(
    arena: Site, page: Page, replay: Replay
) -> None:
    page.goto(arena.url + DEAL)
    for key, number in (
        ("ArrowRight", 1),
        ("ArrowRight", 2),
        ("ArrowLeft", 1),
        ("End", replay.last),
        ("ArrowRight", replay.last),
        ("Home", 0),
        ("ArrowLeft", 0),
        ("ArrowRight", 1),
    ):
        page.keyboard.press(key)
        at_step(page, number)
    page.wait_for_url("**?step=1&view=open")
    page.reload()
    at_step(page, 1)
    assert (
        page.locator("#log [aria-current]").inner_text().startswith(plain(replay.steps[1].words).split()[0])
    )


def test_tricks_when_keys_and_buttons_jump_to_them_then_each_begins_with_its_lead(
    arena: Site, page: Page, replay: Replay
) -> None:
    leads = [min(one.number for one in replay.steps if one.trick == trick) for trick in (1, 2, 3)]
    page.goto(arena.url + DEAL)
    for number in leads[:2]:
        page.keyboard.press("Shift+ArrowRight")
        at_step(page, number)
    page.locator("[data-go=trick-on]").click()
    at_step(page, leads[2])
    page.keyboard.press("ArrowRight")
    for number in (leads[2], leads[1], leads[0], 0, 0):
        page.keyboard.press("Shift+ArrowLeft")
        at_step(page, number)
    expect(page.locator("[data-go=trick-back]")).to_have_attribute("aria-disabled", "true")
    page.goto(f"{arena.url}{DEAL}?step={replay.last - 1}")
    page.locator("[data-go=trick-on]").click()
    at_step(page, replay.last)
    expect(page.locator("[data-go=trick-on]")).to_have_attribute("aria-disabled", "true")


def test_forced_passes_when_the_log_is_read_then_they_are_folded_until_their_box_is_ticked(
    arena: Site, page: Page, replay: Replay
) -> None:
    folded = [step.number for step in replay.steps if step.folded]
    page.goto(f"{arena.url}{DEAL}?step={folded[0]}")
    lines = page.locator("#log li:visible")
    expect(lines).to_have_count(replay.last + 1 - len(folded) + 1)
    page.get_by_label(f"Forced passes ({len(folded)})").check()
    expect(lines).to_have_count(replay.last + 1)


def test_deal_when_it_is_played_then_it_goes_on_to_its_end(arena: Site, page: Page, replay: Replay) -> None:
    page.goto(f"{arena.url}{DEAL}?step={replay.last - 6}")
    page.locator("#speed").select_option("10")
    page.locator("h1").click()
    page.keyboard.press(" ")
    at_step(page, replay.last)
    expect(page.locator("[data-play]")).to_have_attribute("aria-pressed", "false")
    for name, points in zip(replay.short, replay.points, strict=True):
        seat = page.locator(f'.seat[aria-label="{name}"] .points')
        expect(seat).to_have_text(f"{points:+d}".replace("-", "−") if points else "0")
    page.wait_for_url(f"**?step={replay.last}&view=open")


def test_deal_when_it_is_played_at_a_speed_then_each_step_stays_as_long_as_that_says(
    arena: Site, page: Page
) -> None:
    page.clock.install(time=0)
    page.goto(arena.url + DEAL)
    page.clock.pause_at(HOUR)
    step = 0
    for speed, milliseconds in SPEEDS:
        page.locator("#speed").select_option(speed)
        page.locator("[data-play]").click()
        page.clock.run_for(milliseconds - 1)
        at_step(page, step)
        page.clock.run_for(1)
        at_step(page, step + 1)
        page.clock.run_for(3 * milliseconds)
        at_step(page, step := step + 4)
        page.locator("[data-play]").click()
        page.clock.run_for(10_000)
        at_step(page, step)


def test_seat_when_it_is_clicked_then_it_is_the_view_until_the_next_click_and_its_name_leads_to_the_bot(
    arena: Site, page: Page, replay: Replay
) -> None:
    page.goto(f"{arena.url}{DEAL}?step=3")
    expect(page.locator("#table .hand.down")).to_have_count(0)
    page.locator("#table .at-2 .held").click()
    expect(page.locator("#table .hand.down")).to_have_count(3)
    expect(page.locator("#table .at-0")).to_have_attribute("data-seat", "2")
    page.wait_for_url("**?step=3&view=2")
    page.locator("#table .at-0 .held").click()
    expect(page.locator("#table .hand.down")).to_have_count(0)
    page.locator("#table .at-2 a").click()
    page.wait_for_url(f"{arena.url}{bot_url(replay.seats[2])}")


def test_deal_when_the_wheel_turns_over_the_table_then_the_page_scrolls(arena: Site, page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 500})
    page.goto(f"{arena.url}{DEAL}?step=3")
    page.locator("#table").hover()
    before = page.evaluate("scrollY")
    page.mouse.wheel(0, 120)
    page.wait_for_function("before => scrollY > before", arg=before)
    at_step(page, 3)


def test_buttons_slider_and_log_when_they_are_used_then_the_deal_goes_there(
    arena: Site, page: Page, replay: Replay
) -> None:
    page.goto(arena.url + DEAL)
    page.locator("[data-go=on]").click()
    at_step(page, 1)
    page.locator("[data-go=last]").click()
    at_step(page, replay.last)
    page.locator("[data-go=back]").click()
    at_step(page, replay.last - 1)
    page.locator("[data-go=first]").click()
    at_step(page, 0)
    page.locator("#slider").fill("7")
    at_step(page, 7)
    shown = next(step.number for step in replay.steps[4:] if not step.folded)
    page.locator("#log li a").nth(shown).click()
    at_step(page, shown)
    assert page.locator("[data-go=first]").get_attribute("aria-disabled") is None


def test_what_comes_when_it_is_hidden_then_neither_length_nor_result_are_seen_and_that_is_kept(
    arena: Site, page: Page, replay: Replay
) -> None:
    page.goto(f"{arena.url}{DEAL}?step=3")
    expect(page.locator(".worth")).to_be_visible()
    page.locator("[data-spoil]").click()
    for hidden in ("#slider", ".where .total", ".log-head .total", "[data-go=last]", "#log .end", ".worth"):
        expect(page.locator(hidden)).to_be_hidden()
    shown = sum(not one.folded for one in replay.steps[:3]) + 1
    expect(page.locator("#log li:visible")).to_have_count(shown)
    page.goto(arena.url + DEAL)
    expect(page.locator("#log li:visible")).to_have_count(1)
    page.locator("[data-spoil]").click()
    expect(page.locator("#slider")).to_be_visible()
    expect(page.locator("#log .end")).to_be_visible()


def test_colours_when_they_are_chosen_then_suits_have_them_on_the_next_page_too(
    arena: Site, page: Page
) -> None:
    page.goto(arena.url + DEAL)
    colour = "suit => getComputedStyle(document.querySelector(`.card.${suit}`)).color"
    assert len({page.evaluate(colour, suit) for suit in "DCHS"}) == 4
    page.locator("#colours").select_option("two")
    page.goto(f"{arena.url}{DEAL}?step=1")
    assert len({page.evaluate(colour, suit) for suit in "DCHS"}) == 2


def test_every_step_when_it_is_reached_by_key_then_a_screen_reader_is_told(
    arena: Site, page: Page, replay: Replay
) -> None:
    page.goto(f"{arena.url}{DEAL}?view=1")
    line = page.locator("[aria-live=polite]")
    for step in replay.steps[1:20]:
        page.keyboard.press("ArrowRight")
        at_step(page, step.number)
        assert line.text_content() == plain(words_for(step, 1))


@pytest.mark.parametrize("width", [360, 800, 1600])
def test_page_when_it_is_narrow_or_wide_then_nothing_sticks_out_and_corners_are_seen(
    arena: Site, width: int
) -> None:
    with arena.window(viewport={"width": width, "height": 800}) as window:
        page = window.new_page()
        page.goto(arena.url + DEAL)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        corners = """() => [...document.querySelectorAll("#table .seat .hand")].map((hand) => {
          const left = [...hand.querySelectorAll("li")].map((one) => one.getBoundingClientRect().left);
          const gaps = left.slice(1).map((one, at) => one - left[at]);
          return Math.min(...gaps) / hand.querySelector(".card").getBoundingClientRect().width;
        })"""
        assert min(page.evaluate(corners)) > 0.34


def test_file_of_a_deal_when_it_is_opened_from_a_disk_then_it_works_and_asks_nobody(
    arena: Site, page: Page, replay: Replay, tmp_path: Path
) -> None:
    page.goto(arena.url + DEAL)
    with page.expect_download() as download:
        page.get_by_role("link", name="Offline replay").click()
    file = tmp_path / "deal.html"
    download.value.save_as(file)
    assert download.value.suggested_filename == "cup-1-1-1-2.html"
    assert file.stat().st_size <= 60_000
    with arena.window(offline=True) as window:
        opened = window.new_page()
        opened.goto(file.as_uri())
        opened.keyboard.press("ArrowRight")
        at_step(opened, 1)
        opened.keyboard.press("End")
        at_step(opened, replay.last)
        expect(opened.locator("#log li")).to_have_count(replay.last + 1)
        expect(opened.locator("#now")).to_contain_text("The deal is over.")


def test_deal_without_script_when_its_links_are_followed_then_every_step_is_shown(
    arena: Site, replay: Replay
) -> None:
    with arena.window(java_script_enabled=False) as window:
        page = window.new_page()
        page.goto(arena.url + DEAL)
        for number in (1, 2):
            page.locator("[data-go=on]").click()
            at_step(page, number)
        assert urlsplit(page.url).query == "step=2&view=open"
        page.locator("[data-go=trick-on]").click()
        at_step(page, next(one.number for one in replay.steps if one.trick == 2))
        page.locator("#log li a").nth(replay.last).click()
        at_step(page, replay.last)
        page.locator("[data-view='1']").click()
        assert urlsplit(page.url).query == f"step={replay.last}&view=1"
        expect(page.locator("#slider")).to_be_hidden()


def test_costs_when_a_worker_has_computed_them_then_the_slider_has_their_marks_without_a_reload(
    arena: Site, page: Page, replay: Replay
) -> None:
    world, account = arena.world, "asker"
    accounts.create_account(world.storage, ROOT, account, Role.AUTHOR, world.clock())
    with world.storage.write() as tx:
        session = tx.exec(select(Session).where(Session.number == 1).order_by(col(Session.id))).first()
        asked_by = tx.exec(select(Account.id).where(Account.name == account)).one()
        assert session is not None
        asked = DealEstimate(session_id=session.id, deal=2, seat=0, asked_by=asked_by, asked_at=world.clock())
        tx.add(asked)
        tx.flush()
        id = asked.id
    page.goto(arena.url + DEAL)
    page.keyboard.press("End")
    expect(page.locator("#estimates")).to_contain_text("a worker computes it")
    before = page.locator("#marks > svg").count()
    costly = {"turn": 1, "played": "-", "better": "3D", "cost": 2.5, "plus_minus": 0.5, "worlds": 9}
    with world.storage.write() as tx:
        row = tx.get_one(DealEstimate, id)
        row.decisions, row.ended_at = [costly], world.clock()
    expect(page.locator("#marks > svg.cost")).to_have_count(1)
    assert page.locator("#marks > svg").count() == before + 1
    mark = page.locator("#moments a.cost")
    expect(mark).to_contain_text("−2.5")
    assert "later" not in (mark.get_attribute("class") or "")  # the last step is shown
    mark.click()
    at_step(page, steps_of_actions(replay)[0])
    with world.storage.write() as tx:
        tx.delete(tx.get_one(DealEstimate, id))


def test_deal_at_all_tables_when_keys_are_pressed_then_all_go_on_by_a_trick(arena: Site, page: Page) -> None:
    page.goto(f"{arena.url}/tournaments/shared/rounds/1/sessions/1/deals/1")
    told = page.locator(".tricks p")
    expect(told).to_contain_text("The cards as dealt")
    first, second = page.locator(".one").all()
    assert first.locator(".hand").all_inner_texts() == second.locator(".hand").all_inner_texts()
    page.keyboard.press("ArrowRight")
    expect(told).to_contain_text("After trick 1")
    page.wait_for_url("**?trick=1")
    page.keyboard.press("End")
    expect(page.locator(".one .result")).to_have_count(8)
    page.get_by_role("link", name="Back").click()
    page.keyboard.press("Home")
    expect(told).to_contain_text("The cards as dealt")
    page.get_by_role("link", name="Table 2").click()
    expect(page.get_by_role("link", name="At all tables")).to_be_visible()


def test_deal_at_all_tables_when_axe_looks_at_it_on_a_phone_then_it_finds_nothing(arena: Site) -> None:
    with arena.window(viewport={"width": 360, "height": 800}, color_scheme="dark") as window:
        page = window.new_page()
        page.goto(f"{arena.url}/tournaments/shared/rounds/1/sessions/1/deals/1?trick=1")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        found = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []


def test_results_when_a_tournament_is_duplicate_then_all_pages_say_so_and_show_what_counts_with_the_points(
    arena: Site, page: Page
) -> None:
    world = arena.world
    lines = {one.table: one for one in find_matches(world.storage, MatchQuery(tournament="shared")).matches}
    counted = {table: one.scores for table, one in lines.items() if one.scores is not None}
    assert any(max(scores) != max(lines[table].points) for table, scores in counted.items())

    def shown(table: int, seats: Locator) -> None:
        """Compare what is shown of a table with what counts there."""
        line, scores = lines[table], counted[table]
        assert seats.count() == 4
        for seat, text in enumerate(seats.all_inner_texts()):
            assert line.bots[seat] in text.replace("\n", "")
            assert f"score {scored(scores[seat])}" in text
            assert f"points {signed(line.points[seat])}" in text
        best = seats.filter(has=page.locator(".points.most")).all_inner_texts()
        winners = [bot for bot, score in zip(line.bots, scores, strict=True) if score == max(scores)]
        assert [text.split()[0] for text in best] == winners

    page.goto(f"{arena.url}/tournaments/shared")
    expect(page.locator(".lead .tag")).to_have_text("duplicate")
    page.goto(f"{arena.url}/tournaments/shared/rounds/1")
    expect(page.locator(".head .tag").first).to_have_text("duplicate")
    expect(page.get_by_role("columnheader", name="Bots, scores and points")).to_be_visible()
    for table in lines:
        shown(table, page.get_by_role("row").nth(table).locator(".seats li"))
    page.goto(f"{arena.url}/matches?tournament=shared")
    for table in lines:
        row = page.get_by_role("row").filter(has=page.get_by_text(f"shared 1.{table}", exact=True))
        shown(table, row.locator(".seats li"))
    page.goto(f"{arena.url}/matches/shared/1/1")
    expect(page.locator(".head .tag").first).to_have_text("duplicate")
    shown(1, page.locator(".box .seats li"))
    beside = deals_beside(world.storage, "shared", 1)
    by_seat = deal_scores_at(world.storage, "shared", 1, 1, beside)[1][0].by_seat
    first = page.get_by_role("row", name="Session 1").first.locator("td").all_inner_texts()
    assert [text.split()[0] for text in first] == [scored(score) for score in by_seat]


def test_places_of_rounds_when_the_organiser_corrected_a_match_then_they_make_up_the_score(
    arena: Site, page: Page
) -> None:
    world = arena.world
    [first, *_] = sorted(
        find_matches(world.storage, MatchQuery(tournament="decided", round=1)).matches,
        key=lambda one: one.table,
    )
    last = first.bots[first.points.index(min(first.points))]
    more = max(first.points) - min(first.points) + 1
    wanted = corrections.NewCorrection(last, "points", "a wrong card", 1, first.table, more)
    corrections.correct(world.storage, ROOT, "decided", wanted, world.clock(), DECISION_KEY)
    page.goto(f"{arena.url}/tournaments/decided")
    rows = page.locator("#standings tbody tr")
    assert rows.count() == 8
    links = "all => all.map(one => [one.href, one.text])"
    at_tables = page.locator("#standings .sheet a").evaluate_all(links)
    sharing = Counter(map(tuple, at_tables))
    for row in rows.all():
        places = row.locator(".sheet a").evaluate_all(links)
        made = [4 - int(place) - (sharing[table, place] - 1) / 2 for table, place in places]
        assert float(row.locator("td.num").nth(1).inner_text()) == sum(made), row.inner_text()
    assert rows.filter(has_text=last).locator(".sheet a").first.inner_text() == "1"
    page.goto(f"{arena.url}/matches/decided/1/{first.table}")
    expect(page.locator(".box .seats .points.most")).to_have_text(f"score {signed(max(first.points) + 1)}")

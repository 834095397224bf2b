"""A match in play, in a browser: a real referee and real bots, one of which waits for the test."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest
from playwright.sync_api import Browser, expect

from tests.arena.exported import play_by_table
from tests.arena.web.browser.conftest import be_slow, site
from tests.arena.web.served import break_off
from tests.referee.support import LEGAL_PLAYS, WireBot, lowest, match_spec, play_match, referee, sdk_bots
from tests.waiting import DEADLINE


async def play(address: "Future[str]", begin: Event, go_on: Event) -> None:
    """Play the cup's match as far as the last bot's turn, and to its end once ``go_on`` is set."""
    async with referee() as listening, sdk_bots(listening, dict.fromkeys((1, 2, 3), lowest)):
        address.set_result(listening)
        await asyncio.to_thread(begin.wait, DEADLINE)
        running = asyncio.create_task(play_match(listening, match_spec(deals=1, match_id="cup/1/1")))
        async with WireBot(listening, 4, wants=LEGAL_PLAYS) as slow:
            await slow.next("turn")
            await asyncio.to_thread(go_on.wait, DEADLINE)
        async with sdk_bots(listening, {4: lowest}):
            await running


@contextmanager
def playing() -> Iterator[tuple[str, Event, Event]]:
    """Run a referee and bots in a thread; yield its address, and events that start and resume the match."""
    address: Future[str] = Future()
    begin, go_on = Event(), Event()
    thread = Thread(target=lambda: asyncio.run(play(address, begin, go_on)))
    thread.start()
    try:
        yield address.result(DEADLINE), begin, go_on
    finally:
        begin.set()
        go_on.set()
        thread.join()


def test_match_when_it_is_played_then_its_page_follows_it_to_its_end_without_being_loaded_again(
    tmp_path: Path, empty_database: bytes, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.web.watching.RETRY_SECONDS", 0.05)
    with (
        playing() as (address, begin, go_on),
        site(tmp_path, empty_database, browser, referees=address) as arena,
        arena.window() as window,
    ):
        cup = arena.world.tournament(4, rounds=1)
        arena.world.advance(cup.id)
        page = window.new_page()
        network = window.new_cdp_session(page)
        be_slow(network)
        page.goto(f"{arena.url}/matches/cup/1/1")
        page.get_by_role("link", name="Watch it live").click()
        expect(page.locator("#signal")).to_have_text("no referee plays this match at the moment")
        begin.set()
        expect(page.locator("#signal")).to_have_text("live")
        expect(page.locator("#table .hand.down")).to_have_count(4)
        expect(page.locator("#table .seat .hand:not(.down)")).to_have_count(0)
        assert arena.troubles == []
        be_slow(network, offline=True)
        break_off(arena.server)
        expect(page.locator("#signal")).to_have_text("connecting again")
        be_slow(network)
        expect(page.locator("#signal")).to_have_text("live")
        expect(page.locator("#table .hand.down")).to_have_count(4)
        arena.troubles.clear()  # those of the missing network
        go_on.set()
        expect(page.locator("#now")).to_contain_text("The deal is over.")
        expect(page.locator("#table .points")).to_have_count(4)
        arena.world.finish(cup.id, play_by_table)
        page.get_by_role("link", name="all its deals").click()
        expect(page.get_by_role("link", name="Deal 1").first).to_be_visible()

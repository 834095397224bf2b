"""A real browser that visits the pages of a real server."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    CDPSession,
    Page,
    Request,
    Route,
    expect,
    sync_playwright,
)

from arena.host.settings import load_settings
from arena.store.storage import open_storage
from arena.web.app import make_app
from arena.web.serving import Server
from tests.arena.fakes import Clock
from tests.arena.web.served import served, url_of
from tests.arena.world import World
from tests.needed import require
from tests.waiting import DEADLINE

expect.set_options(timeout=DEADLINE * 1000)
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Return a browser; each test has windows of its own."""
    path = require("chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=[*FLAGS])
        yield started
        started.close()


@dataclass(frozen=True, slots=True)
class Site:
    """A served arena with pages."""

    server: Server
    world: World
    browser: Browser
    troubles: list[str] = field(default_factory=list)
    """Errors in browsers, and requests to other hosts; empty if all is well."""

    @property
    def url(self) -> str:
        """Return the address of the site."""
        return url_of(self.server)

    def window(self, **options: object) -> BrowserContext:
        """Open a window whose errors are recorded."""
        context = self.browser.new_context(**options)  # type: ignore[arg-type]
        context.on("page", lambda page: self._watch(page))
        context.route("**", lambda route: self._route(route))
        return context

    def _watch(self, page: Page) -> None:
        page.on("console", lambda message: self._note(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self._note(f"error: {error}"))
        page.on("requestfailed", lambda request: self._failed(request))

    def _failed(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # a page that turns out to be a download
            self._note(f"failed: {request.url} ({request.failure})")

    def _note(self, trouble: str) -> None:
        self.troubles.append(trouble)

    def _route(self, route: Route) -> None:
        if not route.request.url.startswith((f"{self.url}/", "file:", "data:")):
            self._note(f"asked of another: {route.request.url}")
        route.continue_()


@contextmanager
def site(folder: Path, database: bytes, browser: Browser, **fields: object) -> Iterator[Site]:
    """Serve an arena in a folder with this database; fail if there were errors in browsers.

    ``fields`` are further settings.
    """
    settings = load_settings({"data": folder / "arena", **fields}).prepare()
    (settings.data / "arena.db").write_bytes(database)
    with open_storage(settings) as storage, served(make_app(settings, storage)) as server:
        found = Site(server, World(storage, Clock()), browser)
        yield found
        assert found.troubles == []


SLOW = {"latency": 400, "downloadThroughput": 50_000, "uploadThroughput": 50_000}
"""Milliseconds, and bytes per second: 400 kbit/s."""


def be_slow(network: CDPSession, *, offline: bool = False) -> None:
    """Give a page a slow network from now on, or none if ``offline``; existing connections are kept."""
    network.send("Network.enable")
    network.send("Network.emulateNetworkConditions", {"offline": offline, **SLOW})


@pytest.fixture(scope="module")
def arena(
    tmp_path_factory: pytest.TempPathFactory, everything_once: Path, browser: Browser
) -> Iterator[Site]:
    """Return a site with data of every kind; modules that need another site have their own."""
    database = (everything_once / "data" / "arena.db").read_bytes()
    with site(tmp_path_factory.mktemp("site"), database, browser) as found:
        yield found

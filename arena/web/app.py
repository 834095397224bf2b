"""The application, assembled from middleware, routes and error handlers."""

import time
from collections.abc import Callable
from datetime import datetime
from functools import partial

from fastapi import APIRouter, FastAPI
from fastapi.responses import RedirectResponse

from arena.host.settings import Settings
from arena.operations.all import OPERATIONS
from arena.play.messages import wake
from arena.store.storage import Storage
from arena.tournaments.referees import asker
from arena.web.cache import Remembered
from arena.web.callers import Known, Slots
from arena.web.context import Web
from arena.web.doors import router_of
from arena.web.feeds import Feeds
from arena.web.headers import AlwaysHeaders, Bodiless, Compressed, Unchanged
from arena.web.idempotency import DoneOnce
from arena.web.limits import Limits
from arena.web.pages.routers import add_pages
from arena.web.problems import add_handlers
from arena.web.readings import Glancing, Readings
from arena.web.routes import backups, events, exports, sessions
from arena.web.routing import PREFIX, Application, name_of
from arena.web.storable import WithoutNul
from arena.web.watching import Watching

ROUTERS: tuple[APIRouter, ...] = (
    *(router_of(module) for module in OPERATIONS),
    *(backups.router, events.router, exports.router, sessions.router),
)

TABLES = 24
"""Tables of a round that are drawn in small on one page."""

STREAMS = (20, 1000)
EXPORTS = (2, 8)
"""Maximum number of concurrent streams, and of exports: for one caller, and in total."""


def make_app(
    settings: Settings,
    storage: Storage,
    *,
    clock: Callable[[], datetime] | None = None,
    timer: Callable[[], float] = time.monotonic,
) -> FastAPI:
    """Return the application for an arena; ``timer`` counts the seconds for which answers are cached.

    Raise SettingsError for a wrong TLS file.
    """
    app = Application(
        title="Big Two Arena",
        version="1",
        description="The API of an arena, for people and scripts. Bots connect to its referees over gRPC.",
        generate_unique_id_function=name_of,
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # to an absolute address, with the host that the client named
    )
    watching = Watching(settings)
    app.state.web = Web(
        settings,
        storage,
        clock or storage.now,
        asker(settings),
        partial(wake, settings),
        Feeds(storage),
        watching,
        Glancing(storage, watching, TABLES, timer),
        Readings(storage, timer),
        Slots("streams", *STREAMS),
        Slots("exports", *EXPORTS),
        Known(),
    )
    add_handlers(app)
    app.router.routes += [route for router in ROUTERS for route in router.routes]
    app.add_route(PREFIX, lambda _: RedirectResponse("/docs"))
    add_pages(app)
    for middleware in (
        WithoutNul,
        DoneOnce,
        Unchanged,
        Compressed,
        partial(Remembered, seconds=settings.web_kept_seconds, now=timer),
        Limits,
        Bodiless,
        AlwaysHeaders,
    ):  # the last one is the outermost
        app.add_middleware(middleware)
    return app

"""What a handler works with: the settings, the storage, the clock, and the shared caches."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from fastapi import Depends, Request

from arena.host.settings import Settings
from arena.store.storage import Storage
from arena.tournaments.referees import Ask
from arena.web.callers import Known, Slots
from arena.web.checking import Checking
from arena.web.feeds import Feeds
from arena.web.readings import Glancing, Readings
from arena.web.watching import Watching


@dataclass(frozen=True, slots=True)
class Web:
    """The objects that all handlers share."""

    settings: Settings
    storage: Storage
    clock: Callable[[], datetime]
    ask: Ask
    """Asks the referees who is connected."""
    wake: Callable[[int], None]
    """Asks a worker to advance a tournament at once. Raise BrokerError."""
    feeds: Feeds
    """Event streams of tournaments."""
    watching: Watching
    """Event streams of matches in play."""
    glancing: Glancing
    """The tables of rounds, drawn in small."""
    readings: Readings
    """What takes long to compute, remembered for all readers."""
    streams: Slots
    """The limit of concurrent event streams."""
    exports: Slots
    """The limit of concurrent exports, each of which keeps a thread busy."""
    known: Known
    """Whose credentials were seen to be good."""
    backups: Slots = field(default_factory=lambda: Slots("backups", 1, 1))
    """The limit of concurrent backups, each of which takes as much disk as the database."""
    checking: Checking = field(default_factory=Checking)
    """The check of the ratings that a page started."""


def web_of(request: Request) -> Web:
    """Return the objects that the application was created with."""
    web: Web = request.app.state.web
    return web


async def _shared(request: Request) -> Web:
    """Return the same; as a coroutine, so that FastAPI does not call it in a thread."""
    return web_of(request)


Shared = Annotated[Web, Depends(_shared)]

"""What a handler works with: the settings, the storage, the clock, and who asks."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import Depends, Request

from arena.matches.referees import Ask
from arena.settings import Settings
from arena.storage import Storage
from arena.web.feeds import Feeds
from arena.web.glancing import Glancing
from arena.web.pairings import Pairings
from arena.web.placings import Placings
from arena.web.slots import Slots
from arena.web.telling import Telling
from arena.web.watching import Watching


@dataclass(frozen=True, slots=True)
class Web:
    """What all handlers share."""

    settings: Settings
    storage: Storage
    clock: Callable[[], datetime]
    ask: Ask
    """Asks the referees who is connected."""
    wake: Callable[[int], None]
    """Asks a worker to advance a tournament at once. Raise BrokerError."""
    feeds: Feeds
    """What those who follow tournaments are told."""
    watching: Watching
    """What those who look at matches in play are told."""
    glancing: Glancing
    """Tables in small for those who look at rounds."""
    pairings: Pairings
    """Pairings for those who read them."""
    placings: Placings
    """Standings for those who read them."""
    telling: Telling
    """Deals worth seeing, for those who read of bots and tournaments."""
    streams: Slots
    """Places for those."""
    exports: Slots
    """Places for those who read exports, each of whom takes a connection to the database."""


def web_of(request: Request) -> Web:
    """Return what the application was made with."""
    web: Web = request.app.state.web
    return web


async def _shared(request: Request) -> Web:
    """Return the same, not in a thread."""
    return web_of(request)


Shared = Annotated[Web, Depends(_shared)]

"""Event streams: what happens in a tournament and in a match, as it happens."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import replace
from functools import lru_cache, partial
from typing import Annotated

from fastapi import Depends, Header, Path

from arena.actors import Role
from arena.core.specs import Name
from arena.jsonvalues import to_json
from arena.queries.sessions import is_over
from arena.tournaments.overview import TournamentStatus
from arena.web.asking import Anybody, Caller
from arena.web.context import Shared
from arena.web.feeds import PING, PING_SECONDS, EventStream, Feed, Feeds, event
from arena.web.routing import api_router
from arena.web.watching import ENDED, STOP, Told

router = api_router()

Number = Annotated[int, Path(ge=1, le=2**31 - 1)]


async def looked_at(
    web: Shared, caller: Caller, actor: Anybody, tournament: str, round: Number, table: Number
) -> AsyncIterator["asyncio.Queue[Told]"]:
    """Watch a match until the stream has ended; organisers may watch any. Raise TooMany, UnknownError."""
    is_done = partial(is_over, web.storage, tournament, round, table)
    await asyncio.to_thread(is_done)
    with web.streams.held(caller):
        trusted = actor.role in (Role.ORGANISER, Role.OPERATOR)
        match_id = f"{tournament}/{round}/{table}"
        async with web.watching.joined(match_id, is_done, trusted=trusted) as queue:
            yield queue


LookedAt = Annotated["asyncio.Queue[Told]", Depends(looked_at)]


async def sent(queue: "asyncio.Queue[Told]") -> AsyncGenerator[bytes]:
    """Yield the messages of a match to its end, joining those that are ready into one piece."""
    ended = False
    while not ended:
        try:
            async with asyncio.timeout(PING_SECONDS):
                messages = [await queue.get()]
        except TimeoutError:
            yield PING
            continue
        while not queue.empty():
            messages.append(queue.get_nowait())
        ended = ENDED in messages or STOP in messages
        if messages := messages[: messages.index(STOP)] if STOP in messages else messages:
            yield b"".join(messages)


LastEvent = Annotated[
    int, Header(ge=0, le=2**31 - 1, description="Number of the last event that you have; 0: you have none.")
]


async def followed(web: Shared, caller: Caller, tournament: Name) -> AsyncIterator[Feed]:
    """Follow a tournament until the stream has ended. Raise TooMany, UnknownError."""
    with web.streams.held(caller):
        async with web.feeds.joined(tournament) as feed:
            yield feed


@router.get("/tournaments/{tournament}/events", response_class=EventStream, tags=["tournaments"])
async def follow_tournament(
    web: Shared, feed: Annotated[Feed, Depends(followed)], last_event_id: LastEvent = 0
) -> EventStream:
    """Follow a tournament to its end.

    `status`: how it stands, at first and whenever that has changed. `event`: an event of its chain, with its
    number as id, beginning after the one that `Last-Event-ID` names. `end`: it has ended; close the stream.
    """
    return EventStream(_changes(web.feeds, feed, last_event_id))


async def _changes(feeds: Feeds, feed: Feed, after: int) -> AsyncGenerator[bytes]:
    async for change in feeds.changes(feed, after):
        if change is None:
            yield PING
        elif isinstance(change, TournamentStatus):
            yield _status(change)
        else:
            yield event("event", change, str(change["number"]))
    if not feeds.closed:
        yield event("end", {"tournament": feed.status.tournament, "state": feed.status.state})


@lru_cache(256)
def _status(status: TournamentStatus) -> bytes:
    """Return an encoded status, written once for all followers."""
    return event("status", to_json(replace(status, leased_until=None)))


@router.get("/matches/{tournament}/{round}/{table}/events", response_class=EventStream, tags=["results"])
async def follow_match(queue: LookedAt) -> EventStream:
    """Follow a match that is being played to its end; hands are hidden until their deal is over.

    `deal`: how a session stands, with all steps of its deal so far: of each at first, when a deal begins, and
    in place of its steps where these come too fast. `step`: one more. `over`: a session has ended. `idle`:
    nothing is to be seen now, and why. `end`: the match is over; close the stream.
    """
    return EventStream(sent(queue))

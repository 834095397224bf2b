"""A match that is being played, as it happens."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Path
from fastapi.responses import HTMLResponse
from fastapi.sse import EventSourceResponse, ServerSentEvent

from arena.matches.overview import played_match
from arena.models import MatchState
from arena.web.asking import Caller
from arena.web.context import Shared
from arena.web.pages.page import Page
from arena.web.watching import END, STOP, Message

router = APIRouter()

Number = Annotated[int, Path(ge=1, le=2**31 - 1)]

LIVE = "/matches/{tournament}/{round}/{table}/live"


@router.get(LIVE)
def watch_match(page: Page, web: Shared, tournament: str, round: Number, table: Number) -> HTMLResponse:
    """Return the page of a match that is being played."""
    return page("live.html", match=played_match(web.storage, tournament, round, table))


async def looked_at(
    web: Shared, caller: Caller, tournament: str, round: Number, table: Number
) -> AsyncIterator["asyncio.Queue[Message]"]:
    """Look at a match until the stream has ended. Raise TooMany, UnknownError."""

    def is_done() -> bool:
        state = played_match(web.storage, tournament, round, table).state
        return state in (MatchState.DONE, MatchState.CANCELLED)

    await asyncio.to_thread(is_done)
    with web.streams.held(caller):
        async with web.watching.joined(f"{tournament}/{round}/{table}", is_done) as queue:
            yield queue


@router.get(f"{LIVE}/events", response_class=EventSourceResponse)
async def follow_match(
    queue: Annotated["asyncio.Queue[Message]", Depends(looked_at)],
) -> AsyncIterator[ServerSentEvent]:
    """Follow a match to its end.

    `deal`: how a session stands, with all steps of its deal so far. `step`: one more. `over`: a session has
    ended. `idle`: nothing is to be seen now, and why. `end`: the match is over; close the stream.
    """
    while (message := await queue.get()) is not STOP:
        yield ServerSentEvent(event=message[0], data=message[1])
        if message is END:
            break

"""Matches in play as event streams: who may watch, for how long, and what is sent."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from functools import partial
from typing import Annotated

from fastapi import Depends, Path

from arena.actors import Role
from arena.play.matches.overview import is_over
from arena.web.asking import Anybody, Caller
from arena.web.context import Shared
from arena.web.sse import PING, PING_SECONDS
from arena.web.watching import ENDED, STOP, Told

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
                told = [await queue.get()]
        except TimeoutError:
            yield PING
            continue
        while not queue.empty():
            told.append(queue.get_nowait())
        ended = ENDED in told or STOP in told
        if told := told[: told.index(STOP)] if STOP in told else told:
            yield b"".join(told)

"""A bot's stream without the SDK, which notes the times at which messages arrive."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from referee.bot.view import SessionView
from referee.net.channel import async_channel
from referee.protocol import lazy
from referee.v1 import bots_pb2

PLAY = "/referee.v1.BotService/Play"
OPTIONS = (("grpc.max_receive_message_length", -1), ("grpc.use_local_subchannel_pool", 1))

Send = Callable[[bots_pb2.PlayRequest], Awaitable[None]]


async def talk(
    address: str, token: str, sessions: int, take: Callable[[Any, float, Send], Awaitable[None]]
) -> None:
    """Play on a stream; pass each event on with the time at which its message arrived."""
    async with async_channel(address, None, OPTIONS) as channel:
        call: Any = channel.stream_stream(
            PLAY, bots_pb2.PlayRequest.SerializeToString, lazy.PlayResponse.FromString
        )(None, metadata=(("authorization", f"Bearer {token}"),))
        writing = asyncio.Lock()
        waiting: asyncio.Queue[tuple[float, Any]] = asyncio.Queue()

        async def send(request: bots_pb2.PlayRequest) -> None:
            async with writing:
                await call.write(request)

        async def work() -> None:
            while True:
                came, response = await waiting.get()
                for event in response.events:
                    await take(event, came, send)
                    await asyncio.sleep(0)  # lets messages that arrive meanwhile be read

        async def read() -> None:
            async for response in call:
                waiting.put_nowait((time.perf_counter(), response))
                if response.HasField("ping"):
                    await send(bots_pb2.PlayRequest(pong=bots_pb2.Pong(id=response.ping.id)))

        hello = bots_pb2.Hello(protocol_version=1, max_sessions=sessions)
        await send(bots_pb2.PlayRequest(hello=hello))
        async with asyncio.TaskGroup() as group:
            group.create_task(work())
            group.create_task(read())


def answer(message: Any, view: SessionView, mask: int) -> bots_pb2.PlayRequest:
    """Return the message that answers a turn."""
    move = bots_pb2.Move(session=message.session, sequence=message.sequence, passes=not mask)
    move.cards.extend(view.numbers(mask))
    return bots_pb2.PlayRequest(moves=[move])

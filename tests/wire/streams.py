"""Bots' streams as bytes, and a referee to play on."""

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from types import TracebackType
from typing import Any, Self

import grpc

from referee.matches.auth import BotIdentity, Scope
from referee.matches.match import MatchSpec, SessionResult, Update
from referee.net.client import run_match
from referee.protocol.reasons import Failure, read_failure
from referee.service.server import ServerOptions, serve
from referee.v1 import bots_pb2
from tests.wire.capture import ADDRESS, RECORDED, REFEREE_ID

PLAY = "/referee.v1.BotService/Play"
WORKER_TOKEN = "worker-token"
DEADLINE = 30.0
"""Seconds after which a test stops waiting for a message."""
OPTIONS = ServerOptions(drain_seconds=0, addresses=(ADDRESS,), ids=(REFEREE_ID,))


class Tokens:
    """An authenticator: bot n has the token ``bot-n``."""

    def bot(self, token: str) -> BotIdentity | None:
        number = token.removeprefix("bot-")
        return BotIdentity(int(number), f"owner/bot{number}@1") if number.isdigit() else None

    def scope(self, token: str) -> Scope | None:
        return Scope.WORKER if token == WORKER_TOKEN else None

    def revoked(self, bots: Collection[BotIdentity]) -> dict[int, str]:
        return {}


class ByteStream:
    """A bot's stream as bytes; it is read in the background, so that replies need not be awaited in order."""

    def __init__(self, address: str, number: int) -> None:
        options = (("grpc.use_local_subchannel_pool", 1),)
        self._channel = grpc.aio.insecure_channel(address, options)
        self._call = self._channel.stream_stream(PLAY, None, None)(
            None, metadata=(("authorization", f"Bearer bot-{number}"),)
        )
        self._ended = False
        self.failure: Failure | None = None
        """Why the referee ended the stream; None if it has not, or ended it with OK."""
        self._came: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._reader = asyncio.create_task(self._receive())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.break_off()

    async def send(self, payload: bytes) -> None:
        """Send a message, unless this side of the stream has ended."""
        if not self._ended:
            await self._call.write(payload)

    async def receive(self, patience: float | None = DEADLINE) -> bytes | None:
        """Return the next message; None when the referee has ended the stream."""
        async with asyncio.timeout(patience):
            return await self._came.get()

    async def end(self) -> None:
        """End this side of the stream."""
        self._ended = True
        await self._call.done_writing()

    async def break_off(self) -> None:
        """End the stream without a goodbye."""
        self._reader.cancel()
        self._call.cancel()
        await self._channel.close(None)

    async def _receive(self) -> None:
        while True:
            try:
                message: Any = await self._call.read()
            except grpc.aio.AioRpcError as error:
                self.failure, message = read_failure(error), None
            self._came.put_nowait(message if isinstance(message, bytes) else None)
            if not isinstance(message, bytes):
                return


async def play_first(stream: ByteStream) -> None:
    """Play the first legal play until the stream ends; decline to bomb or to beat one's own play."""
    hello = bots_pb2.Hello(protocol_version=1, wants=bots_pb2.Wants(legal_plays=True))
    await stream.send(bots_pb2.PlayRequest(hello=hello).SerializeToString())
    while (payload := await stream.receive(patience=None)) is not None:
        message = bots_pb2.PlayResponse.FromString(payload)
        if message.HasField("ping"):
            pong = bots_pb2.Pong(id=message.ping.id)
            await stream.send(bots_pb2.PlayRequest(pong=pong).SerializeToString())
        moves = [_first(event.turn) for event in message.events if event.HasField("turn")]
        if moves:
            await stream.send(bots_pb2.PlayRequest(moves=moves).SerializeToString())


def _first(turn: bots_pb2.Turn) -> bots_pb2.Move:
    voluntary = turn.kind in (bots_pb2.TURN_KIND_BOMB, bots_pb2.TURN_KIND_BEAT_OWN)
    cards = [] if voluntary or not turn.legal_plays else turn.legal_plays[0].cards
    return bots_pb2.Move(session=turn.session, sequence=turn.sequence, cards=cards, passes=not cards)


@asynccontextmanager
async def playing(
    spec: MatchSpec,
    options: ServerOptions = OPTIONS,
    stop: asyncio.Event | None = None,
    updates: list[Update] | None = None,
) -> AsyncIterator[tuple[str, "asyncio.Task[list[SessionResult]]"]]:
    """Run a match whose other bots play the first legal play; yield the address and the task of the results.

    The match waits for the bot that is, or was, recorded. ``stop`` stops the referee earlier; ``updates``
    gets all that it says of the match.
    """
    stop = stop or asyncio.Event()
    updates = [] if updates is None else updates
    ready: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(
        serve("127.0.0.1:0", Tokens(), stop, options=options, on_ready=ready.set_result)
    )
    try:
        address = f"127.0.0.1:{await ready}"
        async with AsyncExitStack() as others:
            tasks = []
            for bot in spec.bots:
                if bot.version_id != RECORDED:
                    stream = await others.enter_async_context(ByteStream(address, bot.version_id))
                    tasks.append(asyncio.create_task(play_first(stream)))
            yield address, asyncio.create_task(asyncio.to_thread(_run, address, spec, updates))
            for task in tasks:
                task.cancel()
    finally:
        stop.set()
        await serving


def _run(address: str, spec: MatchSpec, updates: list[Update]) -> list[SessionResult]:
    updates.extend(run_match(address, WORKER_TOKEN, spec))
    return [update for update in updates if isinstance(update, SessionResult)]

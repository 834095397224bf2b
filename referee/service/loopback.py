"""Messages that the referee sends to itself, by the route that messages of bots take.

The event loop may be fine while the thread in which gRPC reads and writes is busy with what one client sends:
then no bot's answer is read, and no turn is written. So a stream through the same server always has one small
message on its way. While a message is overdue, the lobby sets clocks back; when one has come back, everything
that arrived before it was sent has been read.
"""

import asyncio
import logging
import secrets
import sys
from collections.abc import Callable
from typing import Any

import grpc
from grpc.aio import EOF  # type: ignore[attr-defined]

from referee.matches.lobby import Lobby
from referee.net.channel import async_channel
from referee.service.stream import clock

METHOD = "Echo"
GAP_SECONDS = 0.1
"""How long after a message came back the next one is sent, unless one is asked for sooner: a message costs a
third of a millisecond of CPU time."""
PATIENCE_SECONDS = 60.0
"""How long a message may be on its way before the stream counts as broken."""
STOP_SECONDS = 1.0
"""How long the last message may take when the referee stops."""
RETRY_SECONDS = 0.25
"""How long after a break the stream is opened again."""

log = logging.getLogger("referee")


class Loopback:
    """The stream of a referee to itself."""

    def __init__(self, lobby: Lobby) -> None:
        self._lobby = lobby
        self._service = f"referee.Loopback{secrets.token_hex(16)}"  # a name that nobody else can call
        self._remove_folder: Callable[[], None] = lambda: None
        self._address = ""
        self._soon = asyncio.Event()
        """Set when the next message should be sent at once."""
        self._waiting: list[Callable[[], None]] = []
        """What to call when the next message to be sent has come back."""
        self._running: asyncio.Task[None] | None = None
        self._stopping = False

    def attach(self, server: grpc.aio.Server) -> None:
        """Let a server that has not started yet answer the messages, in addition to its port's clients."""
        echo = grpc.stream_stream_rpc_method_handler(_echo)
        handler = grpc.method_handlers_generic_handler(self._service, {METHOD: echo})
        server.add_generic_rpc_handlers((handler,))
        if sys.platform == "win32":
            self._address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
        else:
            from referee.service.folder import SocketFolder

            folder = SocketFolder()
            self._address, self._remove_folder = folder.address, folder.remove
            server.add_insecure_port(self._address)

    def start(self) -> None:
        """Begin, once the server runs."""
        self._running = asyncio.create_task(self._keep_on())

    async def stop(self) -> None:
        """End the stream, in good order if possible: gRPC answers a cancelled call only later."""
        self._stopping = True
        self._soon.set()
        if self._running is not None:
            await asyncio.wait([self._running], timeout=STOP_SECONDS)
            self._running.cancel()
            await asyncio.wait([self._running])
        self._remove_folder()

    def after(self, call: Callable[[], None]) -> None:
        """Call ``call`` when everything that has arrived by now has been read."""
        self._waiting.append(call)
        self._soon.set()

    async def _keep_on(self) -> None:
        while not self._stopping:
            try:
                async with async_channel(self._address, None, ()) as channel:
                    stub: Any = channel.stream_stream(f"/{self._service}/{METHOD}", bytes, bytes)
                    await self._talk(stub())
            except Exception as error:  # whatever it is: without it, a busy server is not noticed
                log.error("the referee cannot reach itself: %r", error)
            self._lobby.loopback_back(clock())
            self._answer(self._waiting)
            if not self._stopping:
                await asyncio.sleep(RETRY_SECONDS)

    async def _talk(self, call: Any) -> None:
        """Send messages and wait for each to come back. Raise TimeoutError or AioRpcError."""
        while not self._stopping:
            self._soon.clear()
            waiting, self._waiting = self._waiting, []
            try:
                self._lobby.loopback_sent(clock())
                async with asyncio.timeout(PATIENCE_SECONDS):
                    await call.write(b"")
                    await call.read()
                self._lobby.loopback_back(clock())
            finally:
                self._answer(waiting)
            await self._pause()
        await call.done_writing()
        await call.code()

    async def _pause(self) -> None:
        if self._stopping:
            return
        timer = asyncio.get_running_loop().call_later(GAP_SECONDS, self._soon.set)
        await self._soon.wait()
        timer.cancel()

    def _answer(self, waiting: list[Callable[[], None]]) -> None:
        loop = asyncio.get_running_loop()
        for call in waiting:
            loop.call_soon(call)
        waiting.clear()


async def _echo(_requests: Any, context: Any) -> None:
    while (message := await context.read()) is not EOF:
        await context.write(message)

"""The check's own server: real gRPC, with messages as bytes, so that malformed ones can be reported."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from typing import NamedTuple, TypeAlias

import grpc
from google.protobuf.message import DecodeError, Message

from referee.check.outcome import Failed, Lost, Silent
from referee.errors import ListenError
from referee.net.channel import SERVER_OPTIONS
from referee.protocol.reasons import Reason, Refused
from referee.v1 import bots_pb2

SERVICE = bots_pb2.DESCRIPTOR.services_by_name["BotService"].full_name

Context: TypeAlias = "grpc.aio.ServicerContext[bytes, bytes]"
_Metadata: TypeAlias = "tuple[tuple[str, bytes], ...]"
_Status: TypeAlias = "tuple[grpc.StatusCode, str, _Metadata]"


class Heard(NamedTuple):
    """A message from the bot."""

    request: bots_pb2.PlayRequest
    at: float
    """When it came, in seconds of the monotonic clock."""


class Line:
    """One stream of the bot."""

    def __init__(self, authorization: str | None = None) -> None:
        self.authorization = authorization
        """The value of this name in the call's metadata; None if it is absent."""
        self.live = True
        self.began = time.monotonic()
        self.heard_at = 0.0
        """When the message that was received last came, in seconds of the monotonic clock."""
        self._heard: asyncio.Queue[Heard | Failed] = asyncio.Queue()
        self._unsent: asyncio.Queue[bytes] = asyncio.Queue()
        self._closing = asyncio.Event()
        self._status: _Status | None = None

    def send(self, message: Message | bytes) -> None:
        """Send a message as soon as the bot takes it."""
        self._unsent.put_nowait(message if isinstance(message, bytes) else message.SerializeToString())

    async def receive(self, seconds: float, expected: str) -> Heard:
        """Return the bot's next message. Raise Silent if none comes in time, Lost if the stream ends."""
        try:
            async with asyncio.timeout(seconds):
                heard = await self._heard.get()
        except TimeoutError:
            raise Silent(f"expected {expected}; the bot sent nothing for {seconds:g} s") from None
        if isinstance(heard, Failed):
            self._heard.put_nowait(heard)
            raise type(heard)(f"expected {expected}; {heard}")
        self.heard_at = heard.at
        return heard

    def drain(self) -> list[bots_pb2.PlayRequest]:
        """Return the messages that have come and were not received yet."""
        requests = []
        while not self._heard.empty():
            heard = self._heard.get_nowait()
            if isinstance(heard, Failed):
                self._heard.put_nowait(heard)
                break
            requests.append(heard.request)
        return requests

    async def refuse(self, refusal: Refused) -> None:
        """End the stream with a reason, once everything sent before has gone out."""
        await self.close(refusal.status, str(refusal), refusal.trailing_metadata())

    async def close(
        self, code: grpc.StatusCode = grpc.StatusCode.OK, text: str = "", metadata: "_Metadata" = ()
    ) -> None:
        """End the stream with a status, once everything sent before has gone out."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1):
                await self._unsent.join()
        self._status = (code, text, metadata)
        self._closing.set()
        self.live = False

    async def serve(self, requests: AsyncIterator[bytes], context: Context) -> None:
        """Move messages until one side ends the stream."""
        tasks = [
            asyncio.create_task(self._write(context)),
            asyncio.create_task(self._receive(requests)),
            asyncio.create_task(self._closing.wait()),
        ]
        try:
            await asyncio.wait(tasks[1:], return_when=asyncio.FIRST_COMPLETED)
            if self._status is not None and self._status[0] is not grpc.StatusCode.OK:
                await context.abort(*self._status)
        finally:
            self.live = False
            for task in tasks:
                task.cancel()

    async def _write(self, context: Context) -> None:
        while True:
            data = await self._unsent.get()
            await context.write(data)
            self._unsent.task_done()

    async def _receive(self, requests: AsyncIterator[bytes]) -> None:
        end: Failed = Lost("the bot's stream ended")
        try:
            async for data in requests:
                try:
                    request = bots_pb2.PlayRequest.FromString(data)
                except DecodeError:
                    end = Failed(
                        f"the bot sent {len(data)} bytes, no valid PlayRequest: {data[:16].hex(' ')}"
                    )
                    return
                self._heard.put_nowait(Heard(request, time.monotonic()))
        finally:
            self.live = False
            self._heard.put_nowait(end)


class Switchboard:
    """The server: every new stream of a bot becomes a line in the queue ``lines``."""

    def __init__(self, referee_id: str = "check") -> None:
        self.referee_id = referee_id
        self.lines: asyncio.Queue[Line] = asyncio.Queue()
        self.doubles = 0
        """How often the bot opened a stream while another one of its own was open."""
        self.port = 0
        self._current: Line | None = None
        self._host = ""
        self._server: grpc.aio.Server | None = None

    async def listen(self, address: str) -> None:
        """Listen on an address, ``host:port``; port 0 finds a free one. Raise ListenError."""
        server = grpc.aio.server(options=SERVER_OPTIONS)
        handler = grpc.stream_stream_rpc_method_handler(self._play)
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, {"Play": handler}),))
        try:
            self.port = server.add_insecure_port(address)
        except RuntimeError:
            raise ListenError(
                f"cannot listen on {address}: the port is taken or the address is not ours"
            ) from None
        self._host = address.rpartition(":")[0]
        await server.start()
        self._server = server

    @property
    def address(self) -> str:
        """Where it listens, ``host:port``."""
        return f"{self._host}:{self.port}"

    async def stop(self) -> None:
        """End all streams and stop listening; ``listen(address)`` starts again."""
        if self._server is not None:
            await self._server.stop(0)
            self._server = None

    async def _play(self, requests: AsyncIterator[bytes], context: Context) -> None:
        if self._current is not None and self._current.live:
            self.doubles += 1
            refusal = Refused(Reason.ALREADY_CONNECTED, referee_id=self.referee_id)
            await context.abort(refusal.status, str(refusal), refusal.trailing_metadata())
        metadata = dict(context.invocation_metadata() or ())
        authorization = metadata.get("authorization")
        line = self._current = Line(None if authorization is None else str(authorization))
        self.lines.put_nowait(line)
        await line.serve(requests, context)

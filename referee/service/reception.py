"""How bots come in: hello, token, room, and a second stream of a bot that is here already."""

import asyncio
from itertools import count
from typing import Any

import grpc

from referee.errors import ConnectionRefused
from referee.matches.connection import CloseCode, Connection
from referee.matches.events import Notice, NoticeCode
from referee.matches.journal import Entry, EntryKind
from referee.matches.lobby import Lobby
from referee.protocol.messages import readable
from referee.protocol.version import PROTOCOL_VERSION
from referee.service.access import Access
from referee.service.serving import ServerOptions
from referee.service.stream import Alarm, BotStream, PlayContext, clock, read_message
from referee.v1 import play_pb2

HELLO_SECONDS = 10.0
"""How long a new stream may take to say hello."""
HANDSHAKES = 256
"""Streams at once that have not said hello, of which the oldest are ended to make room; and as many again
whose token is being looked up: more are turned away."""
TAKEOVER_SECONDS, TAKEOVER_LOOKS = 2.0, 100
"""How long a bot's live stream has to show that it lives when the bot connects a second time."""


class Reception:
    """Lets bots in."""

    def __init__(self, lobby: Lobby, alarm: Alarm, access: Access, options: ServerOptions) -> None:
        self._lobby = lobby
        self._alarm = alarm
        self._access = access
        self._options = options
        self._handshakes = 0
        self._silent: dict[int, asyncio.Timeout] = {}
        """Streams that have not said hello, the oldest first."""
        self._counter = count()

    async def welcome(self, context: PlayContext) -> tuple[BotStream, play_pb2.Hello]:
        """The stream of a bot that may play; ends the call if it may not."""
        first = await self._read_hello(context)
        hello = first.hello
        if self._handshakes >= HANDSHAKES:
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "too many bots are connecting; try again")
        self._handshakes += 1
        try:
            identity = await self._access.bot(hello.token, context)
            most = self._options.share_of(hello.max_sessions)
            stream = BotStream(self._lobby, self._alarm, identity, most, hello.list_legal_plays)
            await self._connect(stream.connection, context)
        finally:
            self._handshakes -= 1
        if first.moves or first.HasField("goodbye") or first.HasField("pong"):
            text = "the first message holds the hello and nothing else; the rest was ignored"
            self._lobby.notice(stream.connection, Notice(NoticeCode.UNEXPECTED, text))
        return stream, hello

    async def _read_hello(self, context: PlayContext) -> play_pb2.PlayRequest:
        """The message that opens a stream; ends the call if it has no hello, or none comes."""
        if len(self._silent) >= HANDSHAKES:
            oldest = self._silent.pop(next(iter(self._silent)))
            oldest.reschedule(asyncio.get_running_loop().time())
        number = next(self._counter)
        try:
            async with asyncio.timeout(HELLO_SECONDS) as patience:
                self._silent[number] = patience
                message = await read_message(context)
        except TimeoutError:
            await context.abort(grpc.StatusCode.DEADLINE_EXCEEDED, "hello: none came in time")
            raise AssertionError from None
        finally:
            self._silent.pop(number, None)
        return await _checked_hello(message, context)

    async def _connect(self, connection: Connection, context: PlayContext) -> None:
        """Lets the bot in, in the place of an earlier stream of it if that one gives no sign of life."""
        identity, lobby = connection.identity, self._lobby
        penalty = lobby.penalty(identity.version_id, clock())
        if penalty > 0:
            text = f"flood: come back in {penalty:.1f} s"
            self._note_refusal(connection, "flood", text)
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, text)
        earlier = lobby.connection(identity.version_id)
        if earlier is not None:
            await self._wait_for_life(earlier)
        try:
            lobby.connect(connection, clock())
        except ConnectionRefused as error:
            self._note_refusal(connection, "already_connected", str(error))
            address = self._options.address
            which = (("referee", address),) if address and address.isascii() and address.isprintable() else ()
            await context.abort(grpc.StatusCode.ALREADY_EXISTS, str(error), which)

    async def _wait_for_life(self, earlier: Connection) -> None:
        """Closes a stream that gives no sign of life."""
        asked_at = clock()
        earlier.probe()
        for _ in range(TAKEOVER_LOOKS):  # not by the clock: if the referee itself is stopped, none is taken
            if (
                earlier.heard_at > asked_at
                or self._lobby.connection(earlier.identity.version_id) is not earlier
            ):
                return
            await asyncio.sleep(TAKEOVER_SECONDS / TAKEOVER_LOOKS)
        text = "the bot connected again, and this stream gave no sign of life"
        self._lobby.close(earlier, CloseCode.REPLACED, text, clock())

    def _note_refusal(self, connection: Connection, code: str, text: str) -> None:
        self._options.journal.add(Entry(connection.identity.version_id, EntryKind.REFUSED, code, text))


async def _checked_hello(message: Any, context: PlayContext) -> play_pb2.PlayRequest:
    if message is None:
        await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "hello: the stream ended without one")
        raise AssertionError
    first: play_pb2.PlayRequest = await readable(message, context)
    if not first.HasField("hello"):
        await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "hello: the first message must be a hello")
    if first.hello.protocol_version != PROTOCOL_VERSION:
        text = f"protocol_version: {first.hello.protocol_version} is not spoken here, {PROTOCOL_VERSION} is"
        await context.abort(grpc.StatusCode.FAILED_PRECONDITION, text)
    return first

"""Replaying captures: the recorded bot on a referee, and a bot on the recorded referee."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import grpc
from google.protobuf.json_format import MessageToDict

from tests.wire import capture
from tests.wire.capture import BOT, BROKEN, END, GOODBYE, REFEREE, Capture, Frame
from tests.wire.streams import DEADLINE, PLAY, ByteStream

VARYING = {
    "turn": ("decision_ms", "bank_ms", "credit_ms"),
    "deal_ended": ("measured",),
    "session_started": ("deals_digest",),
    "session_ended": ("digest",),
    "fault": ("reason", "elapsed_ms", "credit_ms"),
    "notice": ("text",),
}
"""Fields that differ from run to run, as times do, or whose text a later referee may phrase differently."""


def meaning(event: Any) -> dict[str, Any]:
    """Return what an event means to a bot of v1: without times and texts, and with the ruleset as values."""
    told: dict[str, Any] = MessageToDict(event, preserving_proto_field_name=True, use_integers_for_enums=True)
    for kind, fields in VARYING.items():
        for field in fields:
            told.get(kind, {}).pop(field, None)
    if "session_started" in told:
        ruleset = json.loads(event.session_started.ruleset)
        told["session_started"]["ruleset"] = {field: ruleset[field] for field in capture.ruleset_fields()}
    return told


def told(frames: Sequence[Frame]) -> list[dict[str, Any]]:
    """Return the meanings of all events in a stream."""
    return [
        meaning(event)
        for frame in frames
        if frame.sender == REFEREE
        for event in capture.known_events(capture.response(frame.payload))
    ]


class RecordedBot:
    """The recorded bot on one stream; it sends each message once it has received as much as it had then."""

    def __init__(self, stream: ByteStream, frames: Sequence[Frame]) -> None:
        self._stream, self._frames = stream, frames
        self.welcome: dict[str, Any] = {}
        self.told: list[dict[str, Any]] = []

    async def play(self) -> None:
        """Play the stream to its end."""
        events = 0
        for sender, payload in self._frames:
            if sender == REFEREE:
                recorded = capture.response(payload)
                events += len(list(capture.known_events(recorded)))
                if recorded.HasField("welcome"):
                    await self._receive()
            elif sender == END:
                await self._until(events)
                await self._end(payload)
            elif not capture.request(payload).HasField("pong"):
                await self._until(events)
                await self._stream.send(payload)

    async def _end(self, how: bytes) -> None:
        if how == GOODBYE:
            await self._stream.end()
            while await self._receive():
                pass

    async def _until(self, events: int) -> None:
        while len(self.told) < events:
            assert await self._receive(), f"the stream ended after {len(self.told)} events"

    async def _receive(self) -> bool:
        """Receive a message and answer a ping in it; return whether there was a message."""
        payload = await self._stream.receive()
        if payload is None:
            return False
        message = capture.response(payload)
        if message.HasField("welcome"):
            self.welcome = MessageToDict(message.welcome, preserving_proto_field_name=True)
        if message.HasField("ping"):
            await self._stream.send(self._pong(message.ping.id))
        self.told += map(meaning, capture.known_events(message))
        return True

    def _pong(self, number: int) -> bytes:
        """Return the recorded pong with this number, or make one: not every run has as many pings."""
        for sender, payload in self._frames:
            if (
                sender == BOT
                and (pong := capture.request(payload)).HasField("pong")
                and pong.pong.id == number
            ):
                return payload
        answer: bytes = capture.messages()["PlayRequest"](pong={"id": number}).SerializeToString()
        return answer


class RecordedReferee:
    """The recorded referee, which sends each message once the bot has answered as much as it had then."""

    def __init__(self, recorded: Capture) -> None:
        self._streams = iter(recorded.streams)
        self._turns: dict[tuple[int, int], Any] = {}
        self._answered: dict[tuple[int, int], Any] = {}
        self._pongs: set[int] = set()
        self.hellos: list[Any] = []
        self.problems: list[str] = []
        self.over = asyncio.Event()
        """Set when everything has been played."""
        self.left = asyncio.Event()
        """Set when the bot has said goodbye."""

    async def serve(self, requests: AsyncIterator[bytes], context: Any) -> None:
        """Serve one stream of the bot."""
        frames = next(self._streams, None)
        if frames is None:
            self.problems.append("the bot opened a stream too many")
            return
        self._pongs.clear()
        self._answered.clear()
        came: asyncio.Queue[Any] = asyncio.Queue()
        reading = asyncio.create_task(_read(requests, came))
        try:
            for frame in frames:
                await self._play(frame, came, context)
            self.over.set()
            while (message := await came.get()) is not None:
                self._take(message)
        except TimeoutError:
            self.problems.append("the bot did not answer in time")
            self.over.set()
        finally:
            reading.cancel()

    async def _play(self, frame: Frame, came: "asyncio.Queue[Any]", context: Any) -> None:
        if frame.sender == REFEREE:
            for event in capture.response(frame.payload).events:
                if event.HasField("turn"):
                    self._turns[event.turn.session, event.turn.sequence] = event.turn
            await context.write(frame.payload)
        elif frame.payload == BROKEN:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "connection reset")
        elif frame.sender == BOT:
            await self._wait_for(capture.request(frame.payload), came)

    async def _wait_for(self, recorded: Any, came: "asyncio.Queue[Any]") -> None:
        """Wait until the bot has sent as much as the recorded bot had, though perhaps with other cards."""
        async with asyncio.timeout(DEADLINE):
            if recorded.HasField("hello"):
                self._take(await came.get())
            while recorded.HasField("pong") and recorded.pong.id not in self._pongs:
                self._take(await came.get())
            for move in recorded.moves:
                while (move.session, move.sequence) not in self._answered:
                    self._take(await came.get())

    def _take(self, message: Any) -> None:
        if message is None:
            self.problems.append("the bot ended the stream early")
            raise TimeoutError
        if message.HasField("hello"):
            self.hellos.append(message.hello)
        if message.HasField("pong"):
            self._pongs.add(message.pong.id)
        if message.HasField("goodbye"):
            self.left.set()
        for move in message.moves:
            self._check(move)

    def _check(self, move: Any) -> None:
        at = (move.session, move.sequence)
        turn = self._turns.get(at)
        legal = [] if turn is None else [sorted(play.cards) for play in turn.legal_plays]
        if turn is None:
            self.problems.append(f"a move for a turn that was not asked: {at}")
        elif at in self._answered:
            self.problems.append(f"a second move for {at}")
        elif move.passes if move.cards else not (move.passes and turn.can_pass):
            self.problems.append(f"{at}: neither a play nor a legal pass")
        elif move.cards and sorted(move.cards) not in legal:
            self.problems.append(f"{at}: {list(move.cards)} is not legal")
        self._answered[at] = move


async def _read(requests: AsyncIterator[bytes], came: "asyncio.Queue[Any]") -> None:
    async for payload in requests:
        came.put_nowait(capture.request(payload))
    came.put_nowait(None)


@asynccontextmanager
async def recorded_referee(name: str) -> AsyncIterator[tuple[str, RecordedReferee]]:
    """Serve a capture on a free port; yield the address and the referee."""
    recorded = RecordedReferee(capture.load(name))
    _, service, method = PLAY.split("/")
    handler = grpc.stream_stream_rpc_method_handler(recorded.serve)
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {method: handler}),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"127.0.0.1:{port}", recorded
    finally:
        await server.stop(0)

"""Malicious clients: bytes on a socket, hand-written HTTP/2, and gRPC calls without messages."""

import asyncio
import contextlib
import re
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import grpc

from referee.service.server import SERVICES
from referee.service.tools import HEALTH, REFLECTION
from referee.v1 import bots_pb2
from tests.waiting import DEADLINE

PATHS = {
    method.name: f"/{service.full_name}/{method.name}"
    for service in (*SERVICES, HEALTH, REFLECTION)
    for method in service.methods
}
"""The paths of all calls of the referee's services, by name of the call."""
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 8, 9
END_STREAM, END_HEADERS, ACK = 1, 4, 1
INITIAL_WINDOW_SIZE = 4
ELSEWHERE = "127.0.0.2"
"""Another host, from the point of view of a referee on the loopback interface."""
MOST = 16_384
"""Maximum number of bytes in a frame."""


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """Return an HTTP/2 frame."""
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def settings(**values: int) -> bytes:
    numbers = {"initial_window_size": INITIAL_WINDOW_SIZE}
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", numbers[name], v) for name, v in values.items()))


def window(more: int) -> bytes:
    """Let the other side send this many more bytes on the connection."""
    return frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", more))


def headers(stream: int, call: str = "Play", **more: str) -> bytes:
    """Return the uncompressed headers that open a gRPC call."""
    return frame(HEADERS, END_HEADERS, stream, _literal(_opening(call) | more))


def referring(stream: int, call: str, references: int, *, first: bool) -> bytes:
    """Return the headers of a call that refer to one large header again and again, with one byte each time.

    The ``first`` such call of a connection brings that header itself.
    """
    whole = b"\x40" + _string("x-large") + _string("x" * 3900) if first else b""
    block = _literal(_opening(call)) + whole + b"\xbe" * references
    parts = [block[at : at + MOST] for at in range(0, len(block), MOST)]
    return b"".join(
        frame(
            CONTINUATION if number else HEADERS, END_HEADERS if number == len(parts) - 1 else 0, stream, part
        )
        for number, part in enumerate(parts)
    )


def _opening(call: str) -> dict[str, str]:
    return {
        ":method": "POST",
        ":scheme": "http",
        ":path": PATHS.get(call, call),
        ":authority": "referee",
        "te": "trailers",
        "content-type": "application/grpc",
    }


def _literal(fields: dict[str, str]) -> bytes:
    return b"".join(b"\0" + _string(name) + _string(value) for name, value in fields.items())


def _string(text: str) -> bytes:
    """Encode a string of a header: its length, with seven bits in the first byte, and the string itself."""
    length, head = len(text), bytes([min(len(text), 127)])
    if length >= 127:
        rest = length - 127
        while rest > 127:
            head += bytes([rest & 127 | 128])
            rest >>= 7
        head += bytes([rest])
    return head + text.encode()


def message(
    stream: int, data: bytes, *, length: int | None = None, end: bool = False, packed: bool = False
) -> bytes:
    """Return a gRPC message, the last one if ``end``; its prefix may lie about its length."""
    whole = struct.pack(">BI", packed, len(data) if length is None else length) + data
    parts = [whole[at : at + MOST] for at in range(0, len(whole), MOST)]
    closing = END_STREAM if end else 0
    return b"".join(
        frame(DATA, closing if number == len(parts) else 0, stream, part)
        for number, part in enumerate(parts, 1)
    )


def hello() -> bytes:
    return bots_pb2.PlayRequest(
        hello=bots_pb2.Hello(protocol_version=1, max_sessions=256)
    ).SerializeToString()


def play(number: int) -> bytes:
    """Return the bytes that open a bot's stream: its headers and its hello."""
    return headers(1, authorization=f"Bearer bot-{number}") + message(1, hello())


def packed_move(turn: bots_pb2.Turn, cards: bytes) -> bytes:
    """Return a request that answers a turn with these bytes as its packed cards."""
    move = bots_pb2.Move(session=turn.session, sequence=turn.sequence).SerializeToString()
    move += b"\x1a" + _varint(len(cards)) + cards
    return b"\x12" + _varint(len(move)) + move


def _varint(value: int) -> bytes:
    low = value & 127
    return bytes([low]) if value == low else bytes([low | 128]) + _varint(value >> 7)


class Socket:
    """A TCP connection to a referee."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, data: bytes) -> None:
        """Send data; ignore it if the referee has closed the connection."""
        with contextlib.suppress(ConnectionError):
            self._writer.write(data)
            await self._writer.drain()

    async def closed(self) -> bytes:
        """Wait until the referee closes the connection; return what it sent."""
        received = b""
        async with asyncio.timeout(DEADLINE):
            with contextlib.suppress(ConnectionError):
                while data := await self._reader.read(65536):
                    received += data
        return received

    async def until(self, text: bytes) -> None:
        """Read until this text has come, acknowledging nothing."""
        await self._reader.readuntil(text)

    async def frames(self) -> AsyncIterator[tuple[int, int, bytes]]:
        """Yield incoming frames as kind, flags and payload, acknowledging settings and pings."""
        while True:
            head = await self._reader.readexactly(9)
            payload = await self._reader.readexactly(int.from_bytes(head[:3], "big"))
            kind, flags = head[3], head[4]
            if kind in (SETTINGS, PING) and not flags & ACK:
                await self.send(frame(kind, ACK, 0, payload if kind == PING else b""))
            yield kind, flags, payload

    async def turns(self) -> AsyncIterator[bots_pb2.Turn]:
        """Yield the turns that arrive on a bot's stream, answering its pings."""
        data = b""
        async for kind, _, payload in self.frames():
            if kind != DATA:
                continue
            data += payload
            while len(data) >= 5 and len(data) >= (end := 5 + int.from_bytes(data[1:5])):
                response, data = bots_pb2.PlayResponse.FromString(data[5:end]), data[end:]
                if response.HasField("ping"):
                    pong = bots_pb2.PlayRequest(pong=bots_pb2.Pong(id=response.ping.id))
                    await self.send(message(1, pong.SerializeToString()))
                for event in response.events:
                    if event.HasField("turn"):
                        yield event.turn


@asynccontextmanager
async def socket(address: str, source: str = "") -> AsyncIterator[Socket]:
    """Connect to a referee; ``source`` is the host to connect from."""
    host, port = address.rsplit(":", 1)
    reader, writer = await asyncio.open_connection(
        host, int(port), local_addr=(source, 0) if source else None
    )
    try:
        yield Socket(reader, writer)
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


@asynccontextmanager
async def bot_without_window(address: str, number: int, source: str = "") -> AsyncIterator[Socket]:
    """Connect a bot that says hello but has an empty window, so that the referee can send it nothing."""
    async with socket(address, source) as connection:
        await connection.send(PREFACE + settings(initial_window_size=0))
        await connection.send(play(number))
        yield connection


def play_requests() -> list[bots_pb2.PlayRequest]:
    """Return messages that do not answer any turn."""
    return [
        bots_pb2.PlayRequest(),
        bots_pb2.PlayRequest(pong=bots_pb2.Pong(id=7)),
        bots_pb2.PlayRequest(moves=[bots_pb2.Move(session=4_000_000_000, sequence=4_000_000_000)]),
        bots_pb2.PlayRequest(hello=bots_pb2.Hello(protocol_version=1)),
        bots_pb2.PlayRequest(moves=[bots_pb2.Move(session=1, sequence=1)] * 500),
    ]


async def flood(
    address: str, number: int, request: bots_pb2.PlayRequest, count: int, source: str = ""
) -> bytes:
    """Say hello and send a message ``count`` times; return the trailers when the referee ends the call."""
    async with socket(address, source) as connection:
        await connection.send(PREFACE + settings() + play(number))
        await connection.send(message(1, request.SerializeToString()) * count)
        async with asyncio.timeout(DEADLINE):
            async for kind, flags, payload in connection.frames():
                if kind == HEADERS and flags & END_STREAM:
                    return payload
    raise AssertionError


async def status_of(
    address: str,
    call: str,
    messages: Sequence[bytes],
    token: str = "",
    *,
    end: bool = True,
    source: str = "",
) -> grpc.StatusCode:
    """Make a call with these messages, of which the last ends it if ``end``; return the call's status."""
    bearer = {"authorization": f"Bearer {token}"} if token else {}
    async with socket(address, source) as connection, asyncio.timeout(DEADLINE):
        await connection.send(PREFACE + settings() + headers(1, call, **bearer))
        last = len(messages) - 1
        for number, data in enumerate(messages):
            await connection.send(message(1, data, end=end and number == last))
        async for kind, flags, payload in connection.frames():
            if kind == HEADERS and flags & END_STREAM:
                found = re.search(rb"grpc-status.(\d+)", payload, re.DOTALL)
                assert found, payload
                return _STATUS[int(found[1])]
    raise AssertionError


_STATUS = {code.value[0]: code for code in grpc.StatusCode}

"""A proxy that takes CONNECT, and leads every name to this host."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress


@asynccontextmanager
async def connect_proxy(status: str = "200 OK") -> AsyncIterator[tuple[str, list[str]]]:
    """Run a proxy until the end of the block; yield its address, and the places that were asked for."""
    asked: list[str] = []
    ends: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ends.append(writer)
        with suppress(OSError, asyncio.IncompleteReadError):
            method, place, *_ = (await reader.readuntil(b"\r\n\r\n")).decode().split()
            asked.append(f"{method} {place}")
            writer.write(f"HTTP/1.1 {status}\r\n\r\n".encode())
            if status.startswith("2"):
                there, back = await asyncio.open_connection("127.0.0.1", int(place.rpartition(":")[2]))
                ends.append(back)
                await asyncio.gather(copy(reader, back), copy(there, writer))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}", asked
    finally:
        server.close()
        for end in ends:
            end.transport.abort()


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy a stream to its end."""
    with suppress(OSError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()

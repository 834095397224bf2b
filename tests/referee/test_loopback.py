"""Tests for the message that a referee sends to itself, over a real server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc

from referee.matches.journal import NoJournal
from referee.matches.lobby import Lobby
from referee.service.loopback import Loopback
from tests.referee.key import KEY
from tests.waiting import DEADLINE, until


class Counting(Lobby):
    """A lobby that counts these messages."""

    def __init__(self) -> None:
        super().__init__(NoJournal(), lambda sight: b"", KEY.sign)
        self.sent = self.back = 0

    def loopback_sent(self, now: float) -> None:
        self.sent += 1
        super().loopback_sent(now)

    def loopback_back(self, now: float) -> None:
        self.back += 1
        super().loopback_back(now)


@asynccontextmanager
async def running(lobby: Lobby) -> AsyncIterator[Loopback]:
    server = grpc.aio.server()
    loopback = Loopback(lobby)
    loopback.attach(server)
    await server.start()
    loopback.start()
    try:
        yield loopback
    finally:
        await loopback.stop()
        await server.stop(None)


async def test_after_when_a_message_was_sent_before_then_another_one_has_come_back() -> None:
    lobby = Counting()
    async with running(lobby) as loopback, asyncio.timeout(DEADLINE):
        for _ in range(20):
            sent, called = lobby.sent, asyncio.Event()
            loopback.after(called.set)
            await called.wait()
            assert lobby.back > sent


async def test_loopback_when_nobody_asks_then_it_goes_on() -> None:
    lobby = Counting()
    async with running(lobby):
        await until(lambda: lobby.back >= 5, lambda: lobby.back)
    assert lobby.sent >= 4


async def test_loopback_when_there_is_no_server_then_who_waits_is_called_back() -> None:
    lobby = Counting()
    loopback, called = Loopback(lobby), asyncio.Event()
    loopback.start()
    loopback.after(called.set)
    async with asyncio.timeout(DEADLINE):
        await called.wait()
    await loopback.stop()

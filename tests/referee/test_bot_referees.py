"""Tests for bots on several referees, and on one with more than one address: one stream to each referee."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import grpc
import pytest

from referee.bot.client import BotClient
from referee.errors import ConnectionRefused
from referee.matches.journal import EntryKind
from referee.net.client import referee_status
from referee.protocol.reasons import Reason, read_failure
from referee.v1 import bots_pb2
from tests.referee.several import arena_of, local, play
from tests.referee.support import WORKER_TOKEN, Tokens, WireBot, lowest, referee
from tests.waiting import DEADLINE, until

ALREADY = "has a live connection already"
NOT_NEEDED = "not needed, the bot is connected to it at"


@asynccontextmanager
async def playing(*addresses: str, max_sessions: int = 0) -> AsyncIterator[BotClient]:
    """Run bot 1 with the SDK; at the end, tell it to leave."""
    client = BotClient(lowest, "bot-1", max_sessions)
    task = asyncio.create_task(client.run(addresses))
    try:
        yield client
    finally:
        client.leave()
        async with asyncio.timeout(DEADLINE):
            await task


def lines(caplog: pytest.LogCaptureFixture, text: str) -> list[str]:
    """Return the bot's log lines that contain this text."""
    return [record.getMessage() for record in caplog.records if text in record.getMessage()]


@pytest.fixture(autouse=True)
def _news(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="bot")


class Forward:
    """A port that forwards to a referee, which can be changed."""

    def __init__(self, target: str) -> None:
        self.target = target
        self._ends: list[asyncio.StreamWriter] = []

    @asynccontextmanager
    async def listen(self) -> AsyncIterator[str]:
        """Listen on the port; yield its address."""
        server = await asyncio.start_server(self._join, "127.0.0.1", 0)
        host, port = server.sockets[0].getsockname()
        try:
            yield f"{host}:{port}"
        finally:
            server.close()
            self.cut()

    def cut(self) -> None:
        """Break all connections."""
        for end in self._ends:
            end.transport.abort()
        self._ends.clear()

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._ends.append(writer)
        host, _, port = self.target.rpartition(":")
        try:
            from_referee, to_referee = await asyncio.open_connection(host, int(port))
            self._ends.append(to_referee)
            await asyncio.gather(self._carry(reader, to_referee), self._carry(from_referee, writer))
        except OSError:
            writer.close()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        finally:
            writer.close()


async def refused(address: str, number: int) -> grpc.aio.AioRpcError:
    """Return how a referee refuses a bot."""
    second = WireBot(address, number)
    await second.write(bots_pb2.PlayRequest(hello=bots_pb2.Hello(protocol_version=1)))
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await second._call.read()
    await second.close()
    return caught.value


async def test_welcome_when_there_are_two_referees_then_each_says_which_it_is() -> None:
    arena = arena_of("", "")
    async with arena.referee(0) as first, arena.referee(1) as second:
        for name, address in (("referee-0", first), ("referee-1", second)):
            async with WireBot(local(address), 1) as bot:
                listed = [(referee.id, referee.address) for referee in bot.welcome.referees]
                assert listed == [("referee-0", first), ("referee-1", second)]
                assert bot.welcome.referee_id == name


async def test_refusal_when_the_bot_is_connected_then_it_says_which_referee_it_is() -> None:
    arena = arena_of("")
    async with arena.referee(0) as address, WireBot(address, 1):
        failure = read_failure(await refused(local(address), 1))
    assert failure.reason == Reason.ALREADY_CONNECTED
    assert failure.metadata == {"referee_id": "referee-0"}


async def test_bot_when_it_knows_one_of_two_referees_by_another_address_then_it_has_one_stream_to_each(
    caplog: pytest.LogCaptureFixture,
) -> None:
    arena = arena_of("", "")
    async with arena.referee(0) as first, arena.referee(1) as second, playing(local(first)):
        await play(second)
        await play(first)
    assert arena.noted(EntryKind.CONNECTED) == [1, 1]
    assert arena.noted(EntryKind.REFUSED) == [0, 0]
    assert lines(caplog, ALREADY) == []


async def test_bot_when_a_referee_restarts_then_it_comes_back_at_the_address_that_it_was_given() -> None:
    arena = arena_of("", "")
    async with arena.referee(1), AsyncExitStack() as stack:
        async with arena.referee(0) as first:
            await stack.enter_async_context(playing(local(first)))
            await until(lambda: arena.noted(EntryKind.CONNECTED) == [1, 1])
        async with arena.referee(0, first):
            await play(first)
            assert arena.noted(EntryKind.CONNECTED) == [1, 1]
            assert arena.noted(EntryKind.REFUSED) == [0, 0]


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("referees", [1, 2])
async def test_bot_when_it_is_given_two_addresses_of_a_referee_then_it_gives_one_up(
    caplog: pytest.LogCaptureFixture, referees: int, order: int
) -> None:
    arena = arena_of(*[""] * referees)
    async with arena.referee(0) as first:
        if referees == 2:
            arena.addresses[1] = "127.0.0.1:1"  # where nobody is
        given: Sequence[str] = (first, local(first))[::order]
        async with playing(*given):
            await until(lambda: lines(caplog, NOT_NEEDED) != [])
            await play(first)
    assert len(lines(caplog, NOT_NEEDED)) == 1
    assert lines(caplog, ALREADY) == []
    assert arena.noted(EntryKind.CONNECTED)[0] == 1
    assert arena.noted(EntryKind.REFUSED)[0] <= 1  # none while another attempt is pending


async def test_bot_when_a_listed_address_leads_nowhere_and_another_one_leads_there_then_it_gives_that_up(
    caplog: pytest.LogCaptureFixture,
) -> None:
    arena = arena_of("127.0.0.1:1", "")
    async with arena.referee(0) as first, arena.referee(1) as second, playing(second) as client:
        await until(lambda: lines(caplog, "referee 127.0.0.1:1 cannot be reached") != [])
        client.meet([first])
        await until(lambda: lines(caplog, NOT_NEEDED) != [])
        await play(first)
    assert lines(caplog, NOT_NEEDED) == [f"referee 127.0.0.1:1: {NOT_NEEDED} {first}"]
    assert lines(caplog, ALREADY) == []


async def test_bot_when_its_address_leads_to_another_referee_than_before_then_it_goes_to_the_listed_one(
    caplog: pytest.LogCaptureFixture,
) -> None:
    arena = arena_of("", "")
    async with arena.referee(1) as second, AsyncExitStack() as stack:
        async with arena.referee(0) as first:
            forward = Forward(first)
            shared = await stack.enter_async_context(forward.listen())
            await stack.enter_async_context(playing(shared))
            await until(lambda: arena.noted(EntryKind.CONNECTED) == [1, 1])
            forward.target = second
            forward.cut()
            await until(lambda: arena.noted(EntryKind.CONNECTED) == [2, 1])
            await play(first)
        await play(second)
    assert lines(caplog, NOT_NEEDED) == [f"referee {shared}: {NOT_NEEDED} {second}"]


async def test_bot_when_another_process_of_it_is_connected_then_it_tries_until_that_one_is_gone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    arena = arena_of("", "")
    async with arena.referee(0) as first, arena.referee(1), AsyncExitStack() as stack:
        async with WireBot(first, 1):
            await stack.enter_async_context(playing(local(first), first))
            await until(lambda: len(lines(caplog, ALREADY)) > 2)
        await until(lambda: lines(caplog, NOT_NEEDED) != [])
        await play(first)
    assert arena.noted(EntryKind.CONNECTED) == [2, 1]


async def test_bot_when_it_reaches_one_of_two_referees_then_it_plays_all_its_sessions_there() -> None:
    """This is so behind a load balancer, or if the addresses that the referees name lead nowhere."""
    arena = arena_of("", "127.0.0.1:1")
    async with arena.referee(0) as first, playing(local(first), max_sessions=5):

        async def plays_all() -> bool:
            status = await asyncio.to_thread(referee_status, first, WORKER_TOKEN, [1])
            return status.bots[0].max_sessions == 5

        await until(plays_all)


class Strangers(Tokens):
    """An authenticator that accepts nobody."""

    def bot(self, token: str) -> None:
        return None


async def test_bot_when_a_referee_that_it_hears_of_refuses_it_for_good_then_it_gives_up_with_the_reason() -> (
    None
):
    async with referee(tokens=Strangers()) as other:
        arena = arena_of("", other)
        async with arena.referee(0) as address:
            async with asyncio.timeout(DEADLINE):
                with pytest.raises(ConnectionRefused, match=f"referee {other}: the token is unknown"):
                    await BotClient(lowest, "bot-1").run([address])
            assert arena.journals[0].of(1, EntryKind.CONNECTED)

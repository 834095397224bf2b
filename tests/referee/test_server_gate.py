"""Tests for hosts that send too much to a referee: they are cut off, and bots that play notice nothing."""

import asyncio
import contextlib
import gc
import gzip
import resource
import sys
from collections.abc import Iterator

import pytest

from referee.errors import RefereeUnavailable
from referee.matches.journal import EntryKind
from referee.matches.match import Limits
from referee.net.client import referee_status
from referee.processes import descriptors
from referee.protocol.version import MAX_MESSAGE_BYTES
from referee.service import sockets, spectators
from referee.service.server import ServerOptions
from referee.service.traffic import MOST_HEADERS
from tests.referee import hostile
from tests.referee.hostile import ELSEWHERE, PREFACE, Socket, frame, headers, message, settings, socket
from tests.referee.processes import referee_process
from tests.referee.support import WORKER_TOKEN, ListJournal, lowest, match_spec, play_match, referee, sdk_bots
from tests.waiting import DEADLINE, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="hosts are kept out on Linux alone")

LIMITS = Limits(decision_ms=1000, join_seconds=20, faults=1, on_forfeit="end_session")
PINGS = frame(hostile.PING, 0, 0, bytes(8)) * 1000


async def flood(address: str, data: bytes) -> None:
    """Send data again and again, and read what arrives, until the referee breaks off the connection."""
    async with socket(address, ELSEWHERE) as connection:
        await connection.send(PREFACE + settings())
        closed = asyncio.create_task(connection.closed())
        while not closed.done():
            await connection.send(data)
            await asyncio.sleep(0)


async def ended(connection: Socket) -> None:
    """Read until the connection is broken off."""
    with contextlib.suppress(EOFError, ConnectionError):
        async for _ in connection.frames():
            pass


@pytest.mark.parametrize(
    "data",
    [PINGS, settings() * 1000, frame(99, 0, 0, bytes(16_000)) * 10],
    ids=["pings", "settings", "unknown frames"],
)
async def test_flood_when_its_client_reads_then_it_is_broken_off_and_nobody_who_plays_has_a_fault(
    data: bytes,
) -> None:
    async with referee() as address, sdk_bots(address, dict.fromkeys((1, 2, 3, 4), lowest)):
        running = asyncio.create_task(play_match(address, match_spec(sessions=8, limits=LIMITS)))
        async with asyncio.timeout(DEADLINE):
            await flood(address, data)
        results = await running
    assert [result.faults for result in results] == [(0, 0, 0, 0)] * 8


@pytest.mark.parametrize("call", ["Check", "Play", "/nowhere.Service/Nothing"])
async def test_call_when_its_headers_unpack_to_more_than_a_burst_then_its_host_is_kept_out(call: str) -> None:
    async with referee() as address, asyncio.timeout(DEADLINE):
        async with socket(address, ELSEWHERE) as connection:
            await connection.send(PREFACE + settings() + hostile.referring(1, call, 700, first=True))
            await connection.closed()
        with pytest.raises((TimeoutError, OSError)):
            async with asyncio.timeout(0.1), socket(address, ELSEWHERE):
                pass


@pytest.mark.usefixtures("uncollected")
async def test_call_when_its_headers_unpack_to_megabytes_then_nothing_of_them_is_kept() -> None:
    async with referee() as address, asyncio.timeout(DEADLINE):
        async with socket(address, ELSEWHERE) as connection:
            await connection.send(PREFACE + settings() + hostile.referring(1, "Check", 2200, first=True))
            await connection.closed()
        assert (await hostile.status_of(address, "Check", [b""])).name == "OK"
        tuples = [each for each in gc.get_objects() if isinstance(each, tuple)]
        assert not [each for each in tuples if len(each) == 2 and each[0] == "x-large"]


@pytest.fixture
def uncollected() -> Iterator[None]:
    """Let Python's collector run only when it is asked to."""
    gc.disable()
    yield
    gc.enable()


async def test_referee_when_its_flood_is_over_then_it_has_given_the_memory_back() -> None:
    async with referee_process() as (address, process), asyncio.timeout(DEADLINE):
        assert (await hostile.status_of(address, "Check", [b""])).name == "OK"
        calm = process.memory
        flood = [hostile.referring(number, "Check", 4200, first=number == 1) for number in range(1, 401, 2)]
        for number in range(8):
            async with socket(address, f"127.0.0.{10 + number}") as connection:
                await connection.send(PREFACE + settings() + b"".join(flood))
                await connection.closed()
        await until(
            lambda: process.errors().count("exceeds its traffic limit") >= 8 and process.memory <= 1.5 * calm,
            lambda: (process.memory, calm, process.errors()),
            pause=0.1,
        )


async def test_messages_when_they_are_compressed_then_they_are_charged_as_unpacked() -> None:
    data = gzip.compress(bytes(MAX_MESSAGE_BYTES))
    async with referee() as address, asyncio.timeout(DEADLINE), socket(address, ELSEWHERE) as connection:
        calls = [
            headers(number, "Check", **{"grpc-encoding": "gzip"}) + message(number, data, packed=True)
            for number in (1, 3, 5)
        ]
        await connection.send(PREFACE + settings() + b"".join(calls))
        await connection.closed()


async def test_bots_when_they_are_in_one_process_then_each_has_a_connection_of_its_own() -> None:
    async with (
        referee() as address,
        sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)),
    ):
        port = int(address.rpartition(":")[2])
        await until(lambda: len(sockets.connections(port)) >= 3, lambda: sockets.connections(port))


async def test_call_when_a_bots_connection_has_it_and_its_headers_are_too_many_then_the_bot_pays() -> None:
    journal = ListJournal()
    async with (
        referee(options=ServerOptions(drain_seconds=0, journal=journal)) as address,
        socket(address, ELSEWHERE) as bot,
        asyncio.timeout(DEADLINE),
    ):
        await bot.send(PREFACE + settings() + hostile.play(4))
        await bot.send(headers(3, "Check", **{"x-large": "x" * MOST_HEADERS}))
        await bot.until(b"bytes, more than 8192")
        assert not journal.of(4, EntryKind.LOST)
        await bot.send(hostile.referring(5, "Check", 1500, first=True))
        await bot.closed()
        await until(lambda: journal.of(4, EntryKind.LOST, "flood"), lambda: journal.entries)


async def test_host_when_it_has_flooded_then_it_is_let_in_again_only_later_and_others_at_once() -> None:
    async with referee() as address, asyncio.timeout(DEADLINE):
        await flood(address, PINGS)
        with pytest.raises((TimeoutError, OSError)):
            async with asyncio.timeout(0.1), socket(address, ELSEWHERE):
                pass
        assert (await hostile.status_of(address, "Check", [b""])).name == "OK"
        assert (await hostile.status_of(address, "Check", [b""], source=ELSEWHERE)).name == "OK"


async def test_host_when_it_opens_and_closes_connections_at_once_then_it_is_kept_out() -> None:
    async with referee() as address, asyncio.timeout(DEADLINE):
        for _ in range(100_000):
            try:
                async with asyncio.timeout(0.2), socket(address, ELSEWHERE):
                    pass
            except (TimeoutError, OSError):
                break
        else:
            pytest.fail("it is let in for ever")
        async with socket(address, "127.0.0.1"):
            pass


async def test_bot_when_others_of_its_host_flood_then_its_stream_goes_on() -> None:
    async with referee() as address, socket(address, ELSEWHERE) as bot, asyncio.timeout(DEADLINE):
        await bot.send(PREFACE + settings() + hostile.play(4))
        async for kind, _, _ in bot.frames():
            if kind == hostile.DATA:  # the welcome
                break
        await flood(address, PINGS)
        async with sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)):
            running = asyncio.create_task(play_match(address, match_spec(limits=LIMITS)))
            assert (await anext(bot.turns())).sequence
            await running


async def test_bot_when_it_floods_then_its_turn_is_a_fault_and_it_stays_away() -> None:
    journal = ListJournal()
    options = ServerOptions(drain_seconds=0, journal=journal)
    limits = Limits(decision_ms=60_000, join_seconds=20, faults=1, on_forfeit="end_session")
    async with (
        referee(options=options) as address,
        sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)),
        asyncio.timeout(DEADLINE),
    ):
        async with socket(address, ELSEWHERE) as bot:
            await bot.send(PREFACE + settings() + hostile.play(4))
            running = asyncio.create_task(play_match(address, match_spec(limits=limits)))
            assert (await anext(bot.turns())).sequence
            closed = asyncio.create_task(bot.closed())
            while not closed.done():
                await bot.send(PINGS)
                await asyncio.sleep(0)
        (result,) = await running
        assert (sum(result.faults), result.forfeit) == (1, 3)
        async with socket(address) as bot:
            await bot.send(PREFACE + settings() + hostile.play(4))
            async for kind, flags, payload in bot.frames():
                if kind == hostile.HEADERS and flags & hostile.END_STREAM:
                    assert b"flood: come back in" in payload
                    break
    assert [entry.code for entry in journal.of(4, EntryKind.FAULT)] == ["flood"]
    assert journal.of(4, EntryKind.LOST, "flood")[0].text == "flood: too many bytes; come back in 10 s"


async def enter(address: str, number: int, stack: contextlib.AsyncExitStack) -> bytes:
    """Connect a bot; return what the referee sent first, with how the bot was received."""
    bot = await stack.enter_async_context(socket(address, ELSEWHERE))
    await bot.send(PREFACE + settings() + hostile.play(number))
    received = b""
    async for kind, _, payload in bot.frames():
        received += payload
        if kind == hostile.DATA or b"grpc-status" in received:
            return received
    return received


async def test_referee_when_its_limit_of_descriptors_can_be_raised_then_it_does_so() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))  # which the child inherits
    try:
        async with referee_process() as (_, process):
            assert process.descriptors == (descriptors.permitted(), hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_bots_when_descriptors_are_about_to_run_out_then_they_are_told_busy() -> None:
    async with (
        referee_process() as (address, process),
        contextlib.AsyncExitStack() as stack,
        asyncio.timeout(DEADLINE),
    ):
        process.limit_descriptors(176)
        received = b""
        numbers = iter(range(1, 170))
        while b"no room for more connections" not in received:
            received = await enter(address, next(numbers), stack)
            assert b"grpc-status" not in received or b"no room" in received
        assert 176 - 176 // 8 - descriptors.RESERVE <= next(numbers) < 120
        assert process.errors().count("no bot is let in") == 1


async def test_connections_when_they_use_up_all_descriptors_then_strangers_go_and_calls_work_again() -> None:
    async with (
        referee_process() as (address, process),
        contextlib.AsyncExitStack() as stack,
        asyncio.timeout(DEADLINE),
    ):
        process.limit_descriptors(256)
        assert b"grpc-status" not in await enter(address, 4, stack)
        for number in range(300):
            one = await stack.enter_async_context(socket(address, f"127.0.0.{10 + number // 100}"))
            await one.send(PREFACE + settings())
        status = None
        while status is None:
            with contextlib.suppress(RefereeUnavailable):
                status = await asyncio.to_thread(referee_status, address, WORKER_TOKEN, [4], timeout=2.0)
        assert status.bots[0].connected


async def test_spectator_when_it_takes_nothing_for_too_long_then_its_connection_is_broken_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(spectators, "TAKE_SECONDS", 0.2)
    async with referee() as address, sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)):
        running = asyncio.create_task(play_match(address, match_spec(), started := asyncio.Event()))
        await started.wait()
        async with socket(address, ELSEWHERE) as connection, asyncio.timeout(DEADLINE):
            await connection.send(PREFACE + settings(initial_window_size=0))
            await connection.send(headers(1, "WatchMatch") + message(1, b"\x0a\x01m", end=True))
            await ended(connection)
        async with sdk_bots(address, {4: lowest}):
            await running

"""Tests for limits on what clients may have open at once before they have sent or shown anything."""

import asyncio
import socket
import threading
from contextlib import ExitStack

import grpc
import pytest

from referee.matches.auth import BotIdentity
from referee.matches.journal import LogEntry, LogQuery
from referee.protocol.reasons import Reason, read_failure
from referee.service import access, calls, logs, reception
from referee.service.server import ServerOptions
from referee.v1 import bots_pb2, bots_pb2_grpc
from tests.referee import hostile
from tests.referee.hostile import PREFACE, frame, headers, message, settings, status_of
from tests.referee.support import WORKER_TOKEN, ListJournal, Tokens, bearer, referee
from tests.waiting import DEADLINE, until


async def never_asked(address: str) -> grpc.StatusCode:
    """Return how a call ends whose request is never sent."""
    return await status_of(address, "GetStatus", [], WORKER_TOKEN)


async def silent(address: str, number: int, hello: bool = False) -> str:
    """Return why the stream of a bot ends that sends at most a hello."""
    async with grpc.aio.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
        call = bots_pb2_grpc.BotServiceStub(channel).Play(None, metadata=bearer(f"bot-{number}"))
        if hello:
            await call.write(bots_pb2.PlayRequest(hello=bots_pb2.Hello(protocol_version=1)))
        async with asyncio.timeout(DEADLINE):
            try:
                while await call.read() is not grpc.aio.EOF:  # type: ignore[attr-defined]
                    if hello:
                        return "welcome"
            except grpc.aio.AioRpcError as error:
                return read_failure(error).reason
    return ""


async def test_call_when_it_sends_no_request_then_it_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "REQUEST_SECONDS", 0.05)
    async with referee() as address:
        assert await never_asked(address) is grpc.StatusCode.INVALID_ARGUMENT


async def test_calls_when_too_many_of_a_host_send_no_request_then_others_are_turned_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(calls, "SILENT_FROM_PEER", 2)
    monkeypatch.setattr(calls, "REQUEST_SECONDS", DEADLINE)
    async with referee() as address:
        asking = [asyncio.create_task(never_asked(address)) for _ in range(5)]
        while sum(task.done() for task in asking) < 3:
            await asyncio.wait([task for task in asking if not task.done()], return_when="FIRST_COMPLETED")
        assert {task.result() for task in asking if task.done()} == {grpc.StatusCode.RESOURCE_EXHAUSTED}
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)


class Slow:
    """Something that is asked, and answers only when it may."""

    def __init__(self) -> None:
        self.asked = 0
        self.may_answer = threading.Event()

    def wait(self) -> None:
        self.asked += 1
        self.may_answer.wait(DEADLINE)


class SlowTokens(Tokens, Slow):
    def __init__(self) -> None:
        Tokens.__init__(self)
        Slow.__init__(self)

    def bot(self, token: str) -> BotIdentity | None:
        self.wait()
        return super().bot(token)


class SlowJournal(ListJournal, Slow):
    def __init__(self) -> None:
        ListJournal.__init__(self)
        Slow.__init__(self)

    def read(self, token: str, query: LogQuery) -> list[LogEntry]:
        self.wait()
        return []


async def read_log(address: str, source: str = "") -> grpc.StatusCode:
    return await status_of(address, "ListLogEntries", [b""], "bot-1", source=source)


async def one_too_many(address: str, slow: Slow) -> list[grpc.StatusCode]:
    """Return how two calls of a host end while a third is refused, and how a call of another host ends."""
    both = [asyncio.create_task(read_log(address)) for _ in range(2)]
    await until(lambda: slow.asked == 2)
    assert await read_log(address) is grpc.StatusCode.RESOURCE_EXHAUSTED
    elsewhere = asyncio.create_task(read_log(address, hostile.ELSEWHERE))
    await until(lambda: slow.asked == 3)
    slow.may_answer.set()
    return await asyncio.gather(*both, elsewhere)


async def test_tokens_when_a_host_has_too_many_looked_up_then_further_calls_of_it_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(access, "LOOKUPS_FROM_PEER", 2)
    tokens = SlowTokens()
    options = ServerOptions(drain_seconds=0, journal=ListJournal())
    async with referee(tokens=tokens, options=options) as address:
        assert await one_too_many(address, tokens) == [grpc.StatusCode.OK] * 3


async def test_logs_when_a_host_reads_too_many_then_further_calls_of_it_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(logs, "READERS_FROM_PEER", 2)
    monkeypatch.setattr(logs, "THREADS", 3)
    journal = SlowJournal()
    async with referee(options=ServerOptions(drain_seconds=0, journal=journal)) as address:
        assert await one_too_many(address, journal) == [grpc.StatusCode.OK] * 3


async def test_bot_when_a_silent_stream_of_it_is_new_then_another_waits_and_other_bots_come_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reception, "SILENT_SECONDS", DEADLINE)
    async with referee() as address:
        attempts = [asyncio.create_task(silent(address, 1)) for _ in range(3)]
        while sum(task.done() for task in attempts) < 2:
            await asyncio.wait([task for task in attempts if not task.done()], return_when="FIRST_COMPLETED")
        assert {task.result() for task in attempts if task.done()} == {Reason.BUSY}
        assert await silent(address, 2, hello=True) == "welcome"
        for task in attempts:
            task.cancel()
        await asyncio.gather(*attempts, return_exceptions=True)


async def test_bot_when_a_silent_stream_of_it_is_old_then_another_takes_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reception, "SILENT_SECONDS", 0.0)
    async with referee() as address:
        attempts = [asyncio.create_task(silent(address, 1)) for _ in range(2)]
        done, _ = await asyncio.wait(attempts, return_when="FIRST_COMPLETED", timeout=DEADLINE)
        assert [task.result() for task in done] == [Reason.HELLO_LATE]
        assert await silent(address, 1, hello=True) == "welcome"
        assert [await task for task in attempts] == [Reason.HELLO_LATE] * 2


async def test_pings_when_there_are_far_too_many_then_their_connection_goes_on() -> None:
    async with referee() as address, hostile.socket(address) as connection, asyncio.timeout(DEADLINE):
        await connection.send(PREFACE + settings() + frame(hostile.PING, 0, 0, bytes(8)) * 1000)
        await connection.send(headers(1, "Check") + message(1, b"", end=True))
        async for kind, flags, _ in connection.frames():
            if kind == hostile.HEADERS and flags & hostile.END_STREAM:
                break


def open_unasked(connection: socket.socket, address: str, calls: int) -> None:
    """Open calls without sending requests, and wait until gRPC's thread has read them."""
    host, port = address.rsplit(":", 1)
    connection.bind((hostile.ELSEWHERE, 0))
    connection.connect((host, int(port)))
    opened = b"".join(headers(number, "GetStatus") for number in range(1, 2 * calls, 2))
    connection.sendall(PREFACE + settings() + opened + frame(hostile.PING, 0, 0, b"all read"))
    received = b""
    while b"all read" not in received:
        received += connection.recv(1 << 16)


async def test_call_when_thousands_wait_to_be_taken_then_it_is_not_turned_away() -> None:
    async with referee() as address:
        with ExitStack() as stack:
            for _ in range(14):
                connection = stack.enter_context(socket.socket())
                open_unasked(
                    connection, address, 250
                )  # in the event loop's thread, which handles none meanwhile
            assert await status_of(address, "Check", [b""]) is grpc.StatusCode.OK

"""Tests for malicious clients: each gets an error or a closed connection, and no match is affected."""

import asyncio
import contextlib
import json
import random
from collections.abc import Awaitable, Callable

import grpc
import pytest

from referee.matches.journal import EntryKind
from referee.matches.match import Limits, SessionResult
from referee.service import tools
from referee.service.server import ServerOptions
from referee.v1 import bots_pb2
from referee.worker.v1alpha1 import worker_pb2
from tests.referee import hostile
from tests.referee.hostile import PREFACE, frame, headers, message, settings, socket, status_of
from tests.referee.processes import referee_process
from tests.referee.support import (
    WORKER_TOKEN,
    ListJournal,
    WireBot,
    lowest,
    match_spec,
    play_match,
    referee,
    sdk_bots,
    without_times,
)
from tests.waiting import DEADLINE, until

LIMITS = Limits(decision_ms=60_000, join_seconds=20, faults=1, on_forfeit="end_session")


def no_traceback(caplog: pytest.LogCaptureFixture) -> bool:
    return not [record for record in caplog.records if record.exc_info or "Traceback" in record.getMessage()]


# One attack at a time


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: referee\r\n\r\n",
        random.Random(1).randbytes(5000),
        PREFACE + random.Random(2).randbytes(5000),
        PREFACE + settings() + frame(hostile.DATA, 0, 1, b"no such stream"),
        PREFACE + settings() + frame(99, 255, 7, b"?" * 100) + frame(hostile.PING, 0, 0, b"short"),
        PREFACE + settings() + frame(hostile.WINDOW_UPDATE, 0, 0, bytes(4)),
        PREFACE + settings() + headers(2),
    ],
    ids=[
        "nothing",
        "http/1",
        "garbage",
        "garbage-frames",
        "no-stream",
        "bad-ping",
        "bad-window",
        "even-stream",
    ],
)
async def test_bytes_when_they_are_no_grpc_then_the_connection_is_closed_or_ignored(
    data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async with referee() as address:
        async with socket(address) as connection:
            await connection.send(data)
        async with WireBot(address, 1) as bot:
            assert bot.welcome.bot
    assert no_traceback(caplog)


TOKENS = {
    "Play": "bot-1",
    "RunMatch": WORKER_TOKEN,
    "HoldMatch": WORKER_TOKEN,
    "GetStatus": WORKER_TOKEN,
    "WatchMatch": "",
    "ListLogEntries": "bot-1",
    "ListDeals": "bot-1",
    "Check": "",
    "Watch": "",
    "ServerReflectionInfo": "",
}
"""The token that each call needs; anybody may watch matches and the health service, and list the services."""


@pytest.mark.parametrize("call", list(TOKENS))
@pytest.mark.parametrize(
    "data", [b"\xff" * 50, b"\x0a\xff\xff\xff\xff\x0f", b"\x08" * 3, random.Random(3).randbytes(900)]
)
async def test_call_when_its_message_is_garbage_then_its_token_is_judged_before(
    call: str, data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async with referee() as address:
        for token in ("good", "", "x" * 600):
            known = token == "good" or not TOKENS[call]
            expected = grpc.StatusCode.INVALID_ARGUMENT if known else grpc.StatusCode.UNAUTHENTICATED
            told = await status_of(address, call, [data], TOKENS[call] if known else token)
            assert told is expected, token
    assert no_traceback(caplog)


@pytest.mark.parametrize(
    "cards",
    [[1] * 100_000, [-1], [0], [2**31 - 1, -(2**31)]],
    ids=["many", "negative", "zero", "extreme"],
)
async def test_move_when_its_cards_are_absurd_then_it_is_malformed(
    cards: list[int], caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        referee() as address,
        sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)),
        WireBot(address, 4) as bot,
    ):
        running = asyncio.create_task(play_match(address, match_spec(limits=LIMITS)))
        turn = await bot.next("turn")
        await bot.move(turn, cards)
        assert (await bot.next("fault")).kind == bots_pb2.FAULT_KIND_MALFORMED
        await running
    assert no_traceback(caplog)


@pytest.mark.parametrize("data", [b"\xff", b"\x01\x80", b"\xff" * 300], ids=["short", "cut", "long"])
async def test_move_when_its_packed_cards_are_no_numbers_then_it_is_malformed(
    data: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        referee() as address,
        sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)),
        socket(address) as connection,
    ):
        await connection.send(PREFACE + settings() + hostile.play(4))
        running = asyncio.create_task(play_match(address, match_spec(limits=LIMITS)))
        async for turn in connection.turns():
            await connection.send(message(1, hostile.packed_move(turn, data)))
            break
        (result,) = await running
    assert sum(result.faults) == 1
    assert result.forfeit == 3
    assert json.loads(result.records[-1])["faults"][0]["kind"] == "malformed"
    assert no_traceback(caplog)


async def test_message_when_it_is_over_the_limit_then_the_stream_ends_and_the_bot_may_return() -> None:
    async with referee() as address:
        async with WireBot(address, 1) as bot:
            assert bot.welcome.max_message_bytes == 1 << 20
            with contextlib.suppress(grpc.aio.AioRpcError):
                await bot.move(bots_pb2.Turn(session=1), [1] * ((1 << 20) + 1))
            assert (await bot.ended()).code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        async with WireBot(address, 1) as bot:
            assert bot.welcome.bot


async def test_message_when_garbage_comes_in_mid_stream_then_the_stream_ends_and_the_author_is_told() -> None:
    journal = ListJournal()
    async with (
        referee(options=ServerOptions(drain_seconds=0, journal=journal)) as address,
        socket(address) as connection,
    ):
        await connection.send(PREFACE + settings() + hostile.play(4))
        await connection.send(message(1, b"\xff" * 20))
        async with asyncio.timeout(DEADLINE):
            async for _, flags, _ in connection.frames():
                if flags & hostile.END_STREAM and journal.of(4, EntryKind.LOST):
                    break
    (entry,) = journal.of(4, EntryKind.LOST)
    assert (entry.code, entry.text) == ("message_unreadable", "20 bytes that are not a valid PlayRequest")


async def test_run_match_when_its_ruleset_is_nested_too_deeply_then_it_is_refused(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with referee() as address:
        for ruleset in ("[" * 50_000, '{"name":' * 5_000, "1" * 10_000, "NaN", '{"name": 1e999}', "\x00"):
            data = worker_pb2.RunMatchRequest(match_id="m", ruleset=ruleset).SerializeToString()
            code = await status_of(address, "RunMatch", [data], WORKER_TOKEN)
            assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert no_traceback(caplog)


async def test_bot_when_its_window_is_of_no_size_then_it_stalls_and_no_session_is_void() -> None:
    journal = ListJournal()
    limits = Limits(decision_ms=1500, join_seconds=20, faults=2, on_forfeit="end_session")
    async with (
        referee(options=ServerOptions(drain_seconds=0, journal=journal)) as address,
        sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)),
        hostile.bot_without_window(address, 4),
    ):
        spec = match_spec(sessions=3, limits=limits)
        results = await play_match(address, spec)
    assert [result.forfeit for result in results] == [s.seating.index(3) for s in spec.sessions]
    codes = {entry.code for entry in journal.of(4, EntryKind.FAULT)}
    assert codes <= {"stall", "timeout"}
    assert "stall" in codes


async def test_streams_when_hundreds_never_say_hello_then_bots_that_play_are_not_harmed() -> None:
    async with referee() as address, sdk_bots(address, dict.fromkeys((1, 2, 3, 4), lowest)):
        async with socket(address) as one, socket(address) as two:
            for connection, streams in ((one, 90), (two, 120)):  # nearly as many as a host may have
                await connection.send(PREFACE + settings())
                await connection.send(b"".join(headers(2 * n + 1) for n in range(streams)))
            results = await play_match(address, match_spec(sessions=8, limits=LIMITS))
            refused = 0
            async with asyncio.timeout(DEADLINE):
                async for kind, flags, _ in two.frames():
                    refused += kind == hostile.HEADERS and bool(flags & hostile.END_STREAM)
                    if refused >= 40:
                        break
        assert [result.faults for result in results] == [(0, 0, 0, 0)] * 8
        async with asyncio.timeout(DEADLINE), sdk_bots(address, {5: lowest}), WireBot(address, 6) as bot:
            assert bot.welcome.bot


async def test_health_when_one_host_watches_it_too_often_then_further_calls_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tools, "WATCHES_FROM_PEER", 3)
    async with referee() as address, socket(address) as connection, asyncio.timeout(DEADLINE):
        await connection.send(PREFACE + settings())
        await connection.send(b"".join(headers(n, "Watch") + message(n, b"", end=True) for n in (1, 3, 5, 7)))
        async for kind, flags, payload in connection.frames():
            if kind == hostile.HEADERS and flags & hostile.END_STREAM:
                assert b"too many calls that watch the health" in payload
                break
        assert await status_of(address, "Watch", [b""]) is grpc.StatusCode.RESOURCE_EXHAUSTED
        async with WireBot(address, 1) as bot:
            assert bot.welcome.bot


# All at once


async def attack_with_bytes(address: str, rng: random.Random, source: str) -> None:
    async with socket(address, source) as connection:
        await connection.send(
            rng.choice([b"", PREFACE, PREFACE + settings()]) + rng.randbytes(rng.randrange(4000))
        )


async def attack_half_open(address: str, rng: random.Random, source: str) -> None:
    async with socket(address, source) as connection:
        await connection.send(PREFACE + settings(initial_window_size=rng.choice([0, 1])))
        await connection.send(headers(1, authorization=f"Bearer bot-{20 + rng.randrange(10)}"))
        await connection.send(message(1, hostile.hello(), length=rng.randrange(2**32)))
        await asyncio.sleep(0.05)


async def attack_with_tokens(address: str, rng: random.Random, source: str) -> None:
    async with socket(address, source) as connection:
        await connection.send(PREFACE + settings())
        for stream in range(1, 100, 2):
            token = f"Bearer {rng.randbytes(9).hex()}"
            await connection.send(headers(stream, authorization=token) + message(stream, hostile.hello()))
        ended = 0
        async for kind, flags, _ in connection.frames():
            ended += kind == hostile.HEADERS and bool(flags & hostile.END_STREAM)
            if ended == 50:
                break


async def attack_with_floods(address: str, rng: random.Random, source: str) -> None:
    number, request = 100 + rng.randrange(1_000_000), rng.choice(hostile.play_requests())
    await hostile.flood(address, number, request, 3000, source)


async def attack_calls(address: str, rng: random.Random, source: str) -> None:
    for call in TOKENS:
        data, token = rng.randbytes(rng.randrange(200)), rng.choice(["", "bad", WORKER_TOKEN, "bot-1"])
        code = await status_of(address, call, [data], token, source=source)
        assert code not in (grpc.StatusCode.UNKNOWN, grpc.StatusCode.INTERNAL)


async def attack_without_reading(address: str, rng: random.Random, source: str) -> None:
    async with hostile.bot_without_window(address, 70 + rng.randrange(9), source) as connection:
        await connection.send(message(1, bots_pb2.PlayRequest().SerializeToString()) * 2000)
        await asyncio.sleep(0.1)


Attack = Callable[[str, random.Random, str], Awaitable[None]]
"""Takes the address to attack, a source of randomness, and the host to attack from."""

ATTACKS: list[Attack] = [
    attack_with_bytes,
    attack_half_open,
    attack_with_tokens,
    attack_with_floods,
    attack_calls,
    attack_without_reading,
]


async def test_attacks_when_all_happen_at_once_then_the_tables_go_as_undisturbed() -> None:
    spec = match_spec(sessions=24, deals=2, limits=LIMITS)

    async def play(address: str) -> list[SessionResult]:
        async with sdk_bots(address, dict.fromkeys((1, 2, 3, 4), lowest)):
            return await play_match(address, spec)

    async with referee() as address:
        expected = await play(address)
    made = dict.fromkeys(ATTACKS, 0)

    async def keep_on(attack: Attack, seed: int) -> None:
        rng, source = random.Random(seed), f"127.0.0.{2 + seed}"
        while True:
            with contextlib.suppress(OSError, EOFError):  # the referee breaks off floods
                await attack(address, rng, source)
                made[attack] += 1

    async with referee_process() as (address, process):
        attackers = [asyncio.create_task(keep_on(attack, seed)) for seed, attack in enumerate(ATTACKS)]

        def failed() -> list[BaseException | None]:
            return [attacker.exception() for attacker in attackers if attacker.done()]

        try:
            await until(lambda: all(made.values()) or failed(), lambda: made, pause=0.05)
            assert without_times(await play(address)) == without_times(expected)
            assert not failed()
        finally:
            # In grpc.aio a cancellation may be lost if a call ends at the same moment, so cancel again.
            left = set(attackers)
            async with asyncio.timeout(DEADLINE):
                while left:
                    for attacker in left:
                        attacker.cancel()
                    _, left = await asyncio.wait(left, timeout=1)
        assert process.lives

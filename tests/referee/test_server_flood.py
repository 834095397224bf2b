"""Tests for bots that send too much over real sockets: they are cut off, and nobody else notices."""

import asyncio
import json

import grpc
import pytest

from referee.matches import connections
from referee.matches.journal import EntryKind
from referee.matches.match import Limits
from referee.service.server import ServerOptions
from referee.v1 import bots_pb2, bots_pb2_grpc
from tests.referee import hostile
from tests.referee.support import (
    ListJournal,
    WireBot,
    bearer,
    check_records,
    lowest,
    match_spec,
    play_match,
    referee,
    sdk_bots,
)

FLOODS = {
    "empty": bots_pb2.PlayRequest(),
    "pongs": bots_pb2.PlayRequest(pong=bots_pb2.Pong(id=99)),
    "hellos": bots_pb2.PlayRequest(hello=bots_pb2.Hello(protocol_version=1)),
    "moves": bots_pb2.PlayRequest(moves=[bots_pb2.Move(session=9, sequence=9)]),
    "many-moves": bots_pb2.PlayRequest(moves=[bots_pb2.Move(session=9, sequence=9)] * 800),
}

STATUS = b"grpc-status\x018"
"""RESOURCE_EXHAUSTED as it appears in a call's trailers."""


@pytest.mark.parametrize("name", FLOODS)
async def test_flood_when_nothing_of_it_has_an_effect_then_the_stream_is_closed(name: str) -> None:
    journal = ListJournal()
    async with referee(options=ServerOptions(drain_seconds=0, journal=journal)) as address:
        trailers = await hostile.flood(address, 4, FLOODS[name], 2 if name == "many-moves" else 1500)
        assert STATUS in trailers
        assert b"flood: too many messages without effect; come back in 10 s" in trailers
        async with grpc.aio.insecure_channel(address) as channel:
            again = bots_pb2_grpc.BotServiceStub(channel).Play(None, metadata=bearer("bot-4"))
            hello = bots_pb2.Hello(protocol_version=1)
            await again.write(bots_pb2.PlayRequest(hello=hello))
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await again.read()
        assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert "flood: come back in" in str(caught.value.details())
    assert journal.of(4, EntryKind.LOST, "flood")
    assert journal.of(4, EntryKind.REFUSED, "flood")


async def test_flood_when_the_bot_plays_then_its_turn_is_a_fault_and_the_others_play_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "PENALTY_SECONDS", 0.5)
    journal = ListJournal()
    limits = Limits(decision_ms=60_000, join_seconds=20, faults=10)
    spec = match_spec(sessions=3, limits=limits)
    async with (
        referee(options=ServerOptions(drain_seconds=0, journal=journal)) as address,
        sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)),
    ):
        async with WireBot(address, 4) as bot:
            running = asyncio.create_task(play_match(address, spec))
            await bot.next("turn")
            for _ in range(2):
                await bot.write(FLOODS["many-moves"])
            assert (await bot.ended()).code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        async with sdk_bots(address, {4: lowest}):
            results = await running
    faults = journal.of(4, EntryKind.FAULT)
    assert {entry.code for entry in faults} == {"flood"}
    recorded = 0
    for result in results:
        check_records(spec, result)
        for record in result.records:
            for fault in json.loads(record).get("faults", ()):
                assert fault["kind"] == "flood"
                recorded += 1
    assert recorded == len(faults) > 0
    assert {entry.version_id for entry in journal.entries if entry.kind is EntryKind.FAULT} == {4}


async def test_answers_when_many_come_after_their_sessions_ended_then_that_is_no_flood() -> None:
    async with (
        referee() as address,
        sdk_bots(address, dict.fromkeys((1, 2, 3), lowest)),
        WireBot(address, 4) as bot,
    ):
        await bot.write(
            bots_pb2.PlayRequest(moves=[bots_pb2.Move(session=n, sequence=1) for n in range(256)])
        )
        for _ in range(256):
            assert (await bot.next("notice")).code == bots_pb2.NOTICE_CODE_UNKNOWN_SESSION
        await bot.write(bots_pb2.PlayRequest())
        await bot.move(bots_pb2.Turn(session=1, sequence=2))
        assert (await bot.next("notice")).sequence == 2

"""Tests for the referee's side of a bot's stream, without a network."""

import asyncio
from typing import Any

import pytest

from referee.matches.auth import BotIdentity
from referee.matches.connection import CloseCode
from referee.matches.events import log_length
from referee.protocol import lazy
from referee.service.access import Access
from referee.service.gate import Gate
from referee.service.server import ServerOptions, keep_beating
from referee.service.stream import Alarm, BotStream, clock
from referee.v1 import bots_pb2
from tests.referee.harness import Harness
from tests.referee.support import Tokens, match_spec
from tests.waiting import DEADLINE


class Wire:
    """Accepts what a stream writes."""

    def __init__(self) -> None:
        self.events: list[bots_pb2.Event] = []

    async def write(self, message: bytes) -> None:
        self.events += bots_pb2.PlayResponse.FromString(message).events


async def test_writer_when_another_stream_took_its_place_then_it_hands_out_no_turn() -> None:
    harness = Harness()
    harness.now = clock()
    harness.lobby.beat(harness.now)
    stream = BotStream(harness.lobby, Alarm(harness.lobby), BotIdentity(1, "owner/bot1@1"), 256)
    harness.lobby.connect(stream.connection, harness.now)
    others = [harness.connect(number) for number in (2, 3, 4)]
    harness.open(match_spec(sessions=8))
    while any(bot.read() for bot in others):
        for bot in others:
            for turn in list(bot.turns.values()):
                bot.play(turn)
    assert not any(bot.turns for bot in others)  # in all sessions bot 1 is to act

    harness.lobby.close(stream.connection, CloseCode.REPLACED, "gone", harness.now)
    again = harness.connect(1)
    wire: Any = Wire()
    await stream.write(wire, ServerOptions())
    again.read()

    assert {event.WhichOneof("event") for event in wire.events} == {"session_started", "deal_started"}
    assert len(again.turns) == 8
    assert [turn.since for turn in again.turns.values()] == [0] * 8
    assert any(log_length(turn.deal) for turn in again.turns.values())


class Broken:
    """A deal that fails as soon as it is looked at."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("no good")


async def test_stream_when_a_table_fails_then_the_others_go_on(caplog: pytest.LogCaptureFixture) -> None:
    harness = Harness()
    harness.now = clock()
    harness.lobby.beat(harness.now)
    stream = BotStream(harness.lobby, Alarm(harness.lobby), BotIdentity(1, "owner/bot1@1"), 256)
    harness.lobby.connect(stream.connection, harness.now)
    others = [harness.connect(number) for number in (2, 3, 4)]
    match = harness.open(match_spec(sessions=8))
    while any(bot.read() for bot in others):
        for bot in others:
            for turn in list(bot.turns.values()):
                bot.play(turn)
    tables = list(match.tables.values())
    for table in tables[:2]:
        for seat in table.seats:
            if seat.turn is not None:
                seat.turn.deal = Broken()  # type: ignore[assignment]
    wire: Any = Wire()
    writer = asyncio.create_task(stream.write(wire, ServerOptions()))
    while not wire.events:
        await asyncio.sleep(0)

    assert harness.lobby.failures == 2
    turns = [event.turn for event in wire.events if event.HasField("turn")]
    assert {turn.session for turn in turns} == {table.info.handle for table in tables[2:]}

    tables[2]._deal = Broken()  # type: ignore[assignment]
    moves = [bots_pb2.Move(session=turn.session, sequence=turn.sequence, passes=True) for turn in turns]
    request = bots_pb2.PlayRequest(moves=moves).SerializeToString()
    stream.handle(lazy.PlayRequest.FromString(request))
    writer.cancel()
    assert harness.lobby.failures == 3
    assert match.voided == 3
    assert stream.connection.closing is None
    assert [record.getMessage() for record in caplog.records] == [
        f"session m/{number} failed, and is void" for number in (1, 2, 3)
    ]


async def test_beat_when_it_fails_then_the_next_one_comes(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    lobby = Harness().lobby
    beats: list[float] = []
    again = asyncio.Event()

    def beat(now: float) -> None:
        beats.append(now)
        if len(beats) == 1:
            raise RuntimeError("no good")
        again.set()

    monkeypatch.setattr(lobby, "beat", beat)
    beating = asyncio.create_task(keep_beating(lobby, Alarm(lobby), Access(Tokens(), Gate(lobby))))
    async with asyncio.timeout(DEADLINE):
        await again.wait()
    beating.cancel()
    assert [record.getMessage() for record in caplog.records] == ["the lobby's beat failed"]

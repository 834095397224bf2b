"""A bot's stream on the referee's side, without a network."""

from typing import Any

from referee.matches.auth import BotIdentity
from referee.matches.connection import CloseCode
from referee.matches.events import log_length
from referee.service.stream import Alarm, BotStream, clock
from referee.v1 import play_pb2
from tests.referee.harness import Harness
from tests.referee.support import match_spec


class Wire:
    """Takes what a stream writes."""

    def __init__(self) -> None:
        self.events: list[play_pb2.Event] = []

    async def write(self, message: bytes) -> None:
        self.events += play_pb2.PlayResponse.FromString(message).events


async def test_writer_when_another_stream_took_its_place_then_it_hands_out_no_turn() -> None:
    harness = Harness()
    harness.now = clock()
    harness.lobby.beat(harness.now)
    stream = BotStream(harness.lobby, Alarm(harness.lobby), BotIdentity(1, "owner/bot1@1"), 256, False)
    harness.lobby.connect(stream.connection, harness.now)
    others = [harness.connect(number) for number in (2, 3, 4)]
    harness.open(match_spec(sessions=8))
    while any(bot.read() for bot in others):
        for bot in others:
            for turn in list(bot.turns.values()):
                bot.play(turn)
    assert not any(bot.turns for bot in others)  # in all sessions it is the turn of bot 1

    harness.lobby.close(stream.connection, CloseCode.REPLACED, "gone", harness.now)
    again = harness.connect(1)
    wire: Any = Wire()
    await stream.write(wire, [], "")
    again.read()

    assert {event.WhichOneof("event") for event in wire.events} == {"session_started", "deal_started"}
    assert len(again.turns) == 8
    assert [turn.since for turn in again.turns.values()] == [0] * 8
    assert any(log_length(turn.deal) for turn in again.turns.values())

"""Tests that this referee and this client can play the recorded sessions of v1."""

import asyncio
import itertools
from collections.abc import Sequence
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict

from referee.bot import Play, Turn
from referee.bot.client import BotClient
from tests.wire import capture, record, replay
from tests.wire.capture import BOT, END, REFEREE, Frame
from tests.wire.streams import DEADLINE, ByteStream, playing


def first_legal(turn: Turn) -> Play | None:
    """Play the first legal play."""
    return turn.legal[0] if turn.legal else None


def recorded_welcome(frames: Any) -> dict[str, Any]:
    first = next(frame for frame in frames if frame.sender == REFEREE)
    welcome: dict[str, Any] = MessageToDict(
        capture.response(first.payload).welcome, preserving_proto_field_name=True
    )
    return welcome


def story_of(frames: Sequence[Frame]) -> dict[str, Any]:
    """Return what happened on a stream, apart from the order of what comes at the same time."""
    sent = [capture.request(frame.payload) for frame in frames if frame.sender == BOT]
    said = [capture.response(frame.payload) for frame in frames if frame.sender == REFEREE]
    return {
        "told": sorted(map(repr, replay.told(frames))),
        "moves": [move for message in sent for move in message.moves],
        "leaves": [message.HasField("goodbye") for message in sent if not message.HasField("pong")],
        "closing": [message.closing.retry_delay for message in said if message.HasField("closing")],
        "end": [frame.payload for frame in frames if frame.sender == END],
    }


def events_of(name: str) -> list[dict[str, Any]]:
    return list(itertools.chain.from_iterable(map(replay.told, capture.load(name).streams)))


@pytest.mark.parametrize("name", capture.NAMES)
async def test_referee_when_the_recorded_bot_plays_then_it_is_told_the_same(name: str) -> None:
    recorded = capture.load(name)
    async with playing(recorded.spec) as (address, results):
        for frames in recorded.streams:
            async with ByteStream(address, capture.RECORDED) as stream:
                bot = replay.RecordedBot(stream, frames)
                await bot.play()
            assert bot.welcome == recorded_welcome(frames)
            assert bot.told == replay.told(frames)
        assert len(await results) == 1


@pytest.mark.parametrize("name", capture.NAMES)
async def test_client_when_the_recorded_referee_plays_then_it_answers_every_turn_legally(name: str) -> None:
    async with replay.recorded_referee(name) as (address, referee):
        client = BotClient(first_legal, "bot-1")
        running = asyncio.create_task(client.run([address]))
        async with asyncio.timeout(2 * DEADLINE):
            await referee.over.wait()
            client.leave()
            await running
    assert referee.problems == []
    assert [hello.protocol_version for hello in referee.hellos] == [1] * len(capture.load(name).streams)


@pytest.mark.parametrize("name", record.STUDIES)
async def test_study_when_it_is_played_again_then_the_same_happens(name: str) -> None:
    recorded = capture.load(name)
    again = await record.play(recorded.spec, record.SCRIPTS[name])
    assert [story_of(frames) for frames in again] == [story_of(frames) for frames in recorded.streams]


def test_captures_when_counted_then_everything_of_the_protocol_is_among_them() -> None:
    """A capture that lacks something would promise nothing about it."""
    events = events_of("session")
    kinds = {kind for event in events for kind in event}
    assert kinds == {
        *("session_started", "deal_started", "turn", "deal_ended", "session_ended", "fault", "notice")
    }
    turns = [event["turn"] for event in events if "turn" in event]
    assert {turn["kind"] for turn in turns} == {1, 2, 3, 4}
    actions = [action for turn in turns for action in turn.get("actions", ())]
    assert {action["kind"] for action in actions} == {1, 2, 3, 4}
    assert any("drawn_cards" in action for action in actions)
    assert {event["fault"]["kind"] for event in events if "fault" in event} == {1, 3}
    assert sum("resumed" in event.get("session_started", ()) for event in events) == 2
    sent = [
        capture.request(frame.payload)
        for frames in capture.load("session").streams
        for frame in frames
        if frame.sender == capture.BOT
    ]
    fields = {field.name for message in sent for field, _ in message.ListFields()}
    assert fields == {"hello", "moves", "pong", "capacity", "goodbye"}

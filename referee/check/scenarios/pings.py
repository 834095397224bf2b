"""Pings: they are answered at once, each with its id."""

import time

from referee.check.desk import Desk, Group
from referee.check.outcome import Failed, Warned
from referee.check.scenarios.turns import FOUR, small
from referee.check.session import BotSession, describe_request, due
from referee.v1 import bots_pb2

group = Group()

LATE_SECONDS = 0.5
"""A pong that takes longer than this looks like a bot that is stuck."""


def ping(number: int) -> bots_pb2.PlayResponse:
    """Return a message with just a ping."""
    return bots_pb2.PlayResponse(ping=bots_pb2.Ping(id=number))


async def pongs(desk: Desk, ids: list[int]) -> None:
    """Wait for these pongs, in this order."""
    for number in ids:
        request = bots_pb2.PlayRequest()
        while not request.HasField("pong"):
            request = await desk.hear(f"a pong with id {number}")
        if request.pong.id != number:
            raise Failed(f"expected a pong with id {number}; got {describe_request(request)}")


async def answer_all(desk: Desk, sessions: list[BotSession]) -> list[int]:
    """Wait until the open turns are answered. Return the ids of the pongs that came with the answers."""
    ids = []
    while owing := [session for session in sessions if session.turn is not None]:
        request = await desk.hear(due(owing))
        if request.HasField("pong"):
            ids.append(request.pong.id)
        for session, move in desk.answers(sessions, request, bots_pb2.PlayResponse()):
            session.take(move)
    return ids


@group("PING-01", "Answers a ping when idle", "One ping with id 41 while no session is open.")
async def when_idle(desk: Desk) -> None:
    desk.send(ping(41))
    await pongs(desk, [41])


@group(
    "PING-02",
    "Answers each ping once",
    "Nothing follows the pong, and no pong comes without a ping.",
    after=("PING-01",),
)
async def answers_once(desk: Desk) -> None:
    desk.send(ping(42))
    await pongs(desk, [42])
    await desk.nothing(why="as its only ping was answered")


@group(
    "PING-03",
    "Answers several pings",
    "Ten pings in a row, each in its own message, are answered in order.",
    after=("PING-01",),
)
async def several(desk: Desk) -> None:
    ids = list(range(100, 110))
    desk.send(*map(ping, ids))
    await pongs(desk, ids)


@group(
    "PING-04",
    "Repeats any id",
    "Ids 0, 1, 2^31 and 2^32 - 1: the pong is there even where its id is 0.",
    after=("PING-01",),
)
async def any_id(desk: Desk) -> None:
    ids = [0, 1, 1 << 31, (1 << 32) - 1]
    for number in ids:
        desk.send(ping(number))
        await pongs(desk, [number])


@group(
    "PING-05",
    "Answers a ping among turns",
    "The ping stands in a message with turns: both are answered.",
    after=("PING-01",),
)
async def beside_turns(desk: Desk) -> None:
    sessions = [desk.session(small(), 0, hands=FOUR) for _ in range(3)]
    response = ping(51)
    for session in sessions:
        session.open(response)
    desk.send(response)
    ids = await answer_all(desk, sessions)
    if not ids:
        await pongs(desk, [51])
    elif ids != [51]:
        raise Failed(f"expected one pong, with id 51; got {ids}")


@group(
    "PING-06",
    "Answers pings while it plays",
    "Four messages with turns carry a ping each, and every one is answered.",
    after=("PING-01",),
)
async def while_playing(desk: Desk) -> None:
    sessions = [desk.session(small(6), seat) for seat in range(2)]
    ids = list(range(600, 604))
    heard = []
    response = bots_pb2.PlayResponse()
    for session in sessions:
        session.open(response)
    for number in ids:
        response.ping.id = number
        desk.send(response)
        heard += await answer_all(desk, sessions)
        response = bots_pb2.PlayResponse()
        for session in sessions:
            session.go_on(response)
    await pongs(desk, ids[len(heard) :])
    if heard != ids[: len(heard)]:
        raise Failed(f"expected pongs with the ids {ids}; got {heard}")


@group(
    "PING-07",
    "Answers a ping while it thinks",
    "A ping right after many turns; a pong after more than 0.5 s is a warning.",
    after=("PING-01",),
)
async def while_thinking(desk: Desk) -> None:
    sessions = [desk.session("chinese", number % 4) for number in range(min(32, desk.sessions_at_once))]
    desk.open(sessions)
    desk.send(ping(71))
    began = time.monotonic()
    request = bots_pb2.PlayRequest()
    while not request.HasField("pong"):
        request = await desk.hear("a pong with id 71")
        for session, move in desk.answers(sessions, request, bots_pb2.PlayResponse()):
            session.take(move)
    taken = time.monotonic() - began
    await answer_all(desk, sessions)
    if taken > LATE_SECONDS:
        raise Warned(
            f"expected a pong within {LATE_SECONDS:g} s though turns wait; it took {taken:.1f} s: a bot that "
            "answers pings only between its decisions looks stuck while it thinks"
        )

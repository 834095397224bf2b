"""How messages arrive: one by one, hundreds at once, large, late; and how they are answered."""

import asyncio

from referee.check.desk import QUIET_SECONDS, Desk, Group
from referee.check.outcome import Failed
from referee.check.scenarios.turns import FOUR, small
from referee.check.session import describe_request, is_capacity, notice
from referee.v1 import bots_pb2

group = Group()


@group(
    "MSG-01", "Answers every turn once", "Six sessions; no turn is answered twice, and nothing else is sent."
)
async def answers_once(desk: Desk) -> None:
    rules = small(6)
    sessions = [desk.session(rules, number % 4) for number in range(min(6, desk.sessions_at_once))]
    await desk.play(sessions)
    await asyncio.sleep(QUIET_SECONDS)
    for request in desk.take_late():
        list(desk.answers(sessions, request, bots_pb2.PlayResponse()))
        if not request.moves and not is_capacity(request):
            raise Failed(f"expected no message, as every turn was answered; got {describe_request(request)}")
    if desk.strays:
        raise Failed(f"expected one answer to each turn; got another one for {desk.strays[0]}")


@group("MSG-02", "Takes events one by one", "Every event is a message of its own, with 10 ms between them.")
async def one_by_one(desk: Desk) -> None:
    async def slowly(response: bots_pb2.PlayResponse) -> None:
        for event in response.events:
            desk.send(bots_pb2.PlayResponse(events=[event]))
            await asyncio.sleep(0.01)

    await desk.play([desk.session(small(), 0), desk.session(small(6), 1, deals=2)], deliver=slowly)


@group("MSG-03", "Takes hundreds of events at once", "One message of more than 400 events, turns among them.")
async def hundreds(desk: Desk) -> None:
    async def padded(response: bots_pb2.PlayResponse) -> None:
        filler = [notice(bots_pb2.NOTICE_CODE_STALE_MOVE) for _ in range(400)]
        half = len(response.events) // 2
        events = [
            *filler[:100],
            *response.events[:half],
            *filler[100:300],
            *response.events[half:],
            *filler[300:],
        ]
        desk.send(bots_pb2.PlayResponse(events=events))

    sessions = [desk.session(small(), number % 4) for number in range(min(32, desk.sessions_at_once))]
    await desk.play(sessions, deliver=padded, turns=1)


@group("MSG-04", "Takes a message of 1 MiB", "A turn stands at the end of a message of almost 1 MiB.")
async def large(desk: Desk) -> None:
    async def padded(response: bots_pb2.PlayResponse) -> None:
        filler = [notice(bots_pb2.NOTICE_CODE_UNEXPECTED, "x" * 10_000) for _ in range(100)]
        desk.send(bots_pb2.PlayResponse(events=[*filler, *response.events]))

    await desk.play([desk.session(small(), 0, hands=FOUR)], deliver=padded, turns=1)


@group(
    "MSG-05",
    "Plays over a slow network",
    "Messages come 100 ms late, one event at a time; answers are read late.",
)
async def slow(desk: Desk) -> None:
    async def late(response: bots_pb2.PlayResponse) -> None:
        await asyncio.sleep(0.1)
        for event in response.events:
            desk.send(bots_pb2.PlayResponse(events=[event]))
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.1)

    await desk.play([desk.session(small(), 0), desk.session(small(), 1)], deliver=late)


@group(
    "MSG-06",
    "Takes every notice",
    "Notices of every code, and for sessions it does not play, among the events.",
)
async def notices(desk: Desk) -> None:
    codes = [code for code in bots_pb2.NoticeCode.values() if code]

    async def noted(response: bots_pb2.PlayResponse) -> None:
        around = [notice(code, session=session) for code in codes for session in (None, 123_456)]
        desk.send(bots_pb2.PlayResponse(events=[*around, *response.events, *around]))

    await desk.play([desk.session(small(), 0), desk.session(small(), 1)], deliver=noted)


@group(
    "MSG-07",
    "Answers without waiting for more",
    "A turn followed by nothing, and one followed by other sessions' events.",
)
async def no_wait(desk: Desk) -> None:
    alone, ended = desk.session(small(), 0, hands=FOUR), desk.session(small(), 0, hands=FOUR)

    async def with_an_end(response: bots_pb2.PlayResponse) -> None:
        if not ended.over:
            ended.open(response)
            ended.void(response)
        desk.send(response)

    await desk.play([alone], deliver=with_an_end, turns=2)


@group(
    "MSG-08",
    "Takes an empty message",
    "An empty message, and one with an empty event.",
)
async def empty(desk: Desk) -> None:
    async def among_nothing(response: bots_pb2.PlayResponse) -> None:
        nothing = bots_pb2.PlayResponse()
        desk.send(nothing, bots_pb2.PlayResponse(events=[bots_pb2.Event()]), response, nothing)

    await desk.play([desk.session(small(), 0)], deliver=among_nothing)

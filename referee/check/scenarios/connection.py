"""Losing the connection and coming back."""

import asyncio
import itertools
import time

import grpc

from referee.check.alter import add_unknown_fields
from referee.check.desk import Desk, Group
from referee.check.outcome import Failed, Warned
from referee.check.scenarios.pings import ping, pongs
from referee.check.scenarios.turns import FOUR, small
from referee.check.session import BotSession, due, eager, quiet
from referee.check.stream import Line
from referee.protocol.reasons import Reason, Refused
from referee.v1 import bots_pb2

group = Group()

STORM_SECONDS = 0.5
"""Five attempts within this time are a storm."""
LONG_SECONDS = 1.0
"""A wait of this length is long enough."""


async def resume(desk: Desk, sessions: list[BotSession]) -> None:
    """Tell the bot of its open sessions."""
    response = bots_pb2.PlayResponse()
    for session in sessions:
        session.resume(response)
    desk.send(response)


def shutdown(delay: float) -> bots_pb2.PlayResponse:
    """Return the message that the referee is closing; the bot may come back ``delay`` seconds later."""
    closing = bots_pb2.Closing(reason="the referee is shutting down")
    closing.retry_delay.FromMilliseconds(round(delay * 1000))
    closing.end_delay.FromSeconds(10)
    return bots_pb2.PlayResponse(closing=closing)


async def returns_after(desk: Desk, ended: float, delay: float) -> None:
    """Wait for the bot. Raise Failed if it comes less than ``delay`` seconds after its stream ended."""
    line = await desk.knock(desk.return_seconds + delay)
    desk.greet(line, desk.hello)
    if (waited := line.began - ended) < 0.95 * delay:
        raise Failed(f"expected no attempt before the delay of {delay:g} s; one came after {waited:.2f} s")


async def answer(desk: Desk, session: BotSession, out: bots_pb2.PlayResponse) -> None:
    """Take the bot's answer to the open turn of its only session."""
    while session.turn is not None:
        request = await desk.hear(due([session]))
        for _, move in desk.answers([session], request, out):
            session.take(move)


@group(
    "CONN-01",
    "Comes back when idle",
    "The stream breaks with UNAVAILABLE; a new one opens with the same hello.",
    seconds=15,
)
async def idle(desk: Desk) -> None:
    await desk.break_off()
    await desk.come_back()
    await desk.nothing(why="as no session is open")


@group(
    "CONN-02",
    "Ignores unknown fields in the welcome",
    "The welcome has fields that are not known yet.",
    seconds=15,
    after=("CONN-01",),
)
async def future_welcome(desk: Desk) -> None:
    await desk.break_off()
    await desk.knock()
    welcome = desk.welcome()
    add_unknown_fields(welcome)
    desk.send(welcome)
    await desk.play([desk.session(small(), 0, hands=FOUR)], turns=1)


@group(
    "CONN-03",
    "Answers a ping right after the welcome",
    "The first message after the welcome is a ping.",
    seconds=15,
    after=("CONN-01", "PING-01"),
)
async def busy_welcome(desk: Desk) -> None:
    await desk.break_off()
    await desk.come_back()
    desk.send(ping(31))
    await pongs(desk, [31])


@group(
    "CONN-04",
    "Resumes a deal while it owes a turn",
    "The stream breaks before its answer; the turn comes again with its sequence and all actions.",
    seconds=20,
    after=("CONN-01",),
)
async def owing(desk: Desk) -> None:
    sessions = [desk.session(small(6), 0), desk.session(small(6, name="check-resumed"), 1)]
    desk.open(sessions)
    for _ in range(2):
        await desk.break_off()
        await desk.come_back()
        await resume(desk, sessions)
    await desk.go_on(sessions)


@group(
    "CONN-05",
    "Resumes in mid-deal",
    "The stream breaks after each of its first answers; hand and table are rebuilt.",
    seconds=25,
    after=("CONN-01",),
)
async def mid_deal(desk: Desk) -> None:
    session = desk.session(small(7), 0, others=quiet)
    desk.open([session])
    for _ in range(3):
        out = bots_pb2.PlayResponse()
        await answer(desk, session, out)
        await desk.break_off()
        session.go_on(out)
        if session.over:
            break
        await desk.come_back()
        await resume(desk, [session])
    await desk.ready()
    await desk.go_on([session])


@group(
    "CONN-06",
    "Resumes in another deal",
    "The deal ended while it was away: it comes back to the next one.",
    seconds=15,
    after=("CONN-01",),
)
async def next_deal(desk: Desk) -> None:
    session = desk.session(small(), 0, deals=2, hands={1: FOUR[1], 2: FOUR[1]}, others=eager)
    desk.open([session])
    await desk.break_off()
    while session.turn is not None and session.deal.number == 1:
        session.take_default()
        session.go_on(bots_pb2.PlayResponse())
    await desk.come_back()
    await resume(desk, [session])
    await desk.go_on([session])


@group(
    "CONN-07",
    "Forgets sessions that ended meanwhile",
    "A session ended while it was away; its handle is that of a new one.",
    seconds=15,
    after=("CONN-01",),
)
async def ended(desk: Desk) -> None:
    session = desk.session(small(), 0, hands=FOUR)
    desk.open([session])
    await desk.break_off()
    session.void(bots_pb2.PlayResponse())
    await desk.come_back()
    await desk.play([desk.session("lectio", 3, handle=session.handle, seed="new")], turns=3)


@group(
    "CONN-08",
    "Keeps old answers to itself",
    "What it had to answer on the old stream is not answered on the new one.",
    seconds=15,
    after=("CONN-01",),
)
async def old_answers(desk: Desk) -> None:
    sessions = [desk.session("chinese", number % 4) for number in range(min(16, desk.sessions_at_once))]
    desk.open(sessions)
    await desk.break_off()
    for session in sessions:
        session.void(bots_pb2.PlayResponse())
    await desk.come_back()
    await desk.nothing(0.5, why="as no session is open on the new stream")


@group(
    "CONN-09",
    "Comes back after other ends",
    "The stream ends with OK, INTERNAL, RESOURCE_EXHAUSTED and DEADLINE_EXCEEDED.",
    seconds=40,
    after=("CONN-01",),
)
async def other_ends(desk: Desk) -> None:
    codes = grpc.StatusCode
    for code in (codes.OK, codes.INTERNAL, codes.RESOURCE_EXHAUSTED, codes.DEADLINE_EXCEEDED):
        await desk.break_off(code)
        try:
            await desk.come_back()
        except Failed as error:
            raise type(error)(f"after a stream that ended with {code.name}: {error}") from None


@group(
    "CONN-10",
    "Comes back to a referee that restarts",
    "The referee says that it closes, and ends the stream with CLOSING.",
    seconds=15,
    after=("CONN-01",),
)
async def closing(desk: Desk) -> None:
    desk.send(shutdown(0.2))
    await asyncio.sleep(0.1)
    await desk.refuse(Refused(Reason.CLOSING, retry_seconds=0.2))
    await desk.come_back()


@group(
    "CONN-11",
    "Comes back after an outage",
    "The referee refuses connections for a second, then accepts them again.",
    seconds=20,
    after=("CONN-01",),
)
async def outage(desk: Desk) -> None:
    address = desk.board.address
    await desk.break_off()
    await desk.board.stop()
    await asyncio.sleep(1)
    await desk.board.listen(address)
    await desk.come_back()
    await desk.play([desk.session(small(), 0, hands=FOUR)], turns=1)


@group(
    "CONN-12",
    "Tries again after ALREADY_CONNECTED",
    "Its first attempt is refused: a stream of its own seems to live still.",
    seconds=20,
    after=("CONN-01",),
)
async def already_connected(desk: Desk) -> None:
    await desk.break_off()
    line = await desk.knock()
    await line.refuse(Refused(Reason.ALREADY_CONNECTED, referee_id=desk.board.referee_id))
    await desk.come_back()


@group(
    "CONN-13",
    "Waits longer from attempt to attempt",
    "Five attempts are refused; they must not come in a storm.",
    seconds=45,
    after=("CONN-01",),
)
async def back_off(desk: Desk) -> None:
    await desk.break_off()
    begins = []
    for _ in range(5):
        line: Line = await desk.knock()
        begins.append(line.began)
        await line.close(grpc.StatusCode.UNAVAILABLE, "the check refuses this attempt; try again later")
    await desk.come_back()
    gaps = [after - before for before, after in itertools.pairwise(begins)]
    text = ", ".join(f"{gap:.2f}" for gap in gaps)
    if begins[-1] - begins[0] < STORM_SECONDS:
        raise Failed(
            f"expected waits between attempts to connect, longer each time; five came within "
            f"{begins[-1] - begins[0]:.2f} s"
        )
    if gaps[-1] < 1.2 * gaps[0] and max(gaps) < LONG_SECONDS:
        raise Warned(f"expected longer waits from attempt to attempt; they were {text} s")
    ratios = [after / before for before, after in itertools.pairwise(gaps)]
    if max(ratios) - min(ratios) < 0.02:
        raise Warned(f"expected waits with some randomness; they were {text} s")


@group(
    "CONN-14",
    "Answers pings after a reconnect",
    "A new stream has its own pings, answered like those of the first.",
    seconds=15,
    after=("CONN-01", "PING-01"),
)
async def ping_again(desk: Desk) -> None:
    await desk.break_off()
    await desk.come_back()
    desk.send(ping(41), ping(41))
    await pongs(desk, [41, 41])


@group(
    "CONN-15",
    "Keeps to one stream",
    "Through the whole check, no second stream was opened next to a live one.",
)
async def one_stream(desk: Desk) -> None:
    if desk.board.doubles:
        raise Failed(
            f"expected one stream at a time; {desk.board.doubles} more were opened next to a live one"
        )


@group(
    "CONN-16",
    "Plays on while the referee closes",
    "The referee says that it closes; open sessions go on to their end, then the stream ends with CLOSING.",
    seconds=20,
    after=("CONN-01",),
)
async def plays_on(desk: Desk) -> None:
    sessions = [desk.session(small(6), 0), desk.session(small(6), 1)]
    desk.open(sessions)
    desk.send(shutdown(0.1))
    await desk.go_on(sessions)
    await desk.refuse(Refused(Reason.CLOSING, retry_seconds=0.1))
    await desk.come_back()


@group(
    "CONN-17",
    "Waits as long as a refusal says",
    "CLOSING and BUSY with a delay of 1.5 s: it comes back, and not before.",
    seconds=30,
    after=("CONN-01",),
)
async def retry_delay(desk: Desk) -> None:
    for reason in (Reason.CLOSING, Reason.BUSY):
        await desk.refuse(Refused(reason, retry_seconds=1.5))
        await returns_after(desk, time.monotonic(), 1.5)


@group(
    "CONN-18",
    "Works with one address alone",
    "The welcome lists a second referee that cannot be reached; the bot plays here, on one stream.",
    seconds=20,
    after=("CONN-01",),
)
async def one_address(desk: Desk) -> None:
    await desk.break_off()
    line = await desk.knock()
    nowhere = bots_pb2.Referee(id="out-of-reach", address="127.0.0.1:1")
    desk.greet(line, desk.hello, referees=[desk.referee, nowhere], max_sessions=1)
    await asyncio.sleep(0.5)
    await desk.play([desk.session(small(), 0)])
    await desk.play([desk.session(small(), 1)])

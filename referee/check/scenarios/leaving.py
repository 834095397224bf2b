"""Leaving, and giving up; only for a bot that the check starts."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from referee.check.desk import QUIET_SECONDS, Desk, Group
from referee.check.outcome import Absent, Failed, Lost, Warned
from referee.check.process import BotProcess
from referee.check.scenarios.turns import FOUR, small
from referee.check.session import due, quiet
from referee.check.stream import Switchboard
from referee.protocol.reasons import Reason, Refused
from referee.v1 import bots_pb2

group = Group()


def process_of(desk: Desk) -> BotProcess:
    """Return the bot's process."""
    assert desk.process is not None
    return desk.process


@asynccontextmanager
async def another(desk: Desk, referee_id: str = "check-2") -> AsyncIterator[Desk]:
    """Run a second referee on another port; after the block it turns the bot away, and the bot is stopped."""
    board = Switchboard(referee_id)
    host = desk.board.address.rpartition(":")[0]
    await board.listen(f"{host}:0")
    other = Desk(board, desk.bot, desk.token, None)
    try:
        yield other
    finally:
        await other.refuse(Refused(Reason.TOKEN_REVOKED))
        await board.stop()
        await process_of(desk).stop()


async def welcome_with(desk: Desk, *referees: Desk) -> None:
    """Have the bot connect anew; the welcome lists these referees."""
    await desk.break_off()
    line = await desk.knock()
    desk.greet(line, desk.hello, referees=[referee.referee for referee in referees])


@group(
    "END-01",
    "Streams to every referee",
    "The welcome lists a second referee; the bot connects to it too.",
    seconds=25,
    needs="command",
)
async def referees(desk: Desk) -> None:
    async with another(desk) as other:
        await welcome_with(desk, desk, other)
        try:
            await other.come_back(desk.patience)
        except Absent:
            raise Failed(
                "expected a stream to each referee that the welcome lists; none came to the second one "
                f"within {desk.patience:g} s"
            ) from None
        await desk.nothing(why="as no session is open")


@group(
    "END-02",
    "Says goodbye",
    "At SIGTERM it sends a goodbye, and its process ends.",
    seconds=25,
    needs="command",
)
async def goodbye(desk: Desk) -> None:
    process = process_of(desk)
    # Its answer shows that it has read the welcome; before, it need not say goodbye.
    await desk.play([desk.session(small(), 0, hands=FOUR)], turns=1)
    assert desk.line is not None
    process.signal(signal.SIGTERM)
    try:
        while not (await desk.line.receive(desk.patience, "a goodbye at SIGTERM")).request.HasField(
            "goodbye"
        ):
            pass
    except Lost:
        raise Failed("expected a goodbye at SIGTERM; the stream ended without one") from None
    if not await process.ended(desk.patience):
        raise Failed(f"expected the process to end after its goodbye; it still ran {desk.patience:g} s later")


@group(
    "END-03",
    "Leaves while no referee answers",
    "At SIGTERM between two attempts to connect, its process ends.",
    seconds=25,
    needs="command",
)
async def leaves_when_refused(desk: Desk) -> None:
    process = process_of(desk)
    await desk.break_off()
    for _ in range(2):
        line = await desk.knock()
        await line.refuse(Refused(Reason.TOKENS_UNAVAILABLE, retry_seconds=0.2))
    process.signal(signal.SIGTERM)
    if not await process.ended(desk.patience):
        raise Failed(f"expected the process to end at SIGTERM; it still ran {desk.patience:g} s later")


async def turned_away(desk: Desk, refusal: Refused) -> None:
    """Refuse the bot's next hello for good."""
    await desk.break_off()
    line = await desk.knock()
    await line.refuse(refusal)
    await gives_up(desk, refusal)


async def gives_up(desk: Desk, refusal: Refused) -> None:
    """Raise Failed or Warned unless the bot, refused for good, tries no more and ends with an error."""
    process, name = process_of(desk), refusal.reason
    try:
        await desk.knock(desk.patience)
    except Absent:
        pass
    except (Failed, Lost):
        raise Failed(f"expected no further attempt after {name}; another one came") from None
    else:
        raise Failed(f"expected no further attempt after {name}; another one came")
    if not await process.ended(0):
        raise Warned(f"expected the process to end with an error after {name}; it still runs")
    if process.status == 0:
        raise Warned(f"expected a non-zero exit status after {name}; it was 0")


@group(
    "END-04",
    "Gives up without a valid token",
    "Its call is refused with TOKEN_UNKNOWN: another attempt cannot help.",
    seconds=25,
    needs="command",
)
async def token_unknown(desk: Desk) -> None:
    await turned_away(desk, Refused(Reason.TOKEN_UNKNOWN))


@group(
    "END-05",
    "Gives up with a version not spoken",
    "Its hello is refused with PROTOCOL_VERSION.",
    seconds=25,
    needs="command",
)
async def protocol_version(desk: Desk) -> None:
    text = "protocol_version: 1 is not spoken here, 2 is"
    await turned_away(desk, Refused(Reason.PROTOCOL_VERSION, text, supported="2"))


@group(
    "END-06",
    "Gives up when its token is revoked",
    "Its live stream ends with TOKEN_REVOKED.",
    seconds=25,
    needs="command",
)
async def revoked(desk: Desk) -> None:
    refusal = Refused(Reason.TOKEN_REVOKED)
    await desk.refuse(refusal)
    await gives_up(desk, refusal)


@group(
    "END-07",
    "One stream to a referee of two addresses",
    "The welcome's referee is listed with another address; a stream to that one too is a warning.",
    seconds=25,
    needs="command",
)
async def other_address(desk: Desk) -> None:
    async with another(desk, desk.board.referee_id) as same, another(desk) as other:
        await welcome_with(desk, same, other)
        with suppress(Absent):  # END-01 reports it
            await other.come_back(desk.patience)
        await desk.nothing(why="as no session is open")
        if not same.board.lines.empty():
            raise Warned(
                "expected no stream to the address that the welcome says is this referee's own; one came, "
                "which a referee refuses"
            )


@group(
    "END-08",
    "Gives up at a final reason of the future",
    "Its hello is refused with a reason that is not known yet, and no delay after which to try again.",
    seconds=25,
    needs="command",
)
async def unknown_final(desk: Desk) -> None:
    refusal = Refused(Reason.FIELD_INVALID, "not like this")
    refusal.reason = "OF_THE_FUTURE"  # type: ignore[assignment]
    await turned_away(desk, refusal)


@group(
    "END-09",
    "Finishes what it has",
    "At SIGTERM with an open session it asks for no more and plays on; a goodbye at once is a warning.",
    seconds=25,
    needs="command",
)
async def finishes(desk: Desk) -> None:
    process, capacity = process_of(desk), None
    session = desk.session(small(9), 0, others=quiet)
    desk.open([session])
    assert desk.line is not None
    line = desk.line
    while session.turn is not None:
        request = (await line.receive(desk.patience, due([session]))).request
        if request.HasField("goodbye"):
            raise Warned("expected the open session to be finished at SIGTERM; a goodbye came at once")
        if request.HasField("capacity"):
            capacity = request.capacity.max_sessions
        response = bots_pb2.PlayResponse()
        for _, move in desk.answers([session], request, response):
            _.take(move)
            if _.answered == 1:  # which shows that the bot has read the welcome
                process.signal(signal.SIGTERM)
                await asyncio.sleep(QUIET_SECONDS)
            _.go_on(response)
        if response.events:
            desk.send(response)
    while not (request := (await line.receive(desk.patience, "a goodbye")).request).HasField("goodbye"):
        if request.HasField("capacity"):
            capacity = request.capacity.max_sessions
    if capacity != 0:
        raise Warned("expected a capacity of 0 from a bot that finishes what it has; got none")
    if not await process.ended(desk.patience):
        raise Failed(f"expected the process to end after its goodbye; it still ran {desk.patience:g} s later")

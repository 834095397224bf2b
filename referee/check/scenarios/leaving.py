"""Leaving, and giving up; only for a bot that the check starts."""

import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import grpc

from referee.check.desk import Desk
from referee.check.outcome import Absent, Failed, Lost, Warned
from referee.check.process import BotProcess
from referee.check.scenario import Group
from referee.check.scenarios.tables import FOUR, small
from referee.check.stream import Switchboard

group = Group()


def process_of(desk: Desk) -> BotProcess:
    """The bot's process."""
    assert desk.process is not None
    return desk.process


@asynccontextmanager
async def another(desk: Desk) -> AsyncIterator[Desk]:
    """A second referee on another port. At the end of the block it turns the bot away, which is stopped."""
    board = Switchboard()
    host = desk.board.address.rpartition(":")[0]
    await board.listen(f"{host}:0")
    other = Desk(board, desk.bot, desk.token, None)
    try:
        yield other
    finally:
        await other.break_off(grpc.StatusCode.UNAUTHENTICATED, "token: unknown or revoked")
        await board.stop()
        await process_of(desk).stop()


async def welcome_as_first_of(desk: Desk, *referees: Desk) -> None:
    """Has the bot connect anew; the welcome lists these referees, and says that it comes from the first."""
    await desk.break_off()
    line = await desk.knock()
    addresses = [referee.board.address for referee in referees]
    desk.greet(line, desk.hello, referees=addresses, referee=addresses[0])


@group(
    "END-01",
    "Streams to every referee",
    "The welcome lists a second referee; the bot connects to it too.",
    seconds=25,
    needs="command",
)
async def referees(desk: Desk) -> None:
    async with another(desk) as other:
        await welcome_as_first_of(desk, desk, other)
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
    "Leaves while nobody answers",
    "At SIGTERM between two attempts to connect, its process ends.",
    seconds=25,
    needs="command",
)
async def leaves_when_refused(desk: Desk) -> None:
    process = process_of(desk)
    await desk.break_off()
    for _ in range(2):
        line = await desk.knock()
        await line.close(grpc.StatusCode.UNAVAILABLE, "the check refuses this attempt; try again later")
    process.signal(signal.SIGTERM)
    if not await process.ended(desk.patience):
        raise Failed(f"expected the process to end at SIGTERM; it still ran {desk.patience:g} s later")


async def gives_up(desk: Desk, code: grpc.StatusCode, details: str, *, welcomed: bool) -> None:
    """Refuses the bot for good."""
    process = process_of(desk)
    if welcomed:
        await desk.break_off(code, details)
    else:
        await desk.break_off()
        line = await desk.knock()
        await line.close(code, details)
    try:
        await desk.knock(desk.patience)
    except Absent:
        pass
    except (Failed, Lost):
        raise Failed(f"expected no further attempt after {code.name}; another one came") from None
    else:
        raise Failed(f"expected no further attempt after {code.name}; another one came")
    if not await process.ended(0):
        raise Warned(f"expected the process to end with an error after {code.name}; it still runs")
    if process.status == 0:
        raise Warned(f"expected an exit status that tells of an error after {code.name}; it was 0")


@group(
    "END-04",
    "Gives up without a valid token",
    "Its hello is refused with UNAUTHENTICATED: another attempt cannot help.",
    seconds=25,
    needs="command",
)
async def unauthenticated(desk: Desk) -> None:
    await gives_up(desk, grpc.StatusCode.UNAUTHENTICATED, "token: unknown or revoked", welcomed=False)


@group(
    "END-05",
    "Gives up with a version not spoken",
    "Its hello is refused with FAILED_PRECONDITION.",
    seconds=25,
    needs="command",
)
async def failed_precondition(desk: Desk) -> None:
    details = "protocol_version: 1 is not spoken here, 2 is"
    await gives_up(desk, grpc.StatusCode.FAILED_PRECONDITION, details, welcomed=False)


@group(
    "END-06",
    "Gives up when its token is revoked",
    "Its live stream ends with PERMISSION_DENIED.",
    seconds=25,
    needs="command",
)
async def revoked(desk: Desk) -> None:
    await gives_up(desk, grpc.StatusCode.PERMISSION_DENIED, "token: revoked", welcomed=True)


@group(
    "END-07",
    "One stream to a referee of two addresses",
    "The welcome's referee is listed with another address; a stream to that one too is a warning.",
    seconds=25,
    needs="command",
)
async def other_address(desk: Desk) -> None:
    async with another(desk) as same, another(desk) as other:
        await welcome_as_first_of(desk, same, other)
        with suppress(Absent):  # END-01 tells of it
            await other.come_back(desk.patience)
        await desk.nothing(why="as no session is open")
        if not same.board.lines.empty():
            raise Warned(
                "expected no stream to the address that the welcome says is this referee's own; one came, "
                "which a referee refuses"
            )

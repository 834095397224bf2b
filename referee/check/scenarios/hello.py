"""The opening of a stream."""

import asyncio

from referee.check.desk import Desk, Group
from referee.check.outcome import Failed, Warned
from referee.check.session import describe_request

group = Group()


@group(
    "HELLO-01",
    "Opens with a hello",
    "The token stands in the call's metadata; the first message is a hello with protocol version 1.",
)
async def opens(desk: Desk) -> None:
    assert desk.line is not None
    desk.check_hello(desk.line, desk.opening[0])


@group("HELLO-02", "Waits for the welcome", "Nothing follows the hello while the welcome is withheld.")
async def waits(desk: Desk) -> None:
    for request in desk.opening[1:]:
        raise Failed(f"expected nothing between the hello and the welcome; got {describe_request(request)}")


@group(
    "HELLO-03",
    "Names its SDK",
    "The hello's sdk names the client library; a warning only, for it may be empty.",
)
async def names_itself(desk: Desk) -> None:
    if not desk.hello.sdk:
        raise Warned("expected the hello's sdk to name the client library and its version; it is empty")
    if len(desk.hello.sdk) > 200:
        raise Warned(f"expected a short name of the client library; sdk has {len(desk.hello.sdk)} characters")


@group("HELLO-04", "One stream to a referee", "No second stream comes while the first one lives.")
async def one_stream(desk: Desk) -> None:
    await asyncio.sleep(0.2)
    if desk.board.doubles:
        raise Failed(f"expected one stream; the bot opened {desk.board.doubles} more while it lived")


@group("HELLO-05", "Says nothing when idle", "With no session open, half a second passes without a message.")
async def idle(desk: Desk) -> None:
    await desk.nothing(0.5)

"""What stands between a bot and its referees: token, address, TLS, and the version of the protocol."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import grpc

from referee.channel import sync_channel
from referee.protocol.reasons import Failure, Reason, read_failure
from referee.protocol.version import PROTOCOL_VERSION
from referee.tls import ClientTls
from referee.unreached import why_unreached
from referee.v1 import bots_pb2, bots_pb2_grpc

ANSWER_SECONDS = 5.0
"""How long a referee may take to answer a hello."""
NO_VERSION = 0
"""A version of the protocol that no referee speaks: it looks at the token, says which one it does speak, and
lets nobody in, so that a bot that plays with this token is not disturbed."""
TOKEN = "bt_bot_"
"""How tokens of bots begin."""


class Finding(NamedTuple):
    """One thing that was looked at."""

    subject: str
    right: bool
    text: str
    """A sentence without its full stop."""


def check_token(token: str) -> Finding:
    """Return what the form of a token tells."""

    def finding(text: str, right: bool = False) -> Finding:
        return Finding("token", right, text)

    if not token:
        return finding("ARENA_TOKEN is not set; it is what `arena bot register` printed")
    if not (token.isascii() and token.isprintable()) or " " in token:
        return finding("ARENA_TOKEN contains characters that no token has")
    if token.startswith("bt_") and not token.startswith(TOKEN):
        whose = token.split("_")[1]
        return finding(f"ARENA_TOKEN is a token of another kind ({whose}); a bot's begins with {TOKEN}")
    return finding("has a form that a token can have", True)


async def examine(addresses: Sequence[str], token: str, tls: ClientTls | None) -> list[Finding]:
    """Return what was found out about each address, asked with this token; nothing is played."""
    found = await asyncio.gather(*(_examine(address, token, tls) for address in addresses))
    return [finding for findings in found for finding in findings]


async def _examine(address: str, token: str, tls: ClientTls | None) -> list[Finding]:
    if why := await why_unreached(address, tls):
        return [Finding(address, False, why)]
    spoken = "with TLS, and its certificate is trusted" if tls is not None else "without TLS"
    reached = Finding(address, True, f"can be reached, {spoken}")
    failure = await asyncio.to_thread(_refusal, address, token, tls)
    return [reached, *(Finding(address, right, text) for right, text in _meaning(failure))]


def _meaning(failure: Failure) -> Iterator[tuple[bool, str]]:
    """Yield what a referee means that did not let a bot in which named no version of the protocol."""
    if failure.reason != Reason.PROTOCOL_VERSION:
        if failure.reason in (Reason.TOKEN_UNKNOWN, Reason.TOKEN_SCOPE):
            yield False, f"{failure.text}: is it of this arena, and of the bot's present version?"
        elif failure.reason:
            yield False, failure.text
        else:
            yield False, f"does not answer as a referee (is that the port of the pages?): {failure.text}"
        return
    yield True, "knows the token"
    supported = failure.metadata.get("supported", "")
    if supported == str(PROTOCOL_VERSION):
        yield True, f"speaks version {PROTOCOL_VERSION} of the protocol, as this SDK does"
    else:
        yield (
            False,
            f"speaks version {supported} of the protocol, and this SDK {PROTOCOL_VERSION}: update bigtwo-bot",
        )


def _refusal(address: str, token: str, tls: ClientTls | None) -> Failure:
    """Return how a referee turns away a hello that it cannot take."""
    hello = bots_pb2.PlayRequest(hello=bots_pb2.Hello(protocol_version=NO_VERSION, sdk="arena bot doctor"))
    with sync_channel(address, tls, ()) as channel:  # of grpc.aio, a call that is ended at once says not why
        call = bots_pb2_grpc.BotServiceStub(channel).Play(
            iter([hello]), metadata=(("authorization", f"Bearer {token}"),), timeout=ANSWER_SECONDS
        )
        try:
            next(iter(call), None)
        except grpc.RpcError as error:
            return read_failure(error)
    return Failure(grpc.StatusCode.INTERNAL, "it let a bot in that named no version", "", None, {})

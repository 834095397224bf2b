"""Why a bot cannot play at its referees: token, address, TLS, protocol version, clock, too many sessions."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import grpc

from referee.matches.journal import SEVERAL_OWED, EntryKind, LogEntry, LogQuery
from referee.net.channel import sync_channel
from referee.net.failures import through, why_failed, why_unreached
from referee.net.tls import ClientTls
from referee.protocol.logs import query_request, read_entry
from referee.protocol.reasons import Failure, Reason, read_failure
from referee.protocol.version import PROTOCOL_VERSION
from referee.reading.names import wrong_with
from referee.v1 import bots_pb2, bots_pb2_grpc, logs_pb2_grpc

ANSWER_SECONDS = 5.0
"""How long a referee may take to answer a hello."""
NO_VERSION = 0
"""A version of the protocol that no referee speaks: the referee checks the token, says which version it does
speak, and lets nobody in, so that a bot that is playing with this token is not disturbed."""
TOKEN = "bt_bot_"
"""The prefix of bots' tokens."""
MOST_APART = 5.0
"""By how many seconds two clocks may differ without being reported."""
FAULTS, RECENT = 200, timedelta(days=1)
"""How many faults are looked at, and how old they may be."""


class Answer(NamedTuple):
    """How a referee refused a hello that it cannot accept."""

    failure: Failure
    asked_at: datetime
    """When it was asked, by the local clock."""
    answered_at: datetime


class Finding(NamedTuple):
    """The result of one examination."""

    subject: str
    right: bool
    text: str
    """A sentence without a full stop."""


def check_token(token: str) -> Finding:
    """Return what can be said from the form of a token."""

    def finding(text: str, right: bool = False) -> Finding:
        return Finding("token", right, text)

    if not token:
        return finding("ARENA_TOKEN is not set; it is what `arena bot register` printed")
    if wrong := wrong_with(token):
        return finding(f"ARENA_TOKEN {wrong}")
    if token.startswith("bt_") and not token.startswith(TOKEN):
        whose = token.split("_")[1]
        return finding(f"ARENA_TOKEN is a token of another kind ({whose}); a bot's begins with {TOKEN}")
    if not token.startswith(TOKEN):
        return finding(f"ARENA_TOKEN does not begin with {TOKEN}, as every token of a bot does")
    return finding("is well-formed", True)


async def examine(addresses: Sequence[str], token: str, tls: ClientTls | None) -> list[Finding]:
    """Return what was found out about each address, asked with this token; nothing is played."""
    examined = await asyncio.gather(*(_examine(address, token, tls) for address in addresses))
    return [finding for findings in examined for finding in findings]


async def _examine(address: str, token: str, tls: ClientTls | None) -> list[Finding]:
    if why := await why_unreached(address, tls):
        return [Finding(address, False, why)]
    spoken = "with TLS, and its certificate is trusted" if tls is not None else "without TLS"
    reached = Finding(address, True, f"can be reached, {spoken}{through(address)}")
    answer = await asyncio.to_thread(_ask, address, token, tls)
    if not answer.failure.reason and (why := await why_failed(address, tls, answer.failure.text)):
        return [reached, Finding(address, False, why)]
    results = list(_meaning(answer.failure))
    if answer.failure.reason == Reason.PROTOCOL_VERSION:
        results.append(compare_clocks(answer))
        faults = await asyncio.to_thread(_faults, address, token, tls, answer.failure.metadata)
        results += [] if faults is None else judge_sessions(faults)
    return [reached, *(Finding(address, right, text) for right, text in results)]


def _meaning(failure: Failure) -> Iterator[tuple[bool, str]]:
    """Yield what a referee's refusal of the unacceptable hello means."""
    if failure.reason != Reason.PROTOCOL_VERSION:
        if failure.reason in (Reason.TOKEN_UNKNOWN, Reason.TOKEN_SCOPE):
            yield False, f"{failure.text}: does it belong to this arena, and to the bot's current version?"
        elif failure.reason:
            yield False, failure.text
        else:
            yield False, f"does not answer like a referee: {failure.text}"
        return
    bot = failure.metadata.get("bot")
    yield True, f"knows the token, which belongs to {bot}" if bot else "knows the token"
    supported = failure.metadata.get("supported", "")
    if supported == str(PROTOCOL_VERSION):
        yield True, f"speaks version {PROTOCOL_VERSION} of the protocol, as this SDK does"
    else:
        yield (
            False,
            f"speaks version {supported} of the protocol, and this SDK {PROTOCOL_VERSION}: update bigtwo-bot",
        )


def compare_clocks(answer: Answer) -> tuple[bool, str]:
    """Return whether the referee's clock and the local one agree, as far as the round trip allows to tell."""
    try:
        now = datetime.fromisoformat(answer.failure.metadata["now"])
        ahead = (answer.asked_at - now).total_seconds(), (answer.answered_at - now).total_seconds()
    except (KeyError, ValueError, TypeError):  # an older referee, or a time without its zone
        return True, "does not report its time, so the clocks were not compared"
    apart = max(ahead[0], -ahead[1], 0.0)
    if apart <= MOST_APART:
        return True, f"agrees with the clock here to within {MOST_APART:g} s"
    which = "ahead of" if ahead[0] > 0 else "behind"
    text = f"the clock here is {_long(apart)} {which} the referee's: set it by NTP"
    harm = "certificates may seem not valid yet or expired, and times in logs do not fit together"
    return False, f"{text} (decisions are timed by the referee alone, but {harm})"


def _long(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 600 else str(timedelta(seconds=round(seconds)))


def _faults(
    address: str, token: str, tls: ClientTls | None, metadata: Mapping[str, str]
) -> list[LogEntry] | None:
    """Return the bot's newest faults of the last day; None if they cannot be had."""
    try:
        query = query_request(LogQuery(metadata["bot"], (EntryKind.FAULT,), limit=FAULTS), "")
        since = datetime.fromisoformat(metadata["now"]) - RECENT
        with sync_channel(address, tls, ()) as channel:
            page = logs_pb2_grpc.LogServiceStub(channel).ListLogEntries(
                query, metadata=(("authorization", f"Bearer {token}"),), timeout=ANSWER_SECONDS
            )
        return [entry for entry in map(read_entry, page.entries) if entry.at >= since]
    except (KeyError, ValueError, TypeError, grpc.RpcError):  # an older referee; no log is kept
        return None


def judge_sessions(faults: Sequence[LogEntry]) -> Iterator[tuple[bool, str]]:
    """Yield what the faults of the last day say about the number of sessions and about thinking too long."""
    late = [fault.text for fault in faults if fault.code == "timeout"]
    several = sum([SEVERAL_OWED in text for text in late])
    noted = "of the bot's time-outs of the last day came while it owed"
    if several:
        yield (
            False,
            f"{several} {noted} several answers: run it with fewer sessions, as main(…, max_sessions=2)",
        )
    if len(late) > several:
        yield False, f"{len(late) - several} {noted} one answer only: it thinks for too long"
    if not late:
        yield True, "noted no time-out of the bot in the last day"


def _ask(address: str, token: str, tls: ClientTls | None) -> Answer:
    """Send a referee a hello that it cannot accept, and return its answer."""
    asked_at = datetime.now(UTC)
    failure = _refusal(address, token, tls)
    return Answer(failure, asked_at, datetime.now(UTC))


def _refusal(address: str, token: str, tls: ClientTls | None) -> Failure:
    """Return how a referee refuses a hello that it cannot accept."""
    hello = bots_pb2.PlayRequest(hello=bots_pb2.Hello(protocol_version=NO_VERSION, sdk="arena bot doctor"))
    with sync_channel(address, tls, ()) as channel:  # in grpc.aio, a call that ends at once does not say why
        call = bots_pb2_grpc.BotServiceStub(channel).Play(
            iter([hello]), metadata=(("authorization", f"Bearer {token}"),), timeout=ANSWER_SECONDS
        )
        try:
            next(iter(call), None)
        except grpc.RpcError as error:
            return read_failure(error)
    return Failure(grpc.StatusCode.INTERNAL, "it let a bot in that named no version", "", None, {})

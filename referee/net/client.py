"""Calls to a referee: run a match, ask how busy it is, read the logs and the deals of bots."""

import asyncio
import json
import threading
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Self

import grpc

from referee.errors import (
    AttemptsBegun,
    LogClosed,
    LogQueryError,
    MatchRefused,
    NotBegun,
    RefereeUnavailable,
    TokenRefused,
)
from referee.matches.journal import BotDeal, DealQuery, LogEntry, LogQuery
from referee.matches.match import Attempt, MatchSpec, Presence, Update
from referee.net.addresses import split
from referee.net.channel import sync_channel
from referee.net.failures import call_failed, why_failed
from referee.net.tls import ClientTls
from referee.protocol.logs import deals_request, query_request, read_deal, read_entry
from referee.protocol.reasons import Failure, Reason, read_failure
from referee.protocol.requests import match_request, read_updates, write_attempts
from referee.v1 import logs_pb2_grpc
from referee.worker.v1alpha1 import worker_pb2, worker_pb2_grpc

_OPTIONS = (
    ("grpc.max_receive_message_length", 64 << 20),
    ("grpc.max_send_message_length", -1),
    # A referee that hangs, or a host that vanished, is noticed by unanswered pings.
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.use_local_subchannel_pool", 1),
)

CONNECT_SECONDS = 15.0
"""How long a referee may take to answer for the first time before a match; one that is busy may be slow."""

_ABOUT_TOKENS = (Reason.TOKEN_MISSING, Reason.TOKEN_UNKNOWN, Reason.TOKEN_SCOPE)


class KeptChannels(threading.local):
    """Channels to referees that are kept from call to call. Each thread has its own: no match waits for the
    messages of another, and a connection has no more calls than a referee allows.
    """

    def __init__(self, tls: ClientTls | None) -> None:
        self._tls = tls
        self._open: dict[str, grpc.Channel] = {}

    def take(self, address: str) -> grpc.Channel:
        """Return this thread's channel to the referee at ``address``."""
        if address not in self._open:
            self._open[address] = sync_channel(address, self._tls, _OPTIONS)
        return self._open[address]

    def close(self, address: str) -> None:
        """Close this thread's channel: one that was refused would wait before it connects again."""
        channel = self._open.pop(address, None)
        if channel is not None:
            channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for address in [*self._open]:
            self.close(address)


def _channel(
    address: str, tls: ClientTls | None, open_channel: grpc.Channel | None
) -> AbstractContextManager[grpc.Channel]:
    """Return the channel that was kept, which stays open, or a new one."""
    return sync_channel(address, tls, _OPTIONS) if open_channel is None else nullcontext(open_channel)


@dataclass(frozen=True, slots=True)
class RefereeStatus:
    """How busy a referee is."""

    draining: bool
    """Whether it takes no new match, as it is shutting down."""
    matches: int
    sessions: int
    streams: int
    spectators: int
    bots: tuple[Presence, ...]
    """The bot versions that were asked about, in the same order."""
    begun: int = 0
    """The latest attempt that it has begun at a session that was asked about; 0 if those asked about are new
    to it."""
    not_ready: str = ""
    """Why it takes no new match although it is not shutting down; empty if it does."""


def referee_status(
    address: str,
    token: str,
    version_ids: Sequence[int] = (),
    *,
    ruleset: Mapping[str, object] | None = None,
    attempts: Collection[Attempt] = (),
    tls: ClientTls | None = None,
    channel: grpc.Channel | None = None,
    timeout: float = 2.0,
) -> RefereeStatus:
    """Ask the referee at ``address`` how busy it is, and how these bot versions stand there.

    It is asked over ``channel`` if there is one to it. It also says whether it has begun one of these
    ``attempts``, or a later one at the same session. Raise RefereeUnavailable when it does not answer within
    ``timeout`` seconds or refuses the token.
    """
    with _channel(address, tls, channel) as to_it:
        return ask_status(
            to_it, address, token, version_ids, ruleset=ruleset, attempts=attempts, timeout=timeout
        )()


def ask_status(
    channel: grpc.Channel,
    address: str,
    token: str,
    version_ids: Sequence[int],
    *,
    ruleset: Mapping[str, object] | None,
    attempts: Collection[Attempt],
    timeout: float,
) -> Callable[[], RefereeStatus]:
    """Ask as ``referee_status`` does; return the function that waits for the answer, so that others can be
    asked meanwhile.
    """
    request = worker_pb2.GetStatusRequest(
        version_ids=version_ids,
        ruleset=json.dumps(dict(ruleset)) if ruleset is not None else "",
        attempts=write_attempts(attempts),
    )
    stub = worker_pb2_grpc.WorkerServiceStub(channel)
    call = stub.GetStatus.future(request, metadata=_bearer(token), timeout=timeout)

    def wait() -> RefereeStatus:
        try:
            return _read_status(call.result())
        except grpc.RpcError as error:
            raise _meaning(address, error) from None

    return wait


def _read_status(status: worker_pb2.GetStatusResponse) -> RefereeStatus:
    bots = tuple(
        Presence(
            connected=bot.connected,
            max_sessions=bot.max_sessions,
            sessions=bot.sessions,
            lacks=tuple(bot.lacks),
            thinking_seconds=bot.thinking.seconds,
            bounds=tuple(bot.bounds),
        )
        for bot in status.bots
    )
    return RefereeStatus(
        draining=status.draining,
        matches=status.matches,
        sessions=status.sessions,
        streams=status.streams,
        spectators=status.spectators,
        bots=bots,
        begun=status.attempts_begun.latest,
        not_ready=status.not_ready,
    )


def read_log(
    address: str, token: str, query: LogQuery, *, tls: ClientTls | None = None, timeout: float = 10.0
) -> list[LogEntry]:
    """Return entries of a bot's log from the referee at ``address``, oldest first.

    Raise AddressError, LogClosed if ``token`` does not open it, LogQueryError, and RefereeUnavailable when
    there is no answer within ``timeout`` seconds.
    """
    split(address)
    entries: list[LogEntry] = []
    page_token = ""
    with sync_channel(address, tls, _OPTIONS) as channel:
        stub = logs_pb2_grpc.LogServiceStub(channel)
        while True:
            rest = replace(query, limit=query.limit - len(entries))
            try:
                page = stub.ListLogEntries(
                    query_request(rest, page_token), metadata=_bearer(token), timeout=timeout
                )
            except grpc.RpcError as error:
                raise _log_error(address, error, tls) from None
            entries += map(read_entry, page.entries)
            page_token = page.next_page_token
            if not page_token or len(entries) >= query.limit:
                return entries[::-1]


def read_deals(
    address: str, token: str, query: DealQuery, *, tls: ClientTls | None = None, timeout: float = 30.0
) -> Iterator[BotDeal]:
    """Yield deals of a bot from the referee at ``address``, the newest first.

    Raise AddressError, LogClosed if ``token`` does not open them, LogQueryError, and RefereeUnavailable when
    there is no answer within ``timeout`` seconds.
    """
    split(address)
    left, page_token = query.limit, ""
    with sync_channel(address, tls, _OPTIONS) as channel:
        stub = logs_pb2_grpc.LogServiceStub(channel)
        while left > 0:
            request = deals_request(replace(query, limit=left), page_token)
            try:
                page = stub.ListDeals(request, metadata=_bearer(token), timeout=timeout)
            except grpc.RpcError as error:
                raise _log_error(address, error, tls) from None
            yield from map(read_deal, page.deals[:left])
            left -= len(page.deals)
            page_token = page.next_page_token
            if not page_token:
                return


def run_match(
    address: str,
    token: str,
    spec: MatchSpec,
    *,
    tls: ClientTls | None = None,
    channel: grpc.Channel | None = None,
) -> Generator[Update, None, None]:
    """Run a match on the referee at ``address``; yield each session as it finishes, and signs of life.

    It is told over ``channel`` if there is one to it.
    Closing the iterator stops the match; sessions not finished are void. Raise NotBegun when the referee
    cannot be reached or refuses the worker's token, RefereeUnavailable when it goes away later, MatchRefused
    when it does not take the match, AttemptsBegun when it has begun one of the attempts before.
    """
    with _channel(address, tls, channel) as to_it:
        stub = worker_pb2_grpc.WorkerServiceStub(to_it)
        _reach(address, token, stub)
        call = stub.RunMatch(match_request(spec), metadata=_bearer(token))
        began = False
        try:
            for response in call:
                began = True
                if response.HasField("attempts_begun"):
                    raise AttemptsBegun(address, response.attempts_begun.latest)
                yield from read_updates(response)
        except grpc.RpcError as error:
            raise _meaning(address, error, began=began) from None
        finally:
            call.cancel()  # type: ignore[no-untyped-call]


def _reach(address: str, token: str, stub: worker_pb2_grpc.WorkerServiceStub) -> None:
    """Make sure that the referee answers before it is sent a match. Raise NotBegun if it does not.

    gRPC's own way to wait for a connection polls in a thread, which dies of an exception if the channel is
    closed early.
    """
    try:
        stub.GetStatus(worker_pb2.GetStatusRequest(), metadata=_bearer(token), timeout=CONNECT_SECONDS)
    except grpc.RpcError as error:
        failure = read_failure(error)
        if not failure.reason:  # else it was reached, and will refuse or take the match itself
            raise NotBegun(str(_unavailable(address, failure))) from None


def hold_match(
    address: str, token: str, match_id: str, *, channel: grpc.Channel | None = None, timeout: float = 2.0
) -> None:
    """Tell the referee at ``address`` to begin no further session of a match.

    ``run_match`` then ends with those that are open. Do nothing if the match no longer runs there.
    Raise RefereeUnavailable when there is no answer within ``timeout`` seconds or the token is refused.
    """
    with _channel(address, None, channel) as to_it:
        stub = worker_pb2_grpc.WorkerServiceStub(to_it)
        request = worker_pb2.HoldMatchRequest(match_id=match_id)
        try:
            stub.HoldMatch(request, metadata=_bearer(token), timeout=timeout)
        except grpc.RpcError as error:
            if read_failure(error).reason != Reason.MATCH_NOT_RUNNING:
                raise _meaning(address, error) from None


def _bearer(token: str) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {token}"),)


def _meaning(address: str, error: grpc.RpcError, *, began: bool = True) -> MatchRefused | RefereeUnavailable:
    failure = read_failure(error)
    if failure.reason == Reason.FIELD_INVALID:
        return MatchRefused(failure.text)
    unavailable = _unavailable(address, failure)
    if failure.reason and not began and type(unavailable) is RefereeUnavailable:
        return NotBegun(str(unavailable))
    return unavailable


def _log_error(
    address: str, error: grpc.RpcError, tls: ClientTls | None
) -> LogClosed | LogQueryError | RefereeUnavailable:
    failure = read_failure(error)
    if not failure.reason and (why := asyncio.run(why_failed(address, tls, failure.text))):
        return RefereeUnavailable(f"referee {address} cannot be reached: {why}")
    if failure.reason in _ABOUT_TOKENS:
        return LogClosed(failure.text)
    if failure.reason == Reason.FIELD_INVALID:
        return LogQueryError(failure.text)
    return _unavailable(address, failure)


def _unavailable(address: str, failure: Failure) -> RefereeUnavailable:
    if not failure.reason:
        why = call_failed(address, failure.status.name, failure.text)
        return RefereeUnavailable(f"referee {address} {why}")
    kind = TokenRefused if failure.reason in _ABOUT_TOKENS else RefereeUnavailable
    return kind(f"referee {address} says {failure.reason.lower()}: {failure.text}")

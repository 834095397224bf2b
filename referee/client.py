"""How a worker has a referee run a match, and asks it how busy it is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import grpc

from referee.channel import ClientTls, sync_channel
from referee.errors import LogClosed, LogQueryError, MatchRefused, RefereeUnavailable
from referee.matches.journal import LogEntry, LogQuery
from referee.matches.match import MatchSpec, Presence, Progress, SessionResult
from referee.protocol.requests import match_request, query_request, read_entry, read_update
from referee.v1 import match_pb2, referee_pb2_grpc

_OPTIONS = (
    ("grpc.max_receive_message_length", 64 << 20),
    ("grpc.max_send_message_length", -1),
    # A referee that hangs, or a host that vanished, is noticed by unanswered pings.
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.use_local_subchannel_pool", 1),
)


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


def referee_status(
    address: str,
    token: str,
    version_ids: Sequence[int] = (),
    *,
    tls: ClientTls | None = None,
    timeout: float = 2.0,
) -> RefereeStatus:
    """How busy the referee at ``address`` is, and how these bot versions stand there.

    Raises RefereeUnavailable when it does not answer within ``timeout`` seconds or refuses the token.
    """
    with sync_channel(address, tls, _OPTIONS) as channel:
        stub = referee_pb2_grpc.RefereeServiceStub(channel)
        try:
            status = stub.Status(
                match_pb2.StatusRequest(version_ids=version_ids),
                metadata=(("authorization", f"Bearer {token}"),),
                timeout=timeout,
            )
        except grpc.RpcError as error:
            raise _meaning(address, error) from None
    bots = tuple(Presence(bot.connected, bot.max_sessions, bot.sessions) for bot in status.bots)
    return RefereeStatus(
        status.draining, status.matches, status.sessions, status.streams, status.spectators, bots
    )


def read_log(
    address: str, token: str, query: LogQuery, *, tls: ClientTls | None = None, timeout: float = 10.0
) -> list[LogEntry]:
    """Entries of a bot's log from the referee at ``address``, oldest first.

    Raises LogClosed if ``token`` does not open it, LogQueryError, and RefereeUnavailable when there is no
    answer within ``timeout`` seconds.
    """
    with sync_channel(address, tls, _OPTIONS) as channel:
        stub = referee_pb2_grpc.RefereeServiceStub(channel)
        metadata = (("authorization", f"Bearer {token}"),)
        try:
            response = stub.ReadLog(query_request(query), metadata=metadata, timeout=timeout)
        except grpc.RpcError as error:
            if error.code() is grpc.StatusCode.PERMISSION_DENIED:
                raise LogClosed(error.details()) from None
            if error.code() is grpc.StatusCode.INVALID_ARGUMENT:
                raise LogQueryError(error.details()) from None
            raise _meaning(address, error) from None
    return [read_entry(entry) for entry in response.entries]


def run_match(
    address: str, token: str, spec: MatchSpec, *, tls: ClientTls | None = None
) -> Iterator[SessionResult | Progress]:
    """Runs a match on the referee at ``address``; gives each session as it finishes, and signs of life.

    Closing the iterator stops the match; sessions not finished are void. Raises RefereeUnavailable when the
    referee cannot be reached, goes away or refuses the worker's token, MatchRefused when it does not take the
    match.
    """
    with sync_channel(address, tls, _OPTIONS) as channel:
        stub = referee_pb2_grpc.RefereeServiceStub(channel)
        call = stub.RunMatch(match_request(spec), metadata=(("authorization", f"Bearer {token}"),))
        try:
            for response in call:
                update = read_update(response)
                if update is not None:
                    yield update
        except grpc.RpcError as error:
            raise _meaning(address, error) from None
        finally:
            call.cancel()  # type: ignore[no-untyped-call]


def hold_match(
    address: str, token: str, match_id: str, *, tls: ClientTls | None = None, timeout: float = 2.0
) -> None:
    """Has the referee at ``address`` begin no further session of a match.

    ``run_match`` then ends with those that are open. Does nothing if the match does not run there any more.
    Raises RefereeUnavailable when there is no answer within ``timeout`` seconds or the token is refused.
    """
    with sync_channel(address, tls, _OPTIONS) as channel:
        stub = referee_pb2_grpc.RefereeServiceStub(channel)
        metadata = (("authorization", f"Bearer {token}"),)
        try:
            stub.HoldMatch(match_pb2.HoldMatchRequest(match_id=match_id), metadata=metadata, timeout=timeout)
        except grpc.RpcError as error:
            if error.code() is not grpc.StatusCode.NOT_FOUND:
                raise _meaning(address, error) from None


def _meaning(address: str, error: grpc.RpcError) -> MatchRefused | RefereeUnavailable:
    code, details = error.code(), error.details()
    if code is grpc.StatusCode.INVALID_ARGUMENT:
        return MatchRefused(str(details))
    return RefereeUnavailable(f"referee {address}: {code.name.lower()}: {details}")

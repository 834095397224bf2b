"""How a worker has a referee run a match."""

from collections.abc import Iterator

import grpc

from referee.errors import MatchRefused, RefereeUnavailable
from referee.match import BotSeat, Limits, MatchSpec, Progress, SessionResult, SessionSpec
from referee.v1 import referee_pb2_grpc
from referee.wire import match_request, read_update

__all__ = ["BotSeat", "Limits", "MatchSpec", "Progress", "SessionResult", "SessionSpec", "run_match"]

_OPTIONS = (
    ("grpc.max_receive_message_length", 64 << 20),
    ("grpc.max_send_message_length", -1),
    # A referee that hangs, or a host that vanished, is noticed by unanswered pings.
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.use_local_subchannel_pool", 1),
)


def run_match(address: str, token: str, spec: MatchSpec) -> Iterator[SessionResult | Progress]:
    """Runs a match on the referee at ``address``; gives each session as it finishes, and signs of life.

    Closing the iterator stops the match; sessions not finished are void. Raises RefereeUnavailable when the
    referee cannot be reached, goes away or refuses the worker's token, MatchRefused when it does not take the
    match.
    """
    with grpc.insecure_channel(address, options=_OPTIONS) as channel:
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


def _meaning(address: str, error: grpc.RpcError) -> MatchRefused | RefereeUnavailable:
    code, details = error.code(), error.details()
    if code is grpc.StatusCode.INVALID_ARGUMENT:
        return MatchRefused(str(details))
    return RefereeUnavailable(f"referee {address}: {code.name.lower()}: {details}")

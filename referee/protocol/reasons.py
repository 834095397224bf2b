"""Why a call fails: one table for the referee, its documentation and its clients; unreadable messages.

A refusal is a gRPC status with ``google.rpc`` details: an ``ErrorInfo`` with the reason, and a ``RetryInfo``
exactly where trying again can help. ``docs/protocol.md`` shows the table;
``proto/referee/v1/errors.proto`` names the reasons.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar

import grpc
from google.protobuf.message import DecodeError, Message
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status
from grpc import StatusCode

from referee.errors import RefereeError

DOMAIN = "bigtwo.referee"
"""The domain of every ``ErrorInfo`` that comes from a referee."""
DETAILS_KEY = "grpc-status-details-bin"
"""The key under which the trailing metadata carries a status with its details."""


class Reason(StrEnum):
    """The names of ``ErrorReason``, without the prefix."""

    TOKEN_MISSING = "TOKEN_MISSING"
    TOKEN_UNKNOWN = "TOKEN_UNKNOWN"
    TOKEN_SCOPE = "TOKEN_SCOPE"
    TOKEN_REVOKED = "TOKEN_REVOKED"
    TOKENS_UNAVAILABLE = "TOKENS_UNAVAILABLE"
    PROTOCOL_VERSION = "PROTOCOL_VERSION"
    HELLO_MISSING = "HELLO_MISSING"
    HELLO_LATE = "HELLO_LATE"
    MESSAGE_UNREADABLE = "MESSAGE_UNREADABLE"
    FIELD_INVALID = "FIELD_INVALID"
    ALREADY_CONNECTED = "ALREADY_CONNECTED"
    REPLACED = "REPLACED"
    PING_UNANSWERED = "PING_UNANSWERED"
    FLOOD = "FLOOD"
    BUSY = "BUSY"
    CLOSING = "CLOSING"
    MATCH_NOT_RUNNING = "MATCH_NOT_RUNNING"
    MATCH_TAKEN_OVER = "MATCH_TAKEN_OVER"
    MATCH_STOPPED = "MATCH_STOPPED"
    LOG_UNAVAILABLE = "LOG_UNAVAILABLE"


class Meaning(NamedTuple):
    """What a reason means for the caller."""

    status: StatusCode
    retry_seconds: float | None
    """The least delay before trying again, unless the referee names another; None if the reason is final."""
    text: str
    """The reason as a sentence without a full stop."""


MEANINGS: Mapping[Reason, Meaning] = {
    Reason.TOKEN_MISSING: Meaning(
        StatusCode.UNAUTHENTICATED, None, 'the metadata has no "authorization: Bearer …"'
    ),
    Reason.TOKEN_UNKNOWN: Meaning(
        StatusCode.UNAUTHENTICATED, None, "the token is unknown, has expired or was revoked"
    ),
    Reason.TOKEN_SCOPE: Meaning(StatusCode.PERMISSION_DENIED, None, "the token is not for this call"),
    Reason.TOKEN_REVOKED: Meaning(
        StatusCode.PERMISSION_DENIED,
        None,
        "the token was revoked or replaced, or expired, while the stream was open",
    ),
    Reason.TOKENS_UNAVAILABLE: Meaning(
        StatusCode.UNAVAILABLE, 1.0, "tokens cannot be looked up at the moment"
    ),
    Reason.PROTOCOL_VERSION: Meaning(
        StatusCode.FAILED_PRECONDITION, None, "the referee does not speak the hello's protocol version"
    ),
    Reason.HELLO_MISSING: Meaning(StatusCode.INVALID_ARGUMENT, None, "the stream did not begin with a hello"),
    Reason.HELLO_LATE: Meaning(StatusCode.DEADLINE_EXCEEDED, 1.0, "no hello came in time"),
    Reason.MESSAGE_UNREADABLE: Meaning(
        StatusCode.INVALID_ARGUMENT, None, "a message is not what the call takes"
    ),
    Reason.FIELD_INVALID: Meaning(StatusCode.INVALID_ARGUMENT, None, "a field of the request is wrong"),
    Reason.ALREADY_CONNECTED: Meaning(
        StatusCode.ABORTED, 1.0, "the bot version has a live stream to this referee"
    ),
    Reason.REPLACED: Meaning(
        StatusCode.ABORTED, 1.0, "another stream of the bot version took this one's place"
    ),
    Reason.PING_UNANSWERED: Meaning(StatusCode.DEADLINE_EXCEEDED, 1.0, "a ping stayed open for too long"),
    Reason.FLOOD: Meaning(StatusCode.RESOURCE_EXHAUSTED, 10.0, "too many bytes, or messages without effect"),
    Reason.BUSY: Meaning(StatusCode.RESOURCE_EXHAUSTED, 1.0, "too many calls of this kind are open"),
    Reason.CLOSING: Meaning(
        StatusCode.UNAVAILABLE, 2.0, "the referee is shutting down, or takes no new match"
    ),
    Reason.MATCH_NOT_RUNNING: Meaning(StatusCode.NOT_FOUND, None, "no match of this name runs here"),
    Reason.MATCH_TAKEN_OVER: Meaning(StatusCode.ABORTED, None, "another call took the match over"),
    Reason.MATCH_STOPPED: Meaning(StatusCode.UNAVAILABLE, 1.0, "the referee gave the match up"),
    Reason.LOG_UNAVAILABLE: Meaning(StatusCode.UNAVAILABLE, 1.0, "the log cannot be read at the moment"),
}
"""What each reason means: every pair of status and reason has one meaning."""


class Refused(RefereeError):
    """The referee refuses a call, or ends it: raised while a call is served, and sent as its status.

    ``retry_seconds`` replaces the reason's own delay; a final reason has none. ``metadata`` has more details.
    """

    def __init__(
        self, reason: Reason, text: str = "", retry_seconds: float | None = None, **metadata: str
    ) -> None:
        meaning = MEANINGS[reason]
        super().__init__(text or meaning.text)
        self.reason = reason
        self.status = meaning.status
        self.retry_seconds = None if meaning.retry_seconds is None else retry_seconds or meaning.retry_seconds
        self.metadata = metadata

    def trailing_metadata(self) -> tuple[tuple[str, bytes], ...]:
        """Return the status with its details, as gRPC carries it."""
        status = Status(code=self.status.value[0], message=str(self))
        status.details.add().Pack(ErrorInfo(reason=self.reason, domain=DOMAIN, metadata=self.metadata))
        if self.retry_seconds is not None:
            retry = RetryInfo()
            retry.retry_delay.FromMilliseconds(round(1000 * self.retry_seconds))
            status.details.add().Pack(retry)
        return ((DETAILS_KEY, status.SerializeToString()),)


class Failure(NamedTuple):
    """Why a call failed, as its client reads it."""

    status: StatusCode
    text: str
    reason: str
    """A Reason, or one that only a newer referee knows; empty if gRPC itself or a proxy ended the call."""
    retry_seconds: float | None
    """The least delay before trying again; None if the referee names none."""
    metadata: Mapping[str, str]
    """Further details of the reason, by name."""

    @property
    def final(self) -> bool:
        """Whether trying again cannot help: the referee gave a reason and no delay."""
        return bool(self.reason) and self.retry_seconds is None


def read_failure(error: grpc.RpcError) -> Failure:
    """Return why a call failed, from the error that its client got."""
    info, retry = ErrorInfo(), RetryInfo()
    for detail in _details(error.trailing_metadata() or ()):
        if detail.Is(RetryInfo.DESCRIPTOR):
            detail.Unpack(retry)
        elif detail.Is(ErrorInfo.DESCRIPTOR):
            detail.Unpack(info)
    delay = retry.retry_delay.ToMilliseconds() / 1000 if retry.HasField("retry_delay") else None
    ours = info.domain == DOMAIN
    reason, metadata = (info.reason, dict(info.metadata)) if ours else ("", {})
    return Failure(error.code(), error.details() or "", reason, delay, metadata)


def _details(trailing: Iterable[Any]) -> Iterable[Any]:
    for key, value in trailing:
        if key == DETAILS_KEY:
            try:
                return list(Status.FromString(value).details)
            except DecodeError:
                return ()
    return ()


_Request = TypeVar("_Request", bound=Message)


class Unreadable:
    """Stands for a message that is not of the kind that the call takes."""

    def __init__(self, kind: str, size: int) -> None:
        self.reason = f"{size} bytes that are not a valid {kind}"


def reader(kind: type[_Request]) -> Callable[[bytes], _Request | Unreadable]:
    """Return a function that reads messages of a kind."""

    def parse(data: bytes) -> _Request | Unreadable:
        try:
            return kind.FromString(data)
        except DecodeError:
            return Unreadable(kind.DESCRIPTOR.name, len(data))

    return parse


def readable(message: _Request | Unreadable) -> _Request:
    """Return the message of a call. Raise Refused if it could not be read."""
    if isinstance(message, Unreadable):
        raise Refused(Reason.MESSAGE_UNREADABLE, message.reason)
    return message

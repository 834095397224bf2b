"""Incoming messages: one that cannot be read ends its call with a reason instead of a traceback."""

from collections.abc import Callable
from typing import TypeVar

from google.protobuf.message import DecodeError, Message

from referee.protocol.reasons import Reason, Refused

_Request = TypeVar("_Request", bound=Message)


class Unreadable:
    """Stands for a message that is not of the kind that the call takes."""

    def __init__(self, kind: str, size: int) -> None:
        self.reason = f"{size} bytes that are no {kind}"


def reader(kind: type[_Request]) -> Callable[[bytes], _Request | Unreadable]:
    """Return a function that reads messages of a kind."""

    def read(data: bytes) -> _Request | Unreadable:
        try:
            return kind.FromString(data)
        except DecodeError:
            return Unreadable(kind.DESCRIPTOR.name, len(data))

    return read


def readable(message: _Request | Unreadable) -> _Request:
    """Return the message of a call. Raise Refused if it could not be read."""
    if isinstance(message, Unreadable):
        raise Refused(Reason.MESSAGE_UNREADABLE, message.reason)
    return message

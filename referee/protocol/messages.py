"""Messages as they come in: one that cannot be read ends its call with a reason instead of a traceback."""

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import grpc
from google.protobuf.message import DecodeError, Message

CallContext: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"

_Request = TypeVar("_Request", bound=Message)


class Unreadable:
    """Stands for a message that is not what the call takes."""

    def __init__(self, kind: str, size: int) -> None:
        self.reason = f"{size} bytes that are no {kind}"


def reader(kind: type[_Request]) -> Callable[[bytes], _Request | Unreadable]:
    """Reads messages of a kind."""

    def read(data: bytes) -> _Request | Unreadable:
        try:
            return kind.FromString(data)
        except DecodeError:
            return Unreadable(kind.DESCRIPTOR.name, len(data))

    return read


async def readable(message: _Request | Unreadable, context: CallContext) -> _Request:
    """The message of a call; ends the call if it could not be read."""
    if isinstance(message, Unreadable):
        await context.abort(grpc.StatusCode.INVALID_ARGUMENT, message.reason)
        raise AssertionError
    return message

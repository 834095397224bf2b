"""Messages as a later version of the protocol, or another encoder, would send them."""

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from referee.protocol.numbers import varint
from referee.v1 import bots_pb2

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_LATER = 1000
"""A field number that no message has yet."""


def _tag(number: int, wire_type: int) -> bytes:
    return varint(number << 3 | wire_type)


def _text(number: int, data: bytes) -> bytes:
    return _tag(number, _BYTES) + varint(len(data)) + data


_UNKNOWN = (
    _tag(_LATER, _VARINT)
    + varint(1 << 63)
    + _text(_LATER + 1, b"a field of the future")
    + _tag(_LATER + 2, _FIXED32)
    + bytes(4)
    + _tag(_LATER + 3, _FIXED64)
    + bytes(8)
)


def unknown_event() -> bots_pb2.Event:
    """Return an event that this version does not know."""
    event = bots_pb2.Event()
    event.MergeFromString(_text(_LATER, _text(1, b"something happened")))
    return event


def add_unknown_fields(message: Message) -> None:
    """Add fields that no version knows yet, of every wire type, to a message and to all messages in it."""
    for field, value in message.ListFields():
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            for part in value if field.is_repeated else [value]:
                add_unknown_fields(part)
    message.MergeFromString(_UNKNOWN)


def unpacked(message: Message) -> bytes:
    """Encode a message with its repeated enums unpacked, one tag for each value; readers must accept that."""
    data = b""
    for field, value in message.ListFields():
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            parts = value if field.is_repeated else [value]
            data += b"".join(_text(field.number, unpacked(part)) for part in parts)
        elif field.type == FieldDescriptor.TYPE_ENUM and field.is_repeated:
            data += b"".join(_tag(field.number, _VARINT) + varint(number) for number in value)
        else:
            alone = type(message)(**{field.name: value})
            data += alone.SerializeToString()
    return data

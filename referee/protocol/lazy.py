"""Lazy messages: the most frequent ones, read from the same bytes with some fields left encoded.

The same plays and actions come up again and again. Left encoded, each of them is read once for a ruleset and
then looked up by its bytes, which saves a third of a fast bot's time and some of the referee's. Authors of
bots never see lazy messages.
"""

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from referee.v1 import bots_pb2

_PACKAGE = "referee.protocol.lazy"
_LAZY = {
    "PlayResponse": ("events",),
    "Event": ("turn", "deal_ended"),
    "Turn": (),
    "DealEnded": (),
    "PlayRequest": ("moves",),
    "Move": (),
}
"""Messages that are read lazily, and their fields that hold such messages."""
_ENCODED = {
    *(("Turn", "actions"), ("Turn", "to_beat"), ("Move", "cards")),
    *(("DealEnded", "actions"), ("DealEnded", "hands"), ("DealEnded", "left")),
}
"""Fields of lazy messages that are lists of encoded values. A packed list of cards is one value; unpacked
cards, which protobuf also allows, end up as unknown fields."""


def _add_lazy() -> Any:
    original = descriptor_pb2.FileDescriptorProto()
    bots_pb2.DESCRIPTOR.CopyToProto(original)
    lazy = descriptor_pb2.FileDescriptorProto(
        name=f"{_PACKAGE}.proto",
        package=_PACKAGE,
        syntax="proto3",
        dependency=[*original.dependency, original.name],
    )
    for message in original.message_type:
        if message.name not in _LAZY:
            continue
        copy = lazy.message_type.add()
        copy.CopyFrom(message)
        for field in copy.field:
            if field.name in _LAZY[message.name]:
                field.type_name = f".{_PACKAGE}.{field.type_name.rpartition('.')[2]}"
            elif (message.name, field.name) in _ENCODED:
                field.type = descriptor_pb2.FieldDescriptorProto.TYPE_BYTES
                field.ClearField("type_name")
    pool = descriptor_pool.Default()
    pool.Add(lazy)
    return pool


_pool = _add_lazy()


def _message(name: str) -> Any:
    return message_factory.GetMessageClass(_pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))


PlayResponse: Any = _message("PlayResponse")
"""Reads the same bytes as ``bots_pb2.PlayResponse``."""
PlayRequest: Any = _message("PlayRequest")
"""Reads the same bytes as ``bots_pb2.PlayRequest``."""

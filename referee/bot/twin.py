"""A private twin of the protocol's PlayResponse: the same bytes, with actions left encoded.

What the seats do comes up again and again, and every action is told to every seat: each different one is
decoded once for a ruleset, and then looked up by its bytes, which is worth a third of a fast bot's time. To
authors of bots the twin is invisible.
"""

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from referee.v1 import play_pb2

_PACKAGE = "referee.bot.twin"
_FIELDS = {"PlayResponse": ("events",), "Event": ("turn", "deal_ended")}
"""Fields whose messages have twins."""
_ENCODED = ("Turn", "DealEnded")
"""Messages whose ``actions`` stay encoded."""


def _twin() -> Any:
    original = descriptor_pb2.FileDescriptorProto()
    play_pb2.DESCRIPTOR.CopyToProto(original)
    twin = descriptor_pb2.FileDescriptorProto(
        name=f"{_PACKAGE}.proto",
        package=_PACKAGE,
        syntax="proto3",
        dependency=[*original.dependency, original.name],
    )
    for message in original.message_type:
        if message.name in _FIELDS or message.name in _ENCODED:
            copy = twin.message_type.add()
            copy.CopyFrom(message)
            for field in copy.field:
                if field.name in _FIELDS.get(message.name, ()):
                    field.type_name = f".{_PACKAGE}.{field.type_name.rpartition('.')[2]}"
                elif message.name in _ENCODED and field.name == "actions":
                    field.type = descriptor_pb2.FieldDescriptorProto.TYPE_BYTES
                    field.ClearField("type_name")
    pool = descriptor_pool.Default()
    pool.Add(twin)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.PlayResponse"))


PlayResponse: Any = _twin()
"""Reads what PlayResponse reads; ``actions`` of turns and ends of deals are lists of encoded actions."""

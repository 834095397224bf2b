"""Fragments of protobuf messages, encoded by hand and cached.

Assembling a message from cached fragments takes a fraction of the time of building it field by field.
"""

from google.protobuf.descriptor import Descriptor

from referee.memo import Memo

VARINT, BYTES = 0, 2
"""Wire types of protobuf's encoding: numbers, and values with a length."""


def varint(number: int) -> bytes:
    """Return a number in protobuf's encoding: seven bits per byte, the lowest first."""
    encoded = bytearray()
    while number > 127:
        encoded.append(number & 127 | 128)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


NUMBERS: Memo[int, bytes] = Memo(varint)
"""Numbers in protobuf's encoding."""


def sized(data: bytes) -> bytes:
    """Return the bytes preceded by their length."""
    return NUMBERS[len(data)] + data


def key(message: Descriptor, name: str, wire_type: int) -> bytes:
    """Return the key that precedes the value of a field."""
    return varint(message.fields_by_name[name].number << 3 | wire_type)


def field(before: bytes) -> Memo[int, bytes]:
    """Return a cache of the encoded field, by the number that it holds."""
    return Memo(lambda number: before + varint(number))


def head(*keys: bytes) -> Memo[int, bytes]:
    """Return a cache of what precedes the fields of a nested message, by the length of these fields.

    ``keys`` are those of the fields that hold the message, the outermost first.
    """

    def encoded(length: int) -> bytes:
        inner = b""
        for before in reversed(keys):
            inner = before + varint(length + len(inner)) + inner
        return inner

    return Memo(encoded)

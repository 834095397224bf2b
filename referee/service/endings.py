"""Connections that have ended, as the kernel reports each, even those that nobody saw while they were open.

This is ``sock_diag``'s group of closed sockets, to which anybody may listen on Linux (``ss -E`` does). Where
it does not exist, no connection seems to end.
"""

import contextlib
import errno
import socket
import struct
import sys
from collections.abc import Iterator

from referee.service.peers import peer_at
from referee.service.sockets import RECEIVED_AT, Connection, attach, equals

_SOCK_DIAG = 4
"""The netlink protocol of ``sock_diag``."""
_CLOSED = 0b101
"""Its groups of closed TCP sockets, of IPv4 and of IPv6."""
_FAMILY, _PORT, _PEER_PORT, _ADDRESS, _ATTRIBUTES = 16, 20, 22, 40, 88
"""Where a message has the family, the two ports and the peer's address, and where its attributes begin."""
_INFO = 2
"""The attribute that holds a ``struct tcp_info``."""
_BYTES = 256 << 10
"""How many bytes the kernel may keep for us; it drops what is beyond that."""


class Endings:
    """The connections of a port that end from now on."""

    def __init__(self, port: int) -> None:
        self._told: socket.socket | None = None
        if sys.platform != "linux":
            return
        with contextlib.suppress(OSError):  # a kernel without it
            told = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG)
            try:
                told.setblocking(False)
                told.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BYTES)
                attach(told, equals(_PORT, port))
                told.bind((0, _CLOSED))
            except OSError:
                told.close()
                raise
            self._told = told

    def take(self) -> list[Connection]:
        """Return the connections that have ended since the last call; their files are closed."""
        return [] if self._told is None else list(_read(self._told))

    def close(self) -> None:
        """Stop listening."""
        if self._told is not None:
            self._told.close()


def _read(told: socket.socket) -> Iterator[Connection]:
    while True:
        try:
            message = told.recv(4096)
        except OSError as error:
            if error.errno == errno.ENOBUFS:  # there were more than the kernel keeps, which it reports once
                continue
            return
        (port,) = struct.unpack_from(">H", message, _PEER_PORT)
        if port:  # it was no listening socket
            family = message[_FAMILY]
            address = message[_ADDRESS : _ADDRESS + (4 if family == socket.AF_INET else 16)]
            peer = peer_at(socket.inet_ntop(family, address), port)
            yield Connection(-1, peer, _received(message))


def _received(message: bytes) -> int:
    """Return how many bytes the kernel had received, as far as the message says."""
    at = _ATTRIBUTES
    while at + 4 <= len(message):
        length, kind = struct.unpack_from("=HH", message, at)
        if kind == _INFO and length >= 4 + RECEIVED_AT + 8:
            (received,) = struct.unpack_from("=Q", message, at + 4 + RECEIVED_AT)
            return int(received)
        at += max(4, length + 3 & ~3)
    return 0

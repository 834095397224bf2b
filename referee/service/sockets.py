"""The kernel's side of a port: its connections, what they have received, and whom it lets in.

gRPC neither reports nor limits connections, so its sockets are inspected behind its back. This works on Linux
only; elsewhere there seem to be no connections.
"""

import contextlib
import ctypes
import errno
import os
import socket
import struct
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from ipaddress import IPv4Address, IPv6Network
from typing import Any, NamedTuple

from referee.processes import descriptors
from referee.service.peers import Peer, peer_at

FILES = "/proc/self/fd"
MOST_REFUSED = 100
"""How many hosts can be kept out at once."""

_SO_ATTACH_FILTER, _SO_DETACH_FILTER, _TCP_INFO = 26, 27, 11
RECEIVED_AT = 128
"""The offset of ``tcpi_bytes_received``, eight bytes long, in the kernel's ``struct tcp_info``."""
_NETWORK = 0xFFF00000
"""Where a packet's IP header begins, for a filter."""
_LOAD, _LOAD_HALF, _LOAD_BYTE, _AND, _JUMP_EQUAL, _RETURN = 0x20, 0x28, 0x30, 0x54, 0x15, 0x06
_ALL, _NOTHING = 0xFFFFFFFF, 0
_Instruction = tuple[int, int, int, int]
"""Code, how many instructions to skip if true and if false, and a constant."""

_libc: Any = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None


class Connection(NamedTuple):
    """An open connection of a port."""

    file: int
    peer: Peer
    received: int
    """Bytes that the kernel has received for it."""


def connections(port: int) -> list[Connection]:
    """Return the open connections that clients have made to a port of this process."""
    open_connections: list[Connection] = []
    if sys.platform != "linux":
        return open_connections
    for file in _files():
        with contextlib.suppress(OSError), _borrowed(file) as socket_:
            if _port(socket_) == port:
                address, peer_port, *_ = socket_.getpeername()
                info = socket_.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, RECEIVED_AT + 8)
                (received,) = struct.unpack_from("=Q", info, RECEIVED_AT)
                open_connections.append(Connection(file, peer_at(address, peer_port), received))
    return open_connections


def abort(connection: Connection) -> None:
    """Break a connection off, and discard all that waits in it."""
    if sys.platform != "linux":
        return
    with contextlib.suppress(OSError), _borrowed(connection.file) as borrowed:
        address, port, *_ = borrowed.getpeername()  # the number may be another file's by now
        if peer_at(address, port) == connection.peer:
            # Connecting to no address resets the connection, and frees what was not read or sent.
            _libc.connect(connection.file, bytes(28), 28)


def refuse(port: int, hosts: Collection[str]) -> None:
    """Let the kernel drop packets from these hosts that open connections to a port; open ones go on."""
    if sys.platform != "linux":
        return
    program = refusal(list(hosts)[:MOST_REFUSED])
    for file in _files():
        with contextlib.suppress(OSError), _borrowed(file) as borrowed:
            if _port(borrowed) == port and borrowed.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                attach(borrowed, program)


def refusal(hosts: Collection[str]) -> list[_Instruction]:
    """Return a filter that drops packets from these hosts; without hosts, it is empty."""
    if not hosts:
        return []
    checks = [_check(host) for host in hosts]
    return [step for check in checks for step in check] + [(_RETURN, 0, 0, _ALL)]


def _check(host: str) -> list[_Instruction]:
    """Return the instructions that drop a packet from a host and go on with any other one."""
    if ":" in host:
        version, at = 0x60, 8
        data = IPv6Network(host).network_address.packed[:8]
    else:
        version, at = 0x40, 12
        data = IPv4Address(host).packed
    words = struct.unpack(f">{len(data) // 4}I", data)
    length = 2 * len(words) + 1  # up to the end
    steps = [
        (_LOAD_BYTE, 0, 0, _NETWORK),
        (_AND, 0, 0, 0xF0),
        (_JUMP_EQUAL, 0, length, version),
    ]
    for number, word in enumerate(words):
        steps += [
            (_LOAD, 0, 0, _NETWORK + at + 4 * number),
            (_JUMP_EQUAL, 0, length - 2 * number - 2, word),
        ]
    return [*steps, (_RETURN, 0, 0, _NOTHING)]


def equals(at: int, value: int) -> list[_Instruction]:
    """Return a filter that lets through packets with this value in the two bytes at ``at``."""
    return [
        (_LOAD_HALF, 0, 0, at),
        (_JUMP_EQUAL, 0, 1, value),
        (_RETURN, 0, 0, _ALL),
        (_RETURN, 0, 0, _NOTHING),
    ]


def attach(listening: socket.socket, program: list[_Instruction]) -> None:
    """Let the kernel drop what a filter does not let through to a socket; an empty filter drops nothing."""
    if not program:
        listening.setsockopt(socket.SOL_SOCKET, _SO_DETACH_FILTER, 0)
        return
    steps = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in program))
    fprog = struct.pack("@HP", len(program), ctypes.addressof(steps))
    listening.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, fprog)


def _files() -> Iterator[int]:
    try:
        yield from map(int, os.listdir(FILES))
    except FileNotFoundError:
        return
    except OSError as error:
        if error.errno != errno.EMFILE:
            raise
        yield from range(descriptors.limit())  # none is free to list them with: so all of them are in use


def _port(connected: socket.socket) -> int | None:
    """Return the local port of a TCP socket; None if it is another one."""
    if connected.family not in (socket.AF_INET, socket.AF_INET6) or connected.type != socket.SOCK_STREAM:
        return None
    port: int = connected.getsockname()[1]
    return port


@contextmanager
def _borrowed(file: int) -> Iterator[socket.socket]:
    """Use a file that belongs to gRPC as a socket. Raise OSError if it is not one."""
    borrowed = socket.socket(fileno=file)
    try:
        yield borrowed
    finally:
        borrowed.detach()

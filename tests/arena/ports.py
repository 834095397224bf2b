"""Ports of this machine for tests to use."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

LOOPBACK = "127.0.0.1"


def free_port(count: int = 1) -> int:
    """Return a port on which nothing listens; with a ``count``, the first of that many in a row."""
    while True:
        with ExitStack() as stack:
            first: int = stack.enter_context(socket.create_server((LOOPBACK, 0))).getsockname()[1]
            try:
                for port in range(first + 1, first + count):
                    stack.enter_context(socket.create_server((LOOPBACK, port)))
            except (OSError, OverflowError):
                continue
            return first


def free_address(count: int = 1) -> str:
    """Return the address of a free port; with a ``count``, the ports that follow are free too."""
    return f"{LOOPBACK}:{free_port(count)}"


@contextmanager
def taken_address() -> Iterator[str]:
    """Yield an address that is in use, but at which nothing answers."""
    with socket.create_server((LOOPBACK, 0)) as server:
        yield f"{LOOPBACK}:{server.getsockname()[1]}"


@contextmanager
def deaf_address() -> Iterator[str]:
    """Reserve and yield an address on which nothing listens."""
    with socket.socket() as closed:
        closed.bind((LOOPBACK, 0))
        yield f"{LOOPBACK}:{closed.getsockname()[1]}"

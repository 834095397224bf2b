"""Tests for finding out which connections have ended, on real sockets of the loopback interface."""

import socket
import sys
import time
from collections.abc import Iterator

import pytest

from referee.service.gate import Endings
from referee.service.peers import peer_at
from referee.service.sockets import Connection
from tests.waiting import DEADLINE, wait_for

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel tells of them on Linux only")


@pytest.fixture(params=["127.0.0.1", "::"])
def listener(request: pytest.FixtureRequest) -> Iterator[socket.socket]:
    """Listen on a port of IPv4 only, or of IPv4 and IPv6."""
    family = socket.AF_INET6 if ":" in request.param else socket.AF_INET
    with socket.create_server((request.param, 0), family=family, dualstack_ipv6=":" in request.param) as one:
        yield one


@pytest.fixture
def endings(listener: socket.socket) -> Iterator[Endings]:
    told = Endings(listener.getsockname()[1])
    yield told
    told.close()


def visit(listener: socket.socket, source: str, data: bytes) -> int:
    """Connect, send something and close once it has been received; return the client's port."""
    with socket.socket() as client:
        client.bind((source, 0))
        client.connect(("127.0.0.1", listener.getsockname()[1]))
        client.sendall(data)
        accepted, _ = listener.accept()
        with accepted:
            assert not data or accepted.recv(1 + len(data)) == data
        port: int = client.getsockname()[1]
        return port


def taken(endings: Endings, count: int) -> list[Connection]:
    """Take connections that have ended until there are this many: the kernel reports them with a delay."""
    found: list[Connection] = []
    wait_for(lambda: len(found) >= count, meanwhile=lambda: found.extend(endings.take()), seen=lambda: found)
    return found


def test_endings_when_connections_were_short_then_each_is_told_with_its_bytes(
    listener: socket.socket, endings: Endings
) -> None:
    data = {"127.0.0.1": b"x" * 1000, "127.0.0.2": b"y" * 10}
    ports = {source: visit(listener, source, sent) for source, sent in data.items()}
    received = {one.peer: one.received for one in taken(endings, 2)}
    more = {peer: count - len(data[peer.host]) for peer, count in received.items()}
    assert more.keys() == {peer_at(source, port) for source, port in ports.items()}
    assert set(more.values()) <= {0, 1}  # to the kernel, the end of the data counts as a byte
    assert endings.take() == []


def test_endings_when_another_port_is_meant_then_nothing_is_told(
    listener: socket.socket, endings: Endings
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        visit(other, "127.0.0.2", b"x")
    port = visit(listener, "127.0.0.1", b"x")
    assert [one.peer.port for one in taken(endings, 1)] == [port]
    assert endings.take() == []


def test_endings_when_there_are_more_than_the_kernel_keeps_then_it_goes_on_with_the_rest(
    listener: socket.socket, endings: Endings
) -> None:
    for _ in range(2000):
        visit(listener, "127.0.0.2", b"")
    assert len(taken(endings, 100)) >= 100
    end = time.monotonic() + DEADLINE
    later: list[int] = []
    while not {*later} & {one.peer.port for one in endings.take()}:
        later.append(visit(listener, "127.0.0.1", b"x"))  # the kernel may still be busy with the others
        assert time.monotonic() < end
        time.sleep(0.01)

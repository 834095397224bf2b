"""Tests for inspecting and closing connections of a port, on real sockets of the loopback interface."""

import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from referee.service import sockets
from referee.service.peers import peer_at
from tests.waiting import DEADLINE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="sockets are inspected on Linux only")


@pytest.fixture(params=["127.0.0.1", "::"])
def listener(request: pytest.FixtureRequest) -> Iterator[socket.socket]:
    """Listen on a port of IPv4 only, or of IPv4 and IPv6."""
    family = socket.AF_INET6 if ":" in request.param else socket.AF_INET
    with socket.create_server((request.param, 0), family=family, dualstack_ipv6=":" in request.param) as one:
        yield one


def port_of(listener: socket.socket) -> int:
    port: int = listener.getsockname()[1]
    return port


def connect(stack: ExitStack, listener: socket.socket, source: str = "127.0.0.1") -> socket.socket:
    """Return the client's end of a connection."""
    client = stack.enter_context(socket.socket(socket.AF_INET6 if ":" in source else socket.AF_INET))
    client.settimeout(DEADLINE)
    client.bind((source, 0))
    client.connect(("::1" if ":" in source else "127.0.0.1", port_of(listener)))
    return client


def test_connections_when_a_client_has_sent_something_then_its_address_and_bytes_are_told(
    listener: socket.socket,
) -> None:
    with ExitStack() as stack:
        client = connect(stack, listener, "127.0.0.2")
        accepted, _ = listener.accept()
        stack.enter_context(accepted)
        client.sendall(b"x" * 1000)
        accepted.recv(1000, socket.MSG_WAITALL)
        (found,) = sockets.connections(port_of(listener))
        assert found == (accepted.fileno(), peer_at("127.0.0.2", client.getsockname()[1]), 1000)


def test_abort_when_nothing_was_read_then_the_connection_is_reset(listener: socket.socket) -> None:
    with ExitStack() as stack:
        client, other = connect(stack, listener), connect(stack, listener)
        for accepted, _ in (listener.accept(), listener.accept()):
            stack.enter_context(accepted)
        client.sendall(b"x" * 1000)
        name = peer_at("127.0.0.1", client.getsockname()[1])
        for connection in sockets.connections(port_of(listener)):
            if connection.peer == name:
                sockets.abort(connection)
        with pytest.raises(ConnectionResetError):
            client.recv(1)
        (left,) = sockets.connections(port_of(listener))
        assert left.peer.port == other.getsockname()[1]


def test_abort_when_the_file_is_another_connection_by_now_then_it_goes_on(listener: socket.socket) -> None:
    with ExitStack() as stack:
        client = connect(stack, listener)
        accepted, _ = listener.accept()
        stack.enter_context(accepted)
        (connection,) = sockets.connections(port_of(listener))
        sockets.abort(connection._replace(peer=peer_at("127.0.0.1", 1)))
        client.sendall(b"x")
        assert accepted.recv(1) == b"x"


@pytest.mark.parametrize(
    ("refused", "in_"),
    [
        ([], ["127.0.0.1", "127.0.0.2", "::1"]),
        (["127.0.0.2"], ["127.0.0.1", "::1"]),
        (["10.0.0.1", "::/64", "127.0.0.1"], ["127.0.0.2"]),
        (["fe80::/64", "127.0.0.2", "127.0.0.1"], ["::1"]),
        ([f"10.0.{n}.1" for n in range(sockets.MOST_REFUSED)], ["127.0.0.1", "127.0.0.2", "::1"]),
    ],
)
def test_refuse_when_hosts_are_named_then_only_others_are_let_in_until_it_is_lifted(
    listener: socket.socket, refused: list[str], in_: list[str]
) -> None:
    both = listener.family == socket.AF_INET6
    with ExitStack() as stack:
        before = connect(stack, listener, "127.0.0.2")
        sockets.refuse(port_of(listener), refused)
        for source in ["127.0.0.1", "127.0.0.2", *(["::1"] if both else [])]:
            client = stack.enter_context(socket.socket(socket.AF_INET6 if ":" in source else socket.AF_INET))
            client.bind((source, 0))
            client.settimeout(0.2 if source not in in_ else DEADLINE)
            outcome = client.connect_ex(("::1" if ":" in source else "127.0.0.1", port_of(listener)))
            assert (outcome == 0) == (source in in_), source
        accepted, _ = listener.accept()
        stack.enter_context(accepted)
        before.sendall(b"x")
        assert accepted.recv(1) == b"x"
        sockets.refuse(port_of(listener), [])
        connect(stack, listener, "127.0.0.2")

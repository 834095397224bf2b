"""One message over a real socket: to a checked address, bounded in time and size, redirects not followed."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from arena.webhooks.post import NotSent, post
from tests.waiting import DEADLINE

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

Serve = Callable[[socket.socket], None]


class Server:
    """A server that takes one connection and handles it by ``serve``."""

    def __init__(self, serve: Serve) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._serve = serve
        self.port = self._listening.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/in?a=1"
        self.connections = 0
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        with suppress(OSError):  # nobody connected, or the other side has gone, as it should
            connection, _ = self._listening.accept()
            self.connections += 1
            with connection:
                connection.settimeout(DEADLINE)
                self._serve(connection)

    def __enter__(self) -> "Server":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join(DEADLINE)
        assert not self._thread.is_alive()


def request_of(connection: socket.socket) -> bytes:
    """Read and return a whole request whose body is ``{}``."""
    got = b""
    while not got.endswith(b"\r\n\r\n{}"):
        part = connection.recv(4096)
        if not part:
            break
        got += part
    return got


@contextmanager
def answering(answer: bytes) -> Iterator[tuple[Server, list[bytes]]]:
    requests: list[bytes] = []

    def serve(connection: socket.socket) -> None:
        requests.append(request_of(connection))
        connection.sendall(answer)

    with Server(serve) as server:
        yield server, requests


def send(url: str, *, private: bool = True, seconds: float = DEADLINE) -> int:
    return post(url, b"{}", {"webhook-id": "msg_1"}, private=private, seconds=seconds)


def test_message_when_it_is_sent_then_path_host_and_headers_are_as_they_should_be() -> None:
    with answering(OK) as (server, requests):
        assert send(server.url) == 200
    lines = requests[0].split(b"\r\n")
    assert lines[0] == b"POST /in?a=1 HTTP/1.1"
    host = server.url.split("/")[2].encode()
    assert {b"Host: " + host, b"webhook-id: msg_1", b"Content-Length: 2"} <= {*lines}


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_message_when_the_address_is_private_then_nobody_is_connected_to(host: str) -> None:
    with answering(OK) as (server, requests):
        with pytest.raises(NotSent, match="no public address"):
            send(f"http://{host}:{server.port}/", private=False)
        assert (requests, server.connections) == ([], 0)


def test_redirect_when_it_is_the_answer_then_it_is_not_followed() -> None:
    with answering(OK) as (other, requests):
        answer = f"HTTP/1.1 302 Found\r\nLocation: {other.url}\r\nContent-Length: 0\r\n\r\n"
        with answering(answer.encode()) as (server, _):
            assert send(server.url) == 302
        assert requests == []


def test_answer_when_it_is_long_then_only_its_beginning_is_read() -> None:
    with answering(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 10_000_000) as (server, _):
        assert send(server.url) == 200


@pytest.mark.parametrize("begun", [b"", b"HTTP/1.1 200 OK\r\nX: ", b"HTTP/1.1 200 OK\r\n\r\n"])
def test_answer_when_it_comes_in_drops_then_it_is_given_up(begun: bytes) -> None:
    def drip(connection: socket.socket) -> None:
        request_of(connection)
        connection.sendall(begun)
        while True:
            connection.sendall(b"x")
            threading.Event().wait(0.02)

    with Server(drip) as server, pytest.raises(NotSent, match="no answer in time"):
        send(server.url, seconds=0.3)


@pytest.mark.parametrize(
    ("answer", "said"),
    [(b"SSH-2.0\r\n", "the answer is not HTTP"), (b"", "the connection broke|the answer is not HTTP")],
)
def test_answer_when_it_is_none_then_that_is_said_in_words_of_ours(answer: bytes, said: str) -> None:
    with answering(answer) as (server, _), pytest.raises(NotSent, match=said):
        send(server.url)


def test_message_when_it_cannot_be_sent_then_that_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(NotSent, match="nothing listens there"):
        send(f"http://127.0.0.1:{port}/")
    with pytest.raises(NotSent, match="host name not found"):
        send("http://nowhere.invalid/")

    def speak_no_tls(connection: socket.socket) -> None:
        connection.recv(4096)
        connection.sendall(OK)

    with Server(speak_no_tls) as server, pytest.raises(NotSent, match="it does not use TLS"):
        send(server.url.replace("http:", "https:"))

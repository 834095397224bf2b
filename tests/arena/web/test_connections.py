"""Closing connections without requests, over real sockets."""

import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from threading import Thread

import pytest
import uvicorn
from fastapi import FastAPI

from arena.web import serving
from arena.web.serving import bounded
from tests.waiting import wait_for

DEADLINE = 20.0


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Yield the port of a server that has little patience."""
    monkeypatch.setattr(serving, "HEAD_SECONDS", 0.2)
    monkeypatch.setattr(serving, "MOST_OF_PEER", 3)
    app = FastAPI(openapi_url=None)
    app.get("/")(lambda: "here")
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, http=bounded(by_peer=True), log_config=None, lifespan="off")
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, args=([listening],))
    thread.start()
    wait_for(lambda: server.started)
    yield listening.getsockname()[1]
    server.should_exit = True
    thread.join(DEADLINE)


@contextmanager
def connected(port: int) -> Iterator[socket.socket]:
    with closing(socket.create_connection(("127.0.0.1", port), DEADLINE)) as one:
        yield one


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost:"])
def test_connection_when_the_head_of_a_request_does_not_come_then_it_is_closed(
    port: int, sent: bytes
) -> None:
    with connected(port) as one:
        one.sendall(sent)
        assert one.recv(1) == b""


def test_connection_when_the_next_head_breaks_off_then_it_is_closed(port: int) -> None:
    with connected(port) as one:
        one.sendall(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        answer = b""
        while b'"here"' not in answer:
            answer += one.recv(1_000)
        one.sendall(b"GET / HT")
        assert one.recv(1) == b""


def test_peer_when_it_has_too_many_connections_then_a_further_one_is_closed_at_once(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "HEAD_SECONDS", DEADLINE)
    with connected(port), connected(port):
        with connected(port) as third, connected(port) as fourth:
            assert fourth.recv(1) == b""
            third.sendall(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
            assert third.recv(8) == b"HTTP/1.1"
        wait_for(lambda: answered(port))


def answered(port: int) -> bool:
    with connected(port) as one:
        one.sendall(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        return one.recv(8) == b"HTTP/1.1"

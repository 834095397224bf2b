"""Serving an application on a socket, in a thread of this process."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI

from arena.web.serving import Server
from tests.waiting import DEADLINE, wait_for


@contextmanager
def served(app: FastAPI) -> Iterator[Server]:
    """Serve an application on a free port for the duration of the block."""
    server = Server(uvicorn.Config(app, log_config=None, lifespan="off"))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            wait_for(lambda: server.started)
            yield server
        finally:
            server.should_exit = True
            thread.join(DEADLINE)
            assert not thread.is_alive()


def break_off(server: Server) -> None:
    """Break all connections of a server, as a network failure does."""
    for one in list(server.server_state.connections):
        one.loop.call_soon_threadsafe(one.transport.abort)


def url_of(server: Server) -> str:
    """Return the URL at which a server listens."""
    return f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"

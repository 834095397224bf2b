"""The process that serves the application."""

import asyncio
import gc
import socket
import threading
from collections import Counter
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from arena.host.addresses import split_address
from arena.host.settings import Settings
from referee.errors import ListenError
from referee.net.addresses import host_at
from referee.net.tls import FromFiles
from referee.processes import descriptors

HEAD_SECONDS = 20.0
"""Maximum time for the head of a request, from the start of the connection or the head's first byte."""

MOST_OF_PEER = 500
"""Maximum number of concurrent connections from one host; further ones are closed."""


def bounded(*, by_peer: bool) -> type[H11Protocol]:
    """Return the protocol class for a server's connections; ``by_peer`` limits those of each peer."""
    opened: Counter[str] = Counter()

    class Connection(H11Protocol):
        """A connection that is closed if no request comes."""

        _late: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            """Accept the connection, or close it if its peer has too many."""
            super().connection_made(transport)
            if self.client is not None:
                host = host_at(self.client[0])
                opened[host] += 1
                if by_peer and opened[host] > MOST_OF_PEER:
                    transport.close()
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            """Forget the connection."""
            super().connection_lost(exc)
            self._heed()
            if self.client is not None:
                host = host_at(self.client[0])
                opened[host] -= 1
                if not opened[host]:
                    del opened[host]

        def data_received(self, data: bytes) -> None:
            """Take bytes; from the first byte of a head on, the rest has to come in time."""
            super().data_received(data)
            cycle: RequestResponseCycle | None = self.cycle
            if cycle is None or cycle.response_complete:
                self._watch()
            else:
                self._heed()

        def on_response_complete(self) -> None:
            """Wait for the next request, for as long as the server lets connections be idle."""
            self._heed()
            super().on_response_complete()

        def _watch(self) -> None:
            if self._late is None:
                self._late = self.loop.call_later(HEAD_SECONDS, self.transport.close)

        def _heed(self) -> None:
            if self._late is not None:
                self._late.cancel()
                self._late = None

    return Connection


IDLE_SECONDS = 30
"""How long a connection may stay open between two requests."""

MOST_OPEN = 2_000
"""Maximum number of concurrent connections and requests; further ones are answered with 503.

Where the process may use too few descriptors for that, the maximum is lower.
"""

BACKLOG = 1_024
"""Maximum number of connections that wait to be accepted."""

RENEW_SECONDS = 5
"""How often the files of the certificate are looked at."""

GRACE_SECONDS = 5
"""How long requests may continue after the process was told to stop."""


class Server(uvicorn.Server):
    """A server that ends its streams when it is told to stop; they would otherwise go on for ever."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams, then stop."""
        assert isinstance(self.config.app, FastAPI)
        self.config.app.state.web.feeds.close()
        self.config.app.state.web.watching.close()
        await super().shutdown(sockets)


def collect_seldom() -> None:
    """Keep the garbage collector from going through everything that stays while a page is waited for.

    That would take a tenth of a second for what was loaded, and 25 ms for the standings that are kept. The
    first generation is what pages leave behind: collected even less often, it would take as long.
    """
    gc.freeze()
    gc.set_threshold(5_000, 10, 100)


def serve(app: FastAPI, settings: Settings, ready: Callable[[], None]) -> None:
    """Serve until the process is told to stop; call ``ready`` once connections are accepted.

    Raise ListenError, and SettingsError for a wrong certificate.
    """
    collect_seldom()
    descriptors.raise_limit()
    settings.check_web_tls()

    async def renew() -> None:
        if certificate is not None:
            certificate.latest()

    listening = _listen(settings.web_listen)
    config = uvicorn.Config(
        app,
        http=bounded(by_peer=not settings.web_proxies),
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.web_proxies),
        forwarded_allow_ips=list(settings.web_proxies),
        ssl_certfile=settings.web_certificate,
        ssl_keyfile=settings.web_key,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
        limit_concurrency=min(MOST_OPEN, descriptors.room(descriptors.limit())),
        lifespan="off",
        callback_notify=renew,
        timeout_notify=RENEW_SECONDS,
    )
    certificate = _certificate(settings, config)
    ready()
    threading.Thread(target=app.state.web.readings.prepare, daemon=True).start()
    Server(config).run([listening])


def _certificate(settings: Settings, config: uvicorn.Config) -> FromFiles[None] | None:
    """Return what keeps the certificate of new connections that of its file; None for no HTTPS."""
    certificate, key = settings.web_certificate, settings.web_key
    if certificate is None or key is None:
        return None
    config.load()

    def load() -> None:
        settings.check_web_tls()
        assert config.ssl is not None
        config.ssl.load_cert_chain(certificate, key)

    return FromFiles([certificate, key], load)


def _listen(address: str) -> socket.socket:
    """Return a socket that listens on ``host:port``. Raise ListenError."""
    host, port = split_address(address)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        reason = str(error.strerror).partition(" (")[0]
        raise ListenError(
            f"cannot listen on {address}: {reason}; set ARENA_WEB_LISTEN to another address"
        ) from None

"""The process that serves the application."""

import gc
import socket
import threading
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI

from arena.host.addresses import split_address
from arena.host.settings import Settings
from arena.web.connections import bounded
from referee import descriptors
from referee.errors import ListenError

IDLE_SECONDS = 30
"""How long a connection may stay open between two requests."""

MOST_OPEN = 2_000
"""Maximum number of concurrent connections and requests; further ones are answered with 503.

Where the process may use too few descriptors for that, the maximum is lower.
"""

BACKLOG = 1_024
"""Maximum number of connections that wait to be accepted."""

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
    )
    ready()
    threading.Thread(target=app.state.web.placings.prepare, daemon=True).start()
    Server(config).run([listening])


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

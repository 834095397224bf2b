"""The process that serves the application."""

import ssl

import uvicorn
from fastapi import FastAPI

from arena.certificates import read_pair
from arena.settings import Settings, split_address

IDLE_SECONDS = 30
"""How long a connection may stay open between two requests."""

MOST_OPEN = 2_000
"""Connections and requests at once; more are answered 503."""

GRACE_SECONDS = 5
"""How long requests may go on once the process was told to stop."""


def serve(app: FastAPI, settings: Settings) -> None:
    """Serve until the process is told to stop. Raise SettingsError for a wrong certificate."""
    if settings.web_certificate and settings.web_key:
        read_pair(
            *("web_certificate", settings.web_certificate, "web_key", settings.web_key),
            ssl.PROTOCOL_TLS_SERVER,
        )
    host, port = split_address(settings.web_listen)
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.web_proxies),
        forwarded_allow_ips=list(settings.web_proxies),
        ssl_certfile=settings.web_certificate,
        ssl_keyfile=settings.web_key,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
        limit_concurrency=MOST_OPEN,
        lifespan="off",
    )
    uvicorn.Server(config).run()

"""Channels to referees, with or without TLS."""

from typing import TypeAlias

import grpc

from referee.errors import AddressError
from referee.net.addresses import proxy_to, split
from referee.net.tls import ClientTls
from referee.protocol.version import MAX_MESSAGE_BYTES

Options: TypeAlias = "tuple[tuple[str, int | str], ...]"

SERVER_OPTIONS = (
    ("grpc.so_reuseport", 0),
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", -1),
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    # gRPC's core does not cut off a client that pings too often: as long as that client reads no answers, its
    # connection would stay open, and each further ping would cost more than the one before. Without the
    # limit a ping costs next to nothing, and nothing more is read once 10,000 answers wait.
    ("grpc.http2.max_ping_strikes", 0),
)
"""gRPC options of a server that bots connect to: a referee's or the check's."""


def sync_channel(address: str, tls: ClientTls | None, options: Options) -> grpc.Channel:
    """Open a channel for blocking calls, through the proxy that leads there."""
    options += _way_to(address)
    if tls is None:
        return grpc.insecure_channel(address, options=options)
    return grpc.secure_channel(address, tls.credentials(), options=options)


def async_channel(address: str, tls: ClientTls | None, options: Options) -> grpc.aio.Channel:
    """Open a channel for calls in an event loop, through the proxy that leads there."""
    options += _way_to(address)
    if tls is None:
        return grpc.aio.insecure_channel(address, options=options)
    return grpc.aio.secure_channel(address, tls.credentials(), options=options)


def _way_to(address: str) -> Options:
    """Return the options that name the proxy to an address: gRPC's own choice has one to this host, too."""
    try:
        proxy = proxy_to(split(address)[0])
    except AddressError:
        proxy = None  # a socket of this host, or what gRPC itself will refuse
    return (("grpc.enable_http_proxy", 0),) if proxy is None else (("grpc.http_proxy", proxy.url),)

"""Hosts on the network, to each of which limits apply as a whole."""

import socket
from contextlib import suppress
from functools import cache, lru_cache
from ipaddress import IPv6Address, IPv6Network, ip_address

PREFIX = 64
"""Bits of an IPv6 address that identify its host, which has all addresses that begin with them."""


@cache
def own_host() -> str:
    """Return this host's own address as it stands in ``host:port``: 127.0.0.1, or [::1] if it has no IPv4."""
    with suppress(OSError), socket.socket(socket.AF_INET) as trial:
        trial.bind(("127.0.0.1", 0))
        return "127.0.0.1"
    return "[::1]"


@lru_cache(4096)
def host_and_address(text: str) -> tuple[str, str]:
    """Return the host at an IP address, and the address; it may have a scope, or map to an IPv4 address.

    The host is an IPv4 address, or the first 64 bits of an IPv6 address. Raise ValueError.
    """
    address = ip_address(text.partition("%")[0])
    if not isinstance(address, IPv6Address):
        return str(address), str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped), str(address.ipv4_mapped)
    return str(IPv6Network((address, PREFIX), strict=False)), str(address)


def host_at(text: str) -> str:
    """Return the host at an IP address; any other text, as a proxy may write it, unchanged."""
    try:
        return host_and_address(text)[0]
    except ValueError:
        return text

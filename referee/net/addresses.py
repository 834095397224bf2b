"""Addresses of referees, the hosts and proxies behind them."""

import os
import re
import socket
from base64 import b64encode
from contextlib import suppress
from functools import cache, lru_cache
from ipaddress import IPv6Address, IPv6Network, ip_address, ip_network
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from referee.errors import AddressError

USUAL_PORT = 8710
"""The port on which a referee listens by default."""

_ADDRESS = re.compile(r"(?P<host>\[[^][\s/]+]|[^][\s/:]+)(:(?P<port>[0-9]{1,9}))?")


def read_addresses(text: str) -> list[str]:
    """Return the addresses, each ``host:port``, in a comma-separated list. Raise AddressError."""
    addresses = [address.strip() for address in text.split(",") if address.strip()]
    if not addresses:
        raise AddressError("names no address")
    for address in addresses:
        split(address)
    return addresses


def split(address: str) -> tuple[str, int]:
    """Return host and port of ``host:port``, the host without brackets. Raise AddressError."""
    match = _ADDRESS.fullmatch(address)
    if match is None or match["port"] is None:
        name = address if match else "127.0.0.1"
        problem = "has no port" if match else "is not an address"
        raise AddressError(f"{address!r} {problem}: an address is HOST:PORT, such as {name}:{USUAL_PORT}")
    if not 0 < int(match["port"]) < 65536:
        raise AddressError(f"{address!r}: a port is a number from 1 to 65535")
    return match["host"].strip("[]"), int(match["port"])


GRPC = ("grpc_proxy", "https_proxy", "http_proxy")
"""The variables that name the proxy of a gRPC connection, the first that is set, as gRPC reads them.

``grpc_proxy`` is about nothing else, so whoever sets it means every address.
"""

_NEAR_NAMES = (".localhost", ".local", ".internal", ".lan", ".home.arpa")
_NEAR_NETWORKS = tuple(
    map(ip_network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"))
)


class Proxy(NamedTuple):
    """A proxy that connections go through."""

    url: str
    variable: str
    """The variable of the environment that names it."""

    @property
    def address(self) -> tuple[str, int]:
        """Return its host and port."""
        parts = urlsplit(self.url)
        return parts.hostname or "", parts.port or 80

    @property
    def credentials(self) -> str:
        """Return what to send as ``Proxy-Authorization``; empty if its address has no user."""
        user, at, _ = urlsplit(self.url).netloc.rpartition("@")
        return f"Basic {b64encode(unquote(user).encode()).decode()}" if at else ""

    def __str__(self) -> str:
        """Return its name for people, without its password."""
        host, port = self.address
        return f"the proxy {f'[{host}]' if ':' in host else host}:{port} of {self.variable}"


def is_near(host: str) -> bool:
    """Return whether a host is this one or on a private network, to which no proxy leads."""
    try:
        ip = ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        name = f".{host.rstrip('.').lower()}"
        return name.count(".") == 1 or name.endswith(_NEAR_NAMES)
    if isinstance(ip, IPv6Address) and ip.ipv4_mapped:
        ip = ip.ipv4_mapped
    return (
        ip.is_loopback
        or ip.is_link_local
        or ip.is_unspecified
        or any(ip in network for network in _NEAR_NETWORKS)
    )


def proxy_to(host: str, variables: tuple[str, ...] = GRPC) -> Proxy | None:
    """Return the proxy that leads to a host, from the first of these variables that is set.

    There is none to a host that is near, unless ``grpc_proxy`` asks for it, nor to one in ``no_proxy``. A
    value that is no ``http://`` address is passed over, as gRPC does.
    """
    variable = next((name for name in variables if os.environ.get(name)), "")
    if not variable or (is_near(host) and variable != "grpc_proxy") or _is_excepted(host):
        return None
    address = os.environ[variable]
    proxy = Proxy(address if "://" in address else f"http://{address}", variable)
    try:
        return proxy if proxy.url.startswith("http://") and proxy.address[0] else None
    except ValueError:  # of its port
        return None


def _is_excepted(host: str) -> bool:
    """Return whether the environment says that no proxy is to be used for a host."""
    lists = filter(None, map(os.environ.get, ("no_grpc_proxy", "no_proxy")))
    text = next(lists, "")
    host = host.strip("[]").lower()
    return any(_covers(entry.strip().lower(), host) for entry in text.split(",") if entry.strip())


def _covers(entry: str, host: str) -> bool:
    try:
        return ip_address(host) in ip_network(entry, strict=False)
    except ValueError:
        name = entry.removeprefix("*").lstrip(".")
        return not name or host == name or host.endswith(f".{name}")


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

"""HTTP proxies on the way to an address: which one the environment names, and for whom none is used."""

import os
from base64 import b64encode
from ipaddress import IPv6Address, ip_address, ip_network
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

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
    given = os.environ[variable]
    proxy = Proxy(given if "://" in given else f"http://{given}", variable)
    try:
        return proxy if proxy.url.startswith("http://") and proxy.address[0] else None
    except ValueError:  # of its port
        return None


def _is_excepted(host: str) -> bool:
    """Return whether the environment says that no proxy is to be used for a host."""
    given = filter(None, map(os.environ.get, ("no_grpc_proxy", "no_proxy")))
    text = next(given, "")
    host = host.strip("[]").lower()
    return any(_covers(entry.strip().lower(), host) for entry in text.split(",") if entry.strip())


def _covers(entry: str, host: str) -> bool:
    try:
        return ip_address(host) in ip_network(entry, strict=False)
    except ValueError:
        name = entry.removeprefix("*").lstrip(".")
        return not name or host == name or host.endswith(f".{name}")

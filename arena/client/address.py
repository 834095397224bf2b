"""The address of an arena on the network."""

from ipaddress import ip_address
from urllib.parse import urlsplit

from arena.errors import SpecError

PREFIX = "/api/v1"


def address_of(url: str) -> str:
    """Return the normalised address of an arena: ``https://host``, perhaps with port and path.

    Raise SpecError if it cannot be one.
    """
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise SpecError("server", f"{url!r} is no URL: {error}") from None
    if parts.scheme not in ("http", "https") or not host:
        raise SpecError("server", f"{url!r} is not a URL like https://arena.example.org")
    if parts.username is not None or parts.query or parts.fragment:
        raise SpecError("server", "it must have no user, no query and no fragment")
    shown = f"[{host}]" if ":" in host else host
    place = f"{shown}:{port}" if port is not None else shown
    path = parts.path.rstrip("/").removesuffix(PREFIX)
    return f"{parts.scheme}://{place}{path}"


def host_of(address: str) -> str:
    """Return the host of an arena's address."""
    return urlsplit(address).hostname or ""


def require_secret(address: str) -> None:
    """Raise SpecError if a key would be sent to another machine without encryption."""
    parts = urlsplit(address)
    if parts.scheme == "http" and not _is_here(parts.hostname or ""):
        raise SpecError(
            "server", f"{address} is not encrypted, so anybody on the way could read the key: use https://"
        )


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False

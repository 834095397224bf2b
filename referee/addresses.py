"""Addresses of referees, as people type them."""

import re

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

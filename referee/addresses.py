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
    found = _ADDRESS.fullmatch(address)
    if found is None or found["port"] is None:
        name = address if found else "127.0.0.1"
        problem = "has no port" if found else "is not an address"
        raise AddressError(f"{address!r} {problem}: an address is HOST:PORT, such as {name}:{USUAL_PORT}")
    if not 0 < int(found["port"]) < 65536:
        raise AddressError(f"{address!r}: a port is a number from 1 to 65535")
    return found["host"].strip("[]"), int(found["port"])

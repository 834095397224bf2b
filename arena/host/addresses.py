"""Addresses: ``host:port``."""

import re

NO_PLACE = ("0.0.0.0", "[::]", "::", "")  # noqa: S104 compared with, not listened on
"""Hosts that one can listen on, but not connect to."""


def check_address(address: str) -> str:
    """Return an address unchanged; raise ValueError if it is not valid."""
    host, _, port = address.rpartition(":")
    if not host or re.search(r"[\s'\"]", host) or not port.isdecimal() or int(port) > 65535:
        number = address.strip(":")
        example = f", such as 127.0.0.1:{number}" if number.isdecimal() and int(number) <= 65535 else ""
        raise ValueError(f"{address!r} is not host:port{example}")
    return address


def split_address(address: str) -> tuple[str, int]:
    """Split ``host:port`` into host, without brackets, and port."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def local_addresses(listen: str, count: int) -> list[str]:
    """Return the addresses that ``count`` referees listen on: ``listen`` and the following ports."""
    host, _, port = listen.rpartition(":")
    return [f"{host}:{int(port) + place}" for place in range(count)]

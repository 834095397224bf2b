"""Addresses: ``host:port``."""

NO_PLACE = ("0.0.0.0", "[::]", "::", "")  # noqa: S104 compared with, not listened on
"""Hosts to listen on that nobody can connect to."""


def check_address(address: str) -> str:
    """Return an address as it is; raise ValueError if it is none."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        number = address.strip(":")
        example = f", such as 127.0.0.1:{number}" if number.isdecimal() and int(number) <= 65535 else ""
        raise ValueError(f"{address!r} is not host:port{example}")
    return address


def split_address(address: str) -> tuple[str, int]:
    """Return host and port of a ``host:port``, the host without brackets."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def local_addresses(listen: str, count: int) -> list[str]:
    """Return the addresses that ``count`` referees listen on: ``listen``, and the ports that follow."""
    host, _, port = listen.rpartition(":")
    return [f"{host}:{int(port) + place}" for place in range(count)]
